"""Memory that the host and the GPU both touch: where each page of managed memory is, and what has to move.

    allocation ─ add ─> Region, of pages
    bytes that a launch touches ─ launch_touches ─> pages that fault, bytes over the link
    the host's touches, prefetches ─> bytes that move

A page is nowhere until one side touches it, then with that side. Page-locked memory stays with the host: a kernel's
bytes of it cross the link. What kernels touch more than once counts once, as a cache would have it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.emulate.watch.footprint import Bytes

SECTOR_NBYTES = 32  # the least that a kernel moves
HOST, DEVICE = 1, 2  # where a page is, both where both sides have a copy


class Moved(NamedTuple):
    """Pages that one side's touches bring to it, or fill with zeros. name: that of the allocation with most of them."""

    n_pages: int = 0
    nbytes: int = 0  # that cross the link
    name: str = ""


class LaunchTouches(NamedTuple):
    """`faults`: of managed memory. read, written: bytes that stay with the host and cross the link."""

    faults: Moved
    read_nbytes: int
    written_nbytes: int
    name: str  # of the allocation that most of these are of


@dataclass(eq=False)
class Region:
    """An allocation and its pages. `where` and the advice: an element a page."""

    address: int
    nbytes: int
    name: str
    is_managed: bool
    page_nbytes: int
    where: np.ndarray = field(init=False)
    is_read_mostly: np.ndarray = field(init=False)
    is_kept: np.ndarray = field(init=False)  # the host is its preferred location
    is_mapped: np.ndarray = field(init=False)  # the GPU is advised to access it where it is

    def __post_init__(self) -> None:
        n_pages = self._page(self.address + self.nbytes - 1) + 1
        self.where = np.zeros(n_pages, np.uint8)
        self.is_read_mostly, self.is_kept, self.is_mapped = (np.zeros(n_pages, bool) for _ in range(3))

    def _page(self, address):
        """The number of an address's page, of one or many."""
        return address // self.page_nbytes - self.address // self.page_nbytes

    def pages(self, address: int, nbytes: int) -> slice:
        """The pages of a range that lies in it, wholly or not."""
        first, end = max(address, self.address), min(address + nbytes, self.address + self.nbytes)
        return slice(self._page(first), self._page(end - 1) + 1) if first < end else slice(0, 0)

    def size(self, pages: np.ndarray) -> int:
        """Bytes of the pages of a mask that are the allocation's."""
        nbytes = int(pages.sum()) * self.page_nbytes
        nbytes -= (self.address % self.page_nbytes) * int(pages[0])
        return nbytes - (-(self.address + self.nbytes) % self.page_nbytes) * int(pages[-1])

    def by_page(self, touched: Bytes) -> np.ndarray:
        """Bytes of each page that are in the ranges."""
        end_of_all = self.address + self.nbytes
        inside = slice(np.searchsorted(touched.end, self.address, "right"), np.searchsorted(touched.start, end_of_all))
        start, end = np.maximum(touched.start[inside], self.address), np.minimum(touched.end[inside], end_of_all)
        first, last = self._page(start), self._page(end - 1)
        # Whole pages from the first to the last one, less what the first has before and the last has after.
        steps = np.zeros(len(self.where) + 1, np.int64)
        np.add.at(steps, first, self.page_nbytes)
        np.add.at(steps, last + 1, -self.page_nbytes)
        nbytes = np.cumsum(steps[:-1])
        np.subtract.at(nbytes, first, start % self.page_nbytes)
        np.subtract.at(nbytes, last, -end % self.page_nbytes)
        return nbytes


