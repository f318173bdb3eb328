"""The lines with the stamps of memory, allocated as memory is touched."""

import numpy as np

from gpuprof.isa.families.cluster import OFFSET_MASK, RANK_SHIFT
from gpuprof.jit.cached import cached_njit
from gpuprof.trace.checkers.races.block_races import Blocks
from gpuprof.trace.checkers.races.stamp_lines import LINE_NBYTES, LINE_SHIFT, Pool, clear_lines
from gpuprof.trace.checkers.races.stamps import LINES_OF_PAGE, PAGE_SHIFT, LineTable
from gpuprof.trace.checkers.slots import longer, with_room
from gpuprof.trace.event import Access
from gpuprof.trace.kernel import Kernel

LAST_PAGE = 1 << 24  # 64 GiB of addresses
NOWHERE = -1


@cached_njit
def number_pages(pages, n_pages, addresses, base):
    """Numbers the pages of addresses, int64 (n,), that have no number yet, from `n_pages` on. Gives the number of pages
    then, and the last page; those beyond the table `pages` get no number.
    """
    last = np.int64(-1)
    for k in range(len(addresses)):
        page = addresses[k] - base >> PAGE_SHIFT
        if page < 0 or page >= LAST_PAGE:
            continue
        last = max(last, page)
        if page < len(pages) and pages[page] == NOWHERE:
            pages[page] = n_pages
            n_pages += 1
    return n_pages, last


class GlobalLines:
    """Lines of global memory, a page at a time, from the lowest allocation on: `base`."""

    def __init__(self, first_address: int):
        self.base = first_address >> PAGE_SHIFT << PAGE_SHIFT
        self._pages = np.full(64, NOWHERE, np.int64)
        self._n_pages = 0
        self.lines = np.zeros(LINES_OF_PAGE, np.uint32)

    def place(self) -> LineTable:
        """The lines of the program's addresses from `base` on."""
        return LineTable(self.lines, self._pages, self.base, self.base + (LAST_PAGE << PAGE_SHIFT))

    def cover(self, addresses: np.ndarray) -> None:
        """Allocates lines for addresses of the program, where they may have some: int64 (n,)."""
        self._n_pages, last = number_pages(self._pages, self._n_pages, addresses, self.base)
        if last >= len(self._pages):
            self._pages = np.concatenate((self._pages, np.full(last + 1, NOWHERE, np.int64)))
            self._n_pages, _ = number_pages(self._pages, self._n_pages, addresses, self.base)
        self.lines = longer(self.lines, self._n_pages * LINES_OF_PAGE)

    def pages(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (n,) each: the address of each page that has lines, ascending, and the number of its first line."""
        pages = np.flatnonzero(self._pages != NOWHERE)
        return self.base + (pages << PAGE_SHIFT), self._pages[pages] * LINES_OF_PAGE

    @property
    def nbytes(self) -> int:
        return self.lines.nbytes + self._pages.nbytes


class SharedLines:
    """Lines of shared memory, by the slots of its blocks: those of a slot begin at address slot * `stride`."""

    def __init__(self, kernel: Kernel, blocks: Blocks):
        self._kernel, self._blocks = kernel, blocks
        self._n_lines = (kernel.shared_nbytes >> LINE_SHIFT) + 1  # of a block
        self.stride = self._n_lines * LINE_NBYTES
        self._ended: set[int] = set()  # blocks, if others may access their memory
        self.lines = np.zeros(0, np.uint32)

    def place(self) -> LineTable:
        """The lines of bytes of a block's shared memory."""
        return LineTable(self.lines, np.zeros(0, np.int64), 0, self._kernel.shared_nbytes)

    def place_of_all(self) -> LineTable:
        """The lines of addresses given by `far`."""
        return LineTable(self.lines, np.zeros(0, np.int64), 0, len(self.lines) * LINE_NBYTES)

    def cover(self, n_slots: int) -> None:
        self.lines = with_room(self.lines, n_slots * self._n_lines)

    def is_far(self, access: Access) -> bool:
        """True if lanes access the memory of a block by its rank."""
        return self._kernel.cluster != (1, 1, 1) and bool((access.active & (access.addresses >> RANK_SHIFT > 0)).any())

    def far_lanes(self, access: Access, blocks: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """int64 (n, 32): `far` of an access' lanes. blocks, slots: int64 (n,)."""
        return self.far(access.addresses, access.nbytes, access.active, blocks[:, None], slots[:, None])

    def far(self, addresses: np.ndarray, nbytes, active: np.ndarray, blocks: np.ndarray, slots: np.ndarray):
        """int64, of any shape: addresses among those of all slots, for bytes as seen by `blocks`, which have `slots`;
        NOWHERE for inactive lanes. An ended block of the cluster has none.
        """
        offset, rank = addresses & OFFSET_MASK, addresses >> RANK_SHIFT
        inside = active & (addresses >= 0) & (offset + nbytes <= self._kernel.shared_nbytes)
        far = inside & (rank > 0)
        slots = np.broadcast_to(slots, far.shape)
        if far.any():
            slots = self._far_slots(far, rank, np.broadcast_to(blocks, far.shape), slots)
            inside &= slots >= 0
        self.cover(int(slots.max(initial=0)) + 1)
        return np.where(inside, offset + slots * self.stride, NOWHERE)

    def _far_slots(self, far: np.ndarray, rank: np.ndarray, blocks: np.ndarray, slots: np.ndarray) -> np.ndarray:
        slots = slots.copy()
        of_cluster = far & (rank <= np.prod(self._kernel.cluster))
        owners = self._kernel.block_of_rank(blocks[of_cluster], rank[of_cluster] - 1)
        are_running = np.array([owner not in self._ended for owner in owners.tolist()], np.bool_)
        owner_slots = np.full(len(owners), NOWHERE, np.int64)
        owner_slots[are_running] = self._blocks.slots(owners[are_running])
        slots[far] = NOWHERE
        slots[of_cluster] = owner_slots
        return slots

    def clear(self, pool: Pool, block: int, slot: int) -> None:
        """Clears the lines of a block that has ended, which had the slot."""
        if self._kernel.shared_nbytes:
            clear_lines(pool, self.lines[slot * self._n_lines : (slot + 1) * self._n_lines])
        if self._kernel.cluster != (1, 1, 1):
            self._ended.add(block)
