"""The order in which blocks that wait for each other, or take their work by number, get to what they share.

Lanes run as far as they can (`chunk`), up to a basic block that reads or writes what other blocks wait for. There they
are held until the clocks of all running blocks have reached theirs: in the order of estimated time, a window at a time.
Were all resident blocks to run in step, each would look back over all of them for a sum that a chip's blocks have long
left there, and each would get as many tiles as the others, however long a tile takes.

The clocks are only for this order: `core.estimates`.
"""

import numpy as np

from gpuprof.chips.residency import block_limits
from gpuprof.emulate.core.contended_loops import Key
from gpuprof.emulate.core.estimates import Estimate, estimate
from gpuprof.emulate.core.lanes import Lanes

NONE = np.uint32(0)  # of the lanes of a warp


class Clocks:
    """A launch's part, for all of its chunks: the estimates of basic blocks, and when a resident block's place gets
    free: float64, cycles, ascending.
    """

    def __init__(self, run):
        self.chip, self.module = run.chip, run.module
        function, launch = run.launch.function, run.launch
        requested = function.shared_nbytes + launch.dynamic_shared_nbytes
        limits = block_limits(self.chip.values, launch.threads_per_block, function.registers, requested)
        self.blocks_per_sm = max(1, min(limits.values()))
        self.resident = self.blocks_per_sm * self.chip.sms
        self.window_cycles = self.chip.l2_near_cycles  # what one block writes, no other sees sooner
        self.dram_nbytes_per_cycle = 1000 * self.chip.dram_gbytes_per_s / self.chip.clock_mhz
        self.free_cycles: np.ndarray | None = None
        self._estimates: dict[int, Estimate] = {}

    def of(self, block) -> Estimate:
        known = self._estimates.get(block.index)
        if known is None:
            code = self.module.graph.block(block.index)
            polls = any(at in self.module.env.polls for at in range(code.first, code.after))
            known = self._estimates[block.index] = estimate(code.instructions, polls, self.chip)
        return known

    def begins(self, n_blocks: int) -> np.ndarray:
        """When the blocks of the next chunk start: float64 (n_blocks,). The first blocks one after the other, later
        ones in place of those before them.
        """
        starts = np.arange(n_blocks) * self.chip.distributor_cycles
        if self.free_cycles is not None:
            n = min(n_blocks, len(self.free_cycles))
            starts[:n] = self.free_cycles[:n]
            starts[n:] += self.free_cycles[-1]
        return starts


