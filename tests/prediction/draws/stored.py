"""The truth of frames on disk: what was simulated, a row for each draw, command buffer and frame on each chip; and for
each draw alone, where the host waits before and behind it.

    truth.csv  frame, chip, level, part, cycles, units

`part`: number of the draw, or of the command buffer, in the recording. `units` has `unit:share` for each unit whose
doubled rate shortens it by LEAST_SHARE or more, the one that does it most first; NOT_DOUBLED where no unit was doubled,
as of draws alone.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.prediction.stored import LEAST_SHARE

TRUTH = Path(__file__).with_name("truth.csv")
NOT_DOUBLED = "-"
ALONE = "alone"
DRAW, BUFFER, FRAME = LEVELS = ("draw", "buffer", "frame")


class DrawRow(NamedTuple):
    frame: str
    chip: str
    level: str
    part: int
    cycles: float
    units: str

    def shares(self) -> dict[str, float] | None:
        """Share of the cycles that twice a unit's rate saves, the largest first; None where no unit was doubled."""
        if self.units == NOT_DOUBLED:
            return None
        return {unit: float(share) for unit, _, share in (text.partition(":") for text in self.units.split())}


def row_of(frame: str, chip: str, part: tuple[str, int], cycles: float, doubled: dict[str, float]) -> DrawRow:
    """`part`: a level, and the number there. `doubled`: cycles with twice the rate of each unit; empty: of none."""
    saved = {unit: (cycles - less) / cycles for unit, less in doubled.items()}
    order = sorted(saved, key=lambda unit: (-saved[unit], unit))
    units = " ".join(f"{unit}:{saved[unit]:.4f}" for unit in order if saved[unit] >= LEAST_SHARE)
    # a float also where all cycles are whole: a row is written the same when it has been read
    return DrawRow(frame, chip, *part, float(cycles), units if doubled else NOT_DOUBLED)


def merged(
    old: Iterable[DrawRow], new: Iterable[DrawRow], frames: Iterable[str], chips: Sequence[str]
) -> list[DrawRow]:
    """The old rows, but for the pairs of frame and chip that the new ones have; in the order of frames, then chips."""
    new, order = list(new), list(frames)
    pairs = {(row.frame, row.chip) for row in new}
    rows = [row for row in old if (row.frame, row.chip) not in pairs] + new
    return sorted(rows, key=lambda row: (order.index(row.frame), chips.index(row.chip)))
