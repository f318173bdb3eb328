"""Accesses of warps as a stream of lines or sectors. Compiled by Numba, when it is first needed.

A warp's access asks for each distinct unit of its lanes once, in the order of the lowest lane that touches it: as the
coalescer of an SM does.
"""

import numpy as np

from gpuprof.compiled.kept import kept

LANES = 32
MOST_UNITS = 2 * LANES  # of a warp's access: 16 bytes of a lane are in two units at most


def of_access(access, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """The units of 2**shift bytes of an Access: int64 (k,), and the row of the event of each, int64 (k,)."""
    found = np.empty((MOST_UNITS * len(access.masks), 2), np.int64)
    length = list_units(access.addresses, access.masks, access.nbytes, shift, found)
    return found[:length, 0], found[:length, 1]


@kept
def list_units(addresses, masks, nbytes, shift, found):
    """Writes (unit, row) to `found`, int64 (64 n, 2), and gives their number. addresses: int64 (n, 32); masks: uint32
    (n,).
    """
    length = 0
    for row in range(len(masks)):
        first = length
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1):
                continue
            low = addresses[row, lane] >> shift
            high = (addresses[row, lane] + nbytes - 1) >> shift
            for unit in range(low, high + 1):
                is_new = True
                for k in range(length - 1, first - 1, -1):  # mostly it is the unit of the lane before
                    if found[k, 0] == unit:
                        is_new = False
                        break
                if is_new:
                    found[length, 0], found[length, 1] = unit, row
                    length += 1
    return length
