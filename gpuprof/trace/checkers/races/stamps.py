"""Stamps for the accesses of warps, as groups of lanes, in the lines that they touch. Compiled by Numba."""

from typing import NamedTuple

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS, inline_njit
from gpuprof.trace.checkers.races.access_rows import AT_SHIFT, row_of
from gpuprof.trace.checkers.races.conflict_rules import (
    ASYNC,
    MAY_BE_FLAG,
    READ,
    WRITE,
    Group,
    entry_at,
    judge,
    lane_at,
    origin_of,
    piece,
)
from gpuprof.trace.checkers.races.lane_order import NOW, of_lane
from gpuprof.trace.checkers.races.stamp_lines import (
    BYTES,
    CELL_LENGTH,
    CELLS,
    FORM,
    FORM_SHIFT,
    LINE_NBYTES,
    LINE_SHIFT,
    MOST_LENGTH,
    N_USED,
    NEXT,
    WHOLE,
    clear,
    entries_of,
    fits,
    lowest,
    new_cell,
    put_entries,
    put_unit,
    shift_of,
    split,
    tidy,
    to_cells,
    unit_entries,
)
from gpuprof.trace.checkers.races.vector_clocks import (
    COPIES,
    N_ACCESSES,
    N_MOMENTS,
    N_ROWS,
    N_WAYS,
    catch_up,
    open_group,
    present,
)

PAGE_SHIFT = 12
LINES_OF_PAGE = 1 << (PAGE_SHIFT - LINE_SHIFT)
MOMENTS_OF_WARP = 64  # at most for one warp's access: one for each lane, and groups of copies
ACCESSES_OF_WARP = 33  # numbers: one for each lane, and one more
MOST_MADE = 3  # times that an access rebuilds a line's columns: for each added reader, and once when they are widened
MOST_STRIDE = 31  # bytes; lanes at a larger distance share no line


class LineTable(NamedTuple):
    """Lines of a space: those of the page at address a are `lines[pages[a >> 12] << 7:]`, -1 for a page without lines;
    without pages `lines[a >> 5]`. Addresses in [`low`, `high`) have lines.
    """

    lines: np.ndarray  # uint32
    pages: np.ndarray  # int64
    low: int
    high: int


@inline_njit
def _line_of(table, address):
    """The number of an address's line; -1 if its page has none."""
    if len(table.pages) == 0:
        return address >> LINE_SHIFT
    number = address >> PAGE_SHIFT
    page = table.pages[number] if number < len(table.pages) else np.int64(-1)
    return page if page < 0 else (page << (PAGE_SHIFT - LINE_SHIFT)) + (address >> LINE_SHIFT & LINES_OF_PAGE - 1)


def rows_of_warp(nbytes: int) -> int:
    """Rows and ways that a warp's access of `nbytes` bytes per lane needs at most: for each byte, and for each lane."""
    return 32 * (nbytes + 2)


