"""Accesses as rows of a table, so that a unit of memory needs one number for each. Compiled by Numba.

A row is a moment and a way of access: the instruction, and how lanes follow from addresses. Each row and each way is in
its table once, found by a hash. Rows that no stamp uses any more, ways without a row, and unused moments are removed
now and then (`compact`).

An entry of a stamp is a row and the lane that accessed the first of some bytes:

    row << 5 | lane

The lanes of the following bytes result from its stride: lane + n accessed the byte n * stride further. Stride 0 means
one lane for all bytes. If several lanes accessed a byte, the entry has the lowest of them, and its way all, from it on.
"""

from collections.abc import Callable

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS, inline_njit
from gpuprof.trace.checkers.races.lane_order import FENCED, N_PLAIN, PRESENT
from gpuprof.trace.checkers.races.vector_clocks import DONE, EPOCH, IN_GROUP, LAST_WAY, N_MOMENTS, N_ROWS, N_WAYS, Order

# Columns of rows, int32.
MOMENT, WAY = range(2)
N_ROW_COLUMNS = 2
# Columns of ways, int32. SITE: the instruction's number, and properties of the access. LANES: bit n - 1 says that the
# lane n above the entry's takes part, too. STRIDE: bytes from one lane's access to the next one's, << 3, and the binary
# logarithm of the bytes that each accesses; 0: the same lanes accessed all bytes.
SITE, LANES, STRIDE = range(3)
N_WAY_COLUMNS = 3
AT_SHIFT, HOW = 7, 127
WIDTH = 7  # of a stride: the logarithm
LANE_SHIFT, LANE = 5, 31  # of an entry; 0: none
LEAST_ROWS = 1 << 8


@inline_njit
def lane_from(stride, lane, start, byte):
    """The lane at `byte`, if `lane` is the one at `start`: addresses, or bytes of a line."""
    if stride == 0 or start == byte:
        return np.int64(lane)
    width = stride & WIDTH
    return np.int64(lane) + (((byte >> width) << width) - ((start >> width) << width)) // (stride >> 3)


@inline_njit
def of_way(order, entry, column):
    """int64: a column of the entry's way."""
    return np.int64(order.ways[order.rows[entry >> LANE_SHIFT, WAY], column])


@inline_njit
def moved(order, entry, start, byte):
    """The entry at `byte` of a line, if `entry` is the one at `start`."""
    if entry == 0 or start == byte:
        return np.int64(entry)
    return np.int64(entry & ~LANE | lane_from(of_way(order, entry, STRIDE), entry & LANE, start, byte))


@inline_njit
def lanes_of(order, entry):
    """int64: the lanes of the entry's first byte, as bits."""
    return (of_way(order, entry, LANES) << 1 | 1) << (entry & LANE)


@inline_njit
def _begin(first, second, third, length):
    """The first slot to probe in an index of that length. The factors are those of xxHash."""
    mixed = np.uint64(first) * np.uint64(0x9E3779B185EBCA87)
    mixed ^= np.uint64(second) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= np.uint64(third) * np.uint64(0x165667B19E3779F9)
    return np.int64((mixed >> np.uint64(32)) * np.uint64(length) >> np.uint64(32))


@inline_njit
def _next(at, length):
    return at + 1 if at + 1 < length else np.int64(0)


@inline_njit
def _begin_of(table, number, length):
    """The first slot to probe for a line of a table: a row, or a way."""
    line = table[number]
    return _begin(line[0], line[1], line[2] if len(line) > N_ROW_COLUMNS else 0, length)


@inline_njit
def _way_of(order, instruction, lanes, stride):
    """The number of a way, which is added if it is new."""
    ways, index, last = order.ways, order.way_index, order.counts[LAST_WAY]
    if ways[last, SITE] == instruction and ways[last, LANES] == lanes and ways[last, STRIDE] == stride and last != 0:
        return last
    at = _begin(instruction, lanes, stride, len(index))
    while index[at] != 0:
        way = np.int64(index[at])
        if ways[way, SITE] == instruction and ways[way, LANES] == lanes and ways[way, STRIDE] == stride:
            order.counts[LAST_WAY] = way
            return way
        at = _next(at, len(index))
    way = order.counts[N_WAYS]
    order.counts[N_WAYS], order.counts[LAST_WAY] = way + 1, way
    ways[way, SITE], ways[way, LANES], ways[way, STRIDE] = instruction, lanes, stride
    index[at] = way
    return way


@inline_njit
def row_of(order, moment, site, lanes, stride):
    """The number of a row, which is added if it is new; `lanes`: the value of LANES. There must be room."""
    rows, index, way = order.rows, order.row_index, _way_of(order, site, lanes, stride)
    at = _begin(moment, way, 0, len(index))
    while index[at] != 0:
        row = np.int64(index[at])
        if rows[row, MOMENT] == moment and rows[row, WAY] == way:
            return row
        at = _next(at, len(index))
    row = order.counts[N_ROWS]
    order.counts[N_ROWS] = row + 1
    rows[row, MOMENT], rows[row, WAY] = moment, way
    index[at] = row
    return row


