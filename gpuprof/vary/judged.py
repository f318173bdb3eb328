"""The results of a variant against those of the original."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.device.array_contents import numbers
from gpuprof.device.elements import ELEMENTS
from gpuprof.device.results.comparing import difference
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.sweep.run_sweep import Brought, Measured, Outcome
from gpuprof.vary.variants import ORIGINAL, VaryPlan

SAME, DIFFERS, FAILED = "same", "differs", "failed"
TUNING = "autotune"  # the task of launches by which Triton chooses a Config: no part of what a script computes


class Tried(NamedTuple):
    """The result of a variant in a round. `results`: SAME, DIFFERS or FAILED. `text`: which arrays differ, or why it
    failed. `is_whole`: all launches ran, and all their blocks were timed, so that a later round would find the same.
    """

    number: int
    round: int
    launches: tuple[Measured, ...]
    results: str
    text: str
    is_whole: bool

    @property
    def cycles(self) -> int | None:
        """The sum over its launches; None where none ran to its end."""
        return sum(launch.metrics["cycles"] for launch in self.launches) if self.launches else None


def judged(plan: VaryPlan, outcomes: Iterable[Outcome], round_: int, all_launches: bool) -> Iterator[Tried]:
    """The result of each variant, in the order the outcomes come, from when the original's is there.

    Raises GpuprofError when the original itself fails, UsageError for the name of no array.
    """
    wanted: list[Brought] | None = None
    waiting: list[Outcome] = []
    for outcome in outcomes:
        if outcome.number == ORIGINAL:
            if outcome.error:
                raise GpuprofError(f"{_nothing_to_compare_with(plan)}: {outcome.error}")
            wanted = _chosen(outcome.results, plan.compared)
        waiting.append(outcome)
        if wanted is not None:
            yield from (_tried(each, wanted, round_, all_launches, plan.tolerance) for each in waiting)
            waiting = []


def _nothing_to_compare_with(plan: VaryPlan) -> str:
    given = [text.partition("=")[0] for text in plan.base.options.defines]
    values = [f"-D {each.name}={each.texts[0]}" for each in plan.varied if each.kind == "D" and each.name not in given]
    hint = f" (if it needs a macro, give the original's value: {' '.join(values)})" if values else ""
    return f"the original fails, so there is nothing to compare with{hint}"


def _chosen(results: Sequence[Brought], names: Sequence[str]) -> list[Brought]:
    """The results of these names, of arrays or of parameters; all where there are no names."""
    for name in names:
        if not any(name in (each.name, each.parameter) for each in results):
            known = ", ".join(each.name for each in results)
            raise UsageError(f"--compare {name}: no launch has such an array; there are: {known}")
    return [each for each in results if not names or each.name in names or each.parameter in names]


def _tried(
    outcome: Outcome, wanted: Sequence[Brought], round_: int, all_launches: bool, tolerance: float | None
) -> Tried:
    if outcome.error:
        return Tried(outcome.number, round_, (), DIFFERS if outcome.is_wrong else FAILED, outcome.error, True)
    found = {each.name: each for each in outcome.results}
    others = [text for each in wanted if (text := _differing(found.get(each.name), each, tolerance))]
    launches = tuple(each for each in outcome.launches if TUNING not in each.task.split("/"))
    is_whole = all_launches and all(launch.cycles_error is None for launch in launches)
    return Tried(outcome.number, round_, launches, DIFFERS if others else SAME, ", ".join(others), is_whole)


def _differing(got: Brought | None, wanted: Brought, tolerance: float | None) -> str:
    """The name of an array that differs, with the largest relative difference of floats where values are compared; ""
    where it agrees.
    """
    if got is not None and got.digest == wanted.digest:
        return ""
    if tolerance is None or got is None or (got.element, len(got.data)) != (wanted.element, len(wanted.data)):
        return wanted.name
    row = ELEMENTS[wanted.element]
    values = [numbers(wanted.element, np.frombuffer(each.data, row.dtype)) for each in (got, wanted)]
    is_float = row.kind == "float"
    found = difference(*values, tolerance if is_float else 0.0, 0.0)
    if not found.count:
        return ""
    return f"{wanted.name} (relative error {found.relative_error:.2g})" if is_float else wanted.name
