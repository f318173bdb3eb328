"""Accesses of lanes to textures and surfaces, as accesses to global memory. A fetch reads several texels per lane: the
first of each lane is an access, then the second, and so on. And the content that stores have left there.
"""

from collections.abc import Iterator

import numpy as np

from gpuprof.trace.event import WARP, Access, TraceEvent

IMAGES = ("fetch", "surface_load", "surface_store", "surface_reduction")  # kinds; processed after they have run
MOST_OF_WORD = 8  # bytes


def accesses_of(event: TraceEvent) -> Iterator[Access]:
    """The accesses of an event, each with a single size."""
    for ranges in event.ranges:
        for nbytes in np.unique(ranges.nbytes).tolist():
            chosen = np.flatnonzero(ranges.nbytes == nbytes)
            keys, addresses = ranges.warps[chosen] * WARP + ranges.lanes[chosen], ranges.addresses[chosen]
            order = np.argsort(keys, kind="stable")
            keys, addresses = keys[order], addresses[order]
            number = np.arange(len(keys)) - np.searchsorted(keys, keys)  # of a lane's texels
            for each in range(int(number.max(initial=-1)) + 1):
                of_each = number == each
                rows, lanes = np.divmod(keys[of_each], WARP)
                placed, masks = np.zeros((event.n_warps, WARP), np.int64), np.zeros(event.n_warps, np.uint32)
                placed[rows, lanes] = addresses[of_each]
                np.bitwise_or.at(masks, rows, np.uint32(1) << lanes.astype(np.uint32))
                yield Access(ranges.space, ranges.operation, nbytes, masks, placed, None)


class Left:
    """The bytes that stores with known values, to memory and to surfaces, have left in global memory: the previous
    content for a store to a surface. Other bytes are unknown.
    """

    def __init__(self):
        self._address, self._bytes = 0, np.zeros(0, np.uint8)

    def words(self, event: TraceEvent, access: Access) -> np.ndarray:
        """uint64 (m, n, 32): in the form of `TraceEvent.memory_words`."""
        nbytes = min(access.nbytes, MOST_OF_WORD)
        view = self._view(event, nbytes)
        first = (access.addresses - self._address) // nbytes
        return np.stack([view.take(first + k, mode="clip").astype(np.uint64) for k in range(access.nbytes // nbytes)])

    def put(self, event: TraceEvent, access: Access, values: np.ndarray) -> None:
        """values: uint64 (m, n, 32), m words that a lane stores."""
        nbytes = access.nbytes // len(values)
        view = self._view(event, nbytes)
        first = (access.addresses - self._address) // nbytes
        known = access.active & (first >= 0) & (first + len(values) <= len(view))
        for k, words in enumerate(values):
            view[first[known] + k] = words[known].astype(view.dtype)

    def _view(self, event: TraceEvent, nbytes: int) -> np.ndarray:
        """The content as unsigned integers of `nbytes` bytes. Untouched zeros take no memory."""
        if not len(self._bytes):
            self._address, memory = event.global_memory
            self._bytes = np.zeros(-(-len(memory) // MOST_OF_WORD) * MOST_OF_WORD, np.uint8)
        return self._bytes.view(f"u{nbytes}")