class HostMemory:
    """The managed and page-locked allocations of one GPU. page_nbytes: of a page of managed memory, a power of two."""

    def __init__(self, page_nbytes: int):
        self._page_nbytes = page_nbytes
        self._regions: dict[int, Region] = {}  # by address

    def add(self, command: cmd.Allocate, address: int) -> None:
        if command.memory != "device" and command.nbytes:
            is_managed = command.memory == "managed"
            self._regions[address] = Region(address, command.nbytes, command.name, is_managed, self._page_nbytes)

    def remove(self, address: int) -> None:
        self._regions.pop(address, None)

    @property
    def has_managed(self) -> bool:
        return any(region.is_managed for region in self._regions.values())

    def is_touched_by(self, params: bytes) -> bool:
        """True where a launch with these parameters may touch memory of the host: any, while some is managed, since its
        addresses may be in memory; else only one with the address of some among its parameters.
        """
        if not self._regions or self.has_managed:
            return bool(self._regions)
        words = np.frombuffer(params, np.uint8)[: len(params) // 8 * 8].view(np.uint64).tolist()
        return any(one.address <= word < one.address + one.nbytes for one in self._regions.values() for word in words)

    def launch_touches(self, reads: Bytes, writes: Bytes) -> LaunchTouches:
        """A launch reads and writes bytes: what it needs moves to the GPU."""
        reads, writes = in_sectors(reads), in_sectors(writes)
        faults, over = list[Moved](), list[tuple[int, int, str]]()
        for region in self._regions.values():
            read, written = region.by_page(reads), region.by_page(writes)
            stays = _touched_by_gpu(region, read, written, faults) if region.is_managed else slice(None)
            over.append((int(read[stays].sum()), int(written[stays].sum()), region.name))
        most = max(over, key=lambda each: each[0] + each[1], default=(0, 0, ""))
        return LaunchTouches(_sum(faults), sum(one[0] for one in over), sum(one[1] for one in over), most[2])

    def host_touches(self, ranges: Iterable[tuple[int, int]], group_nbytes: int) -> tuple[Moved, int]:
        """The host reads or writes ranges of (address, nbytes); it cannot be seen which. Gives what moves to it, and in
        how many groups of neighbouring pages, of `group_nbytes` at most. Pages that both sides have stay with both.
        """
        moves, groups = list[Moved](), set[int]()
        for region, pages in self._parts(ranges):
            moved = np.zeros(len(region.where), bool)
            moved[pages] = region.where[pages] == DEVICE
            is_new = region.where[pages] == 0
            region.where[pages][is_new] = HOST
            region.where[moved] = HOST
            moves.append(Moved(int(moved.sum()), region.size(moved), region.name))
            first = region.address // region.page_nbytes
            groups |= set(((np.flatnonzero(moved) + first) * region.page_nbytes // group_nbytes).tolist())
        return _sum(moves), len(groups)

    def prefetch(self, command: cmd.Prefetch) -> Moved:
        """Gives what a prefetch moves."""
        to, from_ = (HOST, DEVICE) if command.to_host else (DEVICE, HOST)
        moves = list[Moved]()
        for region, pages in self._parts([(command.address, command.nbytes)]):
            moved = np.zeros(len(region.where), bool)
            moved[pages] = region.where[pages] == from_
            keeps = region.is_read_mostly[pages] & (region.where[pages] & from_ > 0)
            region.where[pages] = np.where(keeps, HOST | DEVICE, to)
            moves.append(Moved(int(moved.sum()), region.size(moved), region.name))
        return _sum(moves)

    def advise(self, command: cmd.Advise) -> None:
        for region, pages in self._parts([(command.address, command.nbytes)]):
            if command.advice == "read mostly":
                region.is_read_mostly[pages] = command.is_on
            elif command.advice == "preferred location":
                region.is_kept[pages] = command.is_on and command.to_host
            elif not command.to_host:
                region.is_mapped[pages] = command.is_on

    def _parts(self, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[Region, slice]]:
        """Managed allocations, and their pages in the ranges."""
        for address, nbytes in ranges:
            for region in self._regions.values():
                pages = region.pages(address, nbytes)
                if region.is_managed and pages.start < pages.stop:
                    yield region, pages


def in_sectors(touched: Bytes) -> Bytes:
    """The whole sectors that ranges touch."""
    start, end = touched.start // SECTOR_NBYTES * SECTOR_NBYTES, -(-touched.end // SECTOR_NBYTES) * SECTOR_NBYTES
    start[1:] = np.maximum(start[1:], end[:-1])
    some = end > start
    return Bytes(start[some], end[some])


def _touched_by_gpu(region: Region, read: np.ndarray, written: np.ndarray, faults: list[Moved]) -> np.ndarray:
    """Moves what a launch touches of a managed allocation. read, written: bytes of each page. Gives a mask of the pages
    that stay with the host.
    """
    touched, is_written = (read > 0) | (written > 0), written > 0
    on_host = touched & (region.where == HOST)
    stays = touched & region.is_kept & (region.where != DEVICE) | on_host & region.is_mapped
    region.where[stays] = HOST
    coming = touched & ~stays & (region.where & DEVICE == 0)
    moved = on_host & coming
    faults.append(Moved(int(coming.sum()), region.size(moved), region.name))
    copied = moved & region.is_read_mostly & ~is_written
    region.where[coming] = DEVICE
    region.where[copied] = HOST | DEVICE
    region.where[touched & ~stays & is_written] = DEVICE
    return stays


def _sum(moves: list[Moved]) -> Moved:
    most = max(moves, key=lambda moved: (moved.nbytes, moved.n_pages), default=Moved())
    return Moved(sum(moved.n_pages for moved in moves), sum(moved.nbytes for moved in moves), most.name)
