"""emulate(): runs a launch and gives its trace, chunk by chunk."""

from collections.abc import Iterator

import numpy as np

from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.chunk import Chunk
from gpuprof.emulate.counters import LaunchCounters
from gpuprof.emulate.lanes import WARP
from gpuprof.emulate.program import compiled
from gpuprof.emulate.rounding import usual_floats
from gpuprof.emulate.spaces import BlockSpace, GlobalSpace, LaneSpace, ReadOnlySpace
from gpuprof.emulate.tally import Tally
from gpuprof.emulate.trace import TracePiece

CHUNK_LANES = 32 * 1024  # measured (tests/bench_emulate.py): 16 K is a fifth slower, 64 K no faster
FIRST_CHUNK_LANES = 4 * 1024  # until it is known how much trace a block makes
CHUNK_TRACE_NBYTES = 128 << 20  # chunks hold as many blocks as make about this much
STACK_NBYTES = 256 << 10  # local memory of a thread whose need the assembler could not bound


class Run:
    """What all chunks of a launch share."""

    def __init__(self, launch: Launch, memory: AddressSpace, chip, max_cycles: int, counters: LaunchCounters):
        self.launch = launch
        self.memory = memory
        self.chip = chip
        self.max_cycles = max_cycles
        self.counters = counters
        self.module = compiled(launch.module)
        self.module.prepare(launch.function.first, launch.module.program.functions)
        self.cluster = launch.blocks_of_cluster
        self.waits = any(block.spins for block in self.module.blocks.values())
        self.constants = self.module.env.pool.rows(launch.params)
        function = launch.function
        self.register_counts = (function.r_count, function.d_count, function.p_count)
        self.warps_per_block = -(-launch.threads_per_block // WARP)
        self.tally = Tally(counters)
        self.global_space = GlobalSpace(memory)
        self.const_space = ReadOnlySpace(launch.module.const_segment, "constant segment", True)
        self.param_space = ReadOnlySpace(launch.params, "parameter block", False)

    def spaces(self, chunk: Chunk) -> dict[str, object]:
        """The state spaces of a chunk: shared and local memory are its own, and zero."""
        function = self.launch.function
        local_nbytes, limit_nbytes = function.local_nbytes, function.local_nbytes or STACK_NBYTES
        first_warp = chunk.first_block * chunk.warps_per_block
        return {
            "global": self.global_space,
            "shared": BlockSpace(
                chunk.n_blocks, self.launch.shared_nbytes, chunk.warps_per_block, self.cluster, self.module.uses_system_shared
            ),
            "local": LaneSpace(chunk.n_warps * WARP, local_nbytes, limit_nbytes, first_warp),
            "const": self.const_space,
            "param": self.param_space,
        }

    def first_chunk(self) -> int:
        """Blocks in the first chunk. Blocks that may wait for each other need to run together, as far as the chip can hold them."""
        lanes = self.warps_per_block * WARP
        if self.waits:
            return max(1, self.chip.sms * self.chip.warp_slots // self.warps_per_block)
        return max(1, FIRST_CHUNK_LANES // lanes)

    def next_chunk(self, size: int, n_blocks: int, trace_nbytes: int) -> int:
        """Blocks in the chunk after one of n_blocks that made so much trace."""
        if self.waits:
            return size
        fitting = n_blocks * CHUNK_TRACE_NBYTES // max(trace_nbytes, 1)
        return max(1, min(CHUNK_LANES // (self.warps_per_block * WARP), fitting))


def emulate(launch: Launch, memory: AddressSpace, *, chip, max_cycles: int, counters: LaunchCounters) -> Iterator[TracePiece]:
    """Runs all blocks of a launch, in order, and yields the trace of each chunk of them when it is done.

    Results are in `memory` and exact counts in `counters` when the iterator ends. `max_cycles` bounds the instructions a warp
    may execute. Raises KernelFault; `counters` then hold what ran before it.
    """
    run = Run(launch, memory, chip, max_cycles, counters)
    first, size = 0, run.first_chunk()
    try:
        while first < launch.n_blocks:
            n_blocks = min(whole_clusters(size, run.cluster), launch.n_blocks - first)
            chunk = Chunk(run, first, n_blocks)
            with np.errstate(all="ignore"), usual_floats():
                chunk.run()
            yield chunk.log.piece(first, n_blocks, run.warps_per_block)
            size = run.next_chunk(size, n_blocks, chunk.log.nbytes)
            first += n_blocks
    finally:
        run.tally.finish(run.module.blocks)


def whole_clusters(n_blocks: int, cluster: int) -> int:
    """As many blocks, or a few more, that no cluster is cut: its blocks wait for each other."""
    return -(-n_blocks // cluster) * cluster
