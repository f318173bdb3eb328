"""The order in which blocks that wait for each other, or take their work by number, get to what they share.

Lanes run on as they can (`chunk`) up to a basic block that reads or writes what other blocks wait for. There they are
held until the clocks of all blocks that run have come to theirs: in the order of estimated time, a window at a time.
Were all resident blocks to run in step, each would look back over all of them for a sum that a chip's blocks have long
left there, and each would get as many tiles as the others, however long a tile takes.

The clocks are only for this order: `core.estimates`.
"""

import numpy as np

from gpuprof.chips.residency import block_limits
from gpuprof.emulate.core.contended_loops import Key
from gpuprof.emulate.core.estimates import Estimate, estimate
from gpuprof.emulate.core.lanes import Lanes


class Pace:
    """What the chunks of a launch share: the estimates of its basic blocks, and when a resident block's place gets
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
    """The clocks of a chunk's warps, and who is held. `cycles`: float64 (n_blocks, warps of a block); a block's clock is
    that of its last warp. `held`: uint32 (n_warps,), lanes by the place that they are in front of; until: those whose
    block's clock is not beyond may pass.
    """

    def __init__(self, chunk, pace: Pace):
        self.chunk, self.pace = chunk, pace
        self.cycles = np.repeat(pace.begins(chunk.n_blocks)[:, None], chunk.warps_per_block, axis=1)
        self.held: dict[Key, np.ndarray] = {}
        self.until = self.cycles.min() + pace.window_cycles
        n_resident = -(-chunk.n_blocks // pace.chip.sms)
        self._share = min(n_resident, pace.blocks_per_sm) / pace.chip.partitions

    def passes(self, key: Key, lanes: Lanes) -> bool:
        """Holds the lanes of `lanes` whose clocks are ahead; False when that is all of them."""
        blocks = lanes.warps // self.chunk.warps_per_block
        clock = self.cycles.max(axis=1)[blocks]
        ahead = clock > self.until
        masks = np.where(ahead, lanes.masks, np.uint32(0))
        passing = lanes.warps[~ahead]
        self.cycles.reshape(-1)[passing] = clock[~ahead]
        if not masks.any():
            return True
        held = self.held.setdefault(key, np.zeros(self.chunk.n_warps, np.uint32))
        held[lanes.warps] |= masks
        if (masks == lanes.masks).all():
            lanes.flush()
            return False
        lanes.split_off(masks)
        return True

    def advance(self) -> bool:
        """Makes those ready whose clocks are least. Returns whether any were held."""
        if not self.held:
            return False
        clock = np.repeat(self.cycles.max(axis=1), self.chunk.warps_per_block)
        self.until = min(clock[masks != 0].min() for masks in self.held.values()) + self.pace.window_cycles
        due = clock <= self.until
        for key, masks in list(self.held.items()):
            passing = np.where(due, masks, np.uint32(0))
            if not passing.any():
                continue
            masks &= ~passing
            if not masks.any():
                del self.held[key]
            self.chunk.ready.setdefault(key, []).append(self.chunk.group(passing, -key[0]))
        return True

    def ran(self, block, warps: np.ndarray, n_lanes: int) -> None:
        """Moves the clocks of these warps, which have run a basic block together with `n_lanes` lanes."""
        cost = self.pace.of(block)
        blocks = warps // self.chunk.warps_per_block
        counts = np.bincount(blocks, minlength=self.chunk.n_blocks)
        cycles = self.cycles.reshape(-1)
        cycles[warps] += cost.pipe_cycles * self._share * counts[blocks] + cost.wait_cycles
        if cost.fetch_nbytes:
            self._queue(warps, cost.fetch_nbytes * n_lanes / len(warps))

    def _queue(self, warps: np.ndarray, nbytes: float) -> None:
        """The memory serves the warps' fetches, of so many bytes each, one after the other."""
        cycles = self.cycles.reshape(-1)
        in_turn = warps[np.argsort(cycles[warps], kind="stable")]
        served = (1 + np.arange(len(warps))) * (nbytes / self.pace.dram_nbytes_per_cycle)
        cycles[in_turn] = served + np.maximum.accumulate(cycles[in_turn] - served + served[0])

    def end(self) -> None:
        """All blocks have ended."""
        self.pace.free_cycles = np.sort(self.cycles.max(axis=1))
