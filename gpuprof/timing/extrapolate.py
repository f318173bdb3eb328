"""`--sample-blocks`: times blocks until the rate of work has settled, and works out from the rest's exact work how long
it would take.

A full chip works at a steady rate, of issue slots a cycle, between the first blocks, which fill it, and the last, which
leave parts of it empty; and at another one from when the L2 is full, for then written lines must go to the DRAM. An L2
that has as many changed lines as it keeps counts as full, too. The rate is measured whenever a batch, as many blocks as
run at a time, has ended. Once it is known well enough before the L2 is full, the L2 is filled at once (`fill_l2`); once
it is known well enough after that, only so many further blocks are started that an integral number of batches is left
out: the end then looks as it would. How many issue slots these have is known exactly, from the emulator's counters.

A launch of few batches has no such rate: `FewWaves` times the first of them, and states by how much the others may take
longer or shorter.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpuprof.chips import Chip
from gpuprof.chips.model import LINE_NBYTES
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.tables.launch import ATOMIC_LINES, NUMBERS
from gpuprof.tables.table import SUM, WORK
from gpuprof.timing.batch import PreparedGrid
from gpuprof.timing.stall_causes import scaled_causes
from gpuprof.timing.state.activity_bins import extended
from gpuprof.timing.state.extrapolation import Extrapolation, Filling, Rate
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.layout import ALL_SECTORS, QUANTUM, SECTOR_NBYTES
from gpuprof.timing.state.machine import State
from gpuprof.timing.state.stall_tables import scaled_stalls
from gpuprof.timing.state.static_program import FOLDED, JOINED, static_program

if TYPE_CHECKING:
    from gpuprof.device.module import LoadedModule

QUARTERS = 4  # stretches of batches that give a rate
LEAST_BATCHES = 6  # a rate needs more than these
# How far a rate may be off, as a share, and never less than LEAST_OFF: by SPREADS standard deviations of the quarters'
# costs (the mean of two is within that nine times in ten, where only chance is at work), and by twice the drift from
# the first half to the second, which may continue. Four quarters agree by chance now and then, so the bound is not less
# than the standard error of the batches that give the rate.
LEAST_OFF, SPREADS, DRIFTS = 0.03, 1.6, 2
MOST_ERROR = 0.03  # of the cycles of the launch; of which the time before the L2 is full may take MOST_ERROR_FILLING
MOST_ERROR_FILLING = 0.01
# What was not timed may be off by so much for reasons that the part before does not show: phases that come later. The
# first launch of samples/programs/heat.cu on four SMs is 6.0 % off in what was left out.
UNSEEN = 0.08
# A launch of so many waves or more, and of fewer than FEW_WAVES, which are as many as the rate of a longer one takes.
LEAST_WAVES, FEW_WAVES = 4, 28
WAVE_MARGIN = 0.1  # of a wave's slots at its begin, and at its end, which are not its midst
# What the first waves do not show, as a share and in cycles: their caches are cold, and the DRAM has not begun to
# write back. Set by a dozen launches (docs/model/launches.md, Part of a launch).
UNSEEN_WAVES, COLD_CYCLES = 0.05, 500
FULL = 0.9  # of the lines, or changed lines, of an L2 that counts as full: its last sets take long
FAR_SHIFT = 42  # a line number so far from another is none of the memory's
WORTH, AFTER = 6, 12  # batches that filling the L2 at once must spare, and that must follow: enough for a rate


def settled(marks: np.ndarray) -> Rate | None:
    """The rate of work in the last half of `marks`, (cycle, issue slots, bytes for the DRAM to write) after each batch.
    None for too few batches.
    """
    quarter = (len(marks) - 1) // QUARTERS
    if len(marks) <= LEAST_BATCHES:
        return None
    cycles, slots, written = np.diff(marks[-1 - QUARTERS * quarter :: quarter], axis=0).T
    cost = cycles / slots
    drift = abs(cost[:2].mean() / cost[2:].mean() - 1)
    of_quarters = SPREADS * cost.std(ddof=1) / cost.mean() + DRIFTS * drift
    batch_cycles, batch_slots, _ = np.diff(marks[-1 - QUARTERS // 2 * quarter :], axis=0).T
    batches = batch_cycles / batch_slots
    of_batches = batches.std(ddof=1) / batches.mean() / np.sqrt(len(batches))
    off = float(max(LEAST_OFF, of_quarters, of_batches))
    worked = slots[2:].sum()
    return Rate(float(worked / cycles[2:].sum()), off, float(written[2:].sum() / worked))


def batch_of(grid: PreparedGrid, chip: Chip) -> int:
    """The blocks that run at a time, in whole clusters."""
    cluster = grid.grid.launch.blocks_of_cluster
    return max(cluster, chip.sms * grid.fit.blocks_per_sm // cluster * cluster)


def watching(grid: PreparedGrid, chip: Chip) -> "Settling | FewWaves":
    """Makes what decides how many of a grid's blocks are timed."""
    waves = grid.n_blocks / batch_of(grid, chip)
    return FewWaves(grid, chip) if LEAST_WAVES <= waves < FEW_WAVES else Settling(grid, chip)


