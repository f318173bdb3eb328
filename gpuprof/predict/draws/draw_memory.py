"""Memory that draws' units and shaders share: the slices of the L2 and the DRAM.

This file has the accesses of fixed-function units; those of shaders are part of their stages.
"""

import numpy as np

from gpuprof.chips.draw_units import most_nbytes
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.draws.targets import UnitBytes, target_traffic

MEMORY = {"slice": "L2", "dram": "DRAM"}  # unit of launches (bottleneck.UNITS) -> one of chips.draws.MEMORIES


def memory_cycles(draw: RecordedDraw, chips: Numbers) -> dict[str, np.ndarray]:
    """float64 (chips,), by block that the draw's units need on a chip: bytes over the rate of all slices, and of all
    channels. `chips`: the reference chip first. Except for targets, bytes that miss its L2 miss the others', too.
    """
    most, moved = most_nbytes(chips.columns), target_traffic(draw.targets, draw.nbytes, chips)
    dram_nbytes = sum(each.dram_read_nbytes + each.dram_write_nbytes for each in draw.nbytes.values())
    nbytes = {
        "slice": sum(each.l2_read_nbytes + each.l2_write_nbytes for each in draw.nbytes.values()),
        "dram": sum(moved.read.values(), dram_nbytes + moved.written),
    }
    return {name: nbytes[name] / most[memory] for name, memory in MEMORY.items() if np.any(nbytes[name])}


def answer_cycles(draw: RecordedDraw, chips: Numbers) -> dict[str, np.ndarray]:
    """float64 (chips,), by unit: latency of memory for an item, without other traffic. `chips`: the reference chip
    first.
    """
    more = target_traffic(draw.targets, draw.nbytes, chips).read
    return {
        unit: _answer(each, more.get(unit, 0), chips)
        for unit, each in draw.nbytes.items()
        if each.l2_read_nbytes + each.l2_write_nbytes
    }


def _answer(asked: UnitBytes, more_nbytes: np.ndarray | int, chips: Numbers) -> np.ndarray:
    """Items that read wait for the L2, and the share that misses for the DRAM; items that only write wait until the L2
    accepts their data.
    """
    if not asked.l2_read_nbytes:
        return chips["l2_store_cycles"]
    missed = np.minimum(1.0, (asked.dram_read_nbytes + more_nbytes) / asked.l2_read_nbytes)
    return (1 - missed) * chips["l2_near_cycles"] + missed * chips["dram_cycles"]
