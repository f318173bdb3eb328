"""From launches and draws to command buffers to a test: sums, and the mapping functions that correlate a sum with the
parallel time.

All arrays are float64 (chips,) of microseconds.
"""

from collections.abc import Sequence

import numpy as np

from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.draws.pipeline_queue import Passed
from gpuprof.predict.recorded import Buffer, Recorded


def microseconds(cycles: np.ndarray, chips: Numbers) -> np.ndarray:
    return cycles / chips["clock_mhz"]


def serial(buffer: Buffer, cycles: Sequence[np.ndarray], draws: Sequence[Passed], chips: Numbers) -> np.ndarray:
    """The sum of a buffer's launches, each of which begins `launch_cycles` after the one before, which its own overhead
    lies within; and its draws, which are handed over together, from the first one's begin to the last one's end.
    """
    gap = chips["launch_cycles"] - chips["grid_overhead_cycles"]
    total = sum((cycles[place] + gap for place in buffer.launches), np.zeros(len(chips)))
    if buffer.draws:
        parts = [draws[place] for place in buffer.draws]
        total = total + chips["launch_cycles"] + np.maximum.reduce([each.ends for each in parts])
        total = total - np.minimum.reduce([each.starts for each in parts])
    return microseconds(total, chips)


def parallel_parts(buffers: Sequence[Buffer]) -> list[Buffer]:
    """What a test is a sum of: launches as they are, and the draws of an epoch together, which overlap from one command
    buffer to the next.
    """
    found = [Buffer(each.name, each.epoch, each.launches) for each in buffers if each.launches]
    for epoch in dict.fromkeys(buffer.epoch for buffer in buffers if buffer.draws):
        draws = [place for buffer in buffers if buffer.epoch == epoch for place in buffer.draws]
        found.append(Buffer("", epoch, (), tuple(sorted(draws))))
    return found


def recorded_buffer(recorded: Recorded, buffer: Buffer) -> float:
    """Microseconds from the host's request to the end of the last launch or draw, on the reference chip."""
    parts = [recorded.launches[place] for place in buffer.launches]
    parts += [recorded.draws[place] for place in buffer.draws]
    first, last = min(each.start_cycle for each in parts), max(each.end_cycle for each in parts)
    return (last - first + recorded.reference.launch_cycles) / recorded.reference.clock_mhz


def recorded_test(recorded: Recorded) -> float:
    """The same of all launches: buffers between the same waits ran together."""
    total = 0.0
    for epoch in dict.fromkeys(buffer.epoch for buffer in recorded.buffers):
        there = [buffer for buffer in recorded.buffers if buffer.epoch == epoch]
        launches = tuple(place for buffer in there for place in buffer.launches)
        draws = tuple(place for buffer in there for place in buffer.draws)
        total += recorded_buffer(recorded, Buffer("", epoch, launches, draws))
    return total
