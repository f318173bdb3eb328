"""The Pareto front of designs: no other point is as cheap and faster, or as fast and cheaper."""

import csv
import io
import math
from pathlib import Path

import numpy as np

from gpuprof.base.inputs import COSTS, read_input
from gpuprof.chips.changes import field_and_factor
from gpuprof.chips.model import field_of
from gpuprof.errors import UsageError
from gpuprof.predict.chip_numbers import Numbers

HEAD = ["number", "cost"]
MOST_COST = 1e15  # of a unit: sums of costs stay numbers


def read_costs(path: Path) -> dict[str, float]:
    """Cost of each unit of a chip's number, from a CSV file with the columns number and cost: `sms,1.5`, `l2_mb,0.4`;
    the number `fixed` is a cost of every chip. Raises UsageError that names the line.
    """
    rows = _rows(path)
    if not rows or [cell.strip() for cell in rows[0]] != HEAD:
        raise UsageError(f"{path}: expected the heading {','.join(HEAD)}")
    costs: dict[str, float] = {}
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        name, cost = _row(path, line, row)
        if name in costs:
            raise UsageError(f"{path}, line {line}: {name} is listed twice")
        costs[name] = cost
    return costs


def _rows(path: Path) -> list[list[str]]:
    text = read_input(path, COSTS).decode("utf-8-sig", "replace")
    try:
        return list(csv.reader(io.StringIO(text, newline=None)))  # a line ends as on any system
    except csv.Error as error:
        raise UsageError(f"{path}: is not a CSV table ({error})") from None


def _row(path: Path, line: int, row: list[str]) -> tuple[str, float]:
    if len(row) != len(HEAD):
        raise UsageError(f"{path}, line {line}: expected two columns, got {len(row)}")
    name = row[0].strip()
    try:
        cost = float(row[1])
    except ValueError:
        cost = math.nan
    if not abs(cost) <= MOST_COST:
        raise UsageError(f"{path}, line {line}: {row[1]!r} is not a cost")
    field = field_of(field_and_factor(name)[0])
    if name != "fixed" and (field is None or field.kind == "text"):
        raise UsageError(f"{path}, line {line}: a chip has no number {name!r}")
    return name, cost


def costs_of(chips: Numbers, costs: dict[str, float]) -> np.ndarray:
    """float64 (chips,): the cost of each chip, in the unit of the cost file."""
    total = np.full(len(chips), costs.get("fixed", 0.0))
    for name, cost in costs.items():
        if name != "fixed":
            number, factor = field_and_factor(name)
            total += cost * chips[number] / factor
    return total


def front(cost: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Indices of the points on the front, cheapest first; of equal ones the first. NaN is on no front."""
    order = np.lexsort((np.arange(len(cost)), -np.nan_to_num(score, nan=-np.inf), cost))
    order = order[~np.isnan(score[order])]
    best = np.maximum.accumulate(score[order])
    return order[np.concatenate([[True], best[1:] > best[:-1]])] if len(order) else order
