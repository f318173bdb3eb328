"""What lanes have touched of textures and surfaces, as accesses to global memory. A fetch reads several texels of a
lane's own: the first of each lane is an access, then the second, and so on.
"""

from collections.abc import Iterator

import numpy as np

from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.masks import WARP

IMAGES = ("fetch", "surface_load", "surface_store", "surface_reduction")  # kinds; looked at once they have run


def accesses_of(event: TraceEvent) -> Iterator[Access]:
    """Of one size each."""
    for found in event.ranges:
        for nbytes in np.unique(found.nbytes).tolist():
            chosen = np.flatnonzero(found.nbytes == nbytes)
            keys, addresses = found.warps[chosen] * WARP + found.lanes[chosen], found.addresses[chosen]
            order = np.argsort(keys, kind="stable")
            keys, addresses = keys[order], addresses[order]
            number = np.arange(len(keys)) - np.searchsorted(keys, keys)  # of a lane's texels
            for each in range(int(number.max(initial=-1)) + 1):
                of_each = number == each
                rows, lanes = np.divmod(keys[of_each], WARP)
                placed, masks = np.zeros((event.n_warps, WARP), np.int64), np.zeros(event.n_warps, np.uint32)
                placed[rows, lanes] = addresses[of_each]
                np.bitwise_or.at(masks, rows, np.uint32(1) << lanes.astype(np.uint32))
                yield Access(found.space, found.operation, nbytes, masks, placed, None)
