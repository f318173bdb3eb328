"""The interventions that a launch is worth trying, each with its bound."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.whatif.baseline import Baseline
from gpuprof.whatif.bounds import AT_LINES, OF_LAUNCH, idle_share, overhead_share
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.on_program import AT_ONCE
from gpuprof.whatif.places import Place

LEAST_SHARE = 0.01  # of the launch's cycles: what costs less is not worth a timing
OF_KERNEL = "kernel"
WITHOUT_COSTS = ("no_overhead", "dealt")  # kinds whose bound is no cost of warps


class Candidate(NamedTuple):
    """share: the part of the launch's cycles that it could save by the ledger."""

    intervention: Intervention
    share: float


def at_places(baseline: Baseline, some: Sequence[Place], kinds: Collection[str] = ()) -> Iterator[Candidate]:
    """Interventions of these kinds, or all, on each of some places."""
    for kind, rule in AT_LINES.items():
        if kinds and kind not in kinds:
            continue
        applies = rule.applies(baseline.inst) & baseline.reached
        for place in some:
            chosen = place.insts & applies
            share = baseline.share(rule.costs(baseline, chosen)) if chosen.any() else 0.0
            if share >= LEAST_SHARE:
                yield Candidate(intervention(kind, chosen, place), share)


def intervention(kind: str, chosen: np.ndarray, place: Place) -> Intervention:
    amount = AT_ONCE if kind == "sooner" else 0
    insts = tuple(np.flatnonzero(chosen).tolist())
    return Intervention(kind, insts, amount, "", place.name, place.path, place.line)


def of_launch(baseline: Baseline, kinds: Collection[str] = ()) -> Iterator[Candidate]:
    """Interventions of these kinds, or all, on the launch as a whole."""
    for name, cost in OF_LAUNCH.items():
        kind, _, unit = name.partition(" ")
        if not kinds or kind in kinds:
            share = baseline.share(cost(baseline))
            if share >= LEAST_SHARE:
                yield Candidate(_on_all(baseline, kind, unit), share)
    for kind, share in zip(WITHOUT_COSTS, (overhead_share(baseline), _of_dealing(baseline)), strict=True):
        if (not kinds or kind in kinds) and share >= LEAST_SHARE:
            yield Candidate(Intervention(kind, place=OF_KERNEL), share)


def _on_all(baseline: Baseline, kind: str, unit: str) -> Intervention:
    insts: tuple[int, ...] = ()
    if kind in ("perfect_l1", "perfect_l2"):
        insts = tuple(range(len(baseline.inst)))
    elif kind == "no_spills":
        insts = tuple(np.flatnonzero(baseline.inst["is_local"]).tolist())
    return Intervention(kind, insts, 0, unit, f"{unit} unit" if unit else OF_KERNEL)


def _of_dealing(baseline: Baseline) -> float:
    """Blocks of clusters, and of grids that wait for each other, stay in their order."""
    is_alone = len(baseline.subject.grids) == 1 and baseline.subject.launch.blocks_of_cluster == 1
    return idle_share(baseline) if is_alone and not baseline.inst["polls"].any() else 0.0


def candidates(baseline: Baseline, some: Sequence[Place], kinds: Collection[str] = ()) -> list[Candidate]:
    """Interventions on some places and on the launch as a whole, those of the largest bound first."""
    found = [*at_places(baseline, some, kinds), *of_launch(baseline, kinds)]
    return sorted(found, key=lambda each: (-each.share, each.intervention))
