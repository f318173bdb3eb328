"""Notes the patterns of a shared-memory access of many warps. Compiled by Numba, when it is first needed."""

import numpy as np

from gpuprof.jit.cached import cached_njit


@cached_njit
def note(address, masks, nbytes, offsets, known, warps, first, end, used):
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
        match = -1
        for k in range(used[0]):
            row = (last + k) % used[0]  # mostly it is the pattern of the warp before
            if known[row] != mask:
                continue
            same = True
            for lane in range(32):
                if mask >> np.uint32(lane) & np.uint32(1) and here[lane] - low != offsets[row, lane]:
                    same = False
                    break
            if same:
                match = row
                break
        if match < 0 and used[0] < len(known):
            match = used[0]
            used[0] += 1
            known[match], first[match], end[match] = mask, low, high + nbytes
            for lane in range(32):
                if mask >> np.uint32(lane) & np.uint32(1):
                    offsets[match, lane] = here[lane] - low
        if match < 0:
            warps[len(known)] += np.uint64(1)
            continue
        last = match
        warps[match] += np.uint64(1)
        first[match], end[match] = min(first[match], low), max(end[match], high + nbytes)
