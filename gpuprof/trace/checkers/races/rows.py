"""Accesses as rows of a table, so that a unit of memory needs one number for each. Compiled by Numba.

A row is a moment, a place, and how lanes follow from addresses. Each stands in the table once, found by a hash. Rows
that no stamp has any more, and moments that nothing has, are thrown out now and then (`compact`).

An entry of a stamp is a row and the lane that accessed the first of some bytes:

    row << 5 | lane

The lanes of the bytes behind it follow from the row's stride: lane + n accessed the byte n * stride further. Stride 0
is one lane for all bytes. Where several lanes accessed a byte, the entry has the lowest of them, and the row all, from
it on.
"""

from collections.abc import Callable

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.compiled.options import OPTIONS, hot
from gpuprof.trace.checkers.races.order import DONE, IN_GROUP, N_MOMENTS, N_ROWS, OF_ASYNC, Order

# Columns of rows, int32. A place: the instruction's number, and how the access is made. LANES: bit n - 1 says that the
# lane n above the entry's takes part, too. STRIDE: bytes from one lane's access to the next one's, << 3, and the binary
# logarithm of the bytes that each accesses; 0: all bytes are the same lanes'.
MOMENT, PLACE, LANES, STRIDE = range(4)
N_ROW_COLUMNS = 4
AT_SHIFT, HOW = 7, 127
WIDTH = 7  # of a stride: the logarithm
LANE_SHIFT, LANE = 5, 31  # of an entry; 0: none
LEAST_ROWS = 1 << 8


@hot
def lane_from(stride, lane, start, byte):
    """The lane at `byte`, where `lane` is that at `start`: addresses, or bytes of a line."""
    if stride == 0 or start == byte:
        return np.int64(lane)
    width = stride & WIDTH
    return np.int64(lane) + (((byte >> width) << width) - ((start >> width) << width)) // (stride >> 3)


@hot
def moved(order, entry, start, byte):
    """The entry at `byte` of a line, of one that is at `start`."""
    if entry == 0 or start == byte:
        return np.int64(entry)
    row = entry >> LANE_SHIFT
    return np.int64(row << LANE_SHIFT | lane_from(np.int64(order.rows[row, STRIDE]), entry & LANE, start, byte))


@hot
def lanes_of(order, entry):
    """int64: the lanes of the entry's first byte, as bits."""
    return (np.int64(order.rows[entry >> LANE_SHIFT, LANES]) << 1 | 1) << (entry & LANE)


@hot
def _hash(moment, place, lanes, stride, length):
    """Where in an index of that length one begins to look. The factors are those of xxHash."""
    mixed = np.uint64(moment) * np.uint64(0x9E3779B185EBCA87)
    mixed ^= np.uint64(place) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= np.uint64(np.int64(lanes) << 10 ^ np.int64(stride)) * np.uint64(0x165667B19E3779F9)
    return np.int64(mixed >> np.uint64(33)) & (length - 1)


@hot
def row_of(order, moment, place, lanes, stride):
    """The number of a row, which is made where there is none; `lanes`: what stands in LANES. There must be room."""
    rows, index = order.rows, order.row_index
    at = _hash(moment, place, lanes, stride, len(index))
    while index[at] != 0:
        row = np.int64(index[at])
        is_it = rows[row, MOMENT] == moment and rows[row, PLACE] == place
        if is_it and rows[row, LANES] == lanes and rows[row, STRIDE] == stride:
            return row
        at = (at + 1) & (len(index) - 1)
    row = order.counts[N_ROWS]
    order.counts[N_ROWS] = row + 1
    rows[row, MOMENT], rows[row, PLACE], rows[row, LANES], rows[row, STRIDE] = moment, place, lanes, stride
    index[at] = row
    return row


@kept(**OPTIONS)
def fill_index(index, rows, n_rows):
    """The hash of all rows from 1 on, in an index of zeros."""
    for row in range(1, n_rows):
        at = _hash(rows[row, MOMENT], rows[row, PLACE], rows[row, LANES], rows[row, STRIDE], len(index))
        while index[at] != 0:
            at = (at + 1) & (len(index) - 1)
        index[at] = row


def index_of(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """int32: a new index, for as many rows as there is room for."""
    index = np.zeros(1 << (len(rows) * 9 // 8 - 1).bit_length(), np.int32)
    fill_index(index, rows, n_rows)
    return index


def compact(order: Order, each_entry: Callable[[np.ndarray, np.ndarray], None], moments: np.ndarray) -> np.ndarray:
    """Throws out what nobody needs; all keeps its order. `each_entry(has_row, new_rows)` marks the rows that stamps
    have in the first, bool (n,), and gives them the numbers of the second, int32 (n,), where that is not empty.
    `moments`, int64 (k,): further ones that are needed; gives their new numbers.
    """
    n_rows, n_moments = int(order.counts[N_ROWS]), int(order.counts[N_MOMENTS])
    has_row, is_live = np.zeros(n_rows, np.bool_), np.zeros(n_moments, np.bool_)
    has_row[0] = is_live[0] = True
    each_entry(has_row, np.zeros(0, np.int32))
    for needed in (order.rows[:n_rows][has_row, MOMENT], order.moment, order.group, order.groups, moments):
        is_live[needed.reshape(-1)] = True
    of_group = is_live & (order.moments[:n_moments, OF_ASYNC] == IN_GROUP)
    is_live[order.moments[:n_moments][of_group, DONE]] = True
    new_moments, new_rows = (np.cumsum(live, dtype=np.int32) - 1 for live in (is_live, has_row))
    each_entry(has_row, new_rows)
    _drop(order.moments, is_live)
    _drop(order.rows, has_row)
    order.counts[N_MOMENTS], order.counts[N_ROWS] = is_live.sum(), has_row.sum()
    n_rows, n_moments = int(has_row.sum()), int(is_live.sum())
    order.rows[:n_rows, MOMENT] = new_moments[order.rows[:n_rows, MOMENT]]
    of_group = order.moments[:n_moments, OF_ASYNC] == IN_GROUP
    order.moments[:n_moments, DONE][of_group] = new_moments[order.moments[:n_moments, DONE][of_group]]
    for numbers in (order.moment, order.group, order.groups):
        numbers[:] = new_moments[numbers]
    order.fenced[:] = np.concatenate(([0], np.cumsum(is_live)))[order.fenced]
    order.row_index[:] = 0
    fill_index(order.row_index, order.rows, n_rows)
    return new_moments[moments].astype(np.int64)


def _drop(table: np.ndarray, is_live: np.ndarray) -> None:
    kept_rows = table[: len(is_live)][is_live]
    table[: len(kept_rows)] = kept_rows
