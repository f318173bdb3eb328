"""Counts of the signals that end waiting loops (isa/spin_loops), by sector; the trace of a loop's load has the count
that it has seen.
"""

from collections.abc import Callable

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, NEED_MASK, NEED_SHIFT, SECTOR_MASK

Counts = dict[int, int]  # signals by sector


def counting(run: Callable[[Lanes], None]) -> Callable[[Lanes], None]:
    """The operation of an instruction that may end waiting loops. A signal is an access of one lane."""

    def op(lanes: Lanes) -> None:
        log = lanes.chunk.log
        first, first_sector = log.access.length, log.sectors.length
        run(lanes)
        records = log.access.values[first:].view(ACCESS_DTYPE)
        sectors = log.sectors.values[first_sector:]
        of_one = (records["lanes"] == 1).repeat(records["n_sectors"])
        numbers, times = np.unique(sectors[of_one] & SECTOR_MASK, return_counts=True)
        counts = lanes.chunk.signals
        for number, n in zip(numbers.tolist(), times.tolist(), strict=True):
            counts[number] = counts.get(number, 0) + n
        if lanes.chunk.pacing is not None:
            lanes.chunk.pacing.signal()

    return op


def waiting(run: Callable[[Lanes], None]) -> Callable[[Lanes], None]:
    """The operation of a waiting loop's load."""

    def op(lanes: Lanes) -> None:
        log = lanes.chunk.log
        first = log.sectors.length
        run(lanes)
        sectors = log.sectors.values[first:]
        numbers, place = np.unique(sectors, return_inverse=True)
        counts = lanes.chunk.signals
        needs = np.array([counts.get(number, 0) & NEED_MASK for number in numbers.tolist()], np.int64)
        sectors |= needs[place] << NEED_SHIFT

    return op
