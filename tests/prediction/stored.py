"""The truth on disk: what was simulated, a row for each launch and chip, and which units shorten it.

    truth.csv        name, chip, launch, kernel, stream, start_cycle, end_cycle, cycles, why
    bottlenecks.csv  name, chip, launches, cycles, units

`why`: the first line of the error, where the chip cannot run it; the numbers are then 0. `launches` are those of a
command buffer; of the whole, "". `units` has `unit:share` for each unit whose doubled rate shortens it by LEAST_SHARE
or more, the one that does it most first.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from tests.prediction.truth import Timed

TRUTH, BOTTLENECKS = (Path(__file__).parent / name for name in ("truth.csv", "bottlenecks.csv"))
LEAST_SHARE = 0.005


class TruthRow(NamedTuple):
    name: str
    chip: str
    launch: int
    kernel: str
    stream: int
    start_cycle: int
    end_cycle: int
    cycles: int
    why: str


class BottleneckRow(NamedTuple):
    name: str
    chip: str
    launches: str
    cycles: int
    units: str

    def shares(self) -> dict[str, float]:
        """Share of the cycles that twice a unit's rate saves, the largest first."""
        return {unit: float(share) for unit, _, share in (text.partition(":") for text in self.units.split())}


Row = TypeVar("Row", TruthRow, BottleneckRow)


def truth_rows(name: str, chip: str, timed: Iterable[Timed]) -> list[TruthRow]:
    return [TruthRow(name, chip, *launch, "") for launch in timed]


def refused(name: str, chip: str, why: str) -> TruthRow:
    return TruthRow(name, chip, 0, "", 0, 0, 0, 0, why)


def whole_cycles(timed: Sequence[Timed] | Sequence[TruthRow], is_test: bool) -> int:
    """What is judged: a kernel's last launch, or a test from power-on to the end of its last launch."""
    return max(launch.end_cycle for launch in timed) if is_test else timed[-1].cycles


def buffer_cycles(timed: Sequence[Timed] | Sequence[TruthRow], launches: Sequence[int], launch_cycles: int) -> int:
    """From the host's request to the end of the last launch of a command buffer."""
    of = [launch for launch in timed if launch.launch in launches]
    return max(launch.end_cycle for launch in of) - min(launch.start_cycle for launch in of) + launch_cycles


def bottleneck_row(name: str, chip: str, launches: str, cycles: int, doubled: dict[str, int]) -> BottleneckRow:
    """`doubled`: cycles with twice the rate of each unit."""
    saved = {unit: (cycles - less) / cycles for unit, less in doubled.items()}
    order = sorted(saved, key=lambda unit: (-saved[unit], unit))
    return BottleneckRow(
        name,
        chip,
        launches,
        cycles,
        " ".join(f"{unit}:{saved[unit]:.4f}" for unit in order if saved[unit] >= LEAST_SHARE),
    )


def read(path: Path, row: type[Row]) -> list[Row]:
    with path.open(newline="") as file:
        return [
            row(*(kind(text) for kind, text in zip(_kinds(row), line, strict=True)))
            for line in list(csv.reader(file))[1:]
        ]


def _kinds(row: type[Row]) -> list[type]:
    return [row.__annotations__[field] for field in row._fields]


def write(path: Path, row: type[Row], rows: Sequence[Row]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(row._fields)
        writer.writerows(rows)


def merged(old: Iterable[Row], new: Iterable[Row], names: Sequence[str], chips: Sequence[str]) -> list[Row]:
    """The old rows, but for the pairs of name and chip that the new ones have; in the order of names, then chips."""
    found: dict[tuple[str, str], list[Row]] = {}
    for rows in (list(old), list(new)):
        pairs = {(row.name, row.chip) for row in rows}
        for pair in pairs:
            found[pair] = []
        for row in rows:
            found[row.name, row.chip].append(row)
    return [row for name in names for chip in chips for row in found.get((name, chip), ())]
