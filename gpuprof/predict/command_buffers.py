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
    """The sum of a buffer's launches and draws. Each launch begins `launch_cycles` after the previous one, which
    includes its own overhead; draws are submitted together, from the begin of the first to the end of the last.
    """
    gap = chips["launch_cycles"] - chips["grid_overhead_cycles"]
    total = sum((cycles[index] + gap for index in buffer.launches), np.zeros(len(chips)))
    if buffer.draws:
        parts = [draws[index] for index in buffer.draws]
        total = total + chips["launch_cycles"] + np.maximum.reduce([passed.ends for passed in parts])
        total = total - np.minimum.reduce([passed.starts for passed in parts])
    return microseconds(total, chips)


def parallel_parts(buffers: Sequence[Buffer]) -> list[Buffer]:
    """The parts that a test is the sum of: launches as they are, and the draws of an epoch together, since they overlap
    from one command buffer to the next.
    """
    parts = [Buffer(buffer.name, buffer.epoch, buffer.launches) for buffer in buffers if buffer.launches]
    for epoch in dict.fromkeys(buffer.epoch for buffer in buffers if buffer.draws):
        draws = [draw for buffer in buffers if buffer.epoch == epoch for draw in buffer.draws]
        parts.append(Buffer("", epoch, (), tuple(sorted(draws))))
    return parts


def recorded_buffer(recorded: Recorded, buffer: Buffer) -> float:
    """Microseconds from the host's request to the end of the last launch or draw, on the reference chip."""
    parts = [recorded.launches[index] for index in buffer.launches]
    parts += [recorded.draws[index] for index in buffer.draws]
    first, last = min(part.start_cycle for part in parts), max(part.end_cycle for part in parts)
    return (last - first + recorded.reference.launch_cycles) / recorded.reference.clock_mhz


def recorded_test(recorded: Recorded) -> float:
    """Microseconds of all launches and draws on the reference chip: buffers between the same waits ran together."""
    total = 0.0
    for epoch in dict.fromkeys(buffer.epoch for buffer in recorded.buffers):
        in_epoch = [buffer for buffer in recorded.buffers if buffer.epoch == epoch]
        launches = tuple(number for buffer in in_epoch for number in buffer.launches)
        draws = tuple(number for buffer in in_epoch for number in buffer.draws)
        total += recorded_buffer(recorded, Buffer("", epoch, launches, draws))
    return total
