"""The fp64 unit that four partitions share: its rate, its queues and their order, counted by hand and by the readable
twin.
"""

import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.isa.stalls import INDEX
from tests.readable.timing import ledger_of, time_launch
from tests.support.timing_support import encode, launch, make, run, warp

TEX_THROTTLE, SHORT_SCOREBOARD = INDEX["tex_throttle"], INDEX["short_scoreboard"]
EXIT = make("EXIT")


def independent(n):
    """So many multiply-adds, none of which needs another."""
    return [make("DFMA", dst=20 + k, a=10, b=11, c=12) for k in range(n)]


def in_a_row(n):
    return [make("DFMA", dst=10, a=10, b=11, c=12) for _ in range(n)]


def one_sm(name, **numbers):
    return altered(load_chip(name), {"sms": 1, "exit_cycles": 1, **numbers}, "test")


def cycles(chip, code, n_warps):
    timing, _ = run(chip, [*code, EXIT], [warp([0])] * n_warps, warps_per_block=n_warps, registers=128)
    return timing.end_cycle - timing.start_cycle


@pytest.mark.parametrize("name", ["t4", "rtx3090", "rtx4090"])
@pytest.mark.parametrize("n_warps", [1, 4, 8])
def test_two_lanes_an_sm(name, n_warps):
    """An instruction of a warp every 16 cycles, whichever partitions issue them: one warp has the whole unit."""
    chip = one_sm(name)
    more = cycles(chip, independent(48), n_warps) - cycles(chip, independent(16), n_warps)
    assert more == 16 * 32 * n_warps


def test_a_chain_takes_the_latency():
    """The multiply-add of one warp is served at once."""
    chip = one_sm("rtx3090")
    assert cycles(chip, in_a_row(48), 1) - cycles(chip, in_a_row(16), 1) == 32 * 54


def test_a_minimum_takes_the_unit_once():
    """A compare of the unit, every 16 cycles, and six slots of the ALU. In one warp, each waits for the compare, 54 + 2
    cycles, and for two results of the ALU.
    """
    chip = one_sm("rtx3090")
    minimum = make("DMIN", dst=10, a=10, b=11)
    assert cycles(chip, [minimum] * 48, 16) - cycles(chip, [minimum] * 16, 16) == 16 * 32 * 16
    assert cycles(chip, [minimum] * 48, 1) - cycles(chip, [minimum] * 16, 1) == 32 * (54 + 2 + 4 + 4)


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_a_full_queue(depth):
    """One warp: so many wait in its queue. With depth d the instruction d + 2 waits until the second is served, which
    is 16 cycles after the first; until then it throttles.
    """
    chip = one_sm("rtx3090", fp64_queue_depth=depth)
    timing, _ = run(chip, [*independent(depth + 2), EXIT], [warp([0])], registers=128)
    per_instruction = timing.ledger[:, TEX_THROTTLE].tolist()
    assert per_instruction[: depth + 2] == [0] * (depth + 1) + [16 - (depth + 1)]


def test_no_warp_starves():
    """Thirty-two warps with 64 multiply-adds each, none of which needs another: all progress together. The longest wait
    of one for the queue is that for a turn of all others of its partition, 8 x 4 x 16 cycles.
    """
    timing, _ = run(one_sm("t4"), [*independent(64), EXIT], [warp([0])] * 32, warps_per_block=32, registers=64)
    assert timing.ledger[:, TEX_THROTTLE].sum() > 0.8 * timing.ledger.sum()
    assert max(longest(timing)) <= 8 * 4 * 16


def longest(timing):
    """Cycles of each longest stall of tex_throttle, by instruction."""
    return [int(stall["longest_cycles"]) for stall in timing.stalls if stall["reason"] == TEX_THROTTLE]


@pytest.mark.parametrize("name", ["t4", "rtx3090"])
def test_the_twin_agrees(name):
    """With other instructions between, conversions, a maximum, a division of doubles and a matrix product of f64."""
    code = [
        make("DADD", dst=13, a=10, b=11),
        make("FFMA", dst=50, a=51, b=52, c=50),
        make("DFMA", dst=14, a=13, b=11, c=12),
        make("CVT.F64.F32", dst=15, a=50),
        make("DMAX", dst=15, a=14, b=15),
        make("DDIV", dst=16, a=14, b=15),
        make("DMMA.884", dst=18, a=16, b=10, c=12),
        make("DMUL", dst=20, a=18, b=11),
        EXIT,
    ]
    chip, warps = one_sm(name), [warp([0])] * 12
    timing, _ = run(chip, code, warps, warps_per_block=4)
    job = launch(encode(code))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 128, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert timing.end_cycle == twin.end
