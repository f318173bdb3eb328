"""The stamps of memory: of each byte who wrote it last, and two who have read it since. Compiled by Numba.

A line is 32 bytes. Bytes of it that the same entries stand for share them: those of a warp's access that lie side by
side, above all. The entries of a line take one of three forms, the one that needs the least room:

    cells   a list of sets of bytes with their entries   5 numbers a set     | writer | first | second | bytes | next |
    words   the entries of its 8 words                   3 and 8 a column    | writers | firsts | seconds | -> columns
    bytes   the entries of its 32 bytes                  3 and 32 a column   the same

All stand in one pool of uint32; what is freed is used again. Entries are those of the lowest of a set's bytes (`rows`).
"""

from typing import NamedTuple

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.compiled.options import OPTIONS, hot
from gpuprof.trace.checkers.races.rows import LANE, LANE_SHIFT, STRIDE, WIDTH, lane_from, moved

LINE_SHIFT, LINE_NBYTES, WHOLE = 5, 32, 0xFFFFFFFF
# Of a cell. The first three also stand in front of the columns of words and bytes, as places in the pool.
WRITER, FIRST, SECOND, BYTES, NEXT = range(5)
N_STAMPS = 3
# A line's number in `lines`: where its form stands << 2 | the form; 0: nobody has touched it.
CELLS, WORDS, BYTE_BY_BYTE = range(3)
FORM_SHIFT, FORM = 2, 3
WORD_SHIFT, BYTE_SHIFT = 2, 0  # of a line's byte: its word, its byte
# Of `counts`: numbers of the pool that have been used, and the first that is free of each size; the next stands in it.
N_USED, FREE = 0, 1
SIZES = (3, 5, 8, 32)
OF_COLUMNS, OF_CELL, OF_WORDS, OF_BYTES = range(4)
MOST_OF_LINE = SIZES[OF_COLUMNS] + N_STAMPS * SIZES[OF_BYTES]  # numbers that a line takes at most, but for cells
NOTHING = 32  # numbers at the beginning, all 0: a column that nobody needed
LOWEST = np.array([0, 1, 28, 2, 29, 14, 24, 3, 30, 22, 20, 15, 25, 17, 4, 8,
                   31, 27, 13, 23, 21, 19, 16, 7, 26, 12, 18, 6, 11, 5, 10, 9], np.int64)  # fmt: skip


class Pool(NamedTuple):
    numbers: np.ndarray  # uint32 (n,)
    counts: np.ndarray  # int64 (5,)


def new_pool() -> Pool:
    return Pool(np.zeros(NOTHING, np.uint32), np.array([NOTHING, 0, 0, 0, 0], np.int64))


@hot
def lowest(bits):
    """The number of the lowest bit that is set, of 32 (de Bruijn, as in Leiserson, Prokop, Randall 1998)."""
    return LOWEST[((bits & -bits) * 0x077CB531 & 0xFFFFFFFF) >> 27]


@hot
def _take(pool, size):
    """A free piece of one of SIZES; what is in it means nothing."""
    found = pool.counts[FREE + size]
    if found != 0:
        pool.counts[FREE + size] = pool.numbers[found]
        return found
    found = pool.counts[N_USED]
    pool.counts[N_USED] = found + SIZES[size]
    return found


@hot
def _give(pool, place, size):
    pool.numbers[place] = pool.counts[FREE + size]
    pool.counts[FREE + size] = place


@hot
def new_cell(pool, entries, mask, after):
    """A cell with `after` behind it."""
    cell, numbers = _take(pool, OF_CELL), pool.numbers
    put_entries(pool, cell, entries)
    numbers[cell + BYTES], numbers[cell + NEXT] = mask, after
    return cell


@hot
def entries_of(order, pool, cell, start, byte):
    """A cell's entries at `byte`, if they are at `start`."""
    numbers = pool.numbers
    return (
        moved(order, np.int64(numbers[cell + WRITER]), start, byte),
        moved(order, np.int64(numbers[cell + FIRST]), start, byte),
        moved(order, np.int64(numbers[cell + SECOND]), start, byte),
    )


@hot
def put_entries(pool, cell, entries):
    numbers = pool.numbers
    numbers[cell + WRITER], numbers[cell + FIRST], numbers[cell + SECOND] = entries


