"""What draws' units and shaders share: the L2's slices and the DRAM.

Here is for how long fixed-function units keep them busy; what shaders do there is part of their stages.
"""

import numpy as np

from gpuprof.predict.draws.recorded import RecordedDraw
from gpuprof.predict.numbers import Numbers

MEMORY = ("slice", "dram")  # as units of launches are named (predict.doubled)


def memory_cycles(draw: RecordedDraw, chips: Numbers) -> dict[str, np.ndarray]:
    """float64 (chips,), by block, of those that the draw's units need at all: bytes over the rate of all slices, and of
    all channels. What misses the L2 of the reference chip misses the others'.
    """
    rates = {
        "slice": chips["l2_slices"] * chips["l2_slice_nbytes_per_cycle"],
        "dram": chips["dram_gbytes_per_s"] * 1000 / chips["clock_mhz"],
    }
    nbytes = {"slice": draw.l2_nbytes, "dram": draw.dram_nbytes}
    return {name: nbytes[name] / rates[name] for name in MEMORY if nbytes[name]}
