"""emulate(): runs a launch and gives its trace, chunk by chunk."""

from collections.abc import Iterator

import numpy as np

from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.chunk import Chunk
from gpuprof.emulate.counters import LaunchCounters
from gpuprof.emulate.lanes import WARP
from gpuprof.emulate.program import compiled
from gpuprof.emulate.spaces import BlockSpace, GlobalSpace, LaneSpace, ReadOnlySpace
from gpuprof.emulate.tally import Tally
from gpuprof.emulate.trace import TracePiece

CHUNK_LANES = 16 * 1024  # measured: rows of 64 KB stay in the host's second-level cache
CHUNK_TRACE_NBYTES = 192 << 20  # chunks get smaller when one's trace is larger than this
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
            "shared": BlockSpace(chunk.n_blocks, self.launch.shared_nbytes, chunk.warps_per_block),
            "local": LaneSpace(chunk.n_warps * WARP, local_nbytes, limit_nbytes, first_warp),
            "const": self.const_space,
            "param": self.param_space,
        }


def emulate(launch: Launch, memory: AddressSpace, *, chip, max_cycles: int, counters: LaunchCounters) -> Iterator[TracePiece]:
    """Runs all blocks of a launch, in order, and yields the trace of each chunk of them when it is done.

    Results are in `memory` and exact counts in `counters` when the iterator ends. `max_cycles` bounds the instructions a warp
    may execute. Raises KernelFault; `counters` then hold what ran before it.
    """
    run = Run(launch, memory, chip, max_cycles, counters)
    first, size = 0, max(1, CHUNK_LANES // (run.warps_per_block * WARP))
    try:
        while first < launch.n_blocks:
            n_blocks = min(size, launch.n_blocks - first)
            chunk = Chunk(run, first, n_blocks)
            with np.errstate(all="ignore"):
                chunk.run()
            yield chunk.log.piece(first, n_blocks, run.warps_per_block)
            size = next_size(size, n_blocks, chunk.log.nbytes, run.warps_per_block)
            first += n_blocks
    finally:
        run.tally.finish(run.module.blocks)


def next_size(size: int, n_blocks: int, trace_nbytes: int, warps_per_block: int) -> int:
    """How many blocks the next chunk gets, so that its trace stays bounded."""
    if trace_nbytes > CHUNK_TRACE_NBYTES:
        return max(1, n_blocks * CHUNK_TRACE_NBYTES // trace_nbytes)
    return size
