"""The effects of a chunk: the bytes of global memory that it wrote, those that it read, and its counts.

Arrays of a page have a row for each page with a bit (core.marks); `data` has the 64 bytes of each word of `writes` that
is not zero, in order.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.marks import WORD_BITS, WORDS_OF_PAGE, Marks
from gpuprof.emulate.trace_log.chunk_counts import ChunkCounts
from gpuprof.jit.cached import cached_njit


class Effects(NamedTuple):
    """pages: int64 (n,), ascending; reads, writes: uint64 (n, 64); data: uint8 (words, 64)."""

    pages: np.ndarray
    reads: np.ndarray
    writes: np.ndarray
    data: np.ndarray
    counts: ChunkCounts


def effects_of(marks: Marks, arena: np.ndarray, counts: ChunkCounts) -> Effects:
    """Gives those of a chunk that ended. `arena`: uint8, global memory, of which it has written as `marks` say."""
    pages = np.flatnonzero(marks.pages)
    reads, writes = (words.reshape(-1, WORDS_OF_PAGE)[pages] for words in (marks.reads, marks.writes))
    data = np.empty((np.count_nonzero(writes), WORD_BITS), np.uint8)
    gather_bytes(arena, pages, writes, data)
    return Effects(pages, reads, writes, data, counts)


def reads_any(effects: Effects, written: np.ndarray) -> bool:
    """True if the chunk read a byte of `written`, uint64 (words,)."""
    return bool((effects.reads & written.reshape(-1, WORDS_OF_PAGE)[effects.pages]).any())


def note_all(effects: Effects, marks: Marks) -> None:
    """Adds what the chunk read and wrote, after all that is noted there."""
    reads, writes = (words.reshape(-1, WORDS_OF_PAGE) for words in (marks.reads, marks.writes))
    reads[effects.pages] |= effects.reads & ~writes[effects.pages]
    note_written(effects, marks.writes)
    marks.pages[effects.pages] = 1


def note_written(effects: Effects, written: np.ndarray) -> None:
    """Adds the bytes that the chunk wrote to `written`."""
    written.reshape(-1, WORDS_OF_PAGE)[effects.pages] |= effects.writes


def write_bytes(effects: Effects, arena: np.ndarray) -> None:
    """Writes what the chunk wrote."""
    scatter_bytes(arena, effects.pages, effects.writes, effects.data)


@cached_njit
def gather_bytes(arena, pages, writes, data):
    """Takes the bytes of all words with a bit. An arena has whole words."""
    n = 0
    for row in range(len(pages)):
        for word in range(WORDS_OF_PAGE):
            if writes[row, word] == 0:
                continue
            at = (pages[row] * WORDS_OF_PAGE + word) * WORD_BITS
            for byte in range(WORD_BITS):
                data[n, byte] = arena[at + byte]
            n += 1


@cached_njit
def scatter_bytes(arena, pages, writes, data):
    """Puts the bytes with a bit in their places."""
    n = 0
    for row in range(len(pages)):
        for word in range(WORDS_OF_PAGE):
            bits = writes[row, word]
            if bits == 0:
                continue
            at = (pages[row] * WORDS_OF_PAGE + word) * WORD_BITS
            for byte in range(WORD_BITS):
                if bits >> np.uint64(byte) & np.uint64(1):
                    arena[at + byte] = data[n, byte]
            n += 1