@cached_njit(**OPTIONS)
def fill_index(index, table, n):
    """Makes the index of all lines of a table from 1 on, rows or ways."""
    _fill(index, table, n)


@inline_njit
def _fill(index, table, n):
    index[:] = 0
    for number in range(1, n):
        at = _begin_of(table, number, len(index))
        while index[at] != 0:
            at = _next(at, len(index))
        index[at] = number


def index_of(table: np.ndarray, n: int) -> np.ndarray:
    """int32: a new index, with room for as many lines as the table."""
    index = np.empty(len(table) * 5 // 4, np.int32)
    fill_index(index, table, n)
    return index


def compact(order: Order, each_entry: Callable[[np.ndarray, np.ndarray], None], moments: np.ndarray) -> np.ndarray:
    """Removes unused moments, rows and ways; the others retain their order. `each_entry(has_row, new_rows)` marks the
    rows of stamps in the first, bool (n,), and renumbers them by the second, int32 (n,), if that is not empty.
    `moments`, int64 (k,): more moments that are in use; gives their new numbers.
    """
    n_rows, n_moments, n_ways = (int(order.counts[which]) for which in (N_ROWS, N_MOMENTS, N_WAYS))
    has_row, is_live, has_way = (np.zeros(n, np.bool_) for n in (n_rows, n_moments, n_ways))
    has_row[0] = is_live[0] = has_way[0] = True
    is_live[moments] = True
    each_entry(has_row, np.zeros(0, np.int32))
    of_groups = order.group.reshape(-1), order.groups.reshape(-1)
    mark_used(order, *of_groups, has_row, is_live, has_way)
    new_rows, new_moments = np.empty(n_rows, np.int32), np.empty(n_moments, np.int32)
    drop_unused(order, *of_groups, has_row, is_live, has_way, new_rows, new_moments)
    each_entry(has_row, new_rows)
    if order.state.shape[2] > N_PLAIN:
        for fenced in (order.state[:, :, FENCED], order.by_lane[:, FENCED]):
            fenced[:] = np.concatenate(([0], np.cumsum(is_live)))[fenced]
    return new_moments[moments].astype(np.int64)


@cached_njit(**OPTIONS)
def mark_used(order, group, groups, has_row, is_live, has_way):
    """Marks the ways and moments of rows, and the moments of warps and groups; then those of their ends."""
    for row in range(len(has_row)):
        if has_row[row]:
            has_way[order.rows[row, WAY]] = is_live[order.rows[row, MOMENT]] = True
    for numbers in (group, groups):
        for number in numbers:
            is_live[number] = True
    for slot in range(order.state.shape[0]):
        for warp in range(order.state.shape[1]):
            is_live[order.state[slot, warp, PRESENT]] = True
    for row in range(order.by_lane.shape[0]):
        for lane in range(32):
            is_live[order.by_lane[row, PRESENT, lane]] = True
    for moment in range(len(is_live)):
        if is_live[moment] and order.moments[moment, EPOCH] == IN_GROUP:
            is_live[order.moments[moment, DONE]] = True


@cached_njit(**OPTIONS)
def drop_unused(order, group, groups, has_row, is_live, has_way, new_rows, new_moments):
    """Moves what is used to the beginning of each table, with new numbers, and writes those of rows and moments, int32,
    to the last two.
    """
    rows, counts = order.rows, order.counts
    counts[N_MOMENTS] = _dropped(order.moments, is_live, new_moments)
    new_ways = order.way_index[: len(has_way)]  # its content is replaced below
    counts[N_WAYS], counts[LAST_WAY] = _dropped(order.ways, has_way, new_ways), 0
    counts[N_ROWS] = _dropped(rows, has_row, new_rows)
    for row in range(counts[N_ROWS]):
        rows[row, MOMENT], rows[row, WAY] = new_moments[rows[row, MOMENT]], new_ways[rows[row, WAY]]
    for moment in range(counts[N_MOMENTS]):
        if order.moments[moment, EPOCH] == IN_GROUP:
            order.moments[moment, DONE] = new_moments[order.moments[moment, DONE]]
    for numbers in (group, groups):
        for k in range(len(numbers)):
            numbers[k] = new_moments[numbers[k]]
    for slot in range(order.state.shape[0]):
        for warp in range(order.state.shape[1]):
            order.state[slot, warp, PRESENT] = new_moments[order.state[slot, warp, PRESENT]]
    for row in range(order.by_lane.shape[0]):
        for lane in range(32):
            order.by_lane[row, PRESENT, lane] = new_moments[order.by_lane[row, PRESENT, lane]]
    _fill(order.row_index, rows, counts[N_ROWS])
    _fill(order.way_index, order.ways, counts[N_WAYS])


@inline_njit
def _dropped(table, is_used, new):
    """The number of lines that remain."""
    n = 0
    for line in range(len(is_used)):
        new[line] = n
        if is_used[line]:
            for column in range(table.shape[1]):
                table[n, column] = table[line, column]
            n += 1
    return n