class FewWaves:
    """Times a quarter of the waves of a grid, from its first on, and no other block."""

    def __init__(self, grid: PreparedGrid, chip: Chip):
        self.batch, self.n_blocks = batch_of(grid, chip), grid.n_blocks
        self.timed = int(grid.n_blocks / self.batch / LEAST_WAVES)  # waves
        self.marks: list[tuple[int, int]] = []  # cycle and issue slots, again and again
        self.n_changed: int | None = None  # changed lines in the L2 at the first look

    def look(self, state: State) -> None:
        """Notes how far the work is; called while it runs."""
        record = state.core.grid[0]
        record["total_blocks"] = record["released"] = self.timed * self.batch
        if self.n_changed is None:
            self.n_changed = lines_of(state)[1]
        self.marks.append((int(state.machine[0]["now"]) + QUANTUM, slots_so_far(state)))

    def end(self, state: State) -> Extrapolation:
        """The extrapolation, once all blocks that are timed have ended."""
        end, slots = int(state.core.grid[0]["end_cycle"]), slots_so_far(state)
        cycles, off = wave_cycles(np.array([*self.marks, (end, slots)]), self.timed)
        left = self.n_blocks / self.batch - self.timed
        # Blocks that end together leave the last wave partly empty, and it may take as long as a full one; those that
        # do not fill the gaps.
        part = (np.ceil(left - 1e-9) - left) / left
        rate = Rate(float(slots / self.timed / (cycles * (1 + part / 4))), float(off + part / 2))
        timed = self.timed * self.batch
        return Extrapolation(timed, self.n_blocks, *self.writing(state, slots, rate), block_slots=slots / timed)

    def writing(self, state: State, slots: int, rate: Rate) -> tuple[Rate, Filling | None]:
        """The rate with what it writes to the DRAM, and the work before the L2 has as many changed lines as it keeps.
        Before that, the rest writes as much as the timed waves have; after it, the lines that they have left, too.
        """
        written = SECTOR_NBYTES * int(state.core.grid[0]["dram_write_sectors"]) / slots
        n_changed = lines_of(state)[1]
        changed = (n_changed - (self.n_changed or 0)) / slots
        if changed <= 0:
            return replace(rate, written_nbytes_per_slot=written), None
        room = max(0, most_lines_of(state)[1] - n_changed)
        filling = Filling(room / changed, replace(rate, written_nbytes_per_slot=written))
        return replace(rate, written_nbytes_per_slot=written + changed * LINE_NBYTES), filling


def wave_cycles(marks: np.ndarray, n_waves: int) -> tuple[float, float]:
    """(cycles of a further wave, by which share that may be off), from marks of the first `n_waves`, (cycle, issue
    slots), the last one at their end.

    A wave takes about as long as the first ones with their begin and their end, or less, as far as waves overlap: then
    it is as fast as these in their midst.
    """
    end, slots = marks[-1]
    begin = marks[np.searchsorted(marks[:, 1], 1) - 1, 0]  # the last mark without work
    margin = max(WAVE_MARGIN, 1 / (2 * n_waves) if n_waves > 1 else 0)
    low, high = np.interp([margin * slots, (1 - margin) * slots], marks[:, 1], marks[:, 0])
    midst, whole = (high - low) / (1 - 2 * margin) / n_waves, (end - begin) / n_waves
    cycles = np.sqrt(midst * whole)
    return cycles, max(whole, midst) / cycles - 1 + UNSEEN_WAVES + COLD_CYCLES / cycles


