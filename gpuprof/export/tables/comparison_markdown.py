"""Two profiles side by side, as Markdown: of each kernel that both have its numbers, stall mixes and lines.

Kernels belong together by name, lines by file (without its folders) and number. Shares are of each profile's own
cost: warp-cycles of a recording, samples of a card, which estimate the same shares. So a card's profile can be compared
with the model's.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gpuprof.base.wording import base_name
from gpuprof.compare.changes import changes, distance
from gpuprof.compare.pairing import paired
from gpuprof.errors import NotComparable
from gpuprof.export.tables.ncu_values import report_of
from gpuprof.isa.printing.markdown import escaped, row
from gpuprof.isa.stalls import NAMES
from gpuprof.report.model import ChipFacts, Kernel, Report
from gpuprof.report.totals import totals

LEAST_SHARE = 0.01  # of a line, in one of both
NUMBERS = (  # label, number of totals, factor, unit
    ("achieved occupancy", "achieved_occupancy", 100, "%"),
    ("theoretical occupancy", "theoretical_occupancy", 100, "%"),
    ("issue slots used", "issue_utilisation", 100, "%"),
    ("L1 hits", "l1_hit_rate", 100, "%"),
    ("L2 hits", "l2_hit_rate", 100, "%"),
)
OF_A_LAUNCH = (("DRAM read by a launch", "dram_read_nbytes"), ("DRAM written by a launch", "dram_write_nbytes"))


def write(database: sqlite3.Connection, path: Path, other: sqlite3.Connection) -> None:
    """Raises NotComparable where they have no kernel in common."""
    found = lines(report_of(database), report_of(other))
    path.write_text("".join(f"{line}\n" for line in found), encoding="utf-8", newline="\n")


def lines(one: Report, two: Report) -> Iterator[str]:
    names = (title(one), title(two))
    pairs = kernel_pairs(one, two)
    if not pairs:
        ours, theirs = (", ".join(kernel.name for kernel in report.kernels) for report in (one, two))
        raise NotComparable(f"the files have no kernel in common: one has {ours}, the other {theirs}")
    for first, second in pairs:
        yield from (f"## {escaped(first.name)}", "", row("", *names, "ratio"), "|---|--:|--:|--:|")
        yield number("cycles of a launch", cycles(first), cycles(second), "")
        yield number("registers", first.registers, second.registers, "")
        yield from totals_of((first, one.chip), (second, two.chip))
        yield from ("", row("stalls", *names, "points"), "|---|--:|--:|--:|")
        yield from shares_of(*(by_reason(kernel) for kernel in (first, second)))
        yield from ("", row("lines", *names, "points"), "|---|--:|--:|--:|")
        yield from shares_of(*(by_line(kernel) for kernel in (first, second)))
        yield ""


def kernel_pairs(one: Report, two: Report) -> list[tuple[Kernel, Kernel]]:
    """Kernels of one name, in the order of the first profile."""
    ours, theirs = ({kernel.name: kernel for kernel in report.kernels} for report in (one, two))
    pairing = paired(list(theirs), list(ours), (str, str))
    return [(ours[new], theirs[old]) for old, new in pairing.pairs]


def title(report: Report) -> str:
    header = report.header
    return escaped(header.measured_by or f"gpuprof {header.tool_version}") + f", {escaped(header.chip)}"


def cycles(kernel: Kernel) -> float:
    return kernel.cycles / len(kernel.launches)


def number(label: str, one: float, two: float, unit: str) -> str:
    ratio = f"{one / two:.2f}" if two else "-"
    return row(label, *(f"{value:,.4g}{unit}" if value % 1 else f"{value:,.0f}{unit}" for value in (one, two)), ratio)


def totals_of(*kernels: tuple[Kernel, ChipFacts]) -> Iterator[str]:
    one, two = (totals(*each) for each in kernels)
    for label, name, factor, unit in NUMBERS:
        values = getattr(one, name), getattr(two, name)
        if None not in values:
            yield number(label, *(round(factor * value, 3) for value in values), unit)
    for label, name in OF_A_LAUNCH:
        values = getattr(one, name), getattr(two, name)
        if None not in values:
            launches = (len(kernel.launches) for kernel, _ in kernels)
            yield number(label, *(round(value / n) for value, n in zip(values, launches, strict=True)), " B")


def by_reason(kernel: Kernel) -> dict[str, float]:
    """Stall reason -> its share."""
    reasons = kernel.cost.reasons
    return {name: cost / sum(reasons) for name, cost in zip(NAMES, reasons, strict=True) if cost}


def by_line(kernel: Kernel) -> dict[str, float]:
    """ "file:line" -> its share, of the innermost position."""
    whole = sum(kernel.cost.reasons)
    found: dict[str, float] = {}
    for instruction in kernel.instructions:
        place = instruction.positions[0]
        if place.path and place.line:
            name = f"{escaped(base_name(place.path))}:{place.line}"
            found[name] = found.get(name, 0) + sum(instruction.cost.reasons) / (whole or 1)
    return found


def shares_of(one: dict[str, float], two: dict[str, float]) -> Iterator[str]:
    """Largest first, then half the sum of all differences."""
    shares = {change.name: (change.new or 0, change.old or 0) for change in changes(two, one)}
    for name, (ours, theirs) in sorted(shares.items(), key=lambda item: (-max(item[1]), item[0])):
        if max(ours, theirs) >= LEAST_SHARE:
            yield row(name, f"{100 * ours:.1f}%", f"{100 * theirs:.1f}%", f"{100 * (ours - theirs):+.1f}")
    yield row("**distance**", "", "", f"{distance(two, one):.3f}")
