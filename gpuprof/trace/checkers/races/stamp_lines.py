"""The stamps of memory: for each byte its last writer, and two readers since then. Compiled by Numba.

A line is 32 bytes. Bytes of it with the same entries share them: mostly those of a warp's access that are adjacent. The
entries of a line have one of three forms, the one that needs the least room:

    cells   a list of sets of bytes with their entries   5 numbers a set    | writer | first | second | bytes | next |
    words   the entries of its 8 words                   1 and a column of  | head | writers | firsts | seconds |
    bytes   the entries of its 32 bytes                  each present kind    the same

The entries of a column are packed bit by bit, each as wide as the widest needs; the head has the width and the columns
that are present. All are in one pool of uint32; freed pieces are used again. Entries are those of the lowest of a set's
bytes (`access_rows`).
"""

from typing import NamedTuple

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS, call_njit, inline_njit
from gpuprof.trace.checkers.races.access_rows import LANE, LANE_SHIFT, STRIDE, WIDTH, lane_from, moved, of_way

LINE_SHIFT, LINE_NBYTES, WHOLE = 5, 32, 0xFFFFFFFF
WRITER, FIRST, SECOND, BYTES, NEXT = range(5)  # of a cell; the first three are also the columns of words and bytes
N_STAMPS, CELL_LENGTH = 3, 5
# A line's number in `lines`: the position of its form << 2 | the form; 0: untouched.
CELLS, WORDS, BYTE_BY_BYTE = range(3)
FORM_SHIFT, FORM = 2, 3
WORD_SHIFT, BYTE_SHIFT = 2, 0  # of a line's byte: its word, its byte
# A head: the present columns, as bits, and the bits of an entry << 3, a multiple of WIDTH_STEP.
COLUMNS, HEAD_SHIFT, WIDTH_STEP, MOST_WIDTH = 7, 3, 4, 32
MOST_LENGTH = 1 + N_STAMPS * MOST_WIDTH  # numbers of the longest form except cells
# Of `counts`: used numbers of the pool, minimum bits of an entry, and for each length the first free piece, which
# contains the next one.
N_USED, LEAST_WIDTH, FREE = 0, 1, 2
NOTHING = 1  # unused numbers at the beginning: 0 is not a piece
LOWEST = np.array([0, 1, 28, 2, 29, 14, 24, 3, 30, 22, 20, 15, 25, 17, 4, 8,
                   31, 27, 13, 23, 21, 19, 16, 7, 26, 12, 18, 6, 11, 5, 10, 9], np.int64)  # fmt: skip


class Pool(NamedTuple):
    numbers: np.ndarray  # uint32 (n,)
    counts: np.ndarray  # int64 (FREE + MOST_LENGTH + 1,)


