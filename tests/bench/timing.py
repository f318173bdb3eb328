"""Speed of the timing model: warp-instructions per second, ledger and sampler on; on one thread, or several.

Run `python -m tests.bench.timing`, or call `timing_rate`.
"""

import time

import numpy as np

from gpuprof.base.processes import use_threads
from gpuprof.chips import load_chip
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, STEP_DTYPE
from gpuprof.isa.encoding import encode, make
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state.machine import power_on
from tests.support.timing_support import launch

WARPS_PER_BLOCK = 8
LOOPS = 32


def _loop(body):
    """A kernel that runs `body` in a loop: its basic blocks are 0 (prologue), 1 (the loop), 2 (the end)."""
    back = 16 * -(len(body) + 2)
    return encode(
        [
            make("S2R", dst=0, imm=0),
            make("BRA"),
            *body,
            make("ISETP.S32", dst=0, a=0, b=1),
            make("BRA", guard=0, imm=back),
            make("EXIT"),
        ]
    )


def _compute_body():
    """Six independent chains of multiply-adds and two of integer arithmetic."""
    fma = [make("FFMA", dst=8 + k, a=8 + k, b=20, c=21) for k in range(6)]
    integer = [make("IADD", dst=14 + k, a=14 + k, b=20) for k in range(2)]
    return 2 * (fma + integer)


def _memory_body():
    """Three loads and a store per twelve instructions, as a vector kernel has them."""
    loads = [make("LDG.32", dst=8 + k, a=2 + k, mods=1 << 6) for k in range(3)]
    mix = [make("FFMA", dst=8, a=8, b=9, c=10), *(make("IADD", dst=24 + k, a=24 + k, b=20) for k in range(5))]
    return [*loads, *mix, make("STG.32", a=6, b=8, mods=1 << 6)]


def _piece(blocks: int, accesses_per_loop: int) -> TracePiece:
    warps = blocks * WARPS_PER_BLOCK
    steps = np.zeros((warps, LOOPS + 2), STEP_DTYPE)
    steps["mask"] = 0xFFFFFFFF
    steps["block"] = [0] + [1] * LOOPS + [2]
    n = LOOPS * accesses_per_loop
    accesses = np.zeros((warps, n), ACCESS_DTYPE)
    accesses[:] = (4, 4, 1, 1, 32, 1, 0, 0)
    # Access k of loop l of warp w reads line (l * warps + w) of array k: every line once.
    k, loop = np.arange(n) % max(1, accesses_per_loop), np.arange(n) // max(1, accesses_per_loop)
    line = (k * LOOPS * warps + loop * warps)[None, :] + np.arange(warps)[:, None]
    sectors = (line[:, :, None] * 4 + np.arange(4)).astype(np.int64)

    def starts(count):
        return np.arange(warps + 1, dtype=np.int64) * count

    return TracePiece(
        0,
        blocks,
        WARPS_PER_BLOCK,
        starts(LOOPS + 2),
        steps.ravel(),
        starts(n),
        accesses.ravel(),
        starts(4 * n),
        sectors.ravel(),
        np.ones(warps, np.bool_),
    )


def timing_rate(
    kind: str, chip_name: str = "a100", blocks: int = 864, period_cycles: int = 1024, n_threads: int = 1
) -> float:
    """Warp-instructions per second of a "compute" or "memory" kernel, compilation left out."""
    use_threads(n_threads)
    body = {"compute": _compute_body, "memory": _memory_body}[kind]()
    code = _loop(body)
    piece = _piece(blocks, sum(bool(i.op.space) for i in body))
    chip = load_chip(chip_name)
    small = _piece(1, sum(bool(i.op.space) for i in body))
    _timed(code, chip, small, 1, period_cycles)
    seconds, timing = _timed(code, chip, piece, blocks, period_cycles)
    return timing.issue_slots / seconds


def _timed(code, chip, piece, blocks, period_cycles):
    machine = power_on(chip)
    job = launch(code, blocks=blocks, threads=32 * WARPS_PER_BLOCK)
    began = time.perf_counter()
    timing = simulate(machine, job, iter([piece]), Sampling(period_cycles), lambda records: None, 1 << 40)
    return time.perf_counter() - began, timing


if __name__ == "__main__":
    for chip in ("a100", "h200"):
        for kind in ("compute", "memory"):
            print(f"{kind}, {chip}: {timing_rate(kind, chip) / 1e6:.2f} M warp-instructions/s")
