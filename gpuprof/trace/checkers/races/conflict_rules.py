"""The effect of an access on the entries of previous accesses to the same bytes: races, and the remaining entries.
Compiled by Numba.

Bytes with the same entries are processed together; an entry applies to each byte by its lane (`access_rows`). Two
readers are stored, by warp and moment: a reader that is ordered before another is replaced by it, and of unordered
ones, those of different warps remain.
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
    SITE,
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

# Properties of an access: atomic or ordered; volatile; at the scope of the block; by cp.async; by the asynchronous
# proxy, which needs a fence; to a possible flag; a plain store with a known value.
STRONG, VOLATILE, OF_BLOCK, ASYNC, BY_PROXY, MAY_BE_FLAG, HAS_VALUE = 1, 2, 4, 8, 16, 32, 64
READ, WRITE = 1, 2


class Group(NamedTuple):
    """Lanes of a warp that access memory together, in the form of an entry (`access_rows`): `lane` and those of `lanes`
    above it access the byte `start`, an address of the lines, and the others follow by `stride`.
    """

    row: int  # of the event
    block: int
    slot: int
    warp: int
    epoch: int
    moment: int
    entry_moment: int  # the moment of its entries: that of the asynchronous operation, if it is one
    site: int
    does: int  # READ, WRITE
    access: int  # a number for the warp's current access; the next ones are those of its lanes
    origin: int  # difference between addresses of lines and of the program
    start: int
    lane: int
    lanes: int  # as in LANES
    stride: int
    entry_row: int  # row of the resulting entries


class Stored(NamedTuple):
    """The values that an event's warps store, and the previous content of memory: uint64 (m, n, 32), m words per lane;
    (0, ...) if values are not compared. `addresses`, int64 (n, 32): of lines, without what `origin_of` adds for a warp,
    whose block has the slot in `slots`, int64 (n,).
    """

    values: np.ndarray
    held: np.ndarray
    nbytes: int  # of a lane, a power of two
    blocks: np.ndarray
    warps: np.ndarray
    masks: np.ndarray
    addresses: np.ndarray
    slots: np.ndarray
    stride: int
    offset: int


@inline_njit
def origin_of(stored, row):
    """The difference between addresses of lines and those of a warp."""
    return stored.slots[row] * stored.stride + stored.offset


@inline_njit
def lane_at(group, address):
    return lane_from(group.stride, group.lane, group.start, address)


@inline_njit
def entry_at(group, lane):
    """The group's entry for bytes whose first belongs to `lane`."""
    return group.entry_row << LANE_SHIFT | lane


@inline_njit
def _excused(how, other, same_block, same_warp):
    """Two strong accesses are not a race, unless their scope is too small. Volatile ones of one warp are a race
    nevertheless: lanes of a warp do not wait for each other implicitly.
    """
    if not (how & STRONG and other & STRONG):
        return False
    if not same_block and (how | other) & OF_BLOCK:
        return False
    return not (same_warp and (how | other) & VOLATILE)


@inline_njit
def _is_long_ago(moments, moment, block, epoch):
    """True if a barrier of the block has ended the moment."""
    return moments[moment, BLOCK] == block and 0 <= moments[moment, EPOCH] < epoch


@inline_njit
def _is_under_way(moments, moment):
    """For a moment that is not before the current one: true if it is an asynchronous operation without a wait. A
    group's own thread waits for it, and others for that thread.
    """
    waited_for = moments[moment, EPOCH]
    return waited_for == ON_BARRIER or (waited_for == IN_GROUP and moments[moment, DONE] == 0)


@inline_njit
def piece(order, group, entries, base, some):
    """The subset of some bytes of a line (bits; its address is `base`) that belongs to the same lanes as the lowest."""
    byte, same = lowest(some), np.int64(0)
    for other in range(byte, LINE_NBYTES):
        is_same = some >> other & 1 and lane_at(group, base + other) == lane_at(group, base + byte)
        for entry in entries:
            if is_same and entry != 0:
                stride = of_way(order, entry, STRIDE)
                is_same = lane_from(stride, entry & LANE, byte, other) == entry & LANE
        if is_same:
            same |= np.int64(1) << other
    return same


