"""The record of a launch of which only some blocks were timed (see `timing.extrapolate`)."""

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Rate:
    """Issue slots a cycle, and as which share of it that may be off; bytes written to the DRAM a slot."""

    slots_per_cycle: float
    off: float
    written_nbytes_per_slot: float = 0.0


@dataclass(frozen=True)
class Filling:
    """The work that was left out while the L2 would have become full."""

    slots: float
    rate: Rate


@dataclass(frozen=True)
class Extrapolation:
    """The first `simulated` of `blocks` blocks were timed. The work of `filling` comes next, and the rest runs at
    `rate`.

    `error` bounds, as a share, how far the cycles of the whole launch are off; 0 until these are known. `block_slots`:
    issue slots of a block that was timed, where the others may have other work; 0 where the rate had settled.
    """

    simulated: int
    blocks: int
    rate: Rate
    filling: Filling | None = None
    error: float = 0.0
    block_slots: float = 0.0

    def __str__(self) -> str:
        return f"timed {self.simulated:,} of {self.blocks:,} blocks, cycles within {100 * self.error:.1f} %"

    def parts(self, slots: float) -> list[Filling]:
        """`slots` that were not timed, by their rates."""
        if not self.filling:
            return [Filling(slots, self.rate)]
        before = min(slots, self.filling.slots)
        return [Filling(before, self.filling.rate), Filling(slots - before, self.rate)]

    def cycles(self, slots: float) -> tuple[float, float]:
        """(what `slots` that were not timed take, by how much that may be off)."""
        parts = self.parts(slots)
        cycles = [part.slots / part.rate.slots_per_cycle for part in parts]
        off = sum(taken * part.rate.off for taken, part in zip(cycles, parts, strict=True))
        # Blocks with twice the work take twice as long where the chip is busy, and as long where each waits for itself.
        uneven = sqrt(slots / self.block_slots / (self.blocks - self.simulated)) if self.block_slots and slots else 1.0
        return sum(cycles) / uneven, (off + sum(cycles) * (max(uneven, 1 / uneven) - 1)) / uneven

    def written_nbytes(self, nbytes: int, slots: float) -> int:
        """Bytes that the whole launch writes to the DRAM: what was timed has written `nbytes`, and `slots` were not."""
        return round(nbytes + sum(part.slots * part.rate.written_nbytes_per_slot for part in self.parts(slots)))
