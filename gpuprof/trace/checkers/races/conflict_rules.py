"""What an access of some bytes means for those that touched them before: the races, and whose entries stay. Compiled by
Numba.

Bytes are judged together where they have the same entries, which hold for each by its own lane (`rows`). Readers are
kept by warp and moment, two of them: one who is ordered before another gives way to it, and of two that are not, those
of different warps stay.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.jit.internal import inline_njit
from gpuprof.trace.checkers.races import pairs
from gpuprof.trace.checkers.races.access_rows import (
    AT_SHIFT,
    HOW,
    LANE,
    LANE_SHIFT,
    LANES,
    MOMENT,
    PLACE,
    STRIDE,
    WIDTH,
    lane_from,
    lanes_of,
    of_way,
    row_of,
)
from gpuprof.trace.checkers.races.stamp_lines import LINE_NBYTES, lowest
from gpuprof.trace.checkers.races.vector_clocks import (
    BLOCK,
    DONE,
    EPOCH,
    IN_GROUP,
    ON_BARRIER,
    WARP,
    is_asynchronous,
    is_before,
    is_fenced,
)

# How an access is made: atomic or ordered; volatile; at the scope of the block; by cp.async; by the asynchronous proxy,
# which needs a fence; of what may be a flag; a plain store, whose value is known.
STRONG, VOLATILE, OF_BLOCK, ASYNC, BY_PROXY, MAY_BE_FLAG, HAS_VALUE = 1, 2, 4, 8, 16, 32, 64
READ, WRITE = 1, 2


class Group(NamedTuple):
    """Lanes of a warp that access memory together, as an entry says it (`rows`): `lane` and those of `lanes` above it
    the byte `start`, an address as the lines have it, and the others by `stride`.
    """

    row: int  # of the event
    block: int
    slot: int
    warp: int
    epoch: int
    moment: int
    kept_as: int  # the moment that stands in entries: of the asynchronous operation, if it is one
    place: int
    does: int  # READ, WRITE
    access: int  # a number for what the warp does now; behind it those of its lanes
    origin: int  # what lines add to the program's addresses
    start: int
    lane: int
    lanes: int  # as in LANES
    stride: int
    entry_row: int  # that these make


class Stored(NamedTuple):
    """What an event's warps store, and what the memory holds before: uint64 (m, n, 32), so many words a lane; (0, ...)
    where nobody compares. `addresses` int64 (n, 32) and `origins` int64 (n,), whose sum lines have.
    """

    values: np.ndarray
    held: np.ndarray
    nbytes: int  # of a lane, a power of two
    blocks: np.ndarray
    warps: np.ndarray
    masks: np.ndarray
    addresses: np.ndarray
    origins: np.ndarray


@inline_njit
def lane_at(group, address):
    return lane_from(group.stride, group.lane, group.start, address)


@inline_njit
def entry_at(group, lane):
    """The group's entry for bytes whose first is `lane`'s."""
    return group.entry_row << LANE_SHIFT | lane


@inline_njit
def _excused(how, other, same_block, same_warp):
    """Two strong accesses are no race, unless their scope is too small. Volatile ones of one warp are one all the same:
    lanes of a warp do not wait for each other by themselves.
    """
    if not (how & STRONG and other & STRONG):
        return False
    if not same_block and (how | other) & OF_BLOCK:
        return False
    return not (same_warp and (how | other) & VOLATILE)


@inline_njit
def _is_long_ago(moments, moment, block, epoch):
    """Whether a barrier of the block has ended the moment."""
    return moments[moment, BLOCK] == block and 0 <= moments[moment, EPOCH] < epoch


@inline_njit
def _is_under_way(moments, moment):
    """Of what is not before me: whether it is an asynchronous operation that I have not waited for. For a group, its
    own thread waits, and others for that thread.
    """
    waited_for = moments[moment, EPOCH]
    return waited_for == ON_BARRIER or (waited_for == IN_GROUP and moments[moment, DONE] == 0)


@inline_njit
def piece(order, group, entries, base, some):
    """Of some bytes of a line (bits; its address is `base`) those of the same lanes as the lowest."""
    byte, found = lowest(some), np.int64(0)
    for other in range(byte, LINE_NBYTES):
        is_same = some >> other & 1 and lane_at(group, base + other) == lane_at(group, base + byte)
        for entry in entries:
            if is_same and entry != 0:
                stride = of_way(order, entry, STRIDE)
                is_same = lane_from(stride, entry & LANE, byte, other) == entry & LANE
        if is_same:
            found |= np.int64(1) << other
    return found


@inline_njit
def judge(order, found, stored, group, entries, base, some):
    """The entries (writer, first and second reader) of some bytes of a line, once a group has accessed them, and
    whether that can be said: bytes of other lanes may have to be told apart first (`piece`).
    """
    writer, first, second = entries
    rows, moments, lane = order.rows, order.moments, lane_at(group, base + lowest(some))
    if not group.does & WRITE:
        first, second, is_said = _readers(order, group, first, second, lane, base, some)
        if not is_said:
            return entries, False
    if writer != 0:
        moment = np.int64(rows[writer >> LANE_SHIFT, MOMENT])
        is_mine = moment == group.moment and (group.place & BY_PROXY or _is_own(order, group, writer, base, some))
        # (Even behind a barrier the asynchronous proxy needs a fence.)
        is_over = not group.place & BY_PROXY and _is_long_ago(moments, moment, group.block, group.epoch)
        if not is_mine and not is_over:
            _look_at_writer(order, found, stored, group, entries, base, some)
    if not group.does & WRITE:
        return (writer, first, second), True
    for reader in (first, second):
        if reader != 0 and not _is_long_ago(moments, rows[reader >> LANE_SHIFT, MOMENT], group.block, group.epoch):
            _look_at_reader(order, found, group, reader, base, some)
    return (entry_at(group, lane), np.int64(0), np.int64(0)), True


@inline_njit
def _is_own(order, group, entry, base, some):
    """Whether an entry of my moment is of the same lane as mine at each byte, and of no other."""
    if of_way(order, entry, LANES) != 0 or group.lanes != 0:
        return False
    byte, stride = lowest(some), of_way(order, entry, STRIDE)
    if lane_at(group, base + byte) != entry & LANE:
        return False
    if stride == group.stride:
        return True
    for other in range(byte + 1, LINE_NBYTES):
        if some >> other & 1 and lane_at(group, base + other) != lane_from(stride, entry & LANE, byte, other):
            return False
    return True


# Who reads.


@inline_njit
def _readers(order, group, first, second, lane, base, some):
    """The readers once a group has read, and whether that can be said of all the bytes at once."""
    rows, moments = order.rows, order.moments
    first_moment, second_moment = rows[first >> LANE_SHIFT, MOMENT], rows[second >> LANE_SHIFT, MOMENT]
    if first == 0 or _is_long_ago(moments, first_moment, group.block, group.epoch):
        return entry_at(group, lane), second, True
    if first_moment == group.moment:
        first = _merged(order, group, first, lane, base, some)
        return first, second, first != 0
    is_plain = not is_asynchronous(moments, group.moment)
    is_alone = is_plain and len(order.published) <= order.apart.shape[1]  # no block publishes anything for another
    if is_alone and second != 0 and moments[first_moment, BLOCK] != moments[second_moment, BLOCK]:
        return first, second, True  # whoever writes would meet one of two blocks' readers that nothing orders
    if second != 0 and second_moment == group.moment:
        second = _merged(order, group, second, lane, base, some)
        return first, second, second != 0
    unordered = _unordered(order, group, first, lane, base, some)
    if unordered == SOME:
        return first, second, False
    if unordered == NONE:
        return entry_at(group, lane), second, True
    if second == 0:
        return first, entry_at(group, lane), True
    unordered = _unordered(order, group, second, lane, base, some)
    if unordered == SOME:
        return first, second, False
    if unordered == ALL and is_plain:
        its_block, its_warp = moments[first_moment, BLOCK], moments[first_moment, WARP]
        if its_block != moments[second_moment, BLOCK] or its_warp != moments[second_moment, WARP]:
            return first, second, True
        if its_block == group.block and its_warp == group.warp:
            return first, second, True
    return first, entry_at(group, lane), True


NONE, ALL, SOME = range(3)


@inline_njit
def _unordered(order, group, entry, lane, base, some):
    """Of how many bytes a reader is not ordered before the group."""
    moments, moment = order.moments, np.int64(order.rows[entry >> LANE_SHIFT, MOMENT])
    if _is_long_ago(moments, moment, group.block, group.epoch):
        return NONE
    if moments[moment, BLOCK] != group.block or moments[moment, WARP] != group.warp:
        return NONE if is_before(order, moment, 0, group.block, group.slot, group.warp, lane) else ALL
    byte, stride, lanes, result, seen = lowest(some), of_way(order, entry, STRIDE), lanes_of(order, entry), -1, -1
    for other in range(byte, LINE_NBYTES):
        mine, its = lane_at(group, base + other), lane_from(stride, entry & LANE, byte, other)
        if not some >> other & 1 or mine << 5 | its == seen:
            continue
        seen = mine << 5 | its
        is_unordered = _lane_that_is_not_before(order, group, moment, lanes >> (entry & LANE) << its, mine) >= 0
        now = ALL if is_unordered else NONE
        if result >= 0 and now != result:
            return SOME
        result = now
    return result


@inline_njit
def _lane_that_is_not_before(order, group, moment, lanes, mine):
    """Of lanes of my warp, bits; -1 for none."""
    for lane in range(32):
        if lanes >> lane & 1 and not is_before(order, moment, lane, group.block, group.slot, group.warp, mine):
            return lane
    return -1


@inline_njit
def _is_constant(stride, base, some):
    """Whether some bytes of a line are of one access."""
    if stride == 0 or some & some - 1 == 0:
        return True
    width, first = stride & WIDTH, lowest(some)
    return some >> (((first >> width) + 1) << width) == 0


@inline_njit
def _all_lanes(lanes, stride, lane, some):
    """The lanes of all of some bytes; `lanes` at the first."""
    found, byte = np.int64(0), lowest(some)
    for other in range(byte, LINE_NBYTES):
        if some >> other & 1:
            found |= lanes >> lane << lane_from(stride, lane, byte, other)
    return found


@inline_njit
def _merged(order, group, entry, lane, base, some):
    """The entry of a reader once the group has read the bytes at the same moment, too; 0 where it takes several."""
    its_stride, its = of_way(order, entry, STRIDE), lanes_of(order, entry)
    mine, stride = (np.int64(group.lanes) << 1 | 1) << lane, np.int64(group.stride)
    place = of_way(order, entry, PLACE)
    if place & STRONG and not group.place & STRONG:  # the weak one of the two races with more
        place = np.int64(group.place)
    if its_stride != stride:
        is_constant, am_constant = _is_constant(its_stride, base, some), _is_constant(stride, base, some)
        if is_constant and not am_constant:
            return entry if _all_lanes(mine, stride, lane, some) & ~its == 0 else np.int64(0)
        if am_constant and not is_constant:
            theirs = _all_lanes(its, its_stride, entry & LANE, some)
            return np.int64(entry_at(group, lane)) if theirs & ~mine == 0 else np.int64(0)
        if not is_constant:
            return np.int64(0)
        stride = np.int64(0)
    both = mine | its
    first = lowest(both)
    if both == its and place == of_way(order, entry, PLACE):
        return entry
    row = row_of(order, group.kept_as, place, both >> first >> 1, stride)
    return np.int64(row << LANE_SHIFT | first)


# Values.


@inline_njit
def _is_same_value(order, stored, group, writer, lane, its, base, first, some):
    """Whether a lane stores what another one, the writer, has, where some bytes of a line, from `first` on, are of the
    two. What the writer has stored is in memory, or it is one of the warps that store now.
    """
    byte, stride = lowest(some), of_way(order, writer, STRIDE)
    its_row = _row_of_writer(order, stored, group, writer, its, base + first)
    for other in range(first, LINE_NBYTES):
        is_of_both = lane_at(group, base + other) == lane and lane_from(stride, writer & LANE, byte, other) == its
        if not some >> other & 1 or not is_of_both:
            continue
        at = base + other & stored.nbytes - 1
        before = _byte_of(stored.held, stored.nbytes, group.row, lane, at)
        if its_row >= 0:
            before = _byte_of(stored.values, stored.nbytes, its_row, its, at)
        if _byte_of(stored.values, stored.nbytes, group.row, lane, at) != before:
            return False
    return True


@inline_njit
def _byte_of(words, nbytes, row, lane, at):
    """Byte `at` of a lane's `nbytes`, in words that each have as many of them."""
    of_word = nbytes // len(words)
    return words[at // of_word, row, lane] >> np.uint64(8 * (at % of_word)) & np.uint64(255)


@inline_njit
def _row_of_writer(order, stored, group, writer, its, address):
    """The row of this event, the present one or one before it, in which the writer's lane stores to the address; -1 for
    none.
    """
    moment = np.int64(order.rows[writer >> LANE_SHIFT, MOMENT])
    if of_way(order, writer, PLACE) >> AT_SHIFT != group.place >> AT_SHIFT:
        return np.int64(-1)
    block, warp, start = order.moments[moment, BLOCK], order.moments[moment, WARP], address & -stored.nbytes
    for k in range(group.row, -1, -1):
        if stored.blocks[k] == block and stored.warps[k] == warp:
            is_there = np.int64(stored.masks[k]) >> its & 1 and stored.addresses[k, its] + stored.origins[k] == start
            return np.int64(k) if is_there else np.int64(-1)
    return np.int64(-1)


# Races.


@inline_njit
def _shown(group, address):
    """The program's address of the access that an address of the lines is of."""
    if group.stride != 0:
        width = group.stride & WIDTH
        return ((address >> width) << width) - group.origin
    return (address if group.place & BY_PROXY else group.start) - group.origin


@inline_njit
def _lacks_fence(order, group, moment, its_place, its, lane):
    """Whether a write that comes before an access by the asynchronous proxy needs a proxy fence that is not there."""
    if its_place & STRONG:
        return False
    written = moment
    if is_asynchronous(order.moments, moment):  # what cp.async writes is there once its group has been waited for
        if not its_place & ASYNC:
            return False
        written = np.int64(order.moments[moment, DONE])
    return not is_fenced(order, written, its, group.block, group.slot, group.warp, lane)


@inline_njit
def _look_at_writer(order, found, stored, group, entries, base, some):
    moments, writer, byte = order.moments, entries[0], lowest(some)
    moment = np.int64(order.rows[writer >> LANE_SHIFT, MOMENT])
    its_place, stride = of_way(order, writer, PLACE), of_way(order, writer, STRIDE)
    its_block, its_warp = np.int64(moments[moment, BLOCK]), np.int64(moments[moment, WARP])
    in_block, in_warp = its_block == group.block, its_block == group.block and its_warp == group.warp
    is_excused = _excused(group.place & HOW, its_place & HOW, in_block, in_warp)
    if not in_warp and not group.place & BY_PROXY:  # then what holds for one lane does for all
        lane = lane_at(group, base + byte)
        if is_excused or is_before(order, moment, writer & LANE, group.block, group.slot, group.warp, lane):
            return
    not_waited = _is_under_way(moments, moment)
    kind = pairs.NOT_WAITED if not_waited else pairs.WRITE_WRITE if group.does & WRITE else pairs.WRITE_READ
    compares = not not_waited and not group.place & STRONG and group.place & HAS_VALUE and its_place & HAS_VALUE
    compares = compares and entries[1] == 0 and entries[2] == 0 and len(stored.values) > 0
    seen = np.int64(-1)
    for at in range(byte, LINE_NBYTES):
        first, its = lane_at(group, base + at), lane_from(stride, writer & LANE, byte, at)
        if not some >> at & 1 or first << 5 | its == seen:
            continue
        seen, its_thread = first << 5 | its, 32 * its_warp + its
        lanes = (np.int64(group.lanes) << 1 | 1) << first
        for lane in range(32):
            if not lanes >> lane & 1:
                continue
            thread, told = 32 * group.warp + lane, kind
            if is_before(order, moment, its, group.block, group.slot, group.warp, lane):
                if not group.place & BY_PROXY or not _lacks_fence(order, group, moment, its_place, its, lane):
                    continue
                told = pairs.NOT_FENCED
            elif is_excused:
                continue
            elif compares and _is_same_value(order, stored, group, writer, lane, its, base, at, some):
                continue  # whoever comes last, the value is the same
            pairs.note(order, found, told, group.place >> AT_SHIFT, its_place >> AT_SHIFT, group.block, thread,
                       its_block, its_thread, _shown(group, base + at), group.access + lane)  # fmt: skip


@inline_njit
def _look_at_reader(order, found, group, reader, base, some):
    moments, byte = order.moments, lowest(some)
    moment = np.int64(order.rows[reader >> LANE_SHIFT, MOMENT])
    its_place, stride = of_way(order, reader, PLACE), of_way(order, reader, STRIDE)
    is_mine = moment == group.moment and not group.place & BY_PROXY
    if is_mine and _is_own(order, group, reader, base, some):
        return  # I have read it, and nobody else
    its_block, its_warp = np.int64(moments[moment, BLOCK]), np.int64(moments[moment, WARP])
    in_block, in_warp = its_block == group.block, its_block == group.block and its_warp == group.warp
    if _excused(group.place & HOW, its_place & HOW, in_block, in_warp):
        return
    if not in_warp:
        lane = lane_at(group, base + byte)
        if is_before(order, moment, 0, group.block, group.slot, group.warp, lane):
            return
    kind = pairs.STILL_READ if _is_under_way(moments, moment) else pairs.READ_WRITE
    seen, lanes = np.int64(-1), lanes_of(order, reader) >> (reader & LANE)
    for at in range(byte, LINE_NBYTES):
        lane, its = lane_at(group, base + at), lane_from(stride, reader & LANE, byte, at)
        if not some >> at & 1 or lane << 5 | its == seen:
            continue
        seen = lane << 5 | its
        other = its
        if in_warp:
            other = _lane_that_is_not_before(order, group, moment, lanes << its, lane)
        if other >= 0:
            pairs.note(order, found, kind, group.place >> AT_SHIFT, its_place >> AT_SHIFT, group.block,
                       32 * group.warp + lane, its_block, 32 * its_warp + other, _shown(group, base + at),
                       group.access + lane)  # fmt: skip
