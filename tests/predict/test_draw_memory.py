"""What draws' units have to do with L2 and DRAM, by cases that were computed by hand."""

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.predict.chip_numbers import Numbers, numbers_of
from gpuprof.predict.draws.draw_memory import answer_cycles, memory_cycles
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.draws.targets import UnitBytes

DRAW = RecordedDraw(0, "d", 0, False, 0, 0, 1, {}, {}, {}, {}, {})


@pytest.fixture(scope="module")
def chips():
    """Two: 4 and 8 slices of 32 bytes a cycle; 100 and 50 bytes of DRAM a cycle."""
    numbers = numbers_of([load_chip("rtx3090"), load_chip("t4")])
    changed = {
        "l2_slices": [4, 8],
        "l2_slice_nbytes_per_cycle": [32, 32],
        "dram_gbytes_per_s": [100, 100],
        "clock_mhz": [1000, 2000],
        "l2_near_cycles": [200, 300],
        "l2_store_cycles": [150, 250],
        "dram_cycles": [600, 700],
    }
    return Numbers(
        numbers.names, numbers.archs, numbers.columns | {name: np.array(of, float) for name, of in changed.items()}
    )


def asking(**nbytes):
    return replace(DRAW, nbytes={unit: UnitBytes(*each) for unit, each in nbytes.items()})


def test_memory_takes_what_all_units_read_and_write(chips):
    """5,120 bytes of the L2, 3,000 of the DRAM."""
    draw = asking(fetch=(1024, 0, 1000, 0), depth=(0, 0, 0, 0), write=(1024, 3072, 0, 2000))
    found = memory_cycles(draw, chips)
    assert {name: cycles.tolist() for name, cycles in found.items()} == {"slice": [40, 20], "dram": [30, 60]}
    assert list(memory_cycles(asking(write=(0, 1024, 0, 0)), chips)) == ["slice"]
    assert memory_cycles(DRAW, chips) == {}


def test_items_wait_for_the_answer(chips):
    """A quarter of what fetch reads misses the L2; depth reads nothing from the DRAM; write reads nothing at all."""
    draw = asking(fetch=(1024, 0, 256, 0), depth=(1024, 1024, 0, 0), write=(0, 1024, 0, 512))
    found = {unit: cycles.tolist() for unit, cycles in answer_cycles(draw, chips).items()}
    assert found == {"fetch": [300, 400], "depth": [200, 300], "write": [150, 250]}
    assert answer_cycles(asking(depth=(0, 0, 0, 0)), chips) == {}
