"""The lines and sectors of memory of quads, which depth tests and the output merger access."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.graphics.sizes import QUAD
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

LINE_NBYTES, SECTOR_NBYTES, WORD_NBYTES = 128, 32, 4
WORDS_OF_SECTOR = SECTOR_NBYTES // WORD_NBYTES
MOST_LINES = 4  # of a quad in a surface: two rows, each of which may lie across a line's end
LOOKED_AT = 64  # lines of a surface, twice what a wave of eight quads can have
ITEMS = 4096  # that are looked at together
NOT = -1


class Surface(NamedTuple):
    """A target: its address, and bytes of a sample. reads, writes: which of the quads' masks says what is, NOT: none.
    is_partial: of a sample that is written, some channels are not.
    """

    address: int
    nbytes: int
    reads: int = NOT
    writes: int = NOT
    is_partial: bool = False


class Lines(NamedTuple):
    """Lines of 128 bytes that items access. n_lines: int64 (items,). line: int64, reads, writes: int8, four sectors;
    missing: uint32, the 4-byte words of sectors which are neither read nor written whole; all (sum of n_lines,).
    """

    n_lines: np.ndarray
    line: np.ndarray
    reads: np.ndarray
    writes: np.ndarray
    missing: np.ndarray


def lines_of_quads(
    x: np.ndarray,
    y: np.ndarray,
    masks: Sequence[np.ndarray],
    last: np.ndarray,
    surfaces: Sequence[Surface],
    width: int,
    samples: int,
) -> Lines:
    """x, y: int32 (quads,). masks: uint16 (quads,) each, samples as raster.Quads has them. last: int64 (items,), the
    end of each item's quads, ascending. width: pixels of a surface in a row.
    """
    table = np.array([tuple(surface) for surface in surfaces], np.int64).reshape(-1, len(Surface._fields))
    both = np.stack([np.asarray(mask, np.uint16) for mask in masks], 1)
    parts = [Lines(*(np.zeros(0, dtype) for dtype in (np.int64, np.int64, np.int8, np.int8, np.uint32)))]
    for first in range(0, len(last), ITEMS):
        ends = last[first : first + ITEMS]
        begin = int(last[first - 1]) if first else 0
        capacity = (int(ends[-1]) - begin) * MOST_LINES * len(table)
        n_lines = np.zeros(len(ends), np.int64)
        line, reads, writes = np.empty(capacity, np.int64), np.empty(capacity, np.int8), np.empty(capacity, np.int8)
        words = np.empty(capacity, np.uint32)
        n = _lines_of_quads(x, y, both, begin, ends, table, width, samples, n_lines, line, reads, writes, words)
        missing = ~words[:n] & _words_of(writes[:n] & ~reads[:n])
        parts.append(Lines(n_lines, line[:n], reads[:n], writes[:n], missing))
    return Lines(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _words_of(sectors: np.ndarray) -> np.ndarray:
    """uint32: all words of int8, four sectors."""
    words = np.zeros(len(sectors), np.uint32)
    for sector in range(LINE_NBYTES // SECTOR_NBYTES):
        words_of_sector = np.uint32(((1 << WORDS_OF_SECTOR) - 1) << sector * WORDS_OF_SECTOR)
        words |= np.where(sectors >> sector & 1, words_of_sector, np.uint32(0)).astype(np.uint32)
    return words


@cached_njit
def _lines_of_quads(  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    x_of, y_of, mask_of, begin, last, surfaces, width, samples, n_lines, line_of, reads_of, writes_of, words_of
):  # fmt: skip
    """Fills the columns of Lines, with the words that are written whole in place of those missing; gives their
    number.
    """
    n = 0
    for item in range(len(last)):
        before = n
        for surface in range(len(surfaces)):
            address, nbytes = surfaces[surface, 0], surfaces[surface, 1]
            first = n  # surfaces share no line
            for kind in range(2):
                which = surfaces[surface, 2 + kind]
                if which < 0:
                    continue
                for q in range(begin if item == 0 else last[item - 1], last[item]):
                    mask = np.int64(mask_of[q, which])
                    for pixel in range(QUAD):
                        of_pixel = mask >> pixel * samples & ((1 << samples) - 1)
                        if of_pixel == 0:
                            continue
                        px, py = np.int64(x_of[q]) + (pixel & 1), np.int64(y_of[q]) + (pixel >> 1)
                        at = address + (py * width + px) * samples * nbytes
                        for s in range(samples):
                            if of_pixel >> s & 1:
                                n = _mark(
                                    line_of, reads_of, writes_of, words_of, first, n, at + s * nbytes, nbytes,
                                    kind == 1, surfaces[surface, 4] == 1,
                                )  # fmt: skip
        n_lines[item] = n - before
    return n


@internal_njit
def _mark(line_of, reads_of, writes_of, words_of, first, n, start, nbytes, writes, is_partial):
    """Marks the bytes of a sample, which lie in one line, in the lines from `first` to before `n`; gives the number of
    lines there are then.
    """
    line, at = start // LINE_NBYTES, start % LINE_NBYTES
    # An item of many tested quads would be searched for long: what lies farther back counts once more.
    k, least = n - 1, max(first, n - LOOKED_AT)
    while k >= least and line_of[k] != line:
        k -= 1
    if k < least:
        k = n
        line_of[k], reads_of[k], writes_of[k], words_of[k] = line, 0, 0, 0
        n += 1
    sector = 1 << at // SECTOR_NBYTES  # a sample lies within one
    if not writes:
        reads_of[k] |= sector
    else:
        writes_of[k] |= sector
        if nbytes >= WORD_NBYTES and not is_partial:
            words_of[k] |= ((1 << nbytes // WORD_NBYTES) - 1) << at // WORD_NBYTES
    return n
