"""The constant caches: what misses, and how far away the rest is, counted by hand."""

import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.isa.special import CONSTANTS_AT
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.machine import power_on
from tests.support.timing_support import access, encode, launch, make, piece, run, warp

IMC_MISS, SHORT_SCOREBOARD = INDEX["imc_miss"], INDEX["short_scoreboard"]
EXIT = make("EXIT")


def reads(*places):
    """Additions of words of the constant bank at these bytes."""
    return [make("IADD", dst=3 + k, a=2, imm=place, slot="b", const=True) for k, place in enumerate(places)]


def waits(chip, code):
    timing, _ = run(altered(chip, {"sms": 1}, "test"), [*code, EXIT], [warp([0])])
    return timing.ledger[:-1, IMC_MISS].tolist()


@pytest.mark.parametrize(
    ("name", "published"),
    [("t4", (58, 444)), ("rtx3090", (55, 654))],  # RTX 2070: 62 and 448 cycles; RTX 3060: 59 and 658; less a hit of 4
)
def test_where_a_word_comes_from(name, published):
    """A line that no cache has, the one after it in the same line of the second cache, and the first again. Of the
    second's cycles one is its pipe's: 16 lanes.
    """
    near, far = published
    there = CONSTANTS_AT - CONSTANTS_AT % 256 + 256
    assert waits(load_chip(name), reads(there, there + 64, there, there + 64)) == [far, near - 1, 0, 0]


def test_a_set_has_four_lines():
    """Lines that are eight apart share a set: the fifth takes the place of the one that was used longest ago, which is
    the second, since the first was used again.
    """
    chip = load_chip("t4")
    stride = 64 * chip.constant_lines // chip.constant_ways
    a, b, c, d, e = (CONSTANTS_AT + k * stride for k in range(5))
    found = waits(chip, reads(a, b, c, d, a, e, a, c, d, b))
    assert [cycles > 0 for cycles in found] == [True, True, True, True, False, True, False, False, False, True]


def test_two_grids_share_the_caches():
    """Two launches of one kernel have parameters at the same offsets: each finds its own again."""
    chip = altered(load_chip("t4"), {"sms": 1}, "test")
    code = [*reads(*[0x210] * 8), EXIT]
    jobs = [launch(encode(code), index=index) for index in range(2)]
    grids = [Grid(job, iter([piece([warp([0])])])) for job in jobs]
    timings = simulate_batch(power_on(chip), grids, Sampling(), lambda _: None, 1 << 40)
    assert timings[0].start_cycle < timings[1].end_cycle and timings[1].start_cycle < timings[0].end_cycle
    for timing in timings:
        assert (timing.ledger[1:, IMC_MISS] == 0).all()


@pytest.mark.parametrize(
    ("name", "published"),
    [("v100", 112.8 - 41.9), ("a100", 120.7 - 74.9), ("h100", 104.9 - 20.7), ("t4", 115.1 - 71.9)],
)
def test_loads_from_the_second_cache(name, published):
    """mt4g's chases on V100, A100, H100 and T1000: the second constant cache less the first, since both have the tool's
    own loop. A load that fills a line of the second cache, one of another line of the first, and that once more.
    """
    code = [
        instruction
        for k in range(3)
        for instruction in (make("LDC.32", dst=2 * k, a=8), make("FADD", dst=2 * k + 1, a=2 * k, b=2 * k))
    ]
    chip = altered(load_chip(name), {"sms": 1}, "test")
    timing, _ = run(chip, [*code, EXIT], [warp([0], [access([0]), access([2]), access([2])])])
    _, second, first = timing.ledger[[1, 3, 5], SHORT_SCOREBOARD].astype(int)
    assert second - first == pytest.approx(published, rel=0.06)
