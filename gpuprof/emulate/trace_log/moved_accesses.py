"""Accesses of a warp that are those of a warp before it, moved. Compiled by Numba.

The warps of a kernel mostly have one pattern of addresses, each of them somewhere else. When two are a multiple of 128
bytes apart, which is a line and all 32 banks, what `coalesce` has found of one holds for the other: its sectors are as
far apart, and all counts are the same.
"""

import numpy as np

from gpuprof.jit.internal import internal_njit

PLACES = 32  # of a line: a pattern is remembered for each that its first lane can be at
LINE_NBYTES = 128
FULL = np.uint32(0xFFFFFFFF)
# A row of what is remembered: the addresses of the lanes, then these.
MASK, STAYS, COUNT, LOOKUPS, PASSES, IDEAL, LANES, FIRST, LAST, BITS, CONFLICTS = range(32, 43)
N_FIELDS = 43


@internal_njit
def forget_all(known):
    """Empties what is remembered. known: int64 (PLACES, N_FIELDS)."""
    for place in range(PLACES):
        known[place, MASK] = 0


@internal_njit
def place_of(address):
    """The row for a warp whose first lane that takes part has this address."""
    return address >> 2 & PLACES - 1


@internal_njit
def first_lane(mask):
    """The first lane of a mask that is not empty."""
    lane = 0
    while not mask >> np.uint32(lane) & np.uint32(1):
        lane += 1
    return lane


@internal_njit
def is_moved(address, mask, row, by):
    """True when each lane that takes part is `by` bytes above the address in `row`, and whole lines."""
    if by & LINE_NBYTES - 1 or np.int64(mask) != row[MASK]:
        return False
    other = np.int64(0)
    if mask == FULL:
        for lane in range(32):
            other |= address[lane] - row[lane] ^ by
    else:
        for lane in range(32):
            other |= (address[lane] - row[lane] ^ by) & -(np.int64(mask) >> lane & 1)
    return other == 0


@internal_njit
def remember(address, mask, stays, row):
    """Puts a warp's addresses into `row`, whose other fields have been found."""
    for lane in range(32):
        row[lane] = address[lane]
    row[MASK], row[STAYS] = np.int64(mask), np.int64(stays)
