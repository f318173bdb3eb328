"""Counts while a launch runs, by basic block where possible, and turns them into LaunchCounters at the end."""

import numpy as np

from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.patterns import Patterns


class Tally:
    """Counts events of a launch. `is_wanted`: the numbers of `counters` are read; else nothing is counted."""

    def __init__(self, counters: LaunchCounters, is_wanted: bool):
        self.counters, self.is_wanted = counters, is_wanted
        self.warps: dict[int, int] = {}
        self.threads: dict[int, int] = {}
        self.guarded: dict[int, int] = {}  # instruction -> lanes whose guard held

    def block(self, index: int, n_warps: int, n_threads: int) -> None:
        # Blocks are counted, not their instructions: of these, only the guarded ones need counts of their own.
        self.warps[index] = self.warps.get(index, 0) + n_warps
        self.threads[index] = self.threads.get(index, 0) + n_threads

    def access(self, at: int, space: str, totals) -> None:
        """Counts the work of instruction `at` on one state space (coalesce.Totals)."""
        counters = self.counters
        if space == "global":
            self.sectors(at, totals.lines, totals.n_sectors, totals.ideal_sectors)
        elif space == "local":
            counters.l2_sectors_local[at] += np.uint64(totals.n_sectors)
        if space in ("shared", "global"):  # of this, what stays on the chip
            counters.l1_wavefronts_shared[at] += np.uint64(totals.wavefronts)
            counters.l1_wavefronts_shared_ideal[at] += np.uint64(totals.ideal_wavefronts)

    def sectors(self, at: int, n_lines: int, n_sectors: int, n_ideal: int) -> None:
        """Counts what instruction `at` asks of global memory."""
        counters = self.counters
        counters.l1_tag_requests_global[at] += np.uint64(n_lines)
        counters.l2_sectors_global[at] += np.uint64(n_sectors)
        counters.l2_sectors_global_ideal[at] += np.uint64(n_ideal)

    def divergence(self, at: int, n_warps: int) -> None:
        """Counts warps that instruction `at` splits."""
        self.counters.divergent_branches[at] += np.uint64(n_warps)

    def slow_path(self, at: int, slots: int) -> None:
        """Counts issue slots that warps took beyond those of the row of instruction `at`."""
        self.counters.slow_slots[at] = self.counters.slow_slots.get(at, 0) + slots

    def guard(self, at: int, n_threads: int) -> None:
        """Counts threads whose guard of instruction `at` holds."""
        self.guarded[at] = self.guarded.get(at, 0) + n_threads

    def pattern(self, at: int, address: np.ndarray, masks: np.ndarray, nbytes: int) -> None:
        """Counts where the lanes of instruction `at` are in shared memory: as `noting.note` takes it."""
        from gpuprof.emulate.trace_log.pattern_counts import note

        if at not in self.counters.patterns:
            self.counters.patterns[at] = Patterns.none()
        note(address, masks, nbytes, *self.counters.patterns[at])

    def finish(self, blocks) -> None:
        """Spreads the counts of each block of `blocks` (program.Block by index) over its instructions."""
        counters = self.counters
        for index, n_warps in self.warps.items():
            block = blocks[index]
            span = slice(block.first, block.first + block.n_instructions)
            counters.inst_executed[span] += np.uint64(n_warps)
            counters.thread_inst_executed[span] += np.uint64(self.threads[index])
            counters.thread_inst_executed_pred_on[span] += np.uint64(self.threads[index])
            for at in block.guarded:
                counters.thread_inst_executed_pred_on[at] -= np.uint64(self.threads[index] - self.guarded.get(at, 0))
        self.warps.clear()
        self.threads.clear()
        self.guarded.clear()
