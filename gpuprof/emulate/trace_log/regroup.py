"""Sorts a chunk's events by warp, keeping their order: a counting sort, compiled by Numba."""

import numpy as np

from gpuprof.emulate.trace_log.trace_entries import join_sectors
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

join = internal_njit(join_sectors)


def starts(warp, n_warps):
    """int64 (n_warps + 1,): where each warp's rows begin when the rows are sorted by warp."""
    start = np.zeros(n_warps + 1, np.int64)
    add_up_rows(warp, start)
    return start


@cached_njit
def add_up_rows(warp, start):
    # A counting sort keeps the order of equal keys: the events of a warp must stay in the order they happened.
    for w in warp:
        start[w + 1] += 1
    for i in range(len(start) - 1):
        start[i + 1] += start[i]


@internal_njit
def n_sectors(access):
    """The number of sectors of an access record: its first field is the low byte, its last the high one."""
    return join(access & np.uint64(0xFF), access >> np.uint64(56))


def sector_starts(warp, access, n_warps):
    """int64 (n_warps + 1,): where each warp's sectors begin when the accesses are sorted by warp."""
    start = np.zeros(n_warps + 1, np.int64)
    add_up_sectors(warp, access, start)
    return start


@cached_njit
def add_up_sectors(warp, access, start):
    for i in range(len(warp)):
        start[warp[i] + 1] += n_sectors(access[i])
    for i in range(len(start) - 1):
        start[i + 1] += start[i]


@cached_njit
def place_steps(warp, block, mask, cursor, out):
    """Fills out[:, 0:2] with (block, mask); cursor, the first row of each warp, is consumed."""
    for i in range(len(warp)):
        at = cursor[warp[i]]
        cursor[warp[i]] = at + 1
        out[at, 0] = block[i]
        out[at, 1] = mask[i]


@cached_njit
def place_accesses(warp, access, sectors, cursor, sector_cursor, out, out_sectors):
    """Fills out with the access records and out_sectors with their sectors; both cursors are consumed."""
    read = 0
    for i in range(len(warp)):
        w = warp[i]
        at = cursor[w]
        cursor[w] = at + 1
        out[at] = access[i]
        count = n_sectors(access[i])
        to = sector_cursor[w]
        sector_cursor[w] = to + count
        for k in range(count):
            out_sectors[to + k] = sectors[read + k]
        read += count
