"""The times of the rows of whole programs (program_results.csv), how far they are off, and which pairs are in order."""

import csv
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.silicon.program_rows import FOLDER, SETS, Pair, ProgramRow, pairs, rows

PATH = FOLDER / "program_results.csv"
DIGITS = 5  # stored of a time

Name = TypeVar("Name")


class Result(NamedTuple):
    """`model_us` is None where the program did not run; `reason` then says why."""

    model_version: str
    id: str
    published_us: float
    model_us: float | None
    reason: str

    @property
    def ratio(self) -> float | None:
        return None if self.model_us is None else self.model_us / self.published_us


class Spread(NamedTuple):
    """Some rows that have a goal: how many, their mean error as a part, the mean of their goals."""

    rows: int
    error: float
    goal: float


def result_of(row: ProgramRow, model_us: float | None, reason: str = "") -> Result:
    rounded = None if model_us is None else float(f"{model_us:.{DIGITS}g}")
    return Result(MODEL_VERSION, row.id, float(f"{row.published_us:.{DIGITS}g}"), rounded, reason)


def stored() -> tuple[Result, ...]:
    with PATH.open(encoding="utf-8", newline="") as file:
        return tuple(
            Result(
                each["model_version"],
                each["id"],
                float(each["published_us"]),
                float(each["model_us"]) if each["model_us"] else None,
                each["reason"],
            )
            for each in csv.DictReader(file)
        )


def store(results: Iterable[Result]) -> None:
    with PATH.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(Result._fields)
        for result in results:
            numbers = [f"{us:.{DIGITS}g}" if us is not None else "" for us in (result.published_us, result.model_us)]
            out.writerow((result.model_version, result.id, *numbers, result.reason))


def merged(again: Sequence[Result]) -> list[Result]:
    """The stored results, with those that were measured again in their place, in the order of the rows."""
    known = {result.id: result for result in (stored() if PATH.is_file() else ())}
    known |= {result.id: result for result in again}
    return [known[row.id] for row in rows() if row.id in known]


def error_of(result: Result) -> float:
    """How far a result is off, as a part of what is published; a program that does not run is wholly off."""
    return 1.0 if result.ratio is None else abs(result.ratio - 1)


def spread(results: Iterable[Result]) -> Spread | None:
    """None where no row has a goal."""
    goals = {row.id: row.goal_percent for row in rows()}
    counted = [result for result in results if goals[result.id]]
    if not counted:
        return None
    errors = statistics.fmean(map(error_of, counted))
    return Spread(len(counted), errors, statistics.fmean(goals[result.id] or 0 for result in counted) / 100)


def by_set(results: Sequence[Result]) -> dict[str, Spread]:
    sets = {row.id: row.set for row in rows()}
    return _spreads({name: [each for each in results if sets[each.id] == name] for name in SETS})


def by_goal(results: Sequence[Result]) -> dict[int, Spread]:
    goals = {row.id: row.goal_percent for row in rows()}
    return _spreads({goal: [each for each in results if goals[each.id] == goal] for goal in (20, 30)})


def _spreads(groups: dict[Name, list[Result]]) -> dict[Name, Spread]:
    return {name: found for name, members in groups.items() if (found := spread(members))}


def in_order(results: Iterable[Result]) -> dict[Pair, bool]:
    """The pairs of which both rows ran: whether the one that is faster as published is so here."""
    us = {result.id: result.model_us for result in results if result.model_us is not None}
    return {pair: us[pair.faster] < us[pair.slower] for pair in pairs() if pair.faster in us and pair.slower in us}


def summary(results: Sequence[Result]) -> Iterator[str]:
    """Lines: sets, goals, the order of pairs."""
    for name, found in (*by_set(results).items(), *by_goal(results).items()):
        title = f"goal {name} %" if isinstance(name, int) else f"set {name}"
        yield f"{title:<14} {found.rows:>4} rows, mean error {100 * found.error:6.1f} %"
    order = in_order(results)
    if order:
        right = sum(order.values())
        yield f"{right} of {len(order)} pairs are in order ({100 * right / len(order):.0f} %)"
    yield from (f"not in order: {pair.faster} before {pair.slower}" for pair, is_right in order.items() if not is_right)
