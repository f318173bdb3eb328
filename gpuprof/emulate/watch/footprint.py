"""The bytes of global memory that a launch reads and writes: a listener in addition to those of `watch.listener`,
notified of complete accesses of many warps, so that it costs little.

There is a bit for each byte of the arena, up to the last allocation. A byte counts as read when the launch has not
written it itself before, in the order in which it is emulated: its content is then from elsewhere. Pages with a bit are
recorded, so that a launch that accesses little of a large memory is processed quickly.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.core.late_accesses import AccessedRanges
from gpuprof.emulate.core.marks import PAGE_NBYTES, READ, WORDS_OF_PAGE, WRITE, Marks
from gpuprof.emulate.watch.watched_bits import mark_lanes, mark_ranges, mark_run, runs_of_page

MODES = {"read": READ, "write": WRITE, "atomic operation": READ | WRITE}  # by verb of memory.access.Site
TOUCHED_MODES = {
    "load": READ,
    "store": WRITE,
    "reduction": READ | WRITE,
    "atomic": READ | WRITE,
    "copy": READ,
    "prefetch": 0,
}


class Bytes(NamedTuple):
    """Ranges of addresses, int64 (n,) each: ascending, and neither overlapping nor touching."""

    start: np.ndarray
    end: np.ndarray


class Footprint:
    """The bytes that one launch after the other reads and writes; `begin` forgets the preceding one."""

    def __init__(self) -> None:
        self._reads, self._writes = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
        self._pages = np.zeros(0, np.uint8)  # 1: it has a bit

    def begin(self) -> None:
        """A launch begins: nothing is read or written yet."""
        pages = self._pages.nonzero()[0]
        for words in (self._reads, self._writes):
            words.reshape(-1, WORDS_OF_PAGE)[pages] = 0
        self._pages[:] = 0

    def cover(self, nbytes: int) -> None:
        """Makes room for allocations up to `nbytes` from the arena's start. There may be more while a launch runs."""
        n_pages = -(-nbytes // PAGE_NBYTES)
        if n_pages > len(self._pages):
            n_pages = max(n_pages, 2 * len(self._pages))
            self._reads = _grown(self._reads, n_pages * WORDS_OF_PAGE)
            self._writes = _grown(self._writes, n_pages * WORDS_OF_PAGE)
            self._pages = _grown(self._pages, n_pages)

    @property
    def marks(self) -> Marks:
        """The bits themselves; after `cover` they may be others."""
        return Marks(self._reads, self._writes, self._pages)

    def add(self, later: "Footprint") -> None:
        """Adds what the launch has accessed after all that is noted here. Both cover the same memory."""
        n_pages = min(len(self._pages), len(later._pages))
        pages = later._pages[:n_pages].nonzero()[0]
        reads, writes, later_reads, later_writes = (
            words[: n_pages * WORDS_OF_PAGE].reshape(-1, WORDS_OF_PAGE)
            for words in (self._reads, self._writes, later._reads, later._writes)
        )
        reads[pages] |= later_reads[pages] & ~writes[pages]
        writes[pages] |= later_writes[pages]
        self._pages[pages] = 1

    def access(self, verb: str, address: np.ndarray, masks: np.ndarray, nbytes: int, run: tuple[int, int] | None):
        """Lanes access `nbytes` bytes each. address: int64 (32 * warps,); masks: uint32 (warps,), the lanes that take
        part. `run`: the addresses [first, end) when they are all bytes of these.
        """
        if run:
            mark_run(self._reads, self._writes, self._pages, run[0] - GLOBAL_BASE, run[1] - GLOBAL_BASE, MODES[verb])
        else:
            mark_lanes(self._reads, self._writes, self._pages, address, masks, GLOBAL_BASE, nbytes, MODES[verb])

    def read(self, address: np.ndarray, nbytes: np.ndarray) -> None:
        """Ranges are read: int64 (n,) each."""
        mark_ranges(self._reads, self._writes, self._pages, address - GLOBAL_BASE, nbytes, READ)

    def touched(self, touched: AccessedRanges) -> None:
        """Ranges that an operation touches in a space."""
        mode = TOUCHED_MODES[touched.operation]
        if touched.space == "global" and mode:
            address = np.asarray(touched.addresses, np.int64) - GLOBAL_BASE
            nbytes = np.asarray(touched.nbytes, np.int64)
            mark_ranges(self._reads, self._writes, self._pages, address, nbytes, mode)

    def reads(self) -> Bytes:
        return self._ranges(self._reads)

    def writes(self) -> Bytes:
        return self._ranges(self._writes)

    def _ranges(self, words: np.ndarray) -> Bytes:
        pages = self._pages.nonzero()[0]
        edges = runs_of_page(words, pages)
        return Bytes(edges[0::2] + GLOBAL_BASE, edges[1::2] + GLOBAL_BASE)


def _grown(values: np.ndarray, length: int) -> np.ndarray:
    """The values, then zeros. What was zero takes no memory of the host before it is written."""
    grown = np.zeros(length, values.dtype)
    used = np.flatnonzero(values)
    grown[used] = values[used]
    return grown
