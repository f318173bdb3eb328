"""Warps that wait in a loop for what others write: a barrier of the grid, written by hand."""

from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.isa.modifiers import pack
from gpuprof.isa.spin_loops import polling_loads
from gpuprof.timing.units.polls import PATIENCE
from tests.readable.blame import causes_of
from tests.readable.timing import ledger_of, recorded_stalls, stalls_of, time_launch
from tests.support.running import run_source
from tests.support.timing_support import access, launch, make, run, warp

A64 = 1 << 6
VOLATILE = A64 | pack(sem="volatile")
ARRIVE, POLL = 2, 3
CODE = [
    make("NANOSLEEP", imm=3000, slot="b"),  # block 0, of warps that come late
    make("BRA", imm=0),
    make("ATOMG.ADD.U32", dst=4, a=20, b=8, mods=A64),  # block 1
    make("LDG.32", dst=5, a=20, mods=VOLATILE),  # block 2
    make("BRA", imm=-32),
    make("MEMBAR", mods=pack(scope="gpu")),  # block 3
    make("BRA", imm=0),
    make("EXIT"),  # block 4
]
ONE = access([40], lanes=1)


def seen(count):
    return access([40], lanes=1, missing={40: count})


def chip_of(tmp_path, text='inherits = "a100"\nsms = 2\n'):
    path = tmp_path / "chip.toml"
    path.write_text(text)
    return load_chip(path)


def rounds(late, blocks, turns):
    """Each block comes to a barrier of the grid `turns` times; `late` says in which turns a block sleeps first."""
    warps = []
    for block in range(blocks):
        steps, accesses = [], []
        for turn in range(turns):
            steps += [0] * (turn in late.get(block, ())) + [1, 2, 3]
            accesses += [ONE, seen((turn + 1) * blocks)]
        warps.append(warp([*steps, 4], accesses))
    return warps


def test_what_waits():
    """The loop's load polls, and so does a first one before the loop; not where the loop does anything else."""
    assert polling_loads(encode(CODE)) == {POLL}
    first = [make("LDG.32", dst=5, a=20, mods=VOLATILE), make("BRA", imm=32), *CODE[POLL:]]
    assert polling_loads(encode(first)) == {0, 2}
    weak = [*CODE[:POLL], make("LDG.32", dst=5, a=20, mods=A64), *CODE[POLL + 1 :]]
    writes = [*CODE[: POLL + 1], make("STG.32", a=20, b=8, mods=A64), make("BRA", imm=-48), *CODE[POLL + 2 :]]
    assert polling_loads(encode(weak)) == polling_loads(encode(writes)) == frozenset()


@pytest.mark.parametrize("late", [{}, {2: (0,)}, {0: (1,), 3: (0, 2)}])
def test_a_barrier_of_the_grid(tmp_path: Path, late):
    """Nobody passes before the last arrival, which is the cause of the others' wait."""
    chip = chip_of(tmp_path)
    warps = rounds(late, 4, 3)
    timing, _ = run(chip, CODE, warps)
    job = launch(encode(CODE))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert (timing.end_cycle, timing.l2_sectors) == (twin.end, twin.counts["l2_sectors"])
    slept = 3000 * chip.clock_mhz / 1000 * len({turn for turns in late.values() for turn in turns})
    assert timing.cycles > slept
    waited = sum(n for (pc, reason), n in ledger_of(timing).items() if pc == POLL and reason == "long_scoreboard")
    assert waited > slept * 2


def test_a_wait_in_vain_ends(tmp_path: Path):
    """One block waits for two arrivals, but there is only its own."""
    timing, _ = run(chip_of(tmp_path), CODE, [warp([1, 2, 3, 4], [ONE, seen(2)])])
    assert PATIENCE < timing.cycles < PATIENCE + 4000  # and what a launch takes besides


GRID = """
#include <cooperative_groups.h>
__global__ void all(float *y)
{
    if (blockIdx.x == 5)
        __nanosleep(20000);
    cooperative_groups::this_grid().sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
"""
FLAGS = """
__global__ void chain(volatile int *flag, float *x, int turns)
{
    if (blockIdx.x) {
        if (threadIdx.x == 0)
            while (flag[8 * (blockIdx.x - 1)] == 0)
                ;
        __syncthreads();
    }
    float v = x[threadIdx.x];
    for (int k = 0; k < turns; k++)
        v = v * 1.0001f + 1;
    x[blockIdx.x * blockDim.x + threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        flag[8 * blockIdx.x] = 1;
    }
}
"""


def test_grid_sync_is_a_loop_that_polls(tmp_path: Path):
    """Each block has one arrival, and nobody passes before block 5 has come, which sleeps."""
    _, results = run_source(tmp_path, GRID, "all<<<16, 64>>>(f32[1024])", chip=chip_of(tmp_path))
    timing = results.launches[-1].timing
    assert timing.cycles > 20000 * 1.41


def test_a_chain_of_blocks(tmp_path: Path):
    """A block begins when the one before it has set its flag: twice the blocks take twice as long."""
    texts = [f"chain<<<{n}, 64>>>(i32[{8 * n}], f32[{64 * n}], 500)" for n in (4, 8)]
    few, many = (
        run_source(tmp_path, FLAGS, text, chip=chip_of(tmp_path))[1].launches[-1].timing.cycles for text in texts
    )
    # A step takes 4 cycles for each of 500 dependent multiply-adds, at least.
    assert many - few > 4 * 2000
