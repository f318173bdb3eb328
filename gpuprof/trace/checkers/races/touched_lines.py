"""The global memory that a launch has touched, for races with other launches: for each byte its last writer, or a
reader if it was not written. Taken from the stamps once the launch has ended.

A row is a run of bytes that one instruction touched, by one thread or by consecutive threads with the same number of
bytes each.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS, inline_njit
from gpuprof.trace.checkers.races.access_rows import (
    AT_SHIFT,
    HOW,
    LANE,
    LANE_SHIFT,
    MOMENT,
    SITE,
    STRIDE,
    WIDTH,
    lane_from,
    of_way,
)
from gpuprof.trace.checkers.races.conflict_rules import HAS_VALUE, OF_BLOCK, STRONG
from gpuprof.trace.checkers.races.stamp_lines import (
    BYTES,
    CELLS,
    FIRST,
    FORM,
    FORM_SHIFT,
    LINE_NBYTES,
    LINE_SHIFT,
    NEXT,
    SECOND,
    WRITER,
    lowest,
    shift_of,
    unit_entries,
)
from gpuprof.trace.checkers.races.stamps import LINES_OF_PAGE
from gpuprof.trace.checkers.races.vector_clocks import BLOCK, WARP

# Columns, int64: addresses [START, END); thread FIRST_THREAD of the grid touched the bytes from ORIGIN on, each further
# one the next STEP bytes (0: only that thread); the instruction's number; bits of DOES; a number for the value that all
# have written, 0 if it is not known.
START, END, ORIGIN, FIRST_THREAD, STEP, AT, DOES, WRITTEN = range(8)
N_COLUMNS = 8
WRITES, IS_STRONG, IS_OF_BLOCK, FREES = 1, 2, 4, 8  # of DOES
NO_INSTRUCTION = -1
MOST_RUNS = 1 << 12  # more of them are counted first
PATTERN_NBYTES = 16  # maximum bytes of a thread's write: a run of one value repeats them


def nothing() -> np.ndarray:
    """int64 (0, N_COLUMNS)"""
    return np.zeros((0, N_COLUMNS), np.int64)


def run_of_bytes(address: int, nbytes: int, does: int) -> np.ndarray:
    """The run of a copy or fill."""
    row = np.zeros((1 if nbytes else 0, N_COLUMNS), np.int64)
    row[:, [START, END, ORIGIN, AT, DOES]] = address, address + nbytes, address, NO_INSTRUCTION, does
    return row


def threads_at(rows: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    """int64 (n,): the thread of the grid that touched an address of each row; -1 for a copy."""
    step = rows[:, STEP]
    threads = rows[:, FIRST_THREAD] + np.where(step > 0, (addresses - rows[:, ORIGIN]) // np.maximum(step, 1), 0)
    return np.where(rows[:, AT] == NO_INSTRUCTION, -1, threads)


def touched_runs(order, pool, lines, starts, first_lines, threads_per_block: int, memory, memory_base: int):
    """int64 (n, N_COLUMNS), ascending. `starts`, `first_lines`, int64 (pages,): the address of each page that has
    lines, ascending, and the number of its first one; `memory` uint8 (k,): the current content from address
    `memory_base` on.
    """
    runs = np.zeros((MOST_RUNS, N_COLUMNS), np.int64)
    while True:
        row, now = (
            np.full(N_COLUMNS, -1),
            np.zeros(N_COLUMNS, np.int64),
        )  # the current run, and the next bytes
        n = _runs(order, pool, lines, starts, first_lines, threads_per_block, row, now, runs)
        if n <= len(runs):
            break
        runs = np.zeros((n, N_COLUMNS), np.int64)
    _compare(runs[:n], memory, memory_base)
    return runs[:n].copy()


@inline_njit
def _does(how):
    return (IS_STRONG if how & STRONG else 0) | (IS_OF_BLOCK if how & OF_BLOCK else 0)


@inline_njit
def _entries_at(pool, head, byte):
    """For a byte of a line: the entries that it shares, the lowest byte that has them, and all of them, as bits; 0 for
    no bytes.
    """
    at, form, numbers = np.int64(head >> FORM_SHIFT), np.int64(head & FORM), pool.numbers
    if form == CELLS:
        while at != 0 and not np.int64(numbers[at + BYTES]) >> byte & 1:
            at = np.int64(numbers[at + NEXT])
        some = np.int64(numbers[at + BYTES]) if at != 0 else np.int64(0)
        entries = np.int64(numbers[at + WRITER]), np.int64(numbers[at + FIRST]), np.int64(numbers[at + SECOND])
        return entries, lowest(some), some
    shift = shift_of(form)
    unit = byte >> shift
    some = ((np.int64(1) << (1 << shift)) - 1) << (unit << shift)
    return unit_entries(pool, at, form, unit), unit << shift, some


@inline_njit
def _stretch(order, entry, some, start, byte):
    """Bytes of a line from `byte` on to which the entry of `some`, whose lowest is `start`, assigns one lane, or
    neighbours: the first byte after them, the lane, and the bytes from one lane to the next; 0 for one lane.
    """
    stride, end = of_way(order, entry, STRIDE), byte
    lane, width = lane_from(stride, entry & LANE, start, byte), stride & WIDTH
    are_neighbours = stride >> 3 == 1 << width
    last = LINE_NBYTES if stride == 0 or are_neighbours else ((byte >> width) + 1) << width
    while end < last and some >> end & 1:
        end += 1
    return end, lane, stride >> 3 if are_neighbours else np.int64(0)


@cached_njit(**OPTIONS)
def _runs(order, pool, lines, starts, first_lines, threads_per_block, row, now, runs):
    """The number of runs; as many as there is room for are written, with WRITTEN 1 if values are known."""
    n, moments = 0, order.moments
    for page in range(len(starts)):
        for number in range(LINES_OF_PAGE):
            head, byte = lines[first_lines[page] + number], np.int64(0)
            while head != 0 and byte < LINE_NBYTES:
                (writer, first, second), start, some = _entries_at(pool, head, byte)
                entry = writer if writer != 0 else first if first != 0 else second
                if some == 0 or entry == 0:
                    byte += 1
                    continue
                end, lane, step = _stretch(order, entry, some, start, byte)
                moment, site = order.rows[entry >> LANE_SHIFT, MOMENT], of_way(order, entry, SITE)
                address = starts[page] + (number << LINE_SHIFT)
                thread = np.int64(moments[moment, BLOCK]) * threads_per_block + 32 * moments[moment, WARP] + lane
                now[START], now[END], now[FIRST_THREAD], now[STEP] = address + byte, address + end, thread, step
                now[ORIGIN] = address + byte - (byte % step if step else 0)
                now[AT], now[WRITTEN] = site >> AT_SHIFT, writer != 0 and site & HAS_VALUE != 0
                now[DOES] = _does(site & HOW) | (WRITES if writer != 0 else 0)
                byte = end
                if _continues(row, now):
                    row[END] = now[END]
                else:
                    n += 1
                    _copy(row, now)
                if n <= len(runs):
                    _copy(runs[n - 1], row)
    return n


@inline_njit
def _copy(to, row):
    for column in range(N_COLUMNS):
        to[column] = row[column]


@inline_njit
def _continues(row, now):
    """True if bytes extend a run; they may decide if it belongs to one thread, or to neighbours."""
    if now[START] != row[END] or now[AT] != row[AT] or now[DOES] != row[DOES] or now[WRITTEN] != row[WRITTEN]:
        return False
    away = now[START] - row[ORIGIN]
    if row[STEP] == 0:
        if now[STEP] == 0 and now[FIRST_THREAD] == row[FIRST_THREAD]:
            return True
        if now[FIRST_THREAD] != row[FIRST_THREAD] + 1 or (now[STEP] != 0 and now[STEP] != away):
            return False
        if now[END] - now[START] > away and now[STEP] == 0:
            return False
        row[STEP] = away
        return True
    if now[FIRST_THREAD] != row[FIRST_THREAD] + away // row[STEP]:
        return False
    if now[STEP] == 0:
        return (now[END] - 1 - row[ORIGIN]) // row[STEP] == away // row[STEP]
    return now[STEP] == row[STEP] and (now[ORIGIN] - row[ORIGIN]) % row[STEP] == 0


@cached_njit(**OPTIONS)
def _compare(runs, memory, memory_base):
    """Gives runs with known values a number for the content of memory, if each 16 bytes of them are equal;
    otherwise 0.
    """
    for run in range(len(runs)):
        row = runs[run]
        start, end, number = row[START] - memory_base, row[END] - memory_base, np.uint64(0)
        if row[WRITTEN] and start >= 0 and end <= len(memory):
            period = 1
            while period <= PATTERN_NBYTES and not _has_period(memory, start, end, period):
                period *= 2
            if period <= PATTERN_NBYTES:
                for byte in range(PATTERN_NBYTES):
                    at = start + (byte - start) % period
                    value = memory[at] if at < end else np.uint8(0)
                    number = number * np.uint64(0x100000001B3) + np.uint64(value)  # like FNV
                number = number >> np.uint64(1) | np.uint64(1)
        row[WRITTEN] = np.int64(number)


@inline_njit
def _has_period(memory, start, end, period):
    at = start + period
    while at < end and memory[at] == memory[at - period]:
        at += 1
    return at >= end
