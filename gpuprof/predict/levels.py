"""From launches to command buffers to a test: sums, and the mapping functions that correlate a sum with the parallel
time.

All arrays are float64 (chips,) of microseconds.
"""

from collections.abc import Sequence

import numpy as np

from gpuprof.predict.numbers import Numbers
from gpuprof.predict.recorded import Buffer, Recorded


def microseconds(cycles: np.ndarray, chips: Numbers) -> np.ndarray:
    return cycles / chips["clock_mhz"]


def serial(buffer: Buffer, cycles: Sequence[np.ndarray], chips: Numbers) -> np.ndarray:
    """The sum of a buffer's launches: each begins `launch_cycles` after the one before, which its own overhead lies
    within.
    """
    gap = chips["launch_cycles"] - chips["grid_overhead_cycles"]
    return microseconds(sum(cycles[place] + gap for place in buffer.launches), chips)


def recorded_buffer(recorded: Recorded, buffer: Buffer) -> float:
    """Microseconds from the host's request to the end of the last launch, on the reference chip."""
    launches = [recorded.launches[place] for place in buffer.launches]
    first, last = min(each.start_cycle for each in launches), max(each.end_cycle for each in launches)
    return (last - first + recorded.reference.launch_cycles) / recorded.reference.clock_mhz


def recorded_test(recorded: Recorded) -> float:
    """The same of all launches: buffers between the same waits ran together."""
    total = 0.0
    for epoch in dict.fromkeys(buffer.epoch for buffer in recorded.buffers):
        places = tuple(place for buffer in recorded.buffers if buffer.epoch == epoch for place in buffer.launches)
        total += recorded_buffer(recorded, Buffer("", epoch, places))
    return total
