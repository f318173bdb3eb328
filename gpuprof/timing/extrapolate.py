"""`--sample-blocks`: times blocks until the rate of work has settled, and works out from the rest's exact work how long it would take.

A full chip works at a steady rate, of issue slots a cycle, between the first blocks, which fill it and its L2, and the last, which leave
parts of it empty. The rate is looked at whenever a batch, as many blocks as run at a time, has ended. When two stretches of batches, each a third of all so far,
agree, only so many blocks are still started that a whole number of batches is left out: the end then looks as it would. How many issue slots
these have is known exactly, from the emulator's counters.
"""

from dataclasses import dataclass, replace

import numpy as np

from gpuprof.chips import Chip
from gpuprof.timing.batch import PreparedGrid
from gpuprof.timing.causes import scaled_causes
from gpuprof.timing.layout import QUANTUM, SECTOR_NBYTES
from gpuprof.timing.lengths import scaled_stalls
from gpuprof.timing.result import LaunchTiming
from gpuprof.timing.state import State
from gpuprof.timing.static import FOLDED, JOINED, static_program

LEAST_BATCHES = 2  # in a stretch
SETTLED = 0.015  # two stretches agree when their rates differ by less
UNNOTICED = 2  # times the larger of SETTLED and what the stretches differ by: as far as the rate of the rest may be off. The ladder of tests is within it
LEAST_SHARE = 0.08  # of the blocks is timed in any case: the blocks of a wave fall out of step slowly


@dataclass(frozen=True)
class Extrapolation:
    """Of `blocks`, the first `simulated` were timed. `slots_per_cycle` is the rate of the last two stretches, which differ by the share `spread`.

    `error` bounds, as a share, how far the cycles of the whole launch are off; 0 until these are known.
    """

    simulated: int
    blocks: int
    slots_per_cycle: float
    spread: float
    error: float = 0.0

    def __str__(self) -> str:
        return f"timed {self.simulated:,} of {self.blocks:,} blocks, cycles within {100 * self.error:.1f} %"


class Settling:
    """Watches one grid."""

    def __init__(self, grid: PreparedGrid, chip: Chip):
        cluster = grid.grid.launch.blocks_of_cluster
        self.n_blocks = grid.n_blocks
        self.batch = max(cluster, chip.sms * grid.fit.blocks_per_sm // cluster * cluster)
        self.l2_sectors = chip.l2_nbytes // SECTOR_NBYTES
        self.marks: list[tuple[int, int]] = []  # cycle and issue slots so far, after each batch since the caches are full
        self.due = self.batch  # blocks that end the batch

    def look(self, state: State) -> Extrapolation | None:
        """Once the rate has settled, and something can be left out: what is known then. No blocks beyond `simulated` are to start."""
        record = state.core.grid[0]
        if record["done_blocks"] < self.due:
            return None
        self.due = (int(record["done_blocks"]) // self.batch + 1) * self.batch
        if not self.is_warm(int(record["l2_sectors"] - record["l2_hits"]), int(record["done_blocks"])):
            return None
        self.marks.append((int(state.machine[0]["now"]) + QUANTUM, int(record["issue_slots"])))
        stretch = max(LEAST_BATCHES, (len(self.marks) - 1) // 3)
        if len(self.marks) <= 2 * stretch or record["done_blocks"] < LEAST_SHARE * self.n_blocks:
            return None
        cycles, slots = (np.diff(column) for column in zip(*self.marks[-1 - 2 * stretch :: stretch], strict=True))
        slower, faster = float((slots / cycles).min()), float((slots / cycles).max())
        left_out = (self.n_blocks - int(record["next_block"])) // self.batch * self.batch
        if left_out <= 0 or faster - slower > SETTLED * slower:
            return None
        return Extrapolation(self.n_blocks - left_out, self.n_blocks, float(slots.sum() / cycles.sum()), (faster - slower) / slower)

    def is_warm(self, misses: int, done_blocks: int) -> bool:
        """Whether the L2 has taken in as much as it holds: before, nothing need be written back. Or whether all blocks together will not do that."""
        return misses >= self.l2_sectors or misses * self.n_blocks < self.l2_sectors * done_blocks


def issue_slots(code: np.ndarray, chip: Chip, inst_executed: np.ndarray) -> int:
    """Of all executed instructions of a module: uint64 (instructions,)."""
    inst = static_program(code, chip).inst
    return int(np.where(np.isin(inst["kind"], (FOLDED, JOINED)), 0, inst["slots"]) @ inst_executed.astype(np.int64))


def extrapolated(timing: LaunchTiming, slots: int, load_base: int) -> LaunchTiming:
    """The timing of the whole launch, which has `slots` issue slots and whose module is loaded at `load_base`. Ledger, stalls and counts of
    caches grow as the work does; samples do not."""
    known = timing.extrapolation
    more_cycles = round((slots - timing.issue_slots) / known.slots_per_cycle)
    factor = slots / timing.issue_slots
    ledger = np.rint(timing.ledger * factor).astype(np.uint64)
    active = np.where(timing.active_cycles_of_sm > 0, timing.active_cycles_of_sm + np.uint64(more_cycles), np.uint64(0))
    scaled = {name: round(getattr(timing, name) * factor) for name in SCALED}
    error = UNNOTICED * max(SETTLED, known.spread) * more_cycles / (timing.cycles + more_cycles)
    return replace(
        timing,
        **scaled,
        extrapolation=replace(known, error=error),
        end_cycle=timing.end_cycle + more_cycles,
        cycles=timing.cycles + more_cycles,
        issue_slots=slots,
        resident_warp_cycles=int(ledger.sum()),
        warps_launched=timing.warps_launched // known.simulated * known.blocks,
        blocks_launched=known.blocks,
        sm_active_cycles=int(active.sum()),
        active_cycles_of_sm=active,
        ledger=ledger,
        stalls=scaled_stalls(timing.stalls, factor),
        causes=scaled_causes(timing.causes, ledger, load_base, factor),
    )


SCALED = (
    "l1_sectors",
    "l1_hits",
    "l2_sectors",
    "l2_hits",
    "dram_read_nbytes",
    "dram_write_nbytes",
    "shared_wavefronts",
    "tensor_busy_cycles",
)


def note(kernel: str, whole: LaunchTiming) -> str:
    """What a report says of an extrapolated launch."""
    known = whole.extrapolation
    return (
        f"{kernel}: --sample-blocks timed {known.simulated:,} of {known.blocks:,} blocks and extrapolated the rest: cycles within "
        f"{100 * known.error:.1f} % of a full run's, ledger and cache counts scaled, samples of what was timed"
    )
