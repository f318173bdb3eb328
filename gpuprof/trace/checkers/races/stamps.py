"""Who wrote each unit of memory last, and who has read it since. Compiled by Numba.

Readers are kept by warp and moment, two of them: one who is ordered before another gives way to it, and of two that are
not, those of different warps stay.
"""

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.compiled.parts import part
from gpuprof.trace.checkers.races.order import (
    BLOCK,
    DONE,
    IS_ASYNC,
    N_FOUND,
    WARP,
    catch_up,
    is_before,
    open_group,
    present,
)

# Columns of a unit's stamps, int32: of its writer, then three of each of two readers.
MOMENT, PLACE, VALUE = 0, 1, 2
READERS = (3, 6)  # each: moment, lanes as bits, place
N_STAMPS = 9
# A place: the instruction's number, the writer's lane, and how the access is made.
LANE_SHIFT, AT_SHIFT = 4, 9
STRONG, VOLATILE, OF_BLOCK, ASYNC = 1, 2, 4, 8  # atomic or ordered; volatile; at the scope of the block; copies
READ, WRITE = 1, 2
# Kinds of races.
WRITE_WRITE, READ_WRITE, WRITE_READ, NOT_WAITED = range(4)
# Columns of what is found.
KIND, AT, OTHER_AT, COUNT, MY_BLOCK, MY_THREAD, OTHER_BLOCK, OTHER_THREAD, ADDRESS = range(9)
N_FIELDS = 9
MOST_FOUND = 512  # pairs of instructions


@part
def _excused(how, other, same_block, same_warp):
    """Two strong accesses are no race, unless their scope is too small. Volatile ones of one warp are one all the same:
    lanes of a warp do not wait for each other by themselves.
    """
    if not (how & STRONG and other & STRONG):
        return False
    if not same_block and (how | other) & OF_BLOCK:
        return False
    return not (same_warp and (how | other) & VOLATILE)


@part
def _found(order, found, kind, at, other_at, block, thread, other_block, other_thread, address):
    n = order.counts[N_FOUND]
    for k in range(n):
        if found[k, KIND] == kind and found[k, AT] == at and found[k, OTHER_AT] == other_at:
            found[k, COUNT] += 1
            return
    if n < MOST_FOUND:
        found[n, KIND], found[n, AT], found[n, OTHER_AT], found[n, COUNT] = kind, at, other_at, 1
        found[n, MY_BLOCK], found[n, MY_THREAD] = block, thread
        found[n, OTHER_BLOCK], found[n, OTHER_THREAD], found[n, ADDRESS] = other_block, other_thread, address
        order.counts[N_FOUND] = n + 1


@part
def _unordered_reader(order, moment, lanes, block, slot, warp, lane):
    """A lane of a reader that is not ordered before me; -1 for none."""
    row = order.moments[moment]
    if row[BLOCK] == block and row[WARP] == warp:
        for other in range(32):
            if np.uint32(lanes) >> np.uint32(other) & np.uint32(1) and not is_before(
                order, moment, other, block, slot, warp, lane
            ):
                return other
        return -1
    if is_before(order, moment, 0, block, slot, warp, lane):
        return -1
    other = 0
    while not np.uint32(lanes) >> np.uint32(other) & np.uint32(1):
        other += 1
    return other


@part
def _note_reader(order, stamp, moment, place, block, slot, warp, lane):
    """I have read the unit."""
    bit = np.int32(np.uint32(1) << np.uint32(lane))
    room = -1
    for at in READERS:
        if stamp[at] == moment:
            stamp[at + 1] |= bit
            stamp[at + 2] = place
            return
    for at in READERS:
        if stamp[at] == 0 or _unordered_reader(order, stamp[at], stamp[at + 1], block, slot, warp, lane) < 0:
            room = at
            break
    if room < 0:
        first, second = order.moments[stamp[READERS[0]]], order.moments[stamp[READERS[1]]]
        same = first[BLOCK] == second[BLOCK] and first[WARP] == second[WARP]
        if not same or (first[BLOCK] == block and first[WARP] == warp):
            return
        room = READERS[1]
    stamp[room], stamp[room + 1], stamp[room + 2] = moment, bit, place


