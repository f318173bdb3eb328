"""Lines that stores have changed are written to the DRAM before their places are needed (units/write_back.py)."""

import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.timing.state.layout import TICKS
from gpuprof.timing.state.machine import power_on
from tests.support.timing_support import access, make, run, warp
from tests.timing.test_timing import A64

STORE, LOAD = make("STG.32", a=20, b=0, mods=A64), make("LDG.32", dst=1, a=20, mods=A64 | 2 << 7)  # past the L1
LINES = 512  # of the L2


def small(name: str, **changes):
    """Two SMs of a chip and one channel of 1 GB/s: all else takes no time next to it."""
    chip = load_chip(name)
    small = {
        "sms": 2,
        "l2_nbytes": 128 * LINES,
        "l2_slices": 4,
        "dram_channels": 1,
        "dram_gbytes_per_s": 1.0,
        "l2_fetch_nbytes": 32,
        "dram_turn_ns": 0.0,
    }
    return altered(chip, small | changes, "small")


def line_cycles(machine):
    """Of the channel, for 128 bytes."""
    return 128 * machine.chip.clock_mhz / 1000


def each(machine, instruction, lines):
    """A launch of a warp for each line."""
    code = [instruction, make("EXIT")]
    warps = [warp([0], [access(range(4 * line, 4 * line + 4))]) for line in lines]
    return run(machine.chip, code, warps, machine=machine)[0]


@pytest.mark.parametrize("name, lowest, highest, published", [
    ("a100", 0.23, 0.28, "A100: 11.8 of 16.8 MB and 9.7 of 268 MB are not written, L2 of 41.9 MB"),
    ("rtx3090", 0.44, 0.52, "RTX 3080: 2.2 to 2.6 of 4.2 MB, L2 of 5.2 MB; RTX 3050 Ti: 1.0 of 4.0 MB, L2 of 2.1 MB"),
    ("rtx4090", 0.34, 0.58, "RTX 4090: 26 to 43 of 67 MB, L2 of 75.5 MB"),
    ("t4", 0.12, 0.14, "GTX 1660 SUPER: 0.2 of 4.2 MB, L2 of 1.6 MB"),
])  # fmt: skip
def test_what_is_not_yet_written_when_a_kernel_ends(name, lowest, highest, published):
    """As a share of the L2, by the DRAM's bytes in public reports of Nsight Compute (`published`), when the channel has
    had time for all that is queued.
    """
    machine = power_on(small(name))
    timing = each(machine, STORE, range(4 * LINES))
    queued = 32 * machine.write_queue["sectors"].sum()
    assert lowest <= (4 * LINES * 128 - timing.dram_write_nbytes - queued) / (LINES * 128) <= highest, published


def test_few_lines_stay():
    """4.2 MB that matrix products have written, a tenth of an A100's L2, are not written (Nsight Compute: 0 bytes)."""
    machine = power_on(small("a100"))
    assert each(machine, STORE, range(50)).dram_write_nbytes == 0
    assert (machine.l2_line["dirty"] == 15).sum() == 50


def test_lines_in_part_stay_until_their_places_are_needed():
    machine = power_on(small("a100"))
    warps = [warp([0], [access([4 * line])]) for line in range(LINES)]
    timing, _ = run(machine.chip, [STORE, make("EXIT")], warps, machine=machine)
    assert timing.dram_write_nbytes == 0


def test_a_store_to_a_line_that_is_queued_is_written_with_it():
    """All lines once more: only those that the channel has written by then are queued again."""
    machine = power_on(small("a100"))
    queue = machine.write_queue
    each(machine, STORE, range(LINES))
    first = int(queue["queued"][0])
    each(machine, STORE, range(LINES))
    assert first == pytest.approx(LINES * 3 / 4 * line_cycles(machine) * TICKS, rel=0.01)
    assert queue["queued"][0] - first <= queue["written"][0] < 0.1 * first


def test_stores_do_not_wait_for_the_channel():
    """Three quarters of an L2 are queued. The fill is over when the channel has written a tenth of it at most."""
    machine = power_on(small("a100"))
    timing = each(machine, STORE, range(LINES))
    assert timing.cycles < 0.1 * line_cycles(machine) * LINES


@pytest.mark.parametrize("idle_lines, queued", [(0, 384), (100, 284), (1000, 0)])
def test_loads_and_what_is_queued_have_the_channel_by_turns(idle_lines, queued):
    """After a fill 384 lines are queued. While nothing is to do for the time of `idle_lines`, they are written; then 64
    lines are read, and so much of what is queued is written with them. The starts of launches take the time of some 20
    lines.
    """
    machine = power_on(small("a100"))
    each(machine, STORE, range(LINES))
    machine.cycle += round(line_cycles(machine) * idle_lines)
    begun = machine.cycle
    each(machine, LOAD, range(LINES, LINES + 64))
    queue = machine.write_queue[0]
    lines = (machine.channel_tick[0] / TICKS - begun) / line_cycles(machine)
    left = (queue["queued"] - queue["written"]) / TICKS / line_cycles(machine)
    taken = min(64, queued)
    assert lines == pytest.approx(64 + taken, abs=12)
    assert left == pytest.approx(max(0, queued - taken - 20), abs=12)
