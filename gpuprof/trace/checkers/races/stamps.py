"""Who wrote each unit of memory last, and who has read it since. Compiled by Numba.

Readers are kept by warp and moment, two of them: one who is ordered before another gives way to it, and of two that are
not, those of different warps stay.
"""

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.compiled.parts import part
from gpuprof.trace.checkers.races.order import (
    BLOCK,
    COPIES,
    DONE,
    EPOCH,
    IN_GROUP,
    N_ACCESSES,
    N_FOUND,
    N_LOST,
    OF_ASYNC,
    ON_BARRIER,
    WARP,
    catch_up,
    is_before,
    is_fenced,
    open_group,
    present,
)

# Columns of a unit's stamps, int32: of its writer, then three of each of two readers.
MOMENT, PLACE, VALUE = 0, 1, 2
FIRST, SECOND = READERS = (3, 6)  # each: moment, lanes as bits, place
N_STAMPS = 9
# A place: the instruction's number, the writer's lane, and how the access is made.
LANE_SHIFT, AT_SHIFT, HOW = 6, 11, 63
# Atomic or ordered; volatile; at the scope of the block; by cp.async; by the asynchronous proxy, which needs a fence;
# of what may be a flag.
STRONG, VOLATILE, OF_BLOCK, ASYNC, BY_PROXY, MAY_BE_FLAG = 1, 2, 4, 8, 16, 32
READ, WRITE = 1, 2
# Kinds of races.
WRITE_WRITE, READ_WRITE, WRITE_READ, NOT_WAITED, STILL_READ, NOT_FENCED = range(6)
# Columns of what is found. LAST: the number of the access that was counted last, so that it counts once for its units.
KIND, AT, OTHER_AT, COUNT, MY_BLOCK, MY_THREAD, OTHER_BLOCK, OTHER_THREAD, ADDRESS, LAST = range(10)
N_FIELDS = 10
MOST_FOUND = 4096  # pairs of instructions, apart within a warp and between warps; others are only counted


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
def _is_in_warp(block, thread, other_block, other_thread):
    return block == other_block and thread >> 5 == other_thread >> 5


@part
def _found(order, found, kind, at, other_at, block, thread, other_block, other_thread, address):
    n, in_warp = order.counts[N_FOUND], _is_in_warp(block, thread, other_block, other_thread)
    for k in range(n):
        row = found[k]
        is_known = row[KIND] == kind and row[AT] == at and row[OTHER_AT] == other_at
        if is_known and _is_in_warp(row[MY_BLOCK], row[MY_THREAD], row[OTHER_BLOCK], row[OTHER_THREAD]) == in_warp:
            row[COUNT] += row[LAST] != order.counts[N_ACCESSES]
            row[LAST] = order.counts[N_ACCESSES]
            return
    if n == MOST_FOUND:
        order.counts[N_LOST] += 1
    else:
        found[n, KIND], found[n, AT], found[n, OTHER_AT], found[n, COUNT] = kind, at, other_at, 1
        found[n, MY_BLOCK], found[n, MY_THREAD] = block, thread
        found[n, OTHER_BLOCK], found[n, OTHER_THREAD], found[n, ADDRESS] = other_block, other_thread, address
        found[n, LAST] = order.counts[N_ACCESSES]
        order.counts[N_FOUND] = n + 1


@part
def _is_long_ago(moments, moment, block, epoch):
    """Whether a barrier of the block has ended the moment."""
    return moments[moment, BLOCK] == block and moments[moment, EPOCH] < epoch and moments[moment, OF_ASYNC] == 0