@inline_njit
def judge(order, found, stored, group, entries, base, some):
    """The entries (writer, first and second reader) of some bytes of a line after an access by a group, and whether the
    result is valid for all bytes: bytes of different lanes may have to be processed separately first (`piece`).
    """
    writer, first, second = entries
    rows, moments, lane = order.rows, order.moments, lane_at(group, base + lowest(some))
    if not group.does & WRITE:
        first, second, is_decided = _readers(order, group, first, second, lane, base, some)
        if not is_decided:
            return entries, False
    if writer != 0:
        moment = np.int64(rows[writer >> LANE_SHIFT, MOMENT])
        is_own_moment = moment == group.moment and (group.site & BY_PROXY or _is_own(order, group, writer, base, some))
        # (Even after a barrier the asynchronous proxy needs a fence.)
        is_over = not group.site & BY_PROXY and _is_long_ago(moments, moment, group.block, group.epoch)
        if not is_own_moment and not is_over:
            _check_writer(order, found, stored, group, entries, base, some)
    if not group.does & WRITE:
        return (writer, first, second), True
    for reader in (first, second):
        if reader != 0 and not _is_long_ago(moments, rows[reader >> LANE_SHIFT, MOMENT], group.block, group.epoch):
            _check_reader(order, found, group, reader, base, some)
    return (entry_at(group, lane), np.int64(0), np.int64(0)), True


@inline_njit
def _is_own(order, group, entry, base, some):
    """True if an entry of the current moment belongs to the group's lane at each byte, and to no other."""
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


# GridThread reads.


@inline_njit
def _readers(order, group, first, second, lane, base, some):
    """The readers after a read by a group, and whether the result is valid for all the bytes."""
    rows, moments = order.rows, order.moments
    first_moment, second_moment = rows[first >> LANE_SHIFT, MOMENT], rows[second >> LANE_SHIFT, MOMENT]
    if first == 0 or _is_long_ago(moments, first_moment, group.block, group.epoch):
        return entry_at(group, lane), second, True
    if first_moment == group.moment:
        first = _merged(order, group, first, lane, base, some)
        return first, second, first != 0
    is_plain = not is_asynchronous(moments, group.moment)
    is_unpublished = is_plain and len(order.published) <= order.diverged.shape[1]  # no block publishes anything
    if is_unpublished and second != 0 and moments[first_moment, BLOCK] != moments[second_moment, BLOCK]:
        return first, second, True  # any writer is unordered with one of two blocks' readers
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
    """NONE, ALL or SOME: the bytes for which a reader is not ordered before the group."""
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
    """The first of some lanes of the group's warp, bits, that is not ordered before lane `mine`; -1 for none."""
    for lane in range(32):
        if lanes >> lane & 1 and not is_before(order, moment, lane, group.block, group.slot, group.warp, mine):
            return lane
    return -1


@inline_njit
def _is_constant(stride, base, some):
    """True if some bytes of a line belong to one access."""
    if stride == 0 or some & some - 1 == 0:
        return True
    width, first = stride & WIDTH, lowest(some)
    return some >> (((first >> width) + 1) << width) == 0


@inline_njit
def _all_lanes(lanes, stride, lane, some):
    """The lanes of all of some bytes; `lanes` are those at the first."""
    all_lanes, byte = np.int64(0), lowest(some)
    for other in range(byte, LINE_NBYTES):
        if some >> other & 1:
            all_lanes |= lanes >> lane << lane_from(stride, lane, byte, other)
    return all_lanes


@inline_njit
def _merged(order, group, entry, lane, base, some):
    """The entry of a reader after the group has read the bytes at the same moment, too; 0 if it needs several
    entries.
    """
    its_stride, its = of_way(order, entry, STRIDE), lanes_of(order, entry)
    mine, stride = (np.int64(group.lanes) << 1 | 1) << lane, np.int64(group.stride)
    site = of_way(order, entry, SITE)
    if site & STRONG and not group.site & STRONG:  # the weak one of the two has more races
        site = np.int64(group.site)
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
    if both == its and site == of_way(order, entry, SITE):
        return entry
    row = row_of(order, group.entry_moment, site, both >> first >> 1, stride)
    return np.int64(row << LANE_SHIFT | first)


# Values


@inline_njit
def _is_same_value(order, stored, group, writer, lane, its, base, first, some):
    """True if a lane stores the same value as the writer's lane in the bytes of a line, from `first` on, that belong to
    the two. The writer's value is in memory, or the writer is one of the warps that store now.
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
    """Byte `at` of a lane's `nbytes`, in words that contain equal parts of them."""
    of_word = nbytes // len(words)
    return words[at // of_word, row, lane] >> np.uint64(8 * (at % of_word)) & np.uint64(255)


@inline_njit
def _row_of_writer(order, stored, group, writer, its, address):
    """The row of this event, the current one or a previous one, in which the writer's lane stores to the address; -1
    for none.
    """
    moment = np.int64(order.rows[writer >> LANE_SHIFT, MOMENT])
    if of_way(order, writer, SITE) >> AT_SHIFT != group.site >> AT_SHIFT:
        return np.int64(-1)
    block, warp, start = order.moments[moment, BLOCK], order.moments[moment, WARP], address & -stored.nbytes
    for k in range(group.row, -1, -1):
        if stored.blocks[k] == block and stored.warps[k] == warp:
            is_there = np.int64(stored.masks[k]) >> its & 1 and stored.addresses[k, its] + origin_of(stored, k) == start
            return np.int64(k) if is_there else np.int64(-1)
    return np.int64(-1)


# Races


@inline_njit
def _shown(group, address):
    """The program's address of the access that contains an address of the lines."""
    if group.stride != 0:
        width = group.stride & WIDTH
        return ((address >> width) << width) - group.origin
    return (address if group.site & BY_PROXY else group.start) - group.origin


@inline_njit
def _lacks_fence(order, group, moment, its_site, its, lane):
    """True if a write before an access by the asynchronous proxy lacks the required proxy fence."""
    if its_site & STRONG:
        return False
    written = moment
    if is_asynchronous(order.moments, moment):  # data of cp.async are written once its group has been waited for
        if not its_site & ASYNC:
            return False
        written = np.int64(order.moments[moment, DONE])
    return not is_fenced(order, written, its, group.block, group.slot, group.warp, lane)


@inline_njit
def _check_writer(order, found, stored, group, entries, base, some):
    moments, writer, byte = order.moments, entries[0], lowest(some)
    moment = np.int64(order.rows[writer >> LANE_SHIFT, MOMENT])
    its_site, stride = of_way(order, writer, SITE), of_way(order, writer, STRIDE)
    its_block, its_warp = np.int64(moments[moment, BLOCK]), np.int64(moments[moment, WARP])
    in_block, in_warp = its_block == group.block, its_block == group.block and its_warp == group.warp
    is_excused = _excused(group.site & HOW, its_site & HOW, in_block, in_warp)
    if not in_warp and not group.site & BY_PROXY:  # then the result for one lane holds for all
        lane = lane_at(group, base + byte)
        if is_excused or is_before(order, moment, writer & LANE, group.block, group.slot, group.warp, lane):
            return
    not_waited = _is_under_way(moments, moment)
    kind = pairs.NOT_WAITED if not_waited else pairs.WRITE_WRITE if group.does & WRITE else pairs.WRITE_READ
    compares = not not_waited and not group.site & STRONG and group.site & HAS_VALUE and its_site & HAS_VALUE
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
            thread, reported_kind = 32 * group.warp + lane, kind
            if is_before(order, moment, its, group.block, group.slot, group.warp, lane):
                if not group.site & BY_PROXY or not _lacks_fence(order, group, moment, its_site, its, lane):
                    continue
                reported_kind = pairs.NOT_FENCED
            elif is_excused:
                continue
            elif compares and _is_same_value(order, stored, group, writer, lane, its, base, at, some):
                continue  # the value is the same in either order
            pairs.note(order, found, reported_kind, group.site >> AT_SHIFT, its_site >> AT_SHIFT, group.block, thread,
                       its_block, its_thread, _shown(group, base + at), group.access + lane)  # fmt: skip


@inline_njit
def _check_reader(order, found, group, reader, base, some):
    moments, byte = order.moments, lowest(some)
    moment = np.int64(order.rows[reader >> LANE_SHIFT, MOMENT])
    its_site, stride = of_way(order, reader, SITE), of_way(order, reader, STRIDE)
    is_mine = moment == group.moment and not group.site & BY_PROXY
    if is_mine and _is_own(order, group, reader, base, some):
        return  # only the same lane has read it
    its_block, its_warp = np.int64(moments[moment, BLOCK]), np.int64(moments[moment, WARP])
    in_block, in_warp = its_block == group.block, its_block == group.block and its_warp == group.warp
    if _excused(group.site & HOW, its_site & HOW, in_block, in_warp):
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
            pairs.note(order, found, kind, group.site >> AT_SHIFT, its_site >> AT_SHIFT, group.block,
                       32 * group.warp + lane, its_block, 32 * its_warp + other, _shown(group, base + at),
                       group.access + lane)  # fmt: skip
