"""The searches of `gpuprof whatif`: all candidates within a budget, the best sequence, or a place's curve."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gpuprof.base.wording import base_name
from gpuprof.errors import UsageError
from gpuprof.tables.measured import NOT_TO_BE_HAD
from gpuprof.whatif.baseline import Baseline
from gpuprof.whatif.bounds import AT_LINES, OF_LAUNCH
from gpuprof.whatif.candidates import WITHOUT_COSTS, Candidate, at_places, candidates
from gpuprof.whatif.changes.kinds import KINDS
from gpuprof.whatif.places import LINE, Place, places
from gpuprof.whatif.rows import Row
from gpuprof.whatif.search import (
    Measured,
    curve,
    greedy,
    mean_wait_cycles,
    measure_all,
    trials_of,
)

# Kinds that are tried, in the order of kinds.KINDS.
SEARCHED = tuple(
    kind for kind in KINDS if kind in {*AT_LINES, *WITHOUT_COSTS, *(name.partition(" ")[0] for name in OF_LAUNCH)}
)


class Asked(NamedTuple):
    """line: "FILE:N", "" for all. kinds: only these. scope: of places.SCOPES. budget_seconds: None for all."""

    line: str = ""
    kinds: tuple[str, ...] = ()
    scope: str = LINE
    budget_seconds: float | None = None
    jobs: int = 1


def search(baselines: Sequence[Baseline], asked: Asked) -> Measured:
    """Everything that costs something, the largest bounds first."""
    return measure_all(baselines, trials_of(baselines, _of_each(baselines, asked)), asked.budget_seconds, asked.jobs)


def best_sequence(baselines: Sequence[Baseline], asked: Asked, steps: int) -> tuple[Row, ...]:
    """Gives the sequence of each launch; only of what can be had, unless kinds are named."""
    found: list[Row] = []
    for baseline, some in zip(baselines, _of_each(baselines, asked), strict=True):
        wanted = [each for each in some if asked.kinds or each.intervention.kind not in NOT_TO_BE_HAD]
        found += greedy(baseline, wanted, steps, asked.budget_seconds)
    return tuple(found)


def curves(baselines: Sequence[Baseline], asked: Asked) -> tuple[Row, ...]:
    """Gives the launch against how much sooner the results of a place come, for each place; costliest first."""
    found: list[Row] = []
    for baseline in baselines:
        some = _at(baseline, asked, ("sooner",))
        for each in sorted(some, key=lambda candidate: -candidate.share):
            found += curve(baseline, each, mean_wait_cycles(baseline, each.intervention.insts))
    return tuple(found)


def _of_each(baselines: Sequence[Baseline], asked: Asked) -> list[list[Candidate]]:
    check_kinds(asked.kinds)
    if not asked.line:
        return [candidates(each, list(places(each, asked.scope)), asked.kinds) for each in baselines]
    found = [_at(each, asked, asked.kinds or tuple(AT_LINES)) for each in baselines]
    return [sorted(some, key=lambda each: (-each.share, each.intervention)) for some in found]


def _at(baseline: Baseline, asked: Asked, kinds: Collection[str]) -> list[Candidate]:
    some = list(places(baseline, asked.scope))
    return list(at_places(baseline, [each for each in some if is_at(each, asked.line)], kinds))


def check_reached(baselines: Sequence[Baseline], line: str) -> None:
    """Raises UsageError for a line at which no instruction of the launches was issued."""
    if not any(is_at(place, line) for baseline in baselines for place in places(baseline)):
        raise UsageError(f"--line {line}: no instruction of these launches is of such a line")


def is_at(place: Place, line: str) -> bool:
    """True for a place of "FILE:N", where FILE is a path or its end; of any line for "". A loop is at all its lines."""
    path, _, number = line.rpartition(":")
    if not line:
        return True
    return place.line <= int(number) <= place.last_line and (
        place.path == path or base_name(place.path) == base_name(path)
    )


def check_kinds(kinds: Collection[str]) -> None:
    """Raises UsageError for a kind that is none, or that only advice measures, where a rule has found its number."""
    for kind in kinds:
        if kind in KINDS and kind not in SEARCHED:
            raise UsageError(f"--only {kind}: only `gpuprof advise` measures it, where its rules apply")
        if kind not in KINDS:
            raise UsageError(f"--only {kind}: no such intervention; there are {', '.join(SEARCHED)}")


def check_line(line: str) -> None:
    path, _, number = line.rpartition(":")
    if not path or not number.isdigit():
        raise UsageError(f"--line {line}: expected FILE:N, as in matmul.cu:24")