def numbers_of_warp(nbytes: int) -> int:
    """Numbers of the pool that it needs at most: each lane may split a line's cells at each of its bytes, after
    converting words to cells, and before converting cells to columns; or columns are rebuilt.
    """
    return 32 * (MOST_MADE * MOST_LENGTH + CELL_LENGTH * (nbytes + 2 + LINE_NBYTES // 4))


@inline_njit
def _has_room(order, pool, n_rows, n_numbers):
    has_rows = order.counts[N_ROWS] + n_rows <= len(order.rows) and order.counts[N_WAYS] + n_rows <= len(order.ways)
    has_moments = order.counts[N_MOMENTS] + MOMENTS_OF_WARP <= len(order.moments)
    return has_rows and has_moments and pool.counts[N_USED] + n_numbers <= len(pool.numbers)


@cached_njit(**OPTIONS)
def touch(  # noqa: C901, PLR0913  # compiled: arrays, and a loop without calls
    order, pool, table, found, stored, shown, addresses, moments, at, how, does, n_rows, n_numbers, start
):  # fmt: skip
    """Warps read or write memory, each `stored.nbytes` per lane: `shown`, int64 (n, 32), are the program's addresses.
    `addresses`, `moments`: int64 (32,), scratch space for a warp; `n_rows`, `n_numbers`: the maximum needs of each.
    Rows before `start` are done; gives the first one that is not, since there is no room or a page has no lines; n if
    all are.
    """
    for k in range(start, len(stored.masks)):
        if not _has_room(order, pool, n_rows, n_numbers):
            return k
        block, slot, warp = stored.blocks[k], stored.slots[k], stored.warps[k]
        left, has_lines = _lanes_with_lines(table, stored, k, addresses)
        if not has_lines:
            return k
        if stored.masks[k] == 0:
            continue
        if order.acquired.shape[1] != 0:
            if order.due[slot, warp] != 0:
                catch_up(order, slot, warp)
            if how & MAY_BE_FLAG and does & READ:
                order.pending[slot, warp] = 1
        if order.diverged[slot, warp] == 0 and left != 0:
            moments[:] = present(order, block, slot, warp, 0)
        for lane in range(32 if order.diverged[slot, warp] != 0 else 0):
            if left >> lane & 1:
                moments[lane] = present(order, block, slot, warp, lane)
        access = order.counts[N_ACCESSES]
        row, row_moment, row_lanes, row_stride = np.int64(-1), np.int64(0), np.int64(0), np.int64(0)
        while left:
            lane = lowest(left)
            members, lanes, stride = _next_group(addresses, moments, left, lane, stored.nbytes, does)
            left &= ~members
            entry_moment = moments[lane]
            if how & ASYNC:
                for member in range(32):
                    if members >> member & 1:
                        entry_moment = np.int64(open_group(order, block, slot, warp, member, COPIES))
            epoch, origin = np.int64(of_lane(order, NOW, slot, warp, lane)), addresses[lane] - shown[k, lane]
            if row < 0 or entry_moment != row_moment or lanes != row_lanes or stride != row_stride:
                row_moment, row_lanes, row_stride = entry_moment, lanes, stride
                row = row_of(order, entry_moment, at << AT_SHIFT | how, lanes, stride)
            group = Group(np.int64(k), block, slot, warp, epoch, moments[lane], entry_moment, at << AT_SHIFT | how,
                          does, access + 1, origin, addresses[lane], np.int64(lane), lanes, stride, row)  # fmt: skip
            while members >> lane:
                base, some, lane = _next_line(group, members, lane, stored.nbytes)
                _touch_line(order, pool, table.lines, _line_of(table, base), found, stored, group, base, some)
        order.counts[N_ACCESSES] = access + ACCESSES_OF_WARP
    return len(stored.masks)


@inline_njit
def _lanes_with_lines(table, stored, k, addresses):
    """Lanes to process, as bits, whose addresses, those of lines, are written to `addresses`; and whether all of them
    have lines. A misaligned access faults or is refused.
    """
    covered, mask, origin = np.int64(0), np.int64(stored.masks[k]), origin_of(stored, k)
    page = np.int64(-1)  # the last one that has lines
    for lane in range(32):
        address = stored.addresses[k, lane]
        is_inside = table.low <= address <= table.high - stored.nbytes
        if not mask >> lane & 1 or address & stored.nbytes - 1 or not is_inside:
            continue
        addresses[lane] = address + origin
        if addresses[lane] >> PAGE_SHIFT != page:
            if _line_of(table, addresses[lane]) < 0:
                return covered, False
            page = addresses[lane] >> PAGE_SHIFT
        covered |= np.int64(1) << lane
    return covered, True


@inline_njit
def _next_group(addresses, moments, left, lane, nbytes, does):
    """Lanes, as bits, that access memory together with the lowest remaining one, at the same moment: (they, LANES,
    STRIDE) of their entry. Lanes that read the same address, without a gap between them; or neighbours at one stride.
    """
    start, moment = addresses[lane], moments[lane]
    members, stride, first_distance = np.int64(1) << lane, np.int64(0), np.int64(0)
    for other in range(lane + 1, 32):
        if not left >> other & 1:
            continue
        if moments[other] != moment:
            break
        away, step = other - lane, addresses[other] - start
        if first_distance == 0:
            first_distance, stride = away, step // away
            if stride * away != step or not (stride == 0 or nbytes <= abs(stride) <= MOST_STRIDE):
                stride = np.int64(0)
                break
            if stride == 0 and does & WRITE:
                break
        elif step != stride * away:
            break
        members |= np.int64(1) << other
    if members == np.int64(1) << lane:
        return members, np.int64(0), np.int64(0)
    if stride == 0:
        return members, members >> lane >> 1, stride
    width = lowest(nbytes)
    return members, np.int64(0), (stride << 3) + width


@inline_njit
def _next_line(group, members, lane, nbytes):
    """The next line that a group's `members`, lanes from `lane` on, touch: (address, its touched bytes, the lane after
    them).
    """
    base, some, step = np.int64(-1), np.int64(0), group.stride >> 3
    while members >> lane:
        if members >> lane & 1:
            address = group.start + step * (lane - group.lane)
            if base < 0:
                base = address >> LINE_SHIFT << LINE_SHIFT
            elif base != address >> LINE_SHIFT << LINE_SHIFT:
                break
            some |= ((np.int64(1) << nbytes) - 1) << (address - base)
        lane += 1
    return base, some, lane


@inline_njit
def _first_entries(group, base, some):
    """The entries of untouched bytes."""
    entry = np.int64(entry_at(group, lane_at(group, base + lowest(some))))
    if group.does & WRITE:
        return (entry, np.int64(0), np.int64(0))
    return (np.int64(0), entry, np.int64(0))


@inline_njit
def _touch_line(order, pool, lines, line, found, stored, group, base, some):
    """A group touches some bytes of a line, whose address is `base`."""
    if lines[line] == 0:
        cell = new_cell(pool, _first_entries(group, base, some), some, np.int64(0))
        lines[line] = cell << FORM_SHIFT | CELLS
        return
    form = np.int64(lines[line] & FORM)
    if form != CELLS and fits(form, some, group.stride):
        _touch_units(order, pool, lines, line, found, stored, group, base, some)
        return
    if form != CELLS:
        to_cells(order, pool, lines, line)
    _touch_cells(order, pool, lines, line, found, stored, group, base, some)


@inline_njit
def _touch_units(order, pool, lines, line, found, stored, group, base, some):
    """A group touches some bytes of a line of words or bytes."""
    form = np.int64(lines[line] & FORM)
    shift = shift_of(form)
    each = (np.int64(1) << (1 << shift)) - 1
    for unit in range(LINE_NBYTES >> shift):
        if some >> (unit << shift) & 1:
            before = unit_entries(pool, np.int64(lines[line] >> FORM_SHIFT), form, unit)
            after, _ = judge(order, found, stored, group, before, base, each << (unit << shift))
            if after != before:
                put_unit(pool, lines, line, unit, after)
    if some == WHOLE and group.does & WRITE:
        clear(pool, lines, line)
        cell = new_cell(pool, _first_entries(group, base, some), some, np.int64(0))
        lines[line] = cell << FORM_SHIFT | CELLS


@inline_njit
def _touch_cells(order, pool, lines, line, found, stored, group, base, some):
    """A group touches some bytes of a line of cells."""
    numbers, left, is_changed = pool.numbers, some, False
    cell = np.int64(lines[line] >> FORM_SHIFT)
    while cell != 0 and left != 0:
        after, mask = np.int64(numbers[cell + NEXT]), np.int64(numbers[cell + BYTES])
        now = mask & left
        left &= ~now
        while now:
            before = entries_of(order, pool, cell, lowest(mask), lowest(now))
            part_of_it = now
            entries, is_decided = before, False
            while not is_decided:
                entries, is_decided = judge(order, found, stored, group, before, base, part_of_it)
                if not is_decided:
                    part_of_it = piece(order, group, before, base, now)
            now &= ~part_of_it
            if entries == before:
                continue
            is_changed = True
            if part_of_it == mask:
                put_entries(pool, cell, entries)
            else:
                mask = split(order, pool, cell, part_of_it, entries)
        cell = after
    if left != 0:
        first = new_cell(pool, _first_entries(group, base, left), left, np.int64(lines[line] >> FORM_SHIFT))
        lines[line] = first << FORM_SHIFT | CELLS
        is_changed = True
    if is_changed:
        tidy(order, pool, lines, line)


def rows_of_range(nbytes: int) -> int:
    return nbytes + 2


def numbers_of_range(nbytes: int) -> int:
    """The maximum for a range, like for a warp's access: each line of a range may be split at each byte."""
    return ((nbytes >> LINE_SHIFT) + 2) * (MOST_MADE * MOST_LENGTH + CELL_LENGTH * (LINE_NBYTES + 2 + LINE_NBYTES // 4))


@cached_njit(**OPTIONS)
def touch_range(  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    order, pool, table, found, stored, address, shown, nbytes, block, slot, warp, lane, moment, at, how, does
):  # fmt: skip
    """An asynchronous operation requested by a lane reads or writes a range of memory, which has room and lines;
    `moment`: that of the operation. `address` is that of lines, `shown` the program's.
    """
    catch_up(order, slot, warp)
    access = order.counts[N_ACCESSES]
    order.counts[N_ACCESSES] = access + ACCESSES_OF_WARP
    epoch, instruction = np.int64(of_lane(order, NOW, slot, warp, lane)), at << AT_SHIFT | how
    row = row_of(order, moment, instruction, np.int64(0), np.int64(0))
    group = Group(np.int64(0), block, slot, warp, epoch, moment, moment, instruction, does, access + 1, address - shown,
                  address, lane, np.int64(0), np.int64(0), row)  # fmt: skip
    end = address + nbytes
    for base in range(address >> LINE_SHIFT << LINE_SHIFT, end, LINE_NBYTES):
        some = WHOLE << max(address - base, 0) & WHOLE & WHOLE >> max(base + LINE_NBYTES - end, 0)
        _touch_line(order, pool, table.lines, _line_of(table, base), found, stored, group, base, np.int64(some))