@kept
def touch(
    order, stamps, found, index, n_units, masks, addresses, blocks, slots, warps, at, how, does, values, has_values
):
    """Lanes access memory: `index` int64 (n, 32): the first unit of each, -1 for one that is not looked at; `does`:
    READ, WRITE or both; values uint32 (n, 32): what they write, as far as it is known (`has_values`).
    """
    for k in range(len(masks)):
        block, slot, warp = blocks[k], slots[k], warps[k]
        if masks[k] == 0:
            continue
        catch_up(order, slot, warp)
        if how & STRONG and does & READ:
            order.pending[slot, warp] = 1
        for lane in range(32):
            if not masks[k] >> np.uint32(lane) & np.uint32(1) or index[k, lane] < 0:
                continue
            moment = present(order, block, slot, warp, lane)
            mine = open_group(order, block, slot, warp) if how & ASYNC else moment
            place = np.int32(at << AT_SHIFT | lane << LANE_SHIFT | how)
            for unit in range(index[k, lane], index[k, lane] + n_units):
                stamp = stamps[unit]
                _look_at_writer(
                    order,
                    stamp,
                    found,
                    block,
                    slot,
                    warp,
                    lane,
                    place,
                    does,
                    values[k, lane],
                    has_values,
                    addresses[k, lane],
                )
                if does & WRITE:
                    _look_at_readers(order, stamp, found, block, slot, warp, lane, place, addresses[k, lane])
                    stamp[MOMENT], stamp[PLACE], stamp[VALUE] = mine, place, np.int32(values[k, lane])
                    stamp[READERS[0]] = stamp[READERS[1]] = 0
                else:
                    _note_reader(order, stamp, moment, place, block, slot, warp, lane)


@part
def _look_at_writer(order, stamp, found, block, slot, warp, lane, place, does, value, has_values, address):
    writer = stamp[MOMENT]
    if writer == 0:
        return
    other_lane = stamp[PLACE] >> LANE_SHIFT & 31
    if is_before(order, writer, other_lane, block, slot, warp, lane):
        return
    row = order.moments[writer]
    same_block, same_warp = row[BLOCK] == block, row[BLOCK] == block and row[WARP] == warp
    if _excused(place & 15, stamp[PLACE] & 15, same_block, same_warp):
        return
    not_waited = row[IS_ASYNC] != 0 and row[DONE] == 0
    if does & WRITE and has_values and np.int32(value) == stamp[VALUE] and not not_waited and not place & STRONG:
        return  # whoever comes last, the value is the same
    kind = NOT_WAITED if not_waited else WRITE_WRITE if does & WRITE else WRITE_READ
    _found(order, found, kind, place >> AT_SHIFT, stamp[PLACE] >> AT_SHIFT, block, 32 * warp + lane, row[BLOCK],
           32 * row[WARP] + other_lane, address)  # fmt: skip


@part
def _look_at_readers(order, stamp, found, block, slot, warp, lane, place, address):
    for at in READERS:
        if stamp[at] == 0:
            continue
        other_lane = _unordered_reader(order, stamp[at], stamp[at + 1], block, slot, warp, lane)
        if other_lane < 0:
            continue
        row = order.moments[stamp[at]]
        same_warp = row[BLOCK] == block and row[WARP] == warp
        if _excused(place & 15, stamp[at + 2] & 15, row[BLOCK] == block, same_warp):
            continue
        _found(order, found, READ_WRITE, place >> AT_SHIFT, stamp[at + 2] >> AT_SHIFT, block, 32 * warp + lane,
               row[BLOCK], 32 * row[WARP] + other_lane, address)  # fmt: skip
