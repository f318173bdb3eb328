"""Bits of a footprint, compiled by Numba: one for each byte, 64 to a word, bit k of word w for byte 64 * w + k.

`reads`, `writes`: uint64 (words,). `pages`: uint8 (pages,), 1 where a page has a bit. `mode` bits: 1 read, 2 write;
with both the byte is read first.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

PAGE_NBYTES = 4096
PAGE_SHIFT = 12
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@internal_njit
def _put(reads, writes, pages, start, end, mode):
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


@cached_njit
def mark_run(reads, writes, pages, start, end, mode):
    _put(reads, writes, pages, start, end, mode)


@cached_njit
def mark_ranges(reads, writes, pages, start, nbytes, mode):
    """The ranges [start[k], start[k] + nbytes[k])."""
    for k in range(len(start)):
        _put(reads, writes, pages, start[k], start[k] + nbytes[k], mode)


@cached_njit
def mark_lanes(reads, writes, pages, address, masks, base, nbytes, mode):
    """`nbytes` bytes from each address of a lane that takes part; neighbours are put in together."""
    start, end = np.int64(0), np.int64(0)
    for warp in range(len(masks)):
        mask = masks[warp]
        if mask == 0:
            continue
        for lane in range(32):
            if not mask >> np.uint32(lane) & np.uint32(1):
                continue
            at = address[32 * warp + lane] - base
            if at >= start and at + nbytes <= end:
                continue
            if at == end:
                end += nbytes
                continue
            _put(reads, writes, pages, start, end, mode)
            start, end = at, at + nbytes
    _put(reads, writes, pages, start, end, mode)


def runs_of_page(words, pages):
    """The bounds of runs of set bits: int64, begin and end alternate, ascending. pages: int64, ascending."""
    edges = np.empty(64, np.int64)
    while (count := find_edges(words, pages, edges)) > len(edges):
        edges = np.empty(count, np.int64)
    return edges[:count].copy()


@cached_njit
def find_edges(words, pages, edges):
    """Fills in the bounds, as far as `edges` is long; returns their number."""
    count, is_on, expected = 0, False, np.int64(-1)
    for k in range(len(pages)):
        first = pages[k] << (PAGE_SHIFT - 6)
        if is_on and first != expected:
            count = _added(edges, count, expected << 6)
            is_on = False
        for word in range(first, first + (1 << (PAGE_SHIFT - 6))):
            bits = words[word]
            if (bits == 0 and not is_on) or (bits == ALL and is_on):
                continue
            for bit in range(64):
                here = bits >> np.uint64(bit) & np.uint64(1) != 0
                if here != is_on:
                    count = _added(edges, count, (word << 6) + bit)
                    is_on = here
        expected = first + (1 << (PAGE_SHIFT - 6))
    if is_on:
        count = _added(edges, count, expected << 6)
    return count


@internal_njit
def _added(edges, count, value):
    """Puts in one more, if there is room; returns their number."""
    if count < len(edges):
        edges[count] = value
    return count + 1
