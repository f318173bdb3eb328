"""Pairs the figures of two checkouts: `python -m tests.bench --against REV`.

Both measure a group by turns on the same machine, the base first in every second round, so that a slower hour of the
machine meets both. A factor above 1 is an improvement, whatever the unit. It is the median of the factors of the
rounds: what a round measured later has another machine under it.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.paths import ROOT
from tests.same.make import base_checkout

# Of these, more is better; of seconds, bytes, cycles and shares, less is.
RATE_UNITS = ("warp-instructions/s", "records/s", "MB/s", "times as fast")


class Pair(NamedTuple):
    """A figure of both checkouts: medians of the rounds, and the median of the factors. `n_rounds` have both."""

    name: str
    unit: str
    base: float
    here: float
    factor: float
    n_rounds: int


def factor_of(unit: str, base: float, here: float) -> float | None:
    """How many times better `here` is than `base`; None where one of them is no positive number."""
    if base <= 0 or here <= 0:
        return None
    return here / base if unit in RATE_UNITS else base / here


def pairs_of(rounds: Sequence[tuple[list[dict], list[dict]]]) -> list[Pair]:
    """`rounds`: the rows of the base and of this checkout, as `tests.bench` prints them."""
    found: dict[str, list[tuple[str, float, float, float]]] = {}
    for base_rows, rows in rounds:
        bases = {row["name"]: row for row in base_rows}
        for row in rows:
            base = bases.get(row["name"])
            factor = factor_of(row["unit"], base["value"], row["value"]) if base else None
            if factor is not None:
                found.setdefault(row["name"], []).append((row["unit"], base["value"], row["value"], factor))
    pairs = []
    for name, values in found.items():
        units, bases, heres, factors = zip(*values, strict=True)
        pairs.append(Pair(name, units[0], *map(statistics.median, (bases, heres, factors)), len(factors)))
    return pairs


def table_line(pair: Pair) -> str:
    return f"{pair.name:28} {pair.base:>14,.10g} {pair.here:>14,.10g} {pair.unit:20} x{pair.factor:.3f}"


def compare(groups: Sequence[str], base: str, n_rounds: int) -> list[Pair]:
    """Measures the groups in both checkouts and prints a line for each figure. A group that the base lacks, or cannot
    measure, has no pairs.
    """
    pairs = []
    with tempfile.TemporaryDirectory() as scratch:
        folders = (base_checkout(base, Path(scratch)).folder, ROOT)
        print(f"{'figure':28} {'base':>14} {'here':>14}")
        for group in groups:
            rounds = [_round(group, folders, Path(scratch), number % 2 == 1) for number in range(n_rounds)]
            found = pairs_of(rounds)
            pairs += found
            for pair in found:
                print(table_line(pair), flush=True)
            if not found:
                print(f"{group}: no figure that both have", flush=True)
    return pairs


def _round(
    group: str, folders: tuple[Path, Path], scratch: Path, is_reversed: bool, rows: Callable | None = None
) -> tuple[list[dict], list[dict]]:
    measured = {folder: (rows or rows_of)(folder, group, scratch) for folder in folders[:: -1 if is_reversed else 1]}
    return measured[folders[0]], measured[folders[1]]


def rows_of(checkout: Path, group: str, scratch: Path) -> list[dict]:
    """The rows of a group, measured in a checkout; none where it cannot measure it."""
    environment = os.environ | {"PYTHONPATH": str(checkout)}  # before an installation that is editable
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        command = [sys.executable, "-m", "tests.bench", "--in", folder, group]
        done = subprocess.run(command, cwd=checkout, env=environment, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []
