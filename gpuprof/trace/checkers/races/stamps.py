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
    N_MOMENTS,
    N_ROWS,
    OF_ASYNC,
    ON_BARRIER,
    WARP,
    catch_up,
    is_before,
    is_fenced,
    open_group,
    present,
)
from gpuprof.trace.checkers.races.rows import (
    AT_SHIFT,
    FIRST,
    HAS_VALUE,
    HOW,
    LANE,
    LANE_SHIFT,
    LANES,
    MOMENT,
    PLACE,
    READERS,
    SECOND,
    WRITER,
    entry_of,
    lanes_of,
    row_of,
)

# How an access is made: atomic or ordered; volatile; at the scope of the block; by cp.async; by the asynchronous proxy,
# which needs a fence; of what may be a flag.
STRONG, VOLATILE, OF_BLOCK, ASYNC, BY_PROXY, MAY_BE_FLAG = 1, 2, 4, 8, 16, 32
READ, WRITE = 1, 2
MOMENTS_OF_WARP = 64  # that one warp's access makes at most: one for each lane, and groups of copies
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
def _reader(stamps, unit, at):
    """A reader's entry; 0 for none. Behind a write the columns hold its value."""
    entry = stamps[unit, at]
    return np.int32(0) if entry == HAS_VALUE or stamps[unit, SECOND] == HAS_VALUE else entry


@part
def _unordered_reader(order, entry, block, slot, warp, lane):
    """A lane of a reader that is not ordered before me; -1 for none."""
    moments, moment = order.moments, order.rows[entry >> LANE_SHIFT, MOMENT]
    if _is_long_ago(moments, moment, block, order.epoch[slot, 32 * warp + lane]):
        return -1
    if moments[moment, BLOCK] == block and moments[moment, WARP] == warp:
        lanes = lanes_of(order, entry)
        for other in range(32):
            if lanes >> np.uint32(other) & np.uint32(1) and not is_before(
                order, moment, other, block, slot, warp, lane
            ):
                return other
        return -1
    if is_before(order, moment, 0, block, slot, warp, lane):
        return -1
    return np.int64(entry & LANE)


@part
def _put_reader(stamps, unit, at, entry):
    """Who reads first after a write takes the place of its value."""
    if stamps[unit, SECOND] == HAS_VALUE:
        stamps[unit, FIRST] = stamps[unit, SECOND] = 0
    stamps[unit, at] = entry


@part
def _merged(order, entry, moment, place, lanes):
    """The entry of a reader, once lanes have read the unit at the same moment, too."""
    if order.rows[entry >> LANE_SHIFT, PLACE] == place and lanes_of(order, entry) & lanes == lanes:
        return entry
    return entry_of(order, moment, place, lanes_of(order, entry) | lanes)


@part
def _note_reader(order, stamps, unit, moment, place, lanes, block, slot, warp, lane):
    """`lanes` (uint32) of my warp have read the unit, `lane` the first of them."""
    rows, moments = order.rows, order.moments
    room = -1
    for at in READERS:
        reader = _reader(stamps, unit, at)
        if reader != 0 and rows[reader >> LANE_SHIFT, MOMENT] == moment:
            _put_reader(stamps, unit, at, _merged(order, reader, moment, place, lanes))
            return
    for at in READERS:
        reader = _reader(stamps, unit, at)
        if reader == 0 or _unordered_reader(order, reader, block, slot, warp, lane) < 0:
            room = at
            break
    if room < 0:
        first = rows[_reader(stamps, unit, FIRST) >> LANE_SHIFT, MOMENT]
        second = rows[_reader(stamps, unit, SECOND) >> LANE_SHIFT, MOMENT]
        its_block, its_warp = moments[first, BLOCK], moments[first, WARP]
        if moments[moment, OF_ASYNC] == 0:
            if its_block != moments[second, BLOCK] or its_warp != moments[second, WARP]:
                return
            if its_block == block and its_warp == warp:
                return
        room = SECOND
    _put_reader(stamps, unit, room, entry_of(order, moment, place, lanes))


@kept
def touch(
    order,
    stamps,
    found,
    index,
    n_units,
    masks,
    addresses,
    blocks,
    slots,
    warps,
    at,
    how,
    does,
    values,
    has_values,
    start,
):
    """Lanes access memory: `index` int64 (n, 32): the first unit of each, -1 for one that is not looked at; `does`:
    READ, WRITE or both; values uint32 (n, 32): what they write, as far as it is known (`has_values`). Warps before
    `start` are done; gives the first that is not, where there was no room for its rows (`rows_of_warp`) and moments.
    """
    moments, epochs, present_moment = order.moments, order.epoch, order.moment
    is_alone = len(order.published) == order.tick.shape[1]  # no block publishes anything
    place = np.int32(at << AT_SHIFT | how)
    for k in range(start, len(masks)):
        no_rows = order.counts[N_ROWS] + 32 * (n_units + 2) > len(order.rows)
        if no_rows or order.counts[N_MOMENTS] + MOMENTS_OF_WARP > len(moments):
            return k
        block, slot, warp = blocks[k], slots[k], warps[k]
        if masks[k] == 0:
            continue
        if order.due[slot, warp] != 0:
            catch_up(order, slot, warp)
        if how & MAY_BE_FLAG and does & READ:
            order.pending[slot, warp] = 1
        done = np.uint32(0)
        row_moment, row = np.int32(0), np.int64(0)
        for lane in range(32):
            bit = np.uint32(1) << np.uint32(lane)
            if not masks[k] & bit or index[k, lane] < 0 or done & bit:
                continue
            thread = 32 * warp + lane
            moment, epoch, value = present_moment[slot, thread], epochs[slot, thread], values[k, lane]
            if moment == 0:
                moment = np.int32(present(order, block, slot, warp, lane))
            lanes = bit
            if not does & WRITE:
                # Those behind it that read the same unit at the same moment, without a gap, are looked at together.
                for other in range(lane + 1, 32):
                    its_bit = np.uint32(1) << np.uint32(other)
                    if not masks[k] & its_bit or index[k, other] != index[k, lane]:
                        break
                    its_moment = present_moment[slot, 32 * warp + other]
                    if its_moment == 0:
                        its_moment = np.int32(present(order, block, slot, warp, other))
                    if its_moment != moment:
                        break
                    lanes |= its_bit
                done |= lanes
            mine = open_group(order, block, slot, warp, lane, COPIES) if how & ASYNC else moment
            if mine != row_moment:
                row_moment, row = np.int32(mine), np.int64(row_of(order, mine, place, np.uint32(0)))
            entry = np.int32(row << LANE_SHIFT | lane)
            if lanes != bit:
                entry = entry_of(order, moment, place, lanes)
            accesses = order.counts[N_ACCESSES]
            rows = order.rows
            for unit in range(index[k, lane], index[k, lane] + n_units):
                # What is ordered by a barrier, or my own, is most of all: no call is made for it.
                writer = stamps[unit, WRITER]
                writer_moment = rows[writer >> LANE_SHIFT, MOMENT]
                is_mine = lanes == bit and writer_moment == moment and writer & LANE == lane
                if writer != 0 and not is_mine and not _is_long_ago(moments, writer_moment, block, epoch):
                    for each in range(lane, 32):
                        if lanes >> np.uint32(each) & np.uint32(1):
                            order.counts[N_ACCESSES] = accesses + 1 + each
                            _look_at_writer(order, stamps, unit, found, block, slot, warp, each, place, does, value,
                                            has_values, addresses[k, each])  # fmt: skip
                second, first = stamps[unit, SECOND], stamps[unit, FIRST]
                if second == HAS_VALUE:
                    second = first = np.int32(0)
                first_row, second_row = first >> LANE_SHIFT, second >> LANE_SHIFT
                first_moment = rows[first_row, MOMENT]
                if does & WRITE:
                    # I have read it, and nobody else.
                    alone = first_moment == moment and rows[first_row, LANES] == 0 and first & LANE == lane
                    if (first != 0 and not alone and not _is_long_ago(moments, first_moment, block, epoch)) or (
                        second != 0 and not _is_long_ago(moments, rows[second_row, MOMENT], block, epoch)
                    ):
                        order.counts[N_ACCESSES] = accesses + 1 + lane
                        _look_at_readers(order, stamps, unit, found, block, slot, warp, lane, place, addresses[k, lane])
                    stamps[unit, WRITER] = entry
                    stamps[unit, FIRST], stamps[unit, SECOND] = np.int32(value), HAS_VALUE
                elif first == 0 or _is_long_ago(moments, first_moment, block, epoch):
                    stamps[unit, FIRST], stamps[unit, SECOND] = entry, second
                elif first_moment == moment:
                    its_lanes = np.uint32(rows[first_row, LANES])
                    if its_lanes == 0:
                        its_lanes = np.uint32(1) << np.uint32(first & LANE)
                    if its_lanes & ~lanes == 0:
                        stamps[unit, FIRST] = entry
                    else:
                        stamps[unit, FIRST] = _merged(order, first, moment, place, lanes)
                elif not (is_alone and second != 0 and moments[first_moment, BLOCK] != moments[rows[second_row, MOMENT],
                                                                                                BLOCK]):  # fmt: skip
                    # (Whoever writes would meet one of two blocks' readers that nothing orders.)
                    _note_reader(order, stamps, unit, moment, place, lanes, block, slot, warp, lane)
            order.counts[N_ACCESSES] = accesses + 33
    return len(masks)