@part
def _unordered_reader(order, moment, lanes, block, slot, warp, lane):
    """A lane of a reader that is not ordered before me; -1 for none."""
    moments = order.moments
    if _is_long_ago(moments, moment, block, order.epoch[slot, 32 * warp + lane]):
        return -1
    if moments[moment, BLOCK] == block and moments[moment, WARP] == warp:
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
def _note_reader(order, stamps, unit, moment, place, block, slot, warp, lane):
    """I have read the unit."""
    bit = np.int32(np.uint32(1) << np.uint32(lane))
    room = -1
    for at in READERS:
        if stamps[unit, at] == moment:
            stamps[unit, at + 1] |= bit
            stamps[unit, at + 2] = place
            return
    for at in READERS:
        reader = stamps[unit, at]
        if reader == 0 or _unordered_reader(order, reader, stamps[unit, at + 1], block, slot, warp, lane) < 0:
            room = at
            break
    if room < 0:
        moments, first, second = order.moments, stamps[unit, READERS[0]], stamps[unit, READERS[1]]
        its_block, its_warp = moments[first, BLOCK], moments[first, WARP]
        if moments[moment, OF_ASYNC] == 0:
            if its_block != moments[second, BLOCK] or its_warp != moments[second, WARP]:
                return
            if its_block == block and its_warp == warp:
                return
        room = READERS[1]
    stamps[unit, room], stamps[unit, room + 1], stamps[unit, room + 2] = moment, bit, place


@kept
def touch(
    order, stamps, found, index, n_units, masks, addresses, blocks, slots, warps, at, how, does, values, has_values
):
    """Lanes access memory: `index` int64 (n, 32): the first unit of each, -1 for one that is not looked at; `does`:
    READ, WRITE or both; values uint32 (n, 32): what they write, as far as it is known (`has_values`).
    """
    moments, epochs, present_moment = order.moments, order.epoch, order.moment
    is_alone = len(order.published) == order.tick.shape[1]  # no block publishes anything
    for k in range(len(masks)):
        block, slot, warp = blocks[k], slots[k], warps[k]
        if masks[k] == 0:
            continue
        if order.due[slot, warp] != 0:
            catch_up(order, slot, warp)
        if how & MAY_BE_FLAG and does & READ:
            order.pending[slot, warp] = 1
        for lane in range(32):
            if not masks[k] >> np.uint32(lane) & np.uint32(1) or index[k, lane] < 0:
                continue
            order.counts[N_ACCESSES] += 1
            thread = 32 * warp + lane
            moment, epoch, value = present_moment[slot, thread], epochs[slot, thread], values[k, lane]
            if moment == 0:
                moment = present(order, block, slot, warp, lane)
            mine = open_group(order, block, slot, warp, lane, COPIES) if how & ASYNC else moment
            place = np.int32(at << AT_SHIFT | lane << LANE_SHIFT | how)
            bit = np.int32(np.uint32(1) << np.uint32(lane))
            for unit in range(index[k, lane], index[k, lane] + n_units):
                # What is ordered by a barrier, or my own, is most of all: no call is made for it.
                writer = stamps[unit, MOMENT]
                is_mine = writer == moment and stamps[unit, PLACE] >> LANE_SHIFT & 31 == lane
                if writer != 0 and not is_mine and not _is_long_ago(moments, writer, block, epoch):
                    _look_at_writer(order, stamps, unit, found, block, slot, warp, lane, place, does, value, has_values,
                                    addresses[k, lane])  # fmt: skip
                first, second = stamps[unit, FIRST], stamps[unit, SECOND]
                if does & WRITE:
                    alone = first == moment and stamps[unit, FIRST + 1] == bit  # I have read it, and nobody else
                    if (first != 0 and not alone and not _is_long_ago(moments, first, block, epoch)) or (
                        second != 0 and not _is_long_ago(moments, second, block, epoch)
                    ):
                        _look_at_readers(order, stamps, unit, found, block, slot, warp, lane, place, addresses[k, lane])
                    stamps[unit, MOMENT], stamps[unit, PLACE], stamps[unit, VALUE] = mine, place, np.int32(value)
                    stamps[unit, FIRST] = stamps[unit, SECOND] = 0
                elif first == moment or first == 0 or _is_long_ago(moments, first, block, epoch):
                    stamps[unit, FIRST + 1] = stamps[unit, FIRST + 1] | bit if first == moment else bit
                    stamps[unit, FIRST], stamps[unit, FIRST + 2] = moment, place
                elif not (is_alone and second != 0 and moments[first, BLOCK] != moments[second, BLOCK]):
                    # (Whoever writes would meet one of two blocks' readers that nothing orders.)
                    _note_reader(order, stamps, unit, moment, place, block, slot, warp, lane)


@part
def _is_under_way(moments, moment):
    """Of what is not before me: whether it is an asynchronous operation that I have not waited for. For a group, its
    own thread waits, and others for that thread.
    """
    return moments[moment, OF_ASYNC] == ON_BARRIER or (
        moments[moment, OF_ASYNC] == IN_GROUP and moments[moment, DONE] == 0
    )


@part
def _look_at_writer(order, stamps, unit, found, block, slot, warp, lane, place, does, value, has_values, address):
    writer, its_place, moments = stamps[unit, MOMENT], stamps[unit, PLACE], order.moments
    other_lane = its_place >> LANE_SHIFT & 31
    its_block, its_warp = moments[writer, BLOCK], moments[writer, WARP]
    if is_before(order, writer, other_lane, block, slot, warp, lane):
        is_generic = moments[writer, OF_ASYNC] == 0 and its_place & STRONG == 0
        if place & BY_PROXY and is_generic and not is_fenced(order, writer, other_lane, block, slot, warp, lane):
            _found(order, found, NOT_FENCED, place >> AT_SHIFT, its_place >> AT_SHIFT, block, 32 * warp + lane,
                   its_block, 32 * its_warp + other_lane, address)  # fmt: skip
        return
    if _excused(place & HOW, its_place & HOW, its_block == block, its_block == block and its_warp == warp):
        return
    not_waited = _is_under_way(moments, writer)
    is_same = does & WRITE and has_values and np.int32(value) == stamps[unit, VALUE]
    if is_same and not not_waited and not place & STRONG:
        return  # whoever comes last, the value is the same
    kind = NOT_WAITED if not_waited else WRITE_WRITE if does & WRITE else WRITE_READ
    _found(order, found, kind, place >> AT_SHIFT, its_place >> AT_SHIFT, block, 32 * warp + lane, its_block,
           32 * its_warp + other_lane, address)  # fmt: skip


@part
def _look_at_readers(order, stamps, unit, found, block, slot, warp, lane, place, address):
    moments = order.moments
    for at in READERS:
        reader = stamps[unit, at]
        if reader == 0:
            continue
        other_lane = _unordered_reader(order, reader, stamps[unit, at + 1], block, slot, warp, lane)
        if other_lane < 0:
            continue
        its_block, its_warp, its_place = moments[reader, BLOCK], moments[reader, WARP], stamps[unit, at + 2]
        if _excused(place & HOW, its_place & HOW, its_block == block, its_block == block and its_warp == warp):
            continue
        kind = STILL_READ if _is_under_way(moments, reader) else READ_WRITE
        _found(order, found, kind, place >> AT_SHIFT, its_place >> AT_SHIFT, block, 32 * warp + lane,
               its_block, 32 * its_warp + other_lane, address)  # fmt: skip


@kept
def touch_ranges(order, stamps, found, first_units, n_units, shift, addresses, who, moment, at, how, does):
    """An asynchronous operation reads or writes ranges of memory, k of them: `first_units` int64 (k,), -1 for one that
    is not looked at; `who`, int64 (k, 4): block, slot, warp and lane that ask for it; `moment`, of the operation.
    """
    for k in range(len(first_units)):
        first = first_units[k]
        if first < 0:
            continue
        block, slot, warp, lane = who[k]
        catch_up(order, slot, warp)
        order.counts[N_ACCESSES] += 1
        place = np.int32(at << AT_SHIFT | lane << LANE_SHIFT | how)
        for unit in range(first, first + n_units[k]):
            address = addresses[k] + ((unit - first) << shift)
            writer = stamps[unit, MOMENT]
            if writer != 0 and writer != moment:
                _look_at_writer(order, stamps, unit, found, block, slot, warp, lane, place, does, 0, False, address)
            if does & WRITE:
                _look_at_readers(order, stamps, unit, found, block, slot, warp, lane, place, address)
                stamps[unit, MOMENT], stamps[unit, PLACE], stamps[unit, VALUE] = moment, place, 0
                stamps[unit, FIRST] = stamps[unit, SECOND] = 0
            else:
                _note_reader(order, stamps, unit, moment, place, block, slot, warp, lane)
