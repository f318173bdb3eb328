"""An L2 of two halves keeps 512 lines, 256 in each half. SM 0 is near the first half, SM 1 near the other."""

import pytest

from gpuprof.chips import load_chip
from gpuprof.timing.state.machine import power_on
from tests.support.timing_support import access, make, run, warp
from tests.timing.test_timing import A64

LOAD = make("LDG.32", dst=1, a=20, mods=A64 | 2 << 7)  # past the L1


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    path = tmp_path_factory.mktemp("chip") / "halves.toml"
    path.write_text('inherits = "a100"\nsms = 2\nl2_nbytes = 65536\nl2_slices = 4\nl2_fetch_nbytes = 32\n')
    return load_chip(path)


def fetched_again(chip, lines, sms=1):
    """Lines that the DRAM brings when one warp of each SM reads lines one after another, which it has read before."""
    machine = power_on(chip)
    code = [LOAD] * lines + [make("MEMBAR"), make("EXIT")]
    warps = [warp([0], [access([4 * line]) for line in range(lines)]) for _ in range(sms)]
    for _ in range(2):
        timing, _ = run(chip, code, warps, machine=machine)
    return timing.dram_read_nbytes // 32


@pytest.mark.parametrize("lines, fetched, why", [
    (256, 0, "its own half has all of them"),
    (384, 192, "its own half keeps none until they are read again; the other has those at home there"),
    (512, 256, "the other half is full"),
    (640, 640, "neither keeps any"),
])  # fmt: skip
def test_one_sm(chip, lines, fetched, why):
    assert fetched_again(chip, lines) == fetched, why


def test_two_sms(chip):
    """Each half has room for what both read, and then for none of it: two thirds of the L2's size is too much."""
    assert fetched_again(chip, 256, sms=2) == 0
    assert fetched_again(chip, 384, sms=2) == 384
