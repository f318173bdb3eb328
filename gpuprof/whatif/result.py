"""Results of `gpuprof whatif`, as plain values, and as JSON."""

import json
from typing import NamedTuple

from gpuprof.whatif.choose import Chosen
from gpuprof.whatif.rows import Row, label
from gpuprof.whatif.search import Trial

SCHEMA = "gpuprof-whatif-1"


class WhatIf(NamedTuple):
    """rows: what was measured, in the order of the search; left: what the budget had no time for. fidelity: of each
    launch, how far kernels of its kind are off.
    """

    file: str
    chip: str
    launches: tuple[Chosen, ...]
    fidelity: tuple[str, ...]
    rows: tuple[Row, ...]
    left: tuple[Trial, ...] = ()


def as_json(found: WhatIf) -> str:
    """The keys are stable within a schema; a new one is another version."""
    fidelity = {each.launch: words for each, words in zip(found.launches, found.fidelity, strict=True)}
    document = {
        "schema": SCHEMA,
        "file": found.file,
        "chip": found.chip,
        "launches": [each._asdict() for each in found.launches],
        "rows": [{**row_object(row), "fidelity": fidelity[row.launch]} for row in found.rows],
        "not_measured": [_not_measured(trial, found) for trial in found.left],
    }
    return json.dumps(document, indent=1)


def row_object(row: Row) -> dict:
    return {
        "kind": row.kind,
        "place": row.place,
        "launch": row.launch,
        "kernel": row.kernel,
        "cycles_before": row.cycles_before,
        "cycles_after": row.cycles_after,
        "speedup": round(row.speedup, 4),
        "bound": round(row.bound_speedup, 4),
        "moved_to": [{"reason": each.reason, "share": round(each.share, 4)} for each in row.moved_to],
    }


def _not_measured(trial: Trial, found: WhatIf) -> dict:
    launch, what = found.launches[trial.subject], trial.interventions[0]
    return {
        "kind": label(what),
        "place": what.place,
        "launch": launch.launch,
        "kernel": launch.kernel,
        "bound": round(bound_speedup(trial, launch), 4),
    }


def bound_speedup(trial: Trial, launch: Chosen) -> float:
    """The bound, as a measured row has it: of a launch that takes one cycle at least."""
    return launch.cycles / max(1.0, launch.cycles * (1 - trial.share))