@hot
def split(order, pool, cell, some, entries):
    """Bytes `some` of a cell, not all of them, get these entries, in a new cell behind it. Gives what is left of it."""
    numbers = pool.numbers
    mask = np.int64(numbers[cell + BYTES])
    left = mask & ~some
    put_entries(pool, cell, entries_of(order, pool, cell, lowest(mask), lowest(left)))
    numbers[cell + BYTES] = left
    numbers[cell + NEXT] = new_cell(pool, entries, some, np.int64(numbers[cell + NEXT]))
    return left


@hot
def _is_same(order, a, b, at_a, at_b):
    """Whether two entries, at two bytes of a line, say the same of all bytes."""
    if a == 0 or b == 0 or a >> LANE_SHIFT != b >> LANE_SHIFT:
        return a == b
    stride = np.int64(order.rows[a >> LANE_SHIFT, STRIDE])
    return lane_from(stride, a & LANE, at_a, at_b) == b & LANE


@hot
def _are_same(order, pool, one, other):
    numbers = pool.numbers
    at_one, at_other = lowest(np.int64(numbers[one + BYTES])), lowest(np.int64(numbers[other + BYTES]))
    for column in range(N_STAMPS):
        a, b = np.int64(numbers[one + column]), np.int64(numbers[other + column])
        if not _is_same(order, a, b, at_one, at_other):
            return False
    return True


@hot
def tidy(order, pool, lines, line):
    """Joins cells of a line that say the same, and gives it the form that needs the least room."""
    numbers, one, n_cells = pool.numbers, np.int64(lines[line] >> FORM_SHIFT), 0
    while one != 0:
        before, n_cells = one, n_cells + 1
        other = np.int64(numbers[one + NEXT])
        while other != 0:
            after = np.int64(numbers[other + NEXT])
            if _are_same(order, pool, one, other):
                low, high = np.int64(numbers[one + BYTES]), np.int64(numbers[other + BYTES])
                if lowest(high) < lowest(low):
                    for column in range(N_STAMPS):
                        numbers[one + column] = numbers[other + column]
                numbers[one + BYTES], numbers[before + NEXT] = low | high, after
                _give(pool, other, OF_CELL)
            else:
                before = other
            other = after
        one = np.int64(numbers[one + NEXT])
    if n_cells > 1:
        _spread_where_shorter(order, pool, lines, line, n_cells)


@hot
def _spread_where_shorter(order, pool, lines, line, n_cells):
    numbers, n_columns, has_words, has_bytes = pool.numbers, 0, True, True
    for column in range(N_STAMPS):
        cell, is_needed = np.int64(lines[line] >> FORM_SHIFT), 0
        while cell != 0:
            entry, mask = np.int64(numbers[cell + column]), np.int64(numbers[cell + BYTES])
            if entry != 0:
                is_needed = 1
            has_bytes = has_bytes and mask & mask - 1 == 0
            has_words = has_words and _is_of_words(mask, np.int64(order.rows[entry >> LANE_SHIFT, STRIDE]))
            cell = np.int64(numbers[cell + NEXT])
        n_columns += is_needed
    size, form = (OF_WORDS, WORDS) if has_words else (OF_BYTES, BYTE_BY_BYTE)
    # Where each byte is another's, more of them are to come: cells would be left behind that are too many.
    n_likely = 4 * n_cells if has_bytes else n_cells
    if SIZES[OF_COLUMNS] + SIZES[size] * n_columns < SIZES[OF_CELL] * n_likely:
        _spread(order, pool, lines, line, size, form)


@hot
def _is_of_words(mask, stride):
    """Whether bytes are whole words, and each of them one access's."""
    is_whole = (mask & 0x11111111) * 15 == mask
    return is_whole and (stride == 0 or stride & WIDTH >= WORD_SHIFT)


@hot
def shift_of(form):
    return WORD_SHIFT if form == WORDS else BYTE_SHIFT


@hot
def fits(form, mask, stride):
    """Whether an access of some bytes of a line leaves its form as it is."""
    return form == BYTE_BY_BYTE or (form == WORDS and _is_of_words(mask, stride))