def rows_of_warp(n_units: int) -> int:
    """Rows that one warp's access needs at most."""
    return 32 * (n_units + 2)


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
    entry, moments = stamps[unit, WRITER], order.moments
    row, other_lane = entry >> LANE_SHIFT, np.int64(entry & LANE)
    writer, its_place = order.rows[row, MOMENT], order.rows[row, PLACE]
    its_block, its_warp = moments[writer, BLOCK], moments[writer, WARP]
    if is_before(order, writer, other_lane, block, slot, warp, lane):
        is_generic = its_place & STRONG == 0
        if moments[writer, OF_ASYNC] != 0:  # what cp.async writes is there once its group has been waited for
            is_generic &= its_place & ASYNC != 0
            writer = moments[writer, DONE]
        if place & BY_PROXY and is_generic and not is_fenced(order, writer, other_lane, block, slot, warp, lane):
            _found(order, found, NOT_FENCED, place >> AT_SHIFT, its_place >> AT_SHIFT, block, 32 * warp + lane,
                   its_block, 32 * its_warp + other_lane, address)  # fmt: skip
        return
    if _excused(place & HOW, its_place & HOW, its_block == block, its_block == block and its_warp == warp):
        return
    not_waited = _is_under_way(moments, writer)
    has_its = stamps[unit, SECOND] == HAS_VALUE
    is_same = does & WRITE and has_values and has_its and np.int32(value) == stamps[unit, FIRST]
    if is_same and not not_waited and not place & STRONG:
        return  # whoever comes last, the value is the same
    kind = NOT_WAITED if not_waited else WRITE_WRITE if does & WRITE else WRITE_READ
    _found(order, found, kind, place >> AT_SHIFT, its_place >> AT_SHIFT, block, 32 * warp + lane, its_block,
           32 * its_warp + other_lane, address)  # fmt: skip


@part
def _look_at_readers(order, stamps, unit, found, block, slot, warp, lane, place, address):
    moments = order.moments
    for at in READERS:
        entry = _reader(stamps, unit, at)
        if entry == 0:
            continue
        other_lane = _unordered_reader(order, entry, block, slot, warp, lane)
        if other_lane < 0:
            continue
        reader, its_place = order.rows[entry >> LANE_SHIFT, MOMENT], order.rows[entry >> LANE_SHIFT, PLACE]
        its_block, its_warp = moments[reader, BLOCK], moments[reader, WARP]
        if _excused(place & HOW, its_place & HOW, its_block == block, its_block == block and its_warp == warp):
            continue
        kind = STILL_READ if _is_under_way(moments, reader) else READ_WRITE
        _found(order, found, kind, place >> AT_SHIFT, its_place >> AT_SHIFT, block, 32 * warp + lane,
               its_block, 32 * its_warp + other_lane, address)  # fmt: skip


@kept
def touch_ranges(order, stamps, found, first_units, n_units, shift, addresses, who, moment, at, how, does, start):
    """An asynchronous operation reads or writes ranges of memory, k of them: `first_units` int64 (k,), -1 for one that
    is not looked at; `who`, int64 (k, 4): block, slot, warp and lane that ask for it; `moment`, of the operation.
    Ranges before `start` are done; gives the first that is not, where there was no room for its rows: one more than its
    units.
    """
    place = np.int32(at << AT_SHIFT | how)
    for k in range(start, len(first_units)):
        first = first_units[k]
        if order.counts[N_ROWS] + n_units[k] + 1 > len(order.rows):
            return k
        if first < 0:
            continue
        block, slot, warp, lane = who[k]
        catch_up(order, slot, warp)
        order.counts[N_ACCESSES] += 1
        lanes = np.uint32(1) << np.uint32(lane)
        entry = entry_of(order, moment, place, lanes)
        for unit in range(first, first + n_units[k]):
            address = addresses[k] + ((unit - first) << shift)
            writer = stamps[unit, WRITER]
            if writer != 0 and order.rows[writer >> LANE_SHIFT, MOMENT] != moment:
                _look_at_writer(order, stamps, unit, found, block, slot, warp, lane, place, does, 0, False, address)
            if does & WRITE:
                _look_at_readers(order, stamps, unit, found, block, slot, warp, lane, place, address)
                stamps[unit, WRITER], stamps[unit, FIRST], stamps[unit, SECOND] = entry, 0, HAS_VALUE
            else:
                _note_reader(order, stamps, unit, moment, place, lanes, block, slot, warp, lane)
    return len(first_units)
