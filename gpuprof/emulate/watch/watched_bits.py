"""Bits of a footprint (core.marks), compiled by Numba: accesses are put in, and ranges are found."""

import numpy as np

from gpuprof.emulate.core.marks import ALL, PAGE_SHIFT, put
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit


@cached_njit
def mark_run(reads, writes, pages, start, end, mode):
    put(reads, writes, pages, start, end, mode)


@cached_njit
def mark_ranges(reads, writes, pages, start, nbytes, mode):
    """The ranges [start[k], start[k] + nbytes[k])."""
    for k in range(len(start)):
        put(reads, writes, pages, start[k], start[k] + nbytes[k], mode)


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
            put(reads, writes, pages, start, end, mode)
            start, end = at, at + nbytes
    put(reads, writes, pages, start, end, mode)


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
