"""Complete kernels that others measured on real cards, with the model's cycles: `silicon.csv`, a row per launch and
compiler.

`python -m tests.silicon --write` writes them, from a source checkout. They belong to one version of the timing model.
"""

import csv
import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

PATH = Path(__file__).parent / "silicon.csv"

TRUSTED = ("high", "medium-high", "medium")
RATIOS_ONLY = "ratios only"
DEFAULT_COMPILER = "clang"  # whose code reports are about, as a rule
LOW, HIGH = 0.6, 1.6  # a row outside has a named reason


class Row(NamedTuple):
    """A launch that was measured on a card. `chip` is the chip file that the card's inherits; `kind` the kernel's, by
    its counters (likeness.KINDS).

    `model_cycles` is None where the kernel does not run here; `reason` then says why, as it does for a row that is far
    off. Rows of a `group` are compared only by their ratios; rows of a `ladder` are steps, in order.
    """

    model_version: str
    id: str
    set: str
    family: str
    kind: str
    card: str
    chip: str
    compiler: str
    trust: str
    published_cycles: float
    model_cycles: float | None
    group: str
    ladder: str
    reason: str


COLUMNS = Row._fields


@cache
def rows() -> tuple[Row, ...]:
    with PATH.open(encoding="utf-8", newline="") as file:
        return tuple(_row(cells) for cells in csv.DictReader(file))


def _row(cells: dict[str, str]) -> Row:
    values: dict[str, Any] = {**cells, "published_cycles": float(cells["published_cycles"])}
    values["model_cycles"] = float(cells["model_cycles"]) if cells["model_cycles"] else None
    return Row(**values)


def _with_cycles(found: Iterable[Row]) -> Iterator[tuple[Row, float]]:
    """The rows whose kernel runs here, each with the model's cycles."""
    return ((row, row.model_cycles) for row in found if row.model_cycles is not None)


def ratios(launches: Iterable[Row]) -> dict[tuple[str, str], float]:
    """Model over published, by id and compiler, of rows that run; of a group, over the group's geometric mean."""
    timed = list(_with_cycles(launches))
    plain = {(row.id, row.compiler): cycles / row.published_cycles for row, cycles in timed}
    for members in by(lambda row: (row.group, row.compiler), (row for row, _ in timed if row.group)).values():
        mean = math.exp(statistics.fmean(math.log(plain[row.id, row.compiler]) for row in members))
        for row in members:
            plain[row.id, row.compiler] /= mean
    return plain


def by(key: Callable[[Row], Hashable], launches: Iterable[Row]) -> dict[Hashable, list[Row]]:
    """Rows by key, in the order of the first of each."""
    groups: dict[Hashable, list[Row]] = {}
    for row in launches:
        groups.setdefault(key(row), []).append(row)
    return groups


def errors(launches: Iterable[Row]) -> dict[tuple[str, str], float]:
    """How far each ratio is from 1, by id and compiler, of rows trusted medium or better or by their ratios."""
    launches = list(launches)
    known = ratios(launches)
    return {
        (row.id, row.compiler): abs(known[row.id, row.compiler] - 1)
        for row in launches
        if (row.id, row.compiler) in known and row.trust in (*TRUSTED, RATIOS_ONLY)
    }


def model_version() -> str:
    """The version of the timing model that gave the cycles; "" where nothing was compared."""
    return rows()[0].model_version if rows() else ""


class Likeness(NamedTuple):
    """How far the model is off in some measured launches, on the average: a part of 1."""

    launches: int
    error: float


def of_chip(chip: str) -> Likeness | None:
    """The likeness of all launches on cards of a chip; None where there is none."""
    return _likeness(row for row in rows() if row.chip == chip)


def of_kind(kind: str, chip: str = "") -> Likeness | None:
    """The likeness of launches of a kind of kernel, on cards of `chip` or on all; None where there is none."""
    return _likeness(row for row in rows() if row.kind == kind and chip in ("", row.chip))


def _likeness(launches: Iterable[Row]) -> Likeness | None:
    known = errors(row for row in launches if row.compiler == DEFAULT_COMPILER)
    return Likeness(len(known), statistics.fmean(known.values())) if known else None


class Spread(NamedTuple):
    """Statistics of some rows: how many ran and count, mean and 90th percentile of their errors, their median ratio,
    and the rank correlation of cycles. Parts of 1; None where too few rows give one.
    """

    rows: int
    mean: float | None
    median_ratio: float | None
    p90: float | None
    rank: float | None


def spread(launches: Sequence[Row]) -> Spread:
    known = errors(launches)
    timed = [row for row in launches if (row.id, row.compiler) in known]
    off = sorted(known.values())
    if not off:
        return Spread(0, None, None, None, None)
    all_ratios = ratios(launches)
    return Spread(
        len(off),
        statistics.fmean(off),
        statistics.median(all_ratios[row.id, row.compiler] for row in timed),
        off[math.ceil(0.9 * len(off)) - 1],
        _rank_correlation([(row.published_cycles, cycles) for row, cycles in _with_cycles(timed)]),
    )


def _rank_correlation(pairs: list[tuple[float, float]]) -> float | None:
    """Spearman's, of pairs without many ties; None of fewer than three."""
    if len(pairs) < 3:
        return None
    first, second = (_ranks([pair[i] for pair in pairs]) for i in (0, 1))
    return statistics.correlation(first, second) if len(set(first)) > 1 < len(set(second)) else None


def _ranks(values: list[float]) -> list[float]:
    """Ranks from 0, ties at their mean."""
    positions = {value: [i for i, other in enumerate(sorted(values)) if other == value] for value in set(values)}
    return [statistics.fmean(positions[value]) for value in values]


class Step(NamedTuple):
    """Two neighbours of a ladder: how many times faster the second is, as published and here."""

    ladder: str
    compiler: str
    first: str
    second: str
    published: float
    model: float

    @property
    def error(self) -> float:
        return self.model / self.published - 1


def steps(launches: Iterable[Row]) -> list[Step]:
    """The steps of all ladders, of rows that run."""
    return [
        Step(
            first.ladder,
            first.compiler,
            first.id,
            second.id,
            first.published_cycles / second.published_cycles,
            first_cycles / second_cycles,
        )
        for members in by(lambda row: (row.ladder, row.compiler), (row for row in launches if row.ladder)).values()
        for (first, first_cycles), (second, second_cycles) in pairwise(_with_cycles(members))
    ]
