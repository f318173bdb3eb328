"""Set-associative lookup with least-recently-used replacement, for L1 and L2. A tag is the line's number plus one; 0 is
empty.
"""

from gpuprof.jit.internal import inline_njit
from gpuprof.timing.state.four_words import find_least, find_word
from gpuprof.timing.state.table_rows import prefetch

WORDS_OF_LINE = 8  # of a cache line of the machine that this runs on


@inline_njit
def fold_bits(line):
    """Spreads strides over sets, slices and channels; neighbouring lines stay separated."""
    # Chips' own hashes are not known here: the shifts are chosen to spread strides.
    return line ^ line >> 5 ^ line >> 11 ^ line >> 17 ^ line >> 23


@inline_njit
def find(tag, first, ways, line):
    """The place of a line in the set that starts at `first`, or -1."""
    return find_word(tag, first, ways, line + 1)


@inline_njit
def oldest(use, first, ways):
    """The place in a set that was used longest ago; places never used count as oldest."""
    return find_least(use, first, ways)


@inline_njit
def expect(tag, use, entry, first, ways):
    """Prefetches the set that starts at `first`: its tags, uses, and rows of two words in the table `entry`."""
    for way in range(first, first + ways, WORDS_OF_LINE):
        prefetch(tag, way)
        prefetch(use, way)
        prefetch(entry, 2 * way)
        prefetch(entry, 2 * way + WORDS_OF_LINE)


@inline_njit
def prefetch_words(table, first, count):
    """Prefetches `count` words of a table, from place `first` on."""
    for place in range(first, first + count, WORDS_OF_LINE):
        prefetch(table, place)


@inline_njit
def n_sectors(mask):
    """Sectors of a four-bit mask."""
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1)