def new_pool(n_rows: int = 0) -> Pool:
    """A pool for `n_rows` rows; with fewer than needed, columns have to be widened later."""
    counts = np.zeros(FREE + MOST_LENGTH + 1, np.int64)
    width = LANE_SHIFT + n_rows.bit_length()
    counts[N_USED], counts[LEAST_WIDTH] = NOTHING, min(max(-(-width // WIDTH_STEP) * WIDTH_STEP, 16), 24)
    return Pool(np.zeros(NOTHING, np.uint32), counts)


@inline_njit
def lowest(bits):
    """The number of the lowest set bit, of 32 (de Bruijn, as in Leiserson, Prokop, Randall 1998)."""
    return LOWEST[((bits & -bits) * 0x077CB531 & 0xFFFFFFFF) >> 27]


@inline_njit
def _take(pool, length):
    """A free piece of `length` numbers with arbitrary content."""
    piece = pool.counts[FREE + length]
    if piece != 0:
        pool.counts[FREE + length] = pool.numbers[piece]
        return piece
    piece = pool.counts[N_USED]
    pool.counts[N_USED] = piece + length
    return piece


@inline_njit
def _give(pool, piece, length):
    pool.numbers[piece] = pool.counts[FREE + length]
    pool.counts[FREE + length] = piece


@inline_njit
def new_cell(pool, entries, mask, after):
    """A cell followed by `after`."""
    cell, numbers = _take(pool, CELL_LENGTH), pool.numbers
    put_entries(pool, cell, entries)
    numbers[cell + BYTES], numbers[cell + NEXT] = mask, after
    return cell


@inline_njit
def entries_of(order, pool, cell, start, byte):
    """A cell's entries at `byte`, if they are stored for `start`."""
    numbers = pool.numbers
    return (
        moved(order, np.int64(numbers[cell + WRITER]), start, byte),
        moved(order, np.int64(numbers[cell + FIRST]), start, byte),
        moved(order, np.int64(numbers[cell + SECOND]), start, byte),
    )


@inline_njit
def put_entries(pool, cell, entries):
    numbers = pool.numbers
    numbers[cell + WRITER], numbers[cell + FIRST], numbers[cell + SECOND] = entries


@inline_njit
def split(order, pool, cell, some, entries):
    """Bytes `some` of a cell, not all of them, get these entries, in a new cell after it. Gives the remaining bytes."""
    numbers = pool.numbers
    mask = np.int64(numbers[cell + BYTES])
    left = mask & ~some
    put_entries(pool, cell, entries_of(order, pool, cell, lowest(mask), lowest(left)))
    numbers[cell + BYTES] = left
    numbers[cell + NEXT] = new_cell(pool, entries, some, np.int64(numbers[cell + NEXT]))
    return left


@inline_njit
def _is_same(order, a, b, at_a, at_b):
    """True if two entries, at two bytes of a line, mean the same for all bytes."""
    if a == 0 or b == 0 or a >> LANE_SHIFT != b >> LANE_SHIFT:
        return a == b
    stride = of_way(order, a, STRIDE)
    return lane_from(stride, a & LANE, at_a, at_b) == b & LANE


@inline_njit
def _are_same(order, pool, one, other):
    numbers = pool.numbers
    at_one, at_other = lowest(np.int64(numbers[one + BYTES])), lowest(np.int64(numbers[other + BYTES]))
    for column in range(N_STAMPS):
        a, b = np.int64(numbers[one + column]), np.int64(numbers[other + column])
        if not _is_same(order, a, b, at_one, at_other):
            return False
    return True


@inline_njit
def tidy(order, pool, lines, line):
    """Joins cells of a line with the same meaning, and gives it the form that needs the least room."""
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
                _give(pool, other, CELL_LENGTH)
            else:
                before = other
            other = after
        one = np.int64(numbers[one + NEXT])
    if n_cells > 1:
        _spread_where_shorter(order, pool, lines, line, n_cells)


@inline_njit
def _spread_where_shorter(order, pool, lines, line, n_cells):
    numbers, columns, highest, has_words, has_bytes = pool.numbers, 0, np.int64(0), True, True
    for column in range(N_STAMPS):
        cell = np.int64(lines[line] >> FORM_SHIFT)
        while cell != 0:
            entry, mask = np.int64(numbers[cell + column]), np.int64(numbers[cell + BYTES])
            if entry != 0:
                columns |= 1 << column
            highest = max(highest, entry)
            has_bytes = has_bytes and mask & mask - 1 == 0
            has_words = has_words and _is_of_words(mask, of_way(order, entry, STRIDE))
            cell = np.int64(numbers[cell + NEXT])
    form, head = WORDS if has_words else BYTE_BY_BYTE, _head(pool, columns, highest)
    # If each byte has different entries, more of them will come: too many cells would remain.
    n_likely = 4 * n_cells if has_bytes else n_cells
    if _length(head, form) < CELL_LENGTH * n_likely:
        _spread(order, pool, lines, line, head, form)


@inline_njit
def _is_of_words(mask, stride):
    """True if bytes are complete words, and each of them belongs to one access."""
    has_whole_words = (mask & 0x11111111) * 15 == mask
    return has_whole_words and (stride == 0 or stride & WIDTH >= WORD_SHIFT)


@inline_njit
def shift_of(form):
    return WORD_SHIFT if form == WORDS else BYTE_SHIFT


@inline_njit
def fits(form, mask, stride):
    """True if an access of some bytes of a line does not change its form."""
    return form == BYTE_BY_BYTE or (form == WORDS and _is_of_words(mask, stride))


@inline_njit
def _head(pool, columns, highest):
    """The head of columns, as bits, whose entries are at most `highest`, with any lane."""
    width = pool.counts[LEAST_WIDTH]
    while (highest | LANE) >> width:
        width += WIDTH_STEP
    return width << HEAD_SHIFT | columns


@inline_njit
def _n_columns(columns):
    return (columns & 1) + (columns >> 1 & 1) + (columns >> 2 & 1)


@inline_njit
def _length(head, form):
    """Numbers that words or bytes take."""
    return 1 + _n_columns(head & COLUMNS) * ((head >> HEAD_SHIFT) >> (WORD_SHIFT if form == WORDS else BYTE_SHIFT))


@inline_njit
def _at(start, head, form, column, unit):
    """The position of a column's entry for a word or byte: the number, and its bit."""
    n_before = _n_columns(head & (1 << column) - 1) * (LINE_NBYTES >> shift_of(form)) + unit
    bit = n_before * (head >> HEAD_SHIFT)
    return start + 1 + (bit >> 5), bit & 31


@inline_njit
def _unit_entry(numbers, start, head, form, column, unit):
    if not head >> column & 1:
        return np.int64(0)
    at, bit = _at(start, head, form, column, unit)
    return _entry_at(numbers, at, bit, head >> HEAD_SHIFT)


@inline_njit
def _entry_at(numbers, at, bit, width):
    """The entry of `width` bits that begins at a bit of a number."""
    bits = np.int64(numbers[at]) >> bit
    if bit + width > 32:
        bits |= np.int64(numbers[at + 1]) << 32 - bit
    return bits & (np.int64(1) << width) - 1


@inline_njit
def _put_unit_entry(numbers, start, head, form, column, unit, entry):
    """Stores an entry in a column that is present and wide enough."""
    at, bit = _at(start, head, form, column, unit)
    _put_entry(numbers, at, bit, head >> HEAD_SHIFT, entry)


@inline_njit
def _put_entry(numbers, at, bit, width, entry):
    bits = ((np.int64(1) << width) - 1) << bit
    both = np.int64(numbers[at])
    numbers[at] = (both & ~bits | entry << bit) & WHOLE
    if bit + width > 32:
        numbers[at + 1] = np.int64(numbers[at + 1]) & ~(bits >> 32) | entry >> 32 - bit


@inline_njit
def put_unit(pool, lines, line, unit, entries):
    """Stores a word's or byte's entries; if a column is missing, or too narrow, the line's form is rebuilt."""
    start, form = np.int64(lines[line] >> FORM_SHIFT), np.int64(lines[line] & FORM)
    head, columns, highest = np.int64(pool.numbers[start]), 0, np.int64(0)
    for column in range(N_STAMPS):
        entry = entries[column]
        columns |= (1 << column) if entry != 0 else 0
        highest = max(highest, entry)
    if columns & ~head or highest >> (head >> HEAD_SHIFT):
        start = _widen(pool, start, form, max(_head(pool, 0, highest), head & ~COLUMNS) | head & COLUMNS | columns)
        lines[line], head = start << FORM_SHIFT | form, np.int64(pool.numbers[start])
    for column in range(N_STAMPS):
        if head >> column & 1:
            _put_unit_entry(pool.numbers, start, head, form, column, unit, entries[column])


@call_njit
def _new_units(pool, head, form):
    """Words or bytes without entries."""
    length = _length(head, form)
    start = _take(pool, length)
    pool.numbers[start : start + length] = 0
    pool.numbers[start] = head
    return start


@call_njit
def _widen(pool, start, form, head):
    """The same words or bytes with another head, at another position."""
    new, numbers = _new_units(pool, head, form), pool.numbers
    before = np.int64(numbers[start])
    for column in range(N_STAMPS):
        for unit in range(LINE_NBYTES >> shift_of(form)):
            entry = _unit_entry(numbers, start, before, form, column, unit)
            if entry != 0:
                _put_unit_entry(numbers, new, head, form, column, unit, entry)
    _give(pool, start, _length(before, form))
    return new


@inline_njit
def unit_entries(pool, start, form, unit):
    numbers = pool.numbers
    head = np.int64(numbers[start])
    return (
        _unit_entry(numbers, start, head, form, WRITER, unit),
        _unit_entry(numbers, start, head, form, FIRST, unit),
        _unit_entry(numbers, start, head, form, SECOND, unit),
    )


@inline_njit
def _spread(order, pool, lines, line, head, form):
    start, numbers, shift = _new_units(pool, head, form), pool.numbers, shift_of(form)
    cell = np.int64(lines[line] >> FORM_SHIFT)
    while cell != 0:
        mask = np.int64(numbers[cell + BYTES])
        for unit in range(LINE_NBYTES >> shift):
            if mask >> (unit << shift) & 1:
                entries = entries_of(order, pool, cell, lowest(mask), unit << shift)
                for column in range(N_STAMPS):
                    if entries[column] != 0:
                        _put_unit_entry(numbers, start, head, form, column, unit, entries[column])
        after = np.int64(numbers[cell + NEXT])
        _give(pool, cell, CELL_LENGTH)
        cell = after
    lines[line] = start << FORM_SHIFT | form


@inline_njit
def to_cells(order, pool, lines, line):
    """Converts a line of words or bytes to cells."""
    start, form = np.int64(lines[line] >> FORM_SHIFT), np.int64(lines[line] & FORM)
    shift, cell = shift_of(form), np.int64(0)
    for unit in range(LINE_NBYTES >> shift):
        entries = unit_entries(pool, start, form, unit)
        if entries[0] | entries[1] | entries[2]:
            cell = new_cell(pool, entries, ((1 << (1 << shift)) - 1) << (unit << shift), cell)
    _give(pool, start, _length(np.int64(pool.numbers[start]), form))
    lines[line] = cell << FORM_SHIFT | CELLS


@inline_njit
def clear(pool, lines, line):
    """Marks the line as untouched."""
    start, form = np.int64(lines[line] >> FORM_SHIFT), np.int64(lines[line] & FORM)
    lines[line] = 0
    if start == 0:
        return
    if form != CELLS:
        _give(pool, start, _length(np.int64(pool.numbers[start]), form))
        return
    while start != 0:
        after = np.int64(pool.numbers[start + NEXT])
        _give(pool, start, CELL_LENGTH)
        start = after


@cached_njit(**OPTIONS)
def clear_lines(pool, lines):
    for line in range(len(lines)):
        clear(pool, lines, line)


@cached_njit(**OPTIONS)
def each_entry(pool, lines, has_row, new_rows):
    """Marks the rows of all entries in `has_row`, or renumbers them by `new_rows`, if that is not empty."""
    numbers = pool.numbers
    for line in range(len(lines)):
        start, form = np.int64(lines[line] >> FORM_SHIFT), np.int64(lines[line] & FORM)
        if form != CELLS:
            _each_of_units(numbers, start, form, has_row, new_rows)
            continue
        while start != 0:
            for column in range(N_STAMPS):
                numbers[start + column] = _one_entry(np.int64(numbers[start + column]), has_row, new_rows)
            start = np.int64(numbers[start + NEXT])


@inline_njit
def _each_of_units(numbers, start, form, has_row, new_rows):
    head = np.int64(numbers[start])
    width = head >> HEAD_SHIFT
    for k in range(_n_columns(head & COLUMNS) * (LINE_NBYTES >> shift_of(form))):  # columns are side by side
        at, bit = start + 1 + (k * width >> 5), k * width & 31
        entry = _entry_at(numbers, at, bit, width)
        if entry != 0:
            entry = _one_entry(entry, has_row, new_rows)  # a new number is never greater
            if len(new_rows):
                _put_entry(numbers, at, bit, width, entry)


@inline_njit
def _one_entry(entry, has_row, new_rows):
    if len(new_rows):
        return np.int64(new_rows[entry >> LANE_SHIFT]) << LANE_SHIFT | entry & LANE
    has_row[entry >> LANE_SHIFT] = True
    return entry
