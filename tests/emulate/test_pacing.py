"""Blocks that take tiles by number, or look back over those before them, do so in the order of estimated time."""

import numpy as np

from gpuprof.chips import load_chip
from gpuprof.emulate.core.estimates import Estimate, estimate
from gpuprof.isa.encoding import make
from tests.paths import TESTS
from tests.support.emulate_harness import ADDR64
from tests.support.running import run_file

PROGRAM = TESTS / "programs" / "turns.cu"


def test_a_long_tile_keeps_its_block_from_others():
    """Tile 0 is 100 fetches that wait for each other, some 60,000 cycles. The other three blocks of the four share 300
    tiles out meanwhile, which take each of them at most 500 cycles.
    """
    n = 301
    launch = f"take<<<4, 1>>>(next: u32[1]=zeros, owner: i32[{n}], i32[64]=zeros, i32[{n}], {n})"
    arrays, _ = run_file(PROGRAM, launch)
    owner = arrays["owner"]
    first, others = owner[0], np.bincount(owner[1:], minlength=4)
    assert others[first] == 0
    np.testing.assert_allclose(np.delete(others, first), 100, atol=2)


def test_a_look_back_ends_at_what_is_known_by_then():
    """Were all 400 blocks at the same step at the same time, each would go back to the first: 199.5 tiles on average.
    Yet the memory serves one after the other.
    """
    launch = "look_back<<<400, 1>>>(i32[400*512]=zeros, known: i32[400]=zeros, steps: i32[400], 512)"
    arrays, _ = run_file(PROGRAM, launch)
    steps = np.array(arrays["steps"])
    assert steps[0] == 0 and steps[1:].min() == 1
    assert steps.mean() < 40


def test_blocks_beyond_those_resident_start_when_places_get_free():
    """One block an SM has room on 4 SMs, by its shared memory, so that no tile looks back over more than four."""
    launch = "look_back<<<300, 1, 90000>>>(i32[300*512]=zeros, known: i32[300]=zeros, steps: i32[300], 512)"
    arrays, _ = run_file(PROGRAM, launch, chip_changes={"sms": 4})
    assert np.array(arrays["steps"]).max() <= 4


def test_the_estimate_of_a_block():
    chip = load_chip("a100")
    code = (
        make("IADD", dst=1, a=2, b=3),  # 16 lanes: two cycles of its pipe
        make("LDG.32", dst=4, a=0, mods=ADDR64),
        make("LDG.32", dst=5, a=0, imm=4, mods=ADDR64),  # the two are waited for together
        make("IADD", dst=6, a=5, b=4),
        make("BRA"),
    )
    pipe_cycles = 2 + 2 + 2 * 32 / chip.lanes.get("lsu", 32) + 32 / chip.lanes["cbu"]
    alu_cycles = chip.latency["alu"]
    assert estimate(code, False, chip) == Estimate(pipe_cycles, 2 + chip.dram_cycles + alu_cycles, 8)
    assert estimate(code, True, chip) == Estimate(pipe_cycles, 2 + chip.l2_near_cycles + alu_cycles, 0)
