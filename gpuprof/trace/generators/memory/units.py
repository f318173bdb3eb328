"""Accesses of warps as a stream of lines or sectors. Compiled by Numba, when it is first needed.

A warp's access requests each distinct unit of its lanes once, in the order of the lowest lane that touches it, like the
coalescer of an SM.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit

LANES = 32
MOST_UNITS = 2 * LANES  # of a warp's access: 16 bytes of a lane touch two units at most
SEEN = 256  # slots for a warp's units: a power of two, some stay empty


def of_access(access, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """The units of 2**shift bytes of an Access: int64 (k,), and the row of the event of each, int64 (k,)."""
    pairs = np.empty((MOST_UNITS * len(access.masks), 2), np.int64)
    length = list_units(access.addresses, access.masks, access.nbytes, shift, pairs)
    return pairs[:length, 0], pairs[:length, 1]


def lines_of(units: np.ndarray, rows: np.ndarray, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """The units of 2**shift times the size that contain these, in the same order: the result of `of_access` for
    them.
    """
    pairs = np.empty((len(units), 2), np.int64)
    length = list_wider(units, rows, shift, pairs)
    return pairs[:length, 0], pairs[:length, 1]


@cached_njit
def is_new(unit, row, seen):
    """True if the row has not requested the unit before; marks it. `seen`: int64 (SEEN, 2), unit and row; slots of
    other rows count as empty.
    """
    slot = np.int64((np.uint64(unit) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(56))
    while seen[slot, 1] == row:
        if seen[slot, 0] == unit:
            return False
        slot = (slot + 1) & 255
    seen[slot, 0], seen[slot, 1] = unit, row
    return True


@cached_njit
def list_units(addresses, masks, nbytes, shift, found):
    """Writes (unit, row) to `found`, int64 (64 n, 2), and gives their number. addresses: int64 (n, 32); masks: uint32
    (n,).
    """
    length = 0
    seen = np.full((SEEN, 2), -1, np.int64)
    for row in range(len(masks)):
        before = -1  # a unit is mostly that of the previous lane
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1):
                continue
            low = addresses[row, lane] >> shift
            high = (addresses[row, lane] + nbytes - 1) >> shift
            for unit in range(low, high + 1):
                if unit != before and is_new(unit, row, seen):
                    found[length, 0], found[length, 1] = unit, row
                    length += 1
                before = unit
    return length


@cached_njit
def list_wider(units, rows, shift, found):
    """Writes the wider units of listed ones, ascending by row, and gives their number."""
    length, before, row_before = 0, -1, -1
    seen = np.full((SEEN, 2), -1, np.int64)
    for k in range(len(units)):
        unit, row = units[k] >> shift, rows[k]
        if (unit != before or row != row_before) and is_new(unit, row, seen):
            found[length, 0], found[length, 1] = unit, row
            length += 1
        before, row_before = unit, row
    return length