class Pacing:
    """The clocks of a chunk's warps, and the lanes that are held.

    `cycles`: float64 (n_blocks, warps of a block); a block's clock is that of its last warp. Lanes by the place that
    they are in front of, uint32 (n_warps,): `held`; `polled`, those that have polled there since the last signal;
    `behind`, those that are to meet held lanes of their warp later. `now`: the least clock of those that were held;
    those of a window from then on may pass.
    """

    def __init__(self, chunk, clocks: Clocks):
        self.chunk, self.clocks = chunk, clocks
        self.cycles = np.repeat(clocks.begins(chunk.n_blocks)[:, None], chunk.warps_per_block, axis=1)
        self.held: dict[Key, np.ndarray] = {}
        self.polled: dict[Key, np.ndarray] = {}
        self.behind: dict[Key, np.ndarray] = {}
        self.now = self.cycles.min()
        self.n_rounds_without_signal = 0
        n_resident = -(-chunk.n_blocks // clocks.chip.sms)
        self._share = min(n_resident, clocks.blocks_per_sm) / clocks.chip.partitions

    def passes(self, key: Key, block, lanes: Lanes) -> bool:
        """Holds lanes of `lanes`; False when that is all of them."""
        if self.held and not self.is_stuck and not self._meets(key, lanes):
            return False
        return not (block.is_ordered or block.polls) or self._is_due(key, block, lanes)

    def _meets(self, key: Key, lanes: Lanes) -> bool:
        """Holds those that are ahead of held lanes of their warp: they would meet them further on."""
        is_behind = np.zeros(self.chunk.n_warps, np.bool_)
        for place, masks in self.held.items():
            if place < key:
                is_behind |= masks != 0
        masks = np.where(is_behind[lanes.warps], lanes.masks, NONE)
        return not masks.any() or self._hold(self.behind, key, lanes, masks)

    def _is_due(self, key: Key, block, lanes: Lanes) -> bool:
        """Holds those whose clocks are ahead, or that have polled and would find the same. A loop that only waits ends
        when what it waits for is there: the sooner it polls, the fewer signals it seems to need.
        """
        clock = self._clock()[lanes.warps]
        is_ahead = block.is_ordered & (clock > self.now + self.clocks.window_cycles)
        masks = np.where(is_ahead, lanes.masks, NONE)
        if block.polls:
            polled = self._masks(self.polled, key)
            masks |= lanes.masks & polled[lanes.warps]
            polled[lanes.warps] |= lanes.masks & ~masks
        passing = masks != lanes.masks
        self.cycles.reshape(-1)[lanes.warps[passing]] = np.maximum(clock[passing], self.now)
        return not masks.any() or self._hold(self.held, key, lanes, masks)

    def _hold(self, where: dict[Key, np.ndarray], key: Key, lanes: Lanes, masks: np.ndarray) -> bool:
        """Holds the lanes of `masks`. Returns whether any are left."""
        self._masks(where, key)[lanes.warps] |= masks
        if (masks == lanes.masks).all():
            lanes.flush()
            return False
        lanes.split_off(masks)
        return True

    def signal(self) -> None:
        """Something has been written that loops may wait for."""
        self.polled.clear()
        self.n_rounds_without_signal = 0

    def advance(self) -> bool:
        """Makes those ready whose clocks are least. Returns whether any were held."""
        if not self.held and not self.behind:
            return False
        if self.held:
            due = self._due()
            if not due:  # they wait for what is no signal, for lanes of their warp, or for ever
                self.n_rounds_without_signal += 1
                self.polled.clear()
                due = self._due()
            clock = self._clock()
            self.now = max(self.now, min(clock[masks != 0].min() for masks in due.values()))
            is_next = clock <= self.now + self.clocks.window_cycles
            self._release(self.held, {key: np.where(is_next, masks, NONE) for key, masks in due.items()})
        waits = np.zeros(self.chunk.n_warps, np.bool_)
        if not self.is_stuck:
            waits = np.logical_or.reduce([waits, *(masks != 0 for masks in self.held.values())])
        self._release(self.behind, {key: np.where(waits, NONE, masks) for key, masks in self.behind.items()})
        return True

    @property
    def is_stuck(self) -> bool:
        """True when all have polled again and nothing was signalled: lanes of a warp may wait for each other."""
        return self.n_rounds_without_signal > 1

    def _release(self, where: dict[Key, np.ndarray], passing: dict[Key, np.ndarray]) -> None:
        for key, masks in passing.items():
            if masks.any():
                where[key] &= ~masks
                self.chunk.ready.setdefault(key, []).append(self.chunk.group(masks, -key[0]))
                if not where[key].any():
                    del where[key]

    def _due(self) -> dict[Key, np.ndarray]:
        """The lanes held that have not polled since the last signal."""
        due = {key: masks & ~self.polled.get(key, NONE) for key, masks in self.held.items()}
        return {key: masks for key, masks in due.items() if masks.any()}

    def _clock(self) -> np.ndarray:
        """float64 (n_warps,): that of each warp's block."""
        return np.repeat(self.cycles.max(axis=1), self.chunk.warps_per_block)

    def _masks(self, of: dict[Key, np.ndarray], key: Key) -> np.ndarray:
        if key not in of:
            of[key] = np.zeros(self.chunk.n_warps, np.uint32)
        return of[key]

    def ran(self, block, warps: np.ndarray, n_lanes: int) -> None:
        """Moves the clocks of these warps, which have run a basic block together with `n_lanes` lanes."""
        cost = self.clocks.of(block)
        blocks = warps // self.chunk.warps_per_block
        counts = np.bincount(blocks, minlength=self.chunk.n_blocks)
        cycles = self.cycles.reshape(-1)
        cycles[warps] += np.maximum(cost.path_cycles, cost.pipe_cycles * self._share * counts[blocks])
        if cost.fetch_nbytes:
            self._queue(warps, cost.fetch_nbytes * n_lanes / len(warps))

    def _queue(self, warps: np.ndarray, nbytes: float) -> None:
        """The memory serves the warps' fetches, of so many bytes each, one after the other."""
        cycles = self.cycles.reshape(-1)
        in_turn = warps[np.argsort(cycles[warps], kind="stable")]
        served = (1 + np.arange(len(warps))) * (nbytes / self.clocks.dram_nbytes_per_cycle)
        cycles[in_turn] = served + np.maximum.accumulate(cycles[in_turn] - served + served[0])

    def end(self) -> None:
        """All blocks have ended."""
        self.clocks.free_cycles = np.sort(self.cycles.max(axis=1))
