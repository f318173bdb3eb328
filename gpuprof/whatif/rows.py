"""The effect of an intervention, as a row of plain values."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.isa.stalls import INDEX, NAMES
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.whatif.baseline import Baseline
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.on_program import AT_ONCE
from gpuprof.whatif.timing_again import timed

SELECTED = INDEX["selected"]
MOST_REASONS = 3


class Share(NamedTuple):
    """A stall reason's part of the warps' time."""

    reason: str
    share: float


class Row(NamedTuple):
    """interventions: of a sequence all of them, else one. bound: cycles that the ledger charges to what is changed.
    moved_to: the largest stall reasons afterwards.
    """

    interventions: tuple[Intervention, ...]
    launch: int
    kernel: str
    cycles_before: int
    cycles_after: int
    bound_cycles: int
    moved_to: tuple[Share, ...]

    @property
    def speedup(self) -> float:
        return self.cycles_before / max(1, self.cycles_after)

    @property
    def bound_speedup(self) -> float:
        return self.cycles_before / max(1, self.cycles_before - self.bound_cycles)

    @property
    def kind(self) -> str:
        return " + ".join(label(each) for each in self.interventions)

    @property
    def place(self) -> str:
        return " + ".join(dict.fromkeys(each.place for each in self.interventions))


def label(what: Intervention) -> str:
    """ "twice dram", "sooner 20"."""
    amount = f" {what.amount}" if what.kind == "sooner" and what.amount < AT_ONCE else ""
    return f"{what.kind}{f' {what.unit}' if what.unit else ''}{amount}"


def measured(baseline: Baseline, interventions: Sequence[Intervention], share: float) -> Row:
    """The launch timed with the interventions. share: their bound, as a part of its cycles."""
    return row_of(baseline, interventions, share, timed(baseline.subject, interventions))


def row_of(baseline: Baseline, interventions: Sequence[Intervention], share: float, timing: LaunchTiming) -> Row:
    launch, before = baseline.subject.launch, baseline.timing.cycles
    return Row(
        tuple(interventions),
        launch.index,
        launch.function.display,
        before,
        timing.cycles,
        round(min(share, 1.0) * before),
        stall_shares(timing),
    )


def stall_shares(timing: LaunchTiming) -> tuple[Share, ...]:
    reasons = timing.ledger.astype(np.int64).sum(axis=0)
    whole = max(1, int(reasons.sum()))
    reasons[SELECTED] = 0
    order = np.argsort(-reasons, kind="stable")[:MOST_REASONS]
    return tuple(Share(NAMES[k], float(reasons[k] / whole)) for k in order.tolist() if reasons[k])
