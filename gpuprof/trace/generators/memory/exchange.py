"""Follows words through shared memory. Compiled by Numba, when it is first needed."""

import numpy as np

from gpuprof.jit.cached import cached_njit

NO_STORE = -1
WORD_SHIFT = 2


@cached_njit
def take(addresses, masks, nbytes, blocks, warps, store, thread, store_index, loads, stores, counts):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """An access by n warps: counts the words that it loads in `counts` (row: index of the store + 1, 0 for words
    without a store; columns: stored by the same thread, by another one of the warp, by another warp), then notes its
    stores.

    addresses int64 (n, 32): bytes of a block's shared memory, others are ignored; masks uint32 (n,); blocks, warps
    int64 (n,); store, thread int32 (blocks, words).
    """
    n_blocks, n_words = store.shape
    for row in range(len(masks)):
        block = blocks[row]
        if block >= n_blocks:
            continue
        # A lane's load comes before any lane's store: the warp executes them together.
        for does_store in range(2):
            if (does_store and not stores) or (not does_store and not loads):
                continue
            for lane in range(32):
                if not masks[row] >> np.uint32(lane) & np.uint32(1):
                    continue
                own_thread = 32 * warps[row] + lane
                low = addresses[row, lane] >> WORD_SHIFT
                high = (addresses[row, lane] + nbytes - 1) >> WORD_SHIFT
                for word in range(low, high + 1):
                    if word >= n_words:
                        continue
                    if does_store:
                        store[block, word], thread[block, word] = store_index, own_thread
                    elif store[block, word] < 0:
                        counts[0, 0] += 1
                    else:
                        writer = thread[block, word]
                        kind = 0 if writer == own_thread else 1 if writer >> 5 == warps[row] else 2
                        counts[store[block, word] + 1, kind] += 1
