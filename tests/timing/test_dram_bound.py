"""No launch moves more bytes than its chip's DRAM does in that time: what the L2 takes in, it must be able to evict."""

import pytest

from gpuprof.chips import altered, list_chips, load_chip
from gpuprof.timing.state.layout import TICKS
from gpuprof.timing.state.machine import power_on
from tests.support.timing_support import access, make, run, warp
from tests.timing.test_timing import A64

STORE, ADD = make("STG.32", a=20, b=0, mods=A64), make("REDG.ADD.U32", a=20, b=8, mods=A64)
LINES = 8192  # of 128 bytes: 1 MB, 16 times the L2
STORES = 16  # of a warp


def small(name):
    """Two SMs of a chip before an eighth of its channels: the L2 takes stores much faster than these do."""
    chip = load_chip(name)
    channels = chip.dram_channels // 8 or 1
    changes = {
        "sms": 2,
        "l2_nbytes": 65536,
        "l2_slices": 8,
        "dram_channels": channels,
        "dram_gbytes_per_s": min(64.0, chip.dram_gbytes_per_s * channels / chip.dram_channels),
    }
    return altered(chip, changes, f"a part of {name}")


def whole(line):
    return access([4 * line + k for k in range(4)])


def in_part(line):
    return access([4 * line], missing={4 * line: 0xF0})


@pytest.mark.parametrize("name", list_chips())
@pytest.mark.parametrize("what, instruction, one, least", [
    ("a fill", STORE, whole, 0.8),
    ("sectors in part", STORE, in_part, 0.0),
    ("sums that nobody waits for", ADD, whole, 0.7),
])  # fmt: skip
def test_no_launch_exceeds_the_dram(name, what, instruction, one, least):
    chip = small(name)
    machine = power_on(chip)
    warps = [warp([0], [one(first + k) for k in range(STORES)]) for first in range(0, LINES, STORES)]
    timing, _ = run(chip, [*[instruction] * STORES, make("EXIT")], warps, machine=machine)
    nbytes = timing.dram_read_nbytes + timing.dram_write_nbytes
    rate = nbytes / (timing.end_cycle / chip.clock_mhz * 1000)
    # what may wait at the channels when the last warp ends
    posted = chip.dram_channels * (chip.dram_posted_sectors + 64) * 32
    assert rate * (1 - posted / nbytes) <= chip.dram_gbytes_per_s
    assert rate >= chip.dram_gbytes_per_s * least
    # and so the next launch finds no backlog that is longer
    backlog = machine.channel_tick.max() / TICKS - timing.end_cycle
    assert backlog * chip.dram_gbytes_per_s / chip.clock_mhz * 1000 <= 2 * posted
