"""Accesses as rows of a table, so that a unit of memory needs one number for each. Compiled by Numba.

A row is a moment, a place and the lanes that accessed a unit together. Each stands in the table once, found by a hash.
Rows that no stamp has any more, and moments that nothing has, are thrown out now and then (`compact`).
"""

from collections.abc import Sequence

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.compiled.parts import part
from gpuprof.trace.checkers.races.order import DONE, IN_GROUP, N_MOMENTS, N_ROWS, OF_ASYNC, Order

# Columns of rows. A place: the instruction's number, and how the access is made. Lanes are bits; 0: one, in the entry.
MOMENT, PLACE, LANES = range(3)
AT_SHIFT, HOW = 6, 63
# An entry of a stamp: a row's number and a lane, the first of several; 0: none.
LANE_SHIFT, LANE = 5, 31
# Columns of a unit's stamps, int32: entries of the last writer, and of two readers since. Before anybody has read,
# FIRST has a number for the value that was written, and SECOND says so.
WRITER, FIRST, SECOND = range(3)
READERS = (FIRST, SECOND)
N_STAMPS = 3
HAS_VALUE = -1
LEAST_ROWS = 1 << 12


@part
def _hash(moment, place, lanes, length):
    """Where in an index of that length one begins to look. The factors are those of xxHash."""
    mixed = np.uint64(moment) * np.uint64(0x9E3779B185EBCA87)
    mixed ^= np.uint64(place) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= np.uint64(np.uint32(lanes)) * np.uint64(0x165667B19E3779F9)
    return np.int64(mixed >> np.uint64(33)) & (length - 1)


@part
def row_of(order, moment, place, lanes):
    """The number of a row, which is made where there is none. There must be room for it."""
    rows, index = order.rows, order.row_index
    at = _hash(moment, place, lanes, len(index))
    while index[at] != 0:
        row = np.int64(index[at])
        if (
            rows[row, MOMENT] == moment
            and rows[row, PLACE] == place
            and np.uint32(rows[row, LANES]) == np.uint32(lanes)
        ):
            return row
        at = (at + 1) & (len(index) - 1)
    row = order.counts[N_ROWS]
    order.counts[N_ROWS] = row + 1
    rows[row, MOMENT], rows[row, PLACE], rows[row, LANES] = moment, place, np.int32(np.uint32(lanes))
    index[at] = row
    return row


@part
def lanes_of(order, entry):
    """uint32: the lanes of an entry, as bits."""
    lanes = np.uint32(order.rows[entry >> LANE_SHIFT, LANES])
    return lanes if lanes != 0 else np.uint32(1) << np.uint32(entry & LANE)


@part
def entry_of(order, moment, place, lanes):
    """The entry of lanes (uint32) that access a unit at a moment."""
    lane = 0
    while not lanes >> np.uint32(lane) & np.uint32(1):
        lane += 1
    several = lanes if lanes != np.uint32(1) << np.uint32(lane) else np.uint32(0)
    return np.int32(row_of(order, moment, place, several) << LANE_SHIFT | lane)


@kept
def fill_index(index, rows, n_rows):
    """The hash of all rows from 1 on, in an index of zeros."""
    for row in range(1, n_rows):
        at = _hash(rows[row, MOMENT], rows[row, PLACE], rows[row, LANES], len(index))
        while index[at] != 0:
            at = (at + 1) & (len(index) - 1)
        index[at] = row


def index_of(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """int32: a new index, for as many rows as there is room for."""
    index = np.zeros(1 << (2 * len(rows) - 1).bit_length(), np.int32)
    fill_index(index, rows, n_rows)
    return index


@kept
def _mark(stamps, is_live):
    for unit in range(len(stamps)):
        for column in range(N_STAMPS):
            entry = stamps[unit, column]
            if entry > 0 and not (column == FIRST and stamps[unit, SECOND] == HAS_VALUE):
                is_live[entry >> LANE_SHIFT] = True


@kept
def _renumber(stamps, new_rows):
    for unit in range(len(stamps)):
        for column in range(N_STAMPS):
            entry = stamps[unit, column]
            if entry > 0 and not (column == FIRST and stamps[unit, SECOND] == HAS_VALUE):
                stamps[unit, column] = new_rows[entry >> LANE_SHIFT] << LANE_SHIFT | entry & LANE


def compact(order: Order, stamps: Sequence[np.ndarray], moments: np.ndarray) -> np.ndarray:
    """Throws out what nobody needs; all keeps its order. `moments`, int64 (k,): further ones that are needed; gives
    their new numbers.
    """
    n_rows, n_moments = int(order.counts[N_ROWS]), int(order.counts[N_MOMENTS])
    has_row, is_live = np.zeros(n_rows, np.bool_), np.zeros(n_moments, np.bool_)
    has_row[0] = is_live[0] = True
    for of_space in stamps:
        _mark(of_space, has_row)
    for needed in (order.rows[:n_rows][has_row, MOMENT], order.moment, order.group, order.groups, moments):
        is_live[needed.reshape(-1)] = True
    of_group = is_live & (order.moments[:n_moments, OF_ASYNC] == IN_GROUP)
    is_live[order.moments[:n_moments][of_group, DONE]] = True
    new_moments, new_rows = (np.cumsum(live, dtype=np.int32) - 1 for live in (is_live, has_row))
    for of_space in stamps:
        _renumber(of_space, new_rows)
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
