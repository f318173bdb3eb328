"""Bits of what is read and written in global memory: one for each byte, 64 to a word, bit k of word w for byte
64 * w + k.

`reads`, `writes`: uint64 (words,). `pages`: uint8 (pages,), 1 where a page has a bit. `mode` bits: 1 read, 2 write;
with both the byte is read first. A byte that was written before does not count as read.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.jit.internal import internal_njit

READ, WRITE = 1, 2
PAGE_NBYTES = 4096
PAGE_SHIFT = 12
WORD_BITS = 64
WORDS_OF_PAGE = PAGE_NBYTES // WORD_BITS
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Marks(NamedTuple):
    """The bits, as above. What is not to be noted has no words."""

    reads: np.ndarray
    writes: np.ndarray
    pages: np.ndarray


NO_BITS = np.zeros(0, np.uint64)
NO_MARKS = Marks(NO_BITS, NO_BITS, np.zeros(0, np.uint8))


@internal_njit
def put(reads, writes, pages, start, end, mode):
    """Sets the bits of the bytes [start, end)."""
    if end <= start:
        return
    first, last = start >> 6, (end - 1) >> 6
    if first == last:
        # Lanes that gather access the same bytes again and again: most of these are set already.
        bits = (ALL << np.uint64(start & 63)) & (ALL >> np.uint64(63 - ((end - 1) & 63)))
        noted = writes[first] if mode & 2 else reads[first]
        if bits & ~noted == 0:
            return
    for page in range(start >> PAGE_SHIFT, ((end - 1) >> PAGE_SHIFT) + 1):
        pages[page] = 1
    for word in range(first, last + 1):
        bits = ALL
        if word == first:
            bits &= ALL << np.uint64(start & 63)
        if word == last:
            bits &= ALL >> np.uint64(63 - ((end - 1) & 63))
        if mode & 1:
            reads[word] |= bits & ~writes[word]
        if mode & 2:
            writes[word] |= bits
