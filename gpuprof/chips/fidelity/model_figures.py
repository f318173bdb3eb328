"""The figures that were measured on the model, with those published for the real chips: `figures.csv`, a row per chip
and figure.

`python -m tests.microbench --write` writes them, from a source checkout. They belong to one version of the timing
model.
"""

import csv
import statistics
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PATH = Path(__file__).parent / "figures.csv"

NEAR = 0.05  # of the published value
EXACT = 0.005  # rounds to no per cent


FOLLOWS = "follows"


class Row(NamedTuple):
    """A figure of the model. `published` is None where no figure is published; `source` is the letter of its source in
    SOURCES.

    `kind` says what agreement is worth: a figure is `given` where the published value, or another one of the same
    measurement, is a number of the chip file or was fitted to, so that the model returns its own input; it `follows`
    where it is an outcome. Empty where nothing is published.
    """

    model_version: str
    chip: str
    figure: str
    unit: str
    model: float
    published: float | None
    source: str
    kind: str

    @property
    def difference(self) -> float | None:
        """The model's relative difference from the published value; None without one."""
        return None if self.published is None else self.model / self.published - 1


COLUMNS = Row._fields

SOURCES = {
    "A": "accel-sim's configuration of the chip",
    "B": "gpu-benches; another card of that core where one is named",
    "C": "measured on an H100 SXM, quoted",
    "CC": "CUDA C++ Programming Guide, arithmetic throughput by compute capability, quoted; for V100 and T4 partly "
    "recalled",
    "D": "Huerta et al., MICRO 2025, on an RTX A6000",
    "G": "a GB202, the die of an RTX 5090, measured by others",
    "J": "Jia et al. 2018 and 2019, recalled",
    "K": "AI_kernels' table of latencies",
    "L": "Luo et al. 2024, quoted",
    "Little": "lines in flight divided by the chip file's DRAM latency, at most its bandwidth",
    "M": "mt4g",
    "O": "cuda_occupancy.h 13.0",
    "P": "stall counts of ptxas 13.0; for V100 those of sm_75",
    "R": "recalled",
    "W": "vendor whitepapers, recalled: a card's rate by its clock and SMs",
}


class Summary(NamedTuple):
    """Counts of one chip's figures, and of those with a published value, and how these compare with it."""

    chip: str
    figures: int
    published: int
    exact: int
    near: int
    follows: int  # of those published, the outcomes
    follows_near: int
    mean: float  # of the absolute differences; 0 where nothing is published
    median: float
    worst: Row | None


@cache
def rows() -> tuple[Row, ...]:
    with PATH.open(encoding="utf-8", newline="") as file:
        return tuple(_row(cells) for cells in csv.DictReader(file))


def _row(cells: dict[str, str]) -> Row:
    values: dict[str, Any] = {**cells, "model": float(cells["model"])}
    values["published"] = float(cells["published"]) if cells["published"] else None
    return Row(**values)


def rows_of(chip: str) -> tuple[Row, ...]:
    """The chip's figures in the order of the table; none of a chip that does not come with gpuprof."""
    return tuple(row for row in rows() if row.chip == chip)


def chips() -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.chip for row in rows()))


def model_version() -> str:
    """The version of the timing model that gave the figures."""
    return rows()[0].model_version


def summary(chip: str) -> Summary:
    figures = rows_of(chip)
    compared = [(row, abs(row.difference)) for row in figures if row.difference is not None]
    errors = [error for _, error in compared]
    outcomes = [error for row, error in compared if row.kind == FOLLOWS]
    return Summary(
        chip,
        len(figures),
        len(compared),
        sum(error < EXACT for error in errors),
        sum(error <= NEAR for error in errors),
        len(outcomes),
        sum(error <= NEAR for error in outcomes),
        statistics.fmean(errors) if errors else 0.0,
        statistics.median(errors) if errors else 0.0,
        max(compared, key=lambda pair: pair[1], default=(None, 0.0))[0],
    )
