"""Where the stamps of a unit of memory stand: made as memory is touched."""

import numpy as np

from gpuprof.trace.checkers.races.stamps import N_STAMPS
from gpuprof.trace.checkers.slots import with_room

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
        """int64 (n, 32): number of the unit of each address; NOWHERE of lanes that are not active."""
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

    def _add(self, pages: np.ndarray) -> None:
        self._pages[pages] = self._n_pages + np.arange(len(pages))
        self._n_pages += len(pages)
        self.stamps = with_room(self.stamps, self._n_pages * self._page_units)
