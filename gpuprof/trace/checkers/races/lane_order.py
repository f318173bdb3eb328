"""State of the lanes of a running warp. They are nearly always alike: then the warp has it once. Compiled by Numba.

Lanes that differ have a row of `by_lane` and of `known` of their own, until they are alike again. Absent lanes do not
count: they do not exist, or have exited and their knowledge is not needed.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import call_njit, inline_njit

# Columns, of a warp and of each lane: its epoch; the number of its current moment, 0 if there is none yet. If lanes
# wait for others of their warp, or there are asynchronous operations: its clock; the first moment after its last proxy
# fence; how far lanes know each other, only of a warp (for lanes that differ it is in `known`).
NOW, PRESENT, CLOCK_NOW, FENCED, KNOWN = range(5)
N_PLAIN, N_STATES = 2, 5
# Of counts (`vector_clocks`): rows, and the first free one, which contains the next one.
N_DIVERGED, FREE_DIVERGED = 8, 9
ALL_LANES = np.uint32(0xFFFFFFFF)


@inline_njit
def of_lane(order, column, slot, warp, lane):
    row = order.diverged[slot, warp]
    return order.by_lane[row, column, lane] if row != 0 else order.state[slot, warp, column]


@inline_njit
def clock_of(order, slot, warp, lane):
    return of_lane(order, CLOCK_NOW, slot, warp, lane) if order.state.shape[2] > N_PLAIN else np.int32(0)


@inline_njit
def known_of(order, slot, warp, own_lane, lane):
    """How far a lane of the warp knows another one."""
    row = order.diverged[slot, warp]
    return order.known[row, own_lane, lane] if row != 0 else order.state[slot, warp, KNOWN]


@inline_njit
def diverged_row(order, slot, warp, mask, absent):
    """The row of a warp whose lanes differ once some of them continue; 0 if all are alike and continue."""
    row = np.int64(order.diverged[slot, warp])
    return row if row != 0 or mask | absent == ALL_LANES else _take_row(order, slot, warp)


@call_njit
def _take_row(order, slot, warp):
    """Gives the lanes of a warp a row. There must be room (`Blocks.absent`)."""
    row = order.counts[FREE_DIVERGED]
    if row != 0:
        order.counts[FREE_DIVERGED] = order.by_lane[row, NOW, 0]
    else:
        row = order.counts[N_DIVERGED]
        order.counts[N_DIVERGED] = row + 1
    for column in range(order.state.shape[2]):
        order.by_lane[row, column] = order.state[slot, warp, column]
    if order.known.shape[1] != 0:
        order.known[row] = order.state[slot, warp, KNOWN]
    order.diverged[slot, warp] = row
    return row


@call_njit
def unite(order, slot, warp, absent):
    """Frees the row of a warp if its lanes are alike; their knowledge of each other is then that of one of them."""
    row, first = order.diverged[slot, warp], 0
    while absent >> np.uint32(first) & np.uint32(1):
        first += 1
    for column in range(order.state.shape[2]):
        for lane in range(first, 32):
            is_present = not absent >> np.uint32(lane) & np.uint32(1)
            if is_present and order.by_lane[row, column, lane] != order.by_lane[row, column, first]:
                return
    for column in range(order.state.shape[2]):
        order.state[slot, warp, column] = order.by_lane[row, column, first]
    if order.known.shape[1] != 0:
        order.state[slot, warp, KNOWN] = order.known[row, first, first]
    _give_row(order, slot, warp)


@call_njit
def _give_row(order, slot, warp):
    """Frees the warp's row."""
    row = order.diverged[slot, warp]
    order.by_lane[row] = 0
    order.by_lane[row, NOW, 0] = order.counts[FREE_DIVERGED]
    order.counts[FREE_DIVERGED], order.diverged[slot, warp] = row, 0


@cached_njit
def give_all(order, slot):
    """Frees the rows of all warps of a block."""
    for warp in range(order.diverged.shape[1]):
        if order.diverged[slot, warp] != 0:
            _give_row(order, slot, warp)


@inline_njit
def forget_present(order, slot, warp):
    """The warp's next access has another moment."""
    row = order.diverged[slot, warp]
    if row != 0:
        order.by_lane[row, PRESENT] = 0
    else:
        order.state[slot, warp, PRESENT] = 0
