"""How far predictions were off where chips were simulated as well, and which chips these were.

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
    """Errors of the time of a launch, or a draw, of `predictions` of them on chips; `ranges` of the chips' numbers."""

    predictions: int
    mean_percent: float
    p90_percent: float
    ranges: dict[str, tuple[float, float]]


@cache
def validated(of: str) -> Validated:
    """`of` is LAUNCHES or DRAWS."""
    with FILES[of].open(encoding="utf-8", newline="") as file:
        rows = {row["name"]: (float(row["low"]), float(row["high"])) for row in csv.DictReader(file)}
    predictions, mean, p90 = (rows.pop(name)[0] for name in ("predictions", "mean_percent", "p90_percent"))
    return Validated(int(predictions), mean, p90, rows)


def far_outside(chips: Numbers, of: str) -> Iterator[str]:
    """A sentence for each number that lies far beyond what was ever compared."""
    for name, (low, high) in validated(of).ranges.items():
        there = chips[name][~np.isnan(chips[name])]  # without chips that lack the number
        if not len(there):
            continue
        most, least = float(there.max()), float(there.min())
        for value, beyond in ((most, most > FAR * high), (least, least * FAR < low)):
            if beyond and low > 0:
                yield f"{name}={value:g} is far outside the {low:g} to {high:g} that predictions were compared at"


def text_of(chips: Numbers, errors: np.ndarray) -> str:
    """The file, for predictions with these errors (shares) on these chips."""
    found = [
        ("predictions", len(errors), len(errors)),
        ("mean_percent", round(100 * float(np.mean(errors)), 1), 0),
        ("p90_percent", round(100 * float(np.quantile(errors, 0.9)), 1), 0),
        *(
            (name, f"{column.min():g}", f"{column.max():g}")
            for name, column in chips.columns.items()
            if name not in TAKE_NO_TIME and not np.isnan(column).any()
        ),
    ]
    return "name,low,high\n" + "".join(f"{name},{low},{high}\n" for name, low, high in found)