class Settling:
    """Watches one grid until its rate of work is steady."""

    def __init__(self, grid: PreparedGrid, chip: Chip):
        self.n_blocks = grid.n_blocks
        self.batch = batch_of(grid, chip)
        self.due = self.batch  # blocks that end the batch
        # Cycle, issue slots, bytes that the DRAM has written or will, lines and changed lines in the L2 after each
        # batch; emptied when the L2 is full.
        self.marks: list[tuple[int, int, int, int, int]] = []
        self.is_full = False
        self.filling: Filling | None = None

    def look(self, state: State) -> Extrapolation | None:
        """The extrapolation, once the rate has settled and some blocks can be left out; None before. The caller starts
        no blocks beyond its `simulated`.
        """
        record = state.core.grid[0]
        done = int(record["done_blocks"])
        if done < self.due:
            return None
        self.due = (done // self.batch + 1) * self.batch
        lines, most = lines_of(state), most_lines_of(state)
        # A full L2 writes a line back for each new one, so earlier batches do not show the rate from now on.
        if not self.is_full and any(n >= FULL * n_most for n, n_most in zip(lines, most, strict=True)):
            self.is_full, self.marks = True, []
        # machine.now is where the quantum that has just run began.
        slots = slots_so_far(state)
        written = SECTOR_NBYTES * int(record["dram_write_sectors"] + state.memory.write_queue["sectors"].sum())
        self.marks.append((int(state.machine[0]["now"]) + QUANTUM, slots, written, *lines))
        rate = settled(np.array([mark[:3] for mark in self.marks]))
        if rate is None:
            return None
        slots_of_block = slots / done
        if not self.is_full and (to_fill := self.slots_to_fill(most)) < (self.n_blocks - done) * slots_of_block:
            if self.is_worth_filling(rate, to_fill / slots_of_block, self.n_blocks - done):
                fill_l2(state, 1 - done / int(record["next_block"]))
                self.filling, self.is_full, self.marks = Filling(to_fill, rate), True, []
            return None
        # Whole batches, so that the last ones leave the chip as empty as they would in a full run.
        left_out = (self.n_blocks - int(record["next_block"])) // self.batch * self.batch
        extrapolation = Extrapolation(self.n_blocks - left_out, self.n_blocks, rate, self.filling)
        if self.filling and left_out * slots_of_block <= self.filling.slots:
            return extrapolation  # that was left out already, whatever the rate after it has become
        all_cycles = (
            self.marks[-1][0]
            - int(record["start_cycle"])
            + extrapolation.cycles((self.n_blocks - done) * slots_of_block)[0]
        )
        return (
            extrapolation
            if left_out > 0 and extrapolation.cycles(left_out * slots_of_block)[1] <= MOST_ERROR * all_cycles
            else None
        )

    def end(self, state: State) -> None:
        """Nothing settled before the last block ended."""

    def slots_to_fill(self, most: tuple[int, int]) -> float:
        """Issue slots until the L2 is full, at the rate at which the second half of the marks has filled it."""
        _, slots, _, *lines = np.diff([self.marks[len(self.marks) // 2], self.marks[-1]], axis=0)[0]
        room = np.subtract(most, self.marks[-1][3:])
        return min((float(n * slots / b) for n, b in zip(room, lines, strict=True) if b > 0), default=np.inf)

    def is_worth_filling(self, rate: Rate, blocks: float, left: int) -> bool:
        """True when filling the L2 at once pays: it leaves out `blocks` of the `left` blocks that have not run."""
        return (
            WORTH * self.batch < blocks < left - AFTER * self.batch
            and rate.off * blocks <= MOST_ERROR_FILLING * self.n_blocks
        )


def lines_of(state: State) -> tuple[int, int]:
    """The lines in the L2, and those of them that stores have changed as a whole."""
    tables = state.memory
    return int(np.count_nonzero(tables.l2_tag)), int(np.count_nonzero(tables.l2_line["dirty"] == ALL_SECTORS))


def most_lines_of(state: State) -> tuple[int, int]:
    """The most lines, and changed lines, that an L2 keeps."""
    machine, n_lines = state.machine[0], len(state.memory.l2_tag)
    return n_lines, n_lines // int(machine["l2_ways"]) * int(machine["l2_dirty_ways"])


def slots_so_far(state: State) -> int:
    """The issue slots of the batch's first grid, on all SMs."""
    return int(state.core.presence["issue_slots"][0].sum())


def issue_slots(module: "LoadedModule", chip: Chip, counters: LaunchCounters) -> int:
    """The issue slots of a launch, from its counters for each instruction of `module`."""
    inst = static_program(module.code, module.program.functions, chip).inst
    # Renaming moves and the further rows of a wgmma issue nothing, whatever slots their rows have.
    slots = np.where(np.isin(inst["kind"], (FOLDED, JOINED)), 0, inst["slots"])
    return int(slots @ counters.inst_executed.astype(np.int64)) + sum(counters.slow_slots.values())


def extrapolated(timing: LaunchTiming, slots: int, load_base: int) -> LaunchTiming:
    """The timing of the whole launch, which has `slots` issue slots and whose module is loaded at `load_base`. Ledger,
    stalls and counts of caches grow as the work does; samples do not."""
    known = timing.extrapolation
    left = slots - timing.issue_slots
    more, off = known.cycles(left)
    more_cycles = round(more)
    factor = slots / timing.issue_slots
    # Rougher than the cycles: the ledger's sum was up to a ninth off (docs/model/launches.md, Part of a launch).
    ledger = np.rint(timing.ledger * factor).astype(np.uint64)
    active = np.where(timing.active_cycles_of_sm > 0, timing.active_cycles_of_sm + np.uint64(more_cycles), np.uint64(0))
    scaled = {name: round(getattr(timing, name) * factor) for name in NUMBERS.names(WORK)}
    scaled["dram_write_nbytes"] = known.written_nbytes(timing.dram_write_nbytes, left)
    return replace(
        timing,
        **scaled,
        extrapolation=replace(known, error=error_of(timing.cycles + more, more, max(off, UNSEEN * more))),
        end_cycle=timing.end_cycle + more_cycles,
        cycles=timing.cycles + more_cycles,
        issue_slots=slots,
        resident_warp_cycles=int(ledger.sum()),
        warps_launched=timing.warps_launched // known.simulated * known.blocks,
        blocks_launched=known.blocks,
        sm_active_cycles=int(active.sum()),
        active_cycles_of_sm=active,
        ledger=ledger,
        activity=extended(
            timing.activity, ledger.sum(axis=0), int(active.sum()), timing.end_cycle + more_cycles - timing.start_cycle
        ),
        stalls=scaled_stalls(timing.stalls, factor),
        causes=scaled_causes(timing.causes, ledger, load_base, factor),
        atomic_lines=scaled_lines(timing.atomic_lines, factor),
    )


def error_of(cycles: float, more: float, off: float) -> float:
    """By which share of a full run's cycles an estimate may be off, of which `more` were not timed and may be off by
    `off`: those are 0 or more, so a full run takes no less than the cycles that were timed.
    """
    too_many = min(off, more)
    return max(too_many / (cycles - too_many), off / (cycles + off))


def scaled_lines(rows: np.ndarray, factor: float) -> np.ndarray:
    """Rows of tables.launch.ATOMIC_LINES, with so many times the time and the requests."""
    scaled = rows.copy()
    for name in ATOMIC_LINES.names(SUM):
        scaled[name] = np.rint(rows[name] * factor)
    return scaled


def note(kernel: str, launch: LaunchTiming) -> str:
    """The note that a recording carries on an extrapolated launch."""
    known = launch.extrapolation
    return (
        f"{kernel}: --sample-blocks timed {known.simulated:,} of {known.blocks:,} blocks and extrapolated the rest: "
        "cycles within "
        f"{100 * known.error:.1f} % of a full run's, ledger and cache counts scaled, samples of what was timed"
    )


def fill_l2(state: State, running: float = 0.0) -> None:
    """Makes an L2 that is filling look as after long use: puts a line that no request will hit into every empty way, a
    copy of a line of the same set, used as long before it as the whole cache has been in use, and as dirty as that
    while the set has no more dirty lines than it keeps. So the ways are freed, and the written data goes to the DRAM,
    in the order and in the mixture in which lines came. The same bits of its number choose its channel, bank and row,
    so that copies of neighbours are neighbours. `running`: the share of the blocks started so far that still run. What
    they have read they may still write, so their clean lines are copied only where a set has no other.
    """
    machine, tables = state.machine[0], state.memory
    ways = int(machine["l2_ways"])
    tag = tables.l2_tag.reshape(-1, ways)
    use, line = tables.l2_use.reshape(-1, ways), tables.l2_line.reshape(-1, ways)
    is_valid = tag != 0
    is_model = is_valid & ((line["dirty"] != 0) | (use <= (1 - running) * int(machine["l2_uses"])))
    is_model = np.where(is_model.any(axis=1, keepdims=True), is_model, is_valid)
    n_models = is_model.sum(axis=1, keepdims=True)
    number = np.cumsum(~is_valid, axis=1) - 1  # of an empty place among those of its set
    generation, which = np.divmod(number, np.maximum(n_models, 1))
    source = np.take_along_axis(np.argsort(~is_model, axis=1, kind="stable"), which % ways, axis=1)
    empty = ~is_valid & (n_models > 0)
    generation = generation + 1
    tag[empty] = (np.take_along_axis(tag, source, axis=1) + (generation << FAR_SHIFT))[empty]
    use[empty] = (np.take_along_axis(use, source, axis=1) - generation * int(machine["l2_uses"]))[empty]
    copies = np.take_along_axis(line, source, axis=1)
    copies["pending_until"] = 0
    line[empty] = copies[empty]
    _write_back(line, use, empty, int(machine["l2_dirty_ways"]))


def _write_back(line: np.ndarray, use: np.ndarray, is_copy: np.ndarray, most: int) -> None:
    """Writes copies back that are changed as a whole, the oldest first, where a set has more than `most` such lines."""
    is_whole = line["dirty"] == ALL_SECTORS
    newest_first = np.argsort(-use, axis=1, kind="stable")
    rank = np.cumsum(np.take_along_axis(is_whole, newest_first, axis=1), axis=1)
    is_old = np.zeros_like(is_whole)
    np.put_along_axis(is_old, newest_first, rank > most, axis=1)
    line["dirty"][is_copy & is_whole & is_old] = 0
