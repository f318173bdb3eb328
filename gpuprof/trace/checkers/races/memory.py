"""Where the stamps of a unit of memory stand: made as memory is touched."""

import numpy as np

from gpuprof.isa.families.cluster import OFFSET_MASK, RANK_SHIFT
from gpuprof.trace.checkers.races.blocks import Blocks
from gpuprof.trace.checkers.races.order import Order
from gpuprof.trace.checkers.races.rows import N_STAMPS
from gpuprof.trace.checkers.races.touched import touched_runs
from gpuprof.trace.checkers.slots import with_room
from gpuprof.trace.kernel import Kernel

PAGE_SHIFT = 12
LAST_PAGE = 1 << 24  # 64 GiB of addresses
NOWHERE = -1


class GlobalUnits:
    """Units of 1 << `shift` bytes of global memory, a page at a time, from the lowest allocation on."""

    def __init__(self, first_address: int, shift: int):
        self._base, self._shift = first_address >> PAGE_SHIFT << PAGE_SHIFT, shift
        self._page_units = 1 << (PAGE_SHIFT - shift)
        self._pages = np.full(64, NOWHERE, np.int64)
        self._n_pages = 0
        self.stamps = np.zeros((self._page_units, N_STAMPS), np.int32)

    def index(self, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
        """int64, of any shape: number of the unit of each address; NOWHERE of lanes that are not active."""
        offset = addresses - self._base
        page = offset >> PAGE_SHIFT
        wanted = active & (page >= 0) & (page < LAST_PAGE)
        if not wanted.any():
            return np.full(addresses.shape, NOWHERE, np.int64)
        page = np.where(wanted, page, 0)
        most = int(page.max())
        if most >= len(self._pages):
            self._pages = np.concatenate((self._pages, np.full(most + 1, NOWHERE, np.int64)))
        missing = wanted & (self._pages[page] == NOWHERE)
        if missing.any():
            self._add(np.unique(page[missing]))
        unit = self._pages[page] * self._page_units + ((offset & ((1 << PAGE_SHIFT) - 1)) >> self._shift)
        return np.where(wanted, unit, NOWHERE)

    def touched(self, order: Order, threads_per_block: int) -> np.ndarray:
        """What the launch has touched, as runs of `races.touched`."""
        pages = np.flatnonzero(self._pages != NOWHERE)
        starts, units = self._base + (pages << PAGE_SHIFT), self._pages[pages] * self._page_units
        return touched_runs(order, self.stamps, starts, units, self._page_units, self._shift, threads_per_block)

    def _add(self, pages: np.ndarray) -> None:
        self._pages[pages] = self._n_pages + np.arange(len(pages))
        self._n_pages += len(pages)
        self.stamps = with_room(self.stamps, self._n_pages * self._page_units)


def pages_of(addresses: np.ndarray, nbytes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranges, int64 (k,) each, cut where a page ends, as stamps of a page alone lie side by side: the number of the
    range that each part is of, its address, its bytes.
    """
    first, last = addresses >> PAGE_SHIFT, (addresses + np.maximum(nbytes, 1) - 1) >> PAGE_SHIFT
    of_range = np.repeat(np.arange(len(addresses)), last - first + 1)
    page = np.arange(len(of_range)) - np.searchsorted(of_range, of_range) + first[of_range]
    start = np.maximum(addresses[of_range], page << PAGE_SHIFT)
    end = np.minimum((addresses + nbytes)[of_range], (page + 1) << PAGE_SHIFT)
    return of_range, start, end - start


class SharedUnits:
    """The same of shared memory, by the slots of its blocks."""

    def __init__(self, kernel: Kernel, blocks: Blocks, shift: int):
        self._kernel, self._blocks, self._shift = kernel, blocks, shift
        self._n_units = (kernel.shared_nbytes >> shift) + 1  # of a block
        self._ended: set[int] = set()  # blocks, where others may ask for their memory
        self.stamps = np.zeros((0, N_STAMPS), np.int32)

    def index(self, addresses: np.ndarray, nbytes, active: np.ndarray, blocks: np.ndarray, slots: np.ndarray):
        """int64, of any shape: number of the unit of each address, as `blocks` see it, which have `slots`; NOWHERE of
        lanes that are not active. A block of the cluster that has ended has no stamps.
        """
        offset, rank = addresses & OFFSET_MASK, addresses >> RANK_SHIFT
        inside = active & (addresses >= 0) & (offset + nbytes <= self._kernel.shared_nbytes)
        far = inside & (rank > 0)
        if far.any():
            slots = self._far_slots(far, rank, np.broadcast_to(blocks, far.shape), np.broadcast_to(slots, far.shape))
            inside &= slots >= 0
        self.stamps = with_room(self.stamps, (int(slots.max(initial=0)) + 1) * self._n_units)
        return np.where(inside, (offset >> self._shift) + slots * self._n_units, NOWHERE)

    def _far_slots(self, far: np.ndarray, rank: np.ndarray, blocks: np.ndarray, slots: np.ndarray) -> np.ndarray:
        slots = slots.copy()
        of_cluster = far & (rank <= np.prod(self._kernel.cluster))
        owners = self._kernel.block_of_rank(blocks[of_cluster], rank[of_cluster] - 1)
        are_there = np.array([owner not in self._ended for owner in owners.tolist()], np.bool_)
        found = np.full(len(owners), NOWHERE, np.int64)
        found[are_there] = self._blocks.slots(owners[are_there])
        slots[far] = NOWHERE
        slots[of_cluster] = found
        return slots

    def clear(self, block: int, slot: int) -> None:
        """The block has ended, which had the slot."""
        self.stamps[slot * self._n_units : (slot + 1) * self._n_units] = 0
        if self._kernel.cluster != (1, 1, 1):
            self._ended.add(block)
