"""What a launch has touched of global memory, for races with other launches: byte by byte who wrote it last, or who has
read it when nobody wrote. Taken from the stamps once the launch has ended.

A row is a run of bytes that one instruction touched, by one thread or by threads in a row with the same number of bytes
each.
"""

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.compiled.parts import part
from gpuprof.trace.checkers.races.order import BLOCK, WARP
from gpuprof.trace.checkers.races.rows import (
    AT_SHIFT,
    FIRST,
    HAS_VALUE,
    HOW,
    LANE,
    LANE_SHIFT,
    MOMENT,
    PLACE,
    SECOND,
    WRITER,
)
from gpuprof.trace.checkers.races.stamps import OF_BLOCK, STRONG

# Columns, int64: addresses [START, END); thread FIRST_THREAD of the grid touched the bytes from ORIGIN on, each further
# one the next STEP bytes (0: that thread alone); the instruction's number; READS or WRITES with what excuses; a number
# for the value that all have written, 0 where it is not known.
START, END, ORIGIN, FIRST_THREAD, STEP, AT, DOES, WRITTEN = range(8)
N_COLUMNS = 8
WRITES, IS_STRONG, IS_OF_BLOCK, FREES = 1, 2, 4, 8  # of DOES
NO_INSTRUCTION = -1


def nothing() -> np.ndarray:
    """int64 (0, N_COLUMNS)"""
    return np.zeros((0, N_COLUMNS), np.int64)


def run_of_bytes(address: int, nbytes: int, does: int) -> np.ndarray:
    """What a copy or fill touches."""
    row = np.zeros((1 if nbytes else 0, N_COLUMNS), np.int64)
    row[:, [START, END, ORIGIN, AT, DOES]] = address, address + nbytes, address, NO_INSTRUCTION, does
    return row


def threads_at(rows: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    """int64 (n,): the thread of the grid that touched an address of each row; -1 of a copy's."""
    step = rows[:, STEP]
    found = rows[:, FIRST_THREAD] + np.where(step > 0, (addresses - rows[:, ORIGIN]) // np.maximum(step, 1), 0)
    return np.where(rows[:, AT] == NO_INSTRUCTION, -1, found)


def touched_runs(order, stamps, starts, units, units_of_page: int, shift: int, threads_per_block: int) -> np.ndarray:
    """int64 (n, N_COLUMNS), ascending. `starts`, `units`, int64 (pages,): the address of each page that has stamps,
    ascending, and the number of its first unit.
    """
    runs = np.zeros((64, N_COLUMNS), np.int64)
    while True:
        n = _runs(order.moments, order.rows, stamps, starts, units, units_of_page, shift, threads_per_block, runs)
        if n <= len(runs):
            return runs[:n].copy()
        runs = np.zeros((n, N_COLUMNS), np.int64)


@part
def _does(how):
    return (IS_STRONG if how & STRONG else 0) | (IS_OF_BLOCK if how & OF_BLOCK else 0)


@kept
def _runs(moments, rows, stamps, starts, units, units_of_page, shift, threads_per_block, runs):
    """The number of runs; as many as there is room for are written."""
    n, end = 0, np.int64(-1)
    start, first, at, does, value, step = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for page in range(len(starts)):
        for unit in range(units[page], units[page] + units_of_page):
            entry, is_written, has_value = stamps[unit, WRITER], stamps[unit, WRITER] != 0, False
            if is_written:
                has_value = stamps[unit, SECOND] == HAS_VALUE
            else:
                entry = stamps[unit, FIRST] if stamps[unit, FIRST] != 0 else stamps[unit, SECOND]
            if entry == 0:
                continue
            row, lane = entry >> LANE_SHIFT, np.int64(entry & LANE)
            moment, place = rows[row, MOMENT], np.int64(rows[row, PLACE])
            now_does, now_value = _does(place & HOW) | (WRITES if is_written else 0), np.int64(0)
            if has_value:
                now_value = np.int64(np.uint32(stamps[unit, FIRST]))
            thread = np.int64(moments[moment, BLOCK]) * threads_per_block + 32 * moments[moment, WARP] + lane
            address = starts[page] + ((unit - units[page]) << shift)
            goes_on = address == end and place >> AT_SHIFT == at and now_does == does
            if goes_on and step == 0 and thread == first + 1:
                step = address - start
            elif goes_on:
                goes_on = thread == first + ((address - start) // step if step > 0 else 0)
            if not goes_on:
                n += 1
                start, first, at, does, value, step = address, thread, place >> AT_SHIFT, now_does, now_value, 0
            end = address + (1 << shift)
            value = value if value == now_value else 0
            if n <= len(runs):
                row = runs[n - 1]
                row[START], row[END], row[ORIGIN], row[FIRST_THREAD], row[STEP] = start, end, start, first, step
                row[AT], row[DOES], row[WRITTEN] = at, does, value
    return n
