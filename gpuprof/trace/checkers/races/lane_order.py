"""What is kept of the lanes of a warp that runs. Nearly always they are alike: then the warp has it once. Compiled by
Numba.

Lanes that are not alike stand apart, in a row of `by_lane` and of `known`, until they have become alike again. Those
that are absent do not count: they do not exist, or have exited where nobody asks for what they knew.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import call_njit, inline_njit

# Columns, of a warp and of each lane: its epoch; the number of its present moment, 0 where there is none yet. Where
# lanes wait for others of their warp, or there are asynchronous operations: its clock; earlier moments are behind one
# of its proxy fences; as far as lanes know each other, of a warp alone (of lanes that stand apart it is in `known`).
NOW, PRESENT, CLOCK_NOW, FENCED, KNOWN = range(5)
N_PLAIN, N_STATES = 2, 5
N_APART, FREE_APART = 8, 9  # of counts (`order`): rows, and the first that is free; the next one stands in it
ALL_LANES = np.uint32(0xFFFFFFFF)


@inline_njit
def of_lane(order, column, slot, warp, lane):
    row = order.apart[slot, warp]
    return order.by_lane[row, column, lane] if row != 0 else order.state[slot, warp, column]


@inline_njit
def clock_of(order, slot, warp, lane):
    return of_lane(order, CLOCK_NOW, slot, warp, lane) if order.state.shape[2] > N_PLAIN else np.int32(0)


@inline_njit
def known_of(order, slot, warp, my_lane, lane):
    """As far as my lane knows another one."""
    row = order.apart[slot, warp]
    return order.known[row, my_lane, lane] if row != 0 else order.state[slot, warp, KNOWN]


@inline_njit
def apart_of(order, slot, warp, mask, absent):
    """The row in which lanes of a warp stand apart, some of which go on; 0 where all are alike and go on."""
    row = np.int64(order.apart[slot, warp])
    return row if row != 0 or mask | absent == ALL_LANES else _take_apart(order, slot, warp)


@call_njit
def _take_apart(order, slot, warp):
    """There must be room (`Blocks.absent`)."""
    row = order.counts[FREE_APART]
    if row != 0:
        order.counts[FREE_APART] = order.by_lane[row, NOW, 0]
    else:
        row = order.counts[N_APART]
        order.counts[N_APART] = row + 1
    for column in range(order.state.shape[2]):
        order.by_lane[row, column] = order.state[slot, warp, column]
    if order.known.shape[1] != 0:
        order.known[row] = order.state[slot, warp, KNOWN]
    order.apart[slot, warp] = row
    return row


@call_njit
def unite(order, slot, warp, absent):
    """Lanes that stand apart are alike, if they are; what they know of each other must be that of one of them."""
    row, first = order.apart[slot, warp], 0
    while absent >> np.uint32(first) & np.uint32(1):
        first += 1
    for column in range(order.state.shape[2]):
        for lane in range(first, 32):
            is_there = not absent >> np.uint32(lane) & np.uint32(1)
            if is_there and order.by_lane[row, column, lane] != order.by_lane[row, column, first]:
                return
    for column in range(order.state.shape[2]):
        order.state[slot, warp, column] = order.by_lane[row, column, first]
    if order.known.shape[1] != 0:
        order.state[slot, warp, KNOWN] = order.known[row, first, first]
    _give_apart(order, slot, warp)


@call_njit
def _give_apart(order, slot, warp):
    """The warp's row is free again."""
    row = order.apart[slot, warp]
    order.by_lane[row] = 0
    order.by_lane[row, NOW, 0] = order.counts[FREE_APART]
    order.counts[FREE_APART], order.apart[slot, warp] = row, 0


@cached_njit
def give_all(order, slot):
    """The rows of all warps of a block are free again."""
    for warp in range(order.apart.shape[1]):
        if order.apart[slot, warp] != 0:
            _give_apart(order, slot, warp)


@inline_njit
def forget_present(order, slot, warp):
    """What the warp does from now on has another moment."""
    row = order.apart[slot, warp]
    if row != 0:
        order.by_lane[row, PRESENT] = 0
    else:
        order.state[slot, warp, PRESENT] = 0