@hot
def put_unit(pool, columns, unit, entries, size):
    """A word's or byte's entries. `size`: of the columns."""
    for column in range(N_STAMPS):
        entry = entries[column]
        place = np.int64(pool.numbers[columns + column])
        if place == 0 and entry != 0:
            place = _take(pool, size)
            pool.numbers[place : place + SIZES[size]] = 0
            pool.numbers[columns + column] = place
        if place != 0:
            pool.numbers[place + unit] = entry


@hot
def unit_entries(pool, columns, unit):
    numbers = pool.numbers
    return (
        np.int64(numbers[numbers[columns + WRITER] + unit]),
        np.int64(numbers[numbers[columns + FIRST] + unit]),
        np.int64(numbers[numbers[columns + SECOND] + unit]),
    )


@hot
def _spread(order, pool, lines, line, size, form):
    columns, numbers, shift = _take(pool, OF_COLUMNS), pool.numbers, shift_of(form)
    for column in range(N_STAMPS):
        numbers[columns + column] = 0
    cell = np.int64(lines[line] >> FORM_SHIFT)
    while cell != 0:
        mask = np.int64(numbers[cell + BYTES])
        for unit in range(LINE_NBYTES >> shift):
            if mask >> (unit << shift) & 1:
                entries = entries_of(order, pool, cell, lowest(mask), unit << shift)
                put_unit(pool, columns, unit, entries, size)
        after = np.int64(numbers[cell + NEXT])
        _give(pool, cell, OF_CELL)
        cell = after
    lines[line] = columns << FORM_SHIFT | form


@hot
def to_cells(order, pool, lines, line):
    """A line of words or bytes becomes one of cells."""
    columns, form = np.int64(lines[line] >> FORM_SHIFT), np.int64(lines[line] & FORM)
    shift, cell = shift_of(form), np.int64(0)
    for unit in range(LINE_NBYTES >> shift):
        entries = unit_entries(pool, columns, unit)
        if entries[0] | entries[1] | entries[2]:
            cell = new_cell(pool, entries, ((1 << (1 << shift)) - 1) << (unit << shift), cell)
    _give_columns(pool, columns, form)
    lines[line] = cell << FORM_SHIFT | CELLS


@hot
def _give_columns(pool, columns, form):
    for column in range(N_STAMPS):
        place = np.int64(pool.numbers[columns + column])
        if place != 0:
            _give(pool, place, OF_WORDS if form == WORDS else OF_BYTES)
    _give(pool, columns, OF_COLUMNS)


@hot
def clear(pool, lines, line):
    """Nobody has touched the line."""
    place, form = np.int64(lines[line] >> FORM_SHIFT), np.int64(lines[line] & FORM)
    lines[line] = 0
    if place == 0:
        return
    if form != CELLS:
        _give_columns(pool, place, form)
        return
    while place != 0:
        after = np.int64(pool.numbers[place + NEXT])
        _give(pool, place, OF_CELL)
        place = after


@kept(**OPTIONS)
def clear_lines(pool, lines):
    for line in range(len(lines)):
        clear(pool, lines, line)


@kept(**OPTIONS)
def each_entry(pool, lines, has_row, new_rows):
    """Marks the rows of all entries in `has_row`, or gives them their numbers in `new_rows`, where there are any."""
    numbers = pool.numbers
    for line in range(len(lines)):
        place, form = np.int64(lines[line] >> FORM_SHIFT), np.int64(lines[line] & FORM)
        while place != 0:
            for column in range(N_STAMPS):
                if form == CELLS:
                    _one_entry(numbers, place + column, has_row, new_rows)
                elif numbers[place + column] != 0:
                    for unit in range(LINE_NBYTES >> shift_of(form)):
                        _one_entry(numbers, np.int64(numbers[place + column]) + unit, has_row, new_rows)
            place = np.int64(numbers[place + NEXT]) if form == CELLS else np.int64(0)


@hot
def _one_entry(numbers, at, has_row, new_rows):
    row = np.int64(numbers[at]) >> LANE_SHIFT
    if len(new_rows):
        numbers[at] = np.int64(new_rows[row]) << LANE_SHIFT | np.int64(numbers[at]) & LANE
    else:
        has_row[row] = True
