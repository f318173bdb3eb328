"""Refits the constants of constants.py to published rows, and says how the fit does on rows that it has not seen.

Each case is emulated once and timed with each constant at the ends of its range, the others as they are. The logarithm
of the cycles is taken for a sum of one function of each constant, straight between these points; the fit goes down one
constant after another. What two constants do together is left out, so the fitted numbers are to be run once more.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from gpuprof.errors import GpuprofError
from tests.silicon.case import Case
from tests.silicon.constants import CONSTANTS, Constant, with_factor
from tests.silicon.published import TRUSTED, by_id, published_cycles
from tests.silicon.run import chip_of_case, published_size, run_cycles, steps
from tests.silicon.traces import timings, traces

STEPS = 20  # of a constant's range that are tried
ROUNDS = 4  # over all constants

Factors = tuple[float, ...]  # of CONSTANTS


class Sensitivity(NamedTuple):
    """A case: ratio of cycles to the published ones, and what the ratio is multiplied by with each constant at the low
    and the high end of its range.
    """

    id: str
    family: str
    card: str
    ratio: float
    ends: tuple[tuple[float, float], ...]

    def at(self, factors: Factors) -> float:
        """The ratio with the constants times these factors."""
        parts = (
            _between(constant, low, high, factor)
            for constant, (low, high), factor in zip(CONSTANTS, self.ends, factors, strict=True)
        )
        return self.ratio * math.exp(sum(parts))


def _between(constant: Constant, low: float, high: float, factor: float) -> float:
    """The logarithm of what a factor does: straight from each end to 1, where it is 0."""
    end, effect = (constant.low, low) if factor < 1 else (constant.high, high)
    return 0.0 if end == 1 else math.log(effect) * (factor - 1) / (end - 1)


def chosen(cases: Iterable[Case], per_cell: int) -> list[Case]:
    """The first cases of each family and card that are trusted and are no ratios."""
    counts: dict[tuple[str, str], int] = {}
    found = []
    for case in cases:
        cell = case.family, case.card
        if by_id()[case.id].trust in TRUSTED and not case.group and counts.get(cell, 0) < per_cell:
            counts[cell] = counts.get(cell, 0) + 1
            found.append(case)
    return found


def sensitivity(case: Case, compiler: str) -> Sensitivity | None:
    """None where the kernel does not compile or run."""
    chip = chip_of_case(case)
    try:
        traced = [
            [(step.times, traces(case, step, compiler, chip)) for step in steps(case, run, compiler)]
            for run in case.runs
        ]
    except GpuprofError:
        return None

    def cycles(other) -> float:
        return published_size(
            case,
            [
                sum(times * run_cycles(case, timings(launches, other)) for times, launches in of_run)
                for of_run in traced
            ],
        )

    base = cycles(chip)
    ends = tuple(
        tuple(1.0 if end == 1 else cycles(with_factor(chip, constant, end)) / base for end in constant[1:3])
        for constant in CONSTANTS
    )
    return Sensitivity(case.id, case.family, case.card, base / published_cycles(case), ends)


def sensitivities(cases: Sequence[Case], compiler: str, processes: int) -> list[Sensitivity]:
    with ProcessPoolExecutor(processes) as pool:
        found = pool.map(sensitivity, cases, [compiler] * len(cases))
        return [each for each in found if each]


def error(found: Sequence[Sensitivity], factors: Factors) -> float:
    """The mean error, averaged within family and card, then within families, then over families."""
    families: dict[str, dict[str, list[float]]] = {}
    for each in found:
        families.setdefault(each.family, {}).setdefault(each.card, []).append(abs(each.at(factors) - 1))
    return statistics.fmean(
        statistics.fmean(statistics.fmean(cell) for cell in cards.values()) for cards in families.values()
    )


def fit(found: Sequence[Sensitivity]) -> Factors:
    """The factors with the least error, one constant after another."""
    factors = [1.0] * len(CONSTANTS)
    for _ in range(ROUNDS):
        for place, constant in enumerate(CONSTANTS):
            tried = [constant.low + (constant.high - constant.low) * step / STEPS for step in range(STEPS + 1)]
            # its own number comes first, and stays where no other is better
            factors[place] = min(
                [factors[place], *tried],
                key=lambda factor, place=place: error(found, (*factors[:place], factor, *factors[place + 1 :])),
            )
    return tuple(factors)


def left_out(found: Sequence[Sensitivity], key: Callable[[Sensitivity], str]) -> dict[str, tuple[float, float]]:
    """The error of each family (or card) as it is, and with the fit to all others."""
    groups = dict.fromkeys(map(key, found))
    parts = {name: ([s for s in found if key(s) != name], [s for s in found if key(s) == name]) for name in groups}
    as_it_is = (1.0,) * len(CONSTANTS)
    return {name: (error(own, as_it_is), error(own, fit(others))) for name, (others, own) in parts.items() if others}


def report(found: Sequence[Sensitivity]) -> list[str]:
    factors = fit(found)
    as_it_is = (1.0,) * len(CONSTANTS)
    lines = [f"{len(found)} rows; error {_percent(error(found, as_it_is))}, fitted {_percent(error(found, factors))}"]
    for constant, factor in zip(CONSTANTS, factors, strict=True):
        span = f"{constant.low:g} to {constant.high:g}"
        lines.append(f"{constant.fields:<30} times {factor:5.3f} of {span:<14} {constant.why}")
    for what, key in (("family", lambda each: each.family), ("card", lambda each: each.card)):
        found_by = left_out(found, key)
        for name, (before, after) in found_by.items():
            lines.append(f"without {what} {name:<16} its error {_percent(before)} as it is, {_percent(after)} fitted")
        if found_by:
            mean = statistics.fmean(after for _, after in found_by.values())
            lines.append(f"leave one {what} out: {_percent(mean)}")
    return lines


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"
