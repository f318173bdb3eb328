"""The published values, by id: published.csv. The file has every row that was found, also those that no case runs."""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.silicon.cards import card
from tests.silicon.case import Case

PATH = Path(__file__).parent / "published.csv"
SECONDS = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
RATES = {"GFLOP/s": 1e9, "TFLOP/s": 1e12, "GOP/s": 1e9, "TOP/s": 1e12, "GB/s": 1e9}
TRUST = ("high", "medium-high", "medium", "ratios only", "low")
TRUSTED = ("high", "medium-high", "medium")


class Published(NamedTuple):
    """`clock_mhz` is the SM's clock in that run; `source` is the repository and the file that has the kernel."""

    id: str
    value: float
    unit: str
    clock_mhz: float
    trust: str
    source: str


@cache
def by_id() -> dict[str, Published]:
    with PATH.open(encoding="utf-8", newline="") as file:
        return {
            row["id"]: Published(**{**row, "value": float(row["value"]), "clock_mhz": float(row["clock_mhz"])})
            for row in csv.DictReader(file)
        }


def published_cycles(case: Case) -> float:
    """SM cycles of the published launch. Raises KeyError for a unit that no table here has."""
    row = by_id()[case.id]
    if row.unit == "cycles":
        return row.value
    seconds = case.work / (row.value * RATES[row.unit]) if row.unit in RATES else row.value * SECONDS[row.unit]
    return ((seconds * 1e6 - case.overhead_us) * row.clock_mhz - outside_cycles(case, row.clock_mhz)) * case.turns


def outside_cycles(case: Case, clock_mhz: float) -> float:
    """Cycles of an empty kernel's measurement that the model's empty kernel has not: they are the measurement's own."""
    if not case.empty_us:
        return 0
    chip = card(case.card, clock_mhz)
    return case.empty_us * clock_mhz - chip.grid_overhead_cycles - chip.block_launch_cycles
