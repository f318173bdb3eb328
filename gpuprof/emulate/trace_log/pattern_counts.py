"""Notes the patterns of a shared-memory access of many warps. Compiled by Numba, when it is first needed."""

import numpy as np

from gpuprof.jit.cached import cached_njit


@cached_njit
def note(address, masks, nbytes, places, known, warps, first, end, used):
    """Counts the patterns of some warps in the fields of `Patterns`.

    address: int64 (32 * warps,), bytes of the block's shared memory; masks: uint32 (warps,), lanes that take part;
    nbytes per lane.
    """
    last = 0
    for w in range(len(masks)):
        mask = masks[w]
        if mask == 0:
            continue
        here = address[32 * w : 32 * w + 32]
        low, high = np.int64(1) << 62, np.int64(-1)
        for lane in range(32):
            if mask >> np.uint32(lane) & np.uint32(1):
                low, high = min(low, here[lane]), max(high, here[lane])
        found = -1
        for k in range(used[0]):
            row = (last + k) % used[0]  # mostly it is the pattern of the warp before
            if known[row] != mask:
                continue
            same = True
            for lane in range(32):
                if mask >> np.uint32(lane) & np.uint32(1) and here[lane] - low != places[row, lane]:
                    same = False
                    break
            if same:
                found = row
                break
        if found < 0 and used[0] < len(known):
            found = used[0]
            used[0] += 1
            known[found], first[found], end[found] = mask, low, high + nbytes
            for lane in range(32):
                if mask >> np.uint32(lane) & np.uint32(1):
                    places[found, lane] = here[lane] - low
        if found < 0:
            warps[len(known)] += np.uint64(1)
            continue
        last = found
        warps[found] += np.uint64(1)
        first[found], end[found] = min(first[found], low), max(end[found], high + nbytes)
