"""A chip at another clock."""

import pytest

from gpuprof.chips import load_chip
from gpuprof.chips.model import at_clock


def test_nanoseconds_stay_nanoseconds():
    """A100's DRAM answers 339 cycles after the L2 at 1410 MHz, 240 ns, which are 262 cycles at 1090 MHz."""
    chip = load_chip("a100")
    slow = at_clock(chip, 1090)
    assert (chip.dram_cycles, chip.l2_near_cycles, chip.clock_mhz) == (545, 206, 1410)
    assert (slow.dram_cycles, slow.l2_near_cycles, slow.clock_mhz) == (468, 206, 1090)
    assert slow.dram_gbytes_per_s == chip.dram_gbytes_per_s
    assert slow.sources["dram_cycles"] == "a100 at 1090 MHz"


def test_its_own_clock_changes_nothing():
    chip = load_chip("v100")
    assert at_clock(chip, 1380) is chip


@pytest.mark.parametrize("clock", [1, 1e6])
def test_an_absurd_clock_is_refused(clock):
    from gpuprof.errors import UsageError

    with pytest.raises(UsageError, match="clock_mhz"):
        at_clock(load_chip("a100"), clock)
