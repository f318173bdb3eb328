"""Errors of predictions on chips that were simulated as well, and the ranges of these chips' numbers.

`python -m tests.prediction --write` writes both files.
"""

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.predict.chip_numbers import Numbers

LAUNCHES, DRAWS = "launches", "draws"
FILES = {
    kind: Path(__file__).with_name(name) for kind, name in ((LAUNCHES, "validated.csv"), (DRAWS, "validated_draws.csv"))
}
FAR = 2.0  # times beyond what was validated
TAKE_NO_TIME = ("memory_nbytes",)  # numbers that no time depends on


class Validated(NamedTuple):
    """Errors of the predicted time of launches, or draws, in `predictions` comparisons; `ranges` of the chips'
    numbers.
    """

    predictions: int
    mean_percent: float
    p90_percent: float
    ranges: dict[str, tuple[float, float]]


@cache
def validated(kind: str) -> Validated:
    """The figures of a kind: `of` is LAUNCHES or DRAWS."""
    with FILES[kind].open(encoding="utf-8", newline="") as file:
        rows = {row["name"]: (float(row["low"]), float(row["high"])) for row in csv.DictReader(file)}
    predictions, mean, p90 = (rows.pop(name)[0] for name in ("predictions", "mean_percent", "p90_percent"))
    return Validated(int(predictions), mean, p90, rows)


def far_outside(chips: Numbers, kind: str) -> Iterator[str]:
    """A sentence for each number of `chips` that is far outside the validated range."""
    for name, (low, high) in validated(kind).ranges.items():
        values = chips[name][~np.isnan(chips[name])]  # without chips that lack the number
        if not len(values):
            continue
        most, least = float(values.max()), float(values.min())
        for value, beyond in ((most, most > FAR * high), (least, least * FAR < low)):
            if beyond and low > 0:
                yield f"{name}={value:g} is far outside the {low:g} to {high:g} that predictions were compared at"


def text_of(chips: Numbers, errors: np.ndarray) -> str:
    """The content of the file, for predictions with these errors (shares) on these chips."""
    rows = [
        ("predictions", len(errors), len(errors)),
        ("mean_percent", round(100 * float(np.mean(errors)), 1), 0),
        ("p90_percent", round(100 * float(np.quantile(errors, 0.9)), 1), 0),
        *(
            (name, f"{column.min():g}", f"{column.max():g}")
            for name, column in chips.columns.items()
            if name not in TAKE_NO_TIME and not np.isnan(column).any()
        ),
    ]
    return "name,low,high\n" + "".join(f"{name},{low},{high}\n" for name, low, high in rows)
