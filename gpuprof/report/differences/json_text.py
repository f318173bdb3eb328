"""A difference as one JSON object, with a version: all of it."""

import json
from collections.abc import Sequence
from typing import Any

from gpuprof.compare.alignment import ABSENT
from gpuprof.compare.changes import Change
from gpuprof.compare.code import Code
from gpuprof.compare.difference import FindingSide, KernelDifference, KernelSide, LaunchSide, Part
from gpuprof.compare.kernels import KernelName
from gpuprof.compare.lines import Spot
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import NAMES
from gpuprof.report.differences.numbers import unit_of
from gpuprof.report.differences.read_sides import Compared, Head
from gpuprof.report.differences.words import cautions, headline, place_of, summary
from gpuprof.report.number_text import rounded

VERSION = 1


def text(compared: Compared) -> str:
    difference = compared.difference
    return json.dumps(
        {
            "version": VERSION,
            "unit": difference.unit,
            "old": _head(compared.old),
            "new": _head(compared.new),
            "cautions": list(cautions(compared)),
            "is_changed": difference.is_changed,
            "summary": summary(difference),
            "cycles": _both(difference.cycles),
            "cost": _both(difference.total),
            "gone": list(map(_launch, difference.gone)),
            "added": list(map(_launch, difference.new)),
            "kernels": [_kernel(kernel, difference.unit) for kernel in difference.kernels],
        },
        indent=2,
    )


def _head(head: Head) -> dict[str, Any]:
    return {
        "file": printable(head.name),
        **head.origin,
        "complete": head.is_complete,
        "clock_mhz": head.clock_mhz,
        "launches_cut_off": head.n_cut_off,
        "disturbance_cycles": head.disturbance_cycles,
        "notes": list(head.notes),
    }


def _both(change: Change) -> dict[str, Any]:
    return {"old": change.old, "new": change.new}


def _launch(launch: LaunchSide) -> dict[str, Any]:
    return launch._asdict()


def _kernel(kernel: KernelDifference, unit: str) -> dict[str, Any]:
    return {
        "old": _name(kernel.pair.old),
        "new": _name(kernel.pair.new),
        "paired_by": kernel.pair.by,
        "headline": headline(kernel, unit),
        "is_changed": kernel.is_changed,
        "cycles": _both(kernel.cycles),
        "cost": _both(kernel.cost),
        "launches": [
            {"old": _launch(old), "new": _launch(new)}
            for old, new in zip(kernel.old.launches, kernel.new.launches, strict=True)
        ],
        "lines": _lines(kernel),
        "reasons": [{"reason": NAMES[change.name]} | _both(change) for change in kernel.by_reason],
        "numbers": {
            change.name: {"unit": unit_of(change.name), "old": rounded(change.old), "new": rounded(change.new)}
            for change in kernel.numbers
            if change.old or change.new
        },
        "findings": {"gone": list(map(_finding, kernel.went)), "added": list(map(_finding, kernel.came))},
        "code": {"is_changed": kernel.is_code_changed, "instructions": _code(kernel)},
    }


def _name(kernel: KernelName) -> dict[str, str]:
    return {name: printable(getattr(kernel, name)) for name in ("name", "symbol", "module")}


def _lines(kernel: KernelDifference) -> list[dict[str, Any]]:
    """The lines that cost something, the largest change of either sign first."""
    parts: dict[int, list[Change[Part, int]]] = {}
    for part in kernel.parts:
        parts.setdefault(part.name.line, []).append(part)
    return [
        {
            "kind": kernel.lines[change.name].kind,
            "old": _place(kernel.old, kernel.lines[change.name].old),
            "new": _place(kernel.new, kernel.lines[change.name].new),
            "cost": _both(change),
            "parts": [
                _part(kernel, part)
                for part in sorted(parts[change.name], key=lambda part: (-abs(part.delta), part.name))
            ],
        }
        for change in kernel.by_line
    ]


def _place(side: KernelSide, spot: Spot | None) -> dict[str, Any] | None:
    if spot is None:
        return None
    line = side.line(spot)
    return {
        "path": printable(side.passages[spot.passage].path),
        "line": line.number or None,
        "text": printable(line.text.strip()),
    }


def _part(kernel: KernelDifference, part: Change[Part, int]) -> dict[str, Any]:
    name = part.name
    return {
        "reason": NAMES[name.reason],
        "cause": name.kind or None,
        "cause_line": place_of(kernel, name.cause_line) if name.cause_line != ABSENT else None,
        "other_warp": name.other_warp,
        "other_launch": name.other_launch,
        "conflict": name.conflict,
    } | _both(part)


def _finding(finding: FindingSide) -> dict[str, Any]:
    return {
        "kind": printable(finding.kind),
        "severity": finding.severity,
        "place": printable(finding.place) or None,
        "text": printable(finding.text),
        "cost_cycles": finding.cost_cycles,
    }


def _code(kernel: KernelDifference) -> list[dict[str, Any]]:
    """Only where it changed."""

    def side(code: Sequence[Code], place: int) -> dict[str, Any] | None:
        return None if place == ABSENT else {"text": printable(code[place].text), "cost": code[place].cost}

    pairs = kernel.instructions if kernel.is_code_changed else []
    return [{"old": side(kernel.old_code, old), "new": side(kernel.new_code, new)} for old, new in pairs]
