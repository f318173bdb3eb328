"""Which allocations warps access, and which of their sectors. Compiled by Numba, when it is first needed."""

import numpy as np

from gpuprof.jit.cached import cached_njit

SECTOR_SHIFT = 5


@cached_njit
def touch(addresses, masks, starts, ends, first_sectors, touched, counts):
    """Counts accesses by allocation, those outside every one last, and notes the sectors where they begin. addresses:
    int64 (n, 32); masks: uint32 (n,); starts, ends: of the allocations, ascending; first_sectors: where each has its
    sectors in `touched`; counts: int64 (allocations + 1,).
    """
    at = 0  # mostly an address is in the allocation of the one before
    for row in range(len(masks)):
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1):
                continue
            address = addresses[row, lane]
            if not (at < len(starts) and starts[at] <= address < ends[at]):
                at = np.searchsorted(starts, address, side="right") - 1
                if at < 0 or address >= ends[at]:
                    at = len(starts)
            counts[at] += 1
            if at < len(starts):
                touched[first_sectors[at] + (address - starts[at] >> SECTOR_SHIFT)] = True
