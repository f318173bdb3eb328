"""Programs and traces written by hand, for the tests of the timing model."""

import math
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from gpuprof.emulate.trace_log.coalesce import tag_bank
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, MISSING_SHIFT, ON_CHIP, STEP_DTYPE
from gpuprof.isa.encoding import encode, make
from gpuprof.isa.program import Function, basic_block_starts
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state.machine import power_on

# Lines of a chip file for latencies counted by hand: translations cost nothing, a row of the DRAM that must be opened
# is 552 cycles away.
COUNTED = "tlb_entries = 0\ndram_cycles = 552\nblock_launch_cycles = 100\nmio_gap_cycles = 1\nexit_cycles = 1\n"

NEVER_RECORDS = lambda records: None  # noqa: E731


def access(sectors=(), *, lanes=32, wavefronts=1, conflicts=1, missing=None, remote=0, on_chip=False):
    """One access record and its sectors, as if eight lanes had each of its lines. `missing`: of a store, sector ->
    words it leaves out.
    `remote`: of shared memory, lanes that access another block's. `on_chip`: what stages of a draw give each other."""
    sectors = sorted(sectors)
    lines = {s >> 2 for s in sectors}
    passes = max(Counter(tag_bank(line) for line in lines).values(), default=0)
    marked = [s | (missing or {}).get(s, 0) << MISSING_SHIFT for s in sectors]
    return (len(sectors), len(lines) or remote, wavefronts, passes, lanes, conflicts, ON_CHIP * on_chip, 0), marked


def slept(asked_ns):
    """The record of a sleep whose time the code does not have, at most 255 ns."""
    return (0, asked_ns, 0, 0, 0, 0, 0, 0), []


def warp(blocks, accesses=(), masks=None):
    """One warp's trace: the basic blocks it runs, and its memory accesses in order."""
    return blocks, list(accesses), masks or [0xFFFFFFFF] * len(blocks)


def piece(warps, warps_per_block=1, first_block=0):
    """A TracePiece of warps as `warp` gives them."""
    steps = [(b, m) for blocks, _, masks in warps for b, m in zip(blocks, masks, strict=True)]
    records = [record for _, accesses, _ in warps for record, _ in accesses]
    sectors = [s for _, accesses, _ in warps for _, some in accesses for s in some]

    def starts(counts):
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    return TracePiece(
        first_block,
        len(warps) // warps_per_block,
        warps_per_block,
        starts([len(w[0]) for w in warps]),
        np.array(steps, STEP_DTYPE),
        starts([len(w[1]) for w in warps]),
        np.array(records, ACCESS_DTYPE),
        starts([sum(len(s) for _, s in w[1]) for w in warps]),
        np.array(sectors, np.int64),
        np.ones(len(warps), np.bool_),
    )


@dataclass
class TimedLaunch:
    """What simulate needs of a device.Launch."""

    index: int
    module: SimpleNamespace
    function: Function
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_nbytes: int
    cluster: tuple[int, int, int]
    blocks_of_cluster: int


def launch(code, *, blocks=1, threads=32, registers=16, r_count=0, shared=0, index=0, cluster=1, grid=None):
    """A launch whose `blocks` and `cluster` are extents along x, when `cluster` is a number; else `grid` has them."""
    function = Function("k", "k", 0, len(code), True, registers=registers, r_count=r_count, shared_nbytes=shared)
    module = SimpleNamespace(code=code, load_base=0x1000, program=SimpleNamespace(functions=(function,)))
    return TimedLaunch(
        index=index,
        module=module,
        function=function,
        grid=grid or (blocks, 1, 1),
        block=(threads, 1, 1),
        dynamic_shared_nbytes=0,
        cluster=cluster if isinstance(cluster, tuple) else (cluster, 1, 1),
        blocks_of_cluster=math.prod(cluster) if isinstance(cluster, tuple) else cluster,
    )


def run(  # noqa: PLR0913  # a value for each number that a launch has
    chip,
    instructions,
    warps,
    *,
    warps_per_block=1,
    sampling=None,
    machine=None,
    pieces=None,
    max_cycles=1 << 40,
    cluster=1,
    record_nbytes=32,
    registers=16,
    r_count=0,
):
    """Times one launch of hand-made traces; returns the LaunchTiming and the records."""
    code = encode(instructions)
    records, words = [], {"registers": registers, "r_count": r_count}
    blocks = len(warps) // warps_per_block if warps else sum(p.n_blocks for p in pieces)
    timing = simulate(
        machine or power_on(chip),
        launch(code, blocks=blocks, threads=32 * warps_per_block, cluster=cluster, **words),
        iter(pieces or [piece(warps, warps_per_block)]),
        sampling or Sampling(),
        lambda some: records.append(some.copy()),
        max_cycles,
        record_nbytes=record_nbytes,
    )
    return timing, np.concatenate(records) if records else None


__all__ = ["access", "basic_block_starts", "encode", "launch", "make", "piece", "run", "warp"]
