"""The GPU's global memory: one arena of bytes, and the allocations in it.

    0x7_0000_0000        global memory, the arena: index = address - GLOBAL_BASE
    0x7E00_0000_0000     window onto the shared memory of a thread's own block   (generic addresses only)
    0x7F00_0000_0000     window onto a thread's own local memory                 (generic addresses only)

Allocations are never neighbours: a gap of at least GUARD_NBYTES lies between two, so that a kernel that runs off the
end of one array is caught and does not read the next one.
"""

import mmap
import sys
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

import numpy as np

from gpuprof.device.images import ImageTable
from gpuprof.errors import DeviceMemoryError

GLOBAL_BASE = 0x7_0000_0000
SHARED_WINDOW = 0x7E00_0000_0000
LOCAL_WINDOW = 0x7F00_0000_0000
PARAM_WINDOW = 0x7F10_0000_0000
WINDOW_NBYTES = 1 << 32

ALIGNMENT = 256
GUARD_NBYTES = 256
MOST_RESTING_NBYTES = 1 << 28  # of freed memory that is not used again yet: what it may cost the host
NULL_PAGE_NBYTES = 1 << 16  # an address below this is an index into a null pointer
FIRST_ARENA_NBYTES = 1 << 20
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # mmap(2): MAP_NORESERVE


@dataclass(frozen=True, order=True)
class Allocation:
    """`nbytes` bytes from `address` on. `name` is for messages: "x", "to_device #2", "constants of saxpy.cu".
    is_on_chip: a GPU keeps them in its multiprocessors, as what stages of a draw give each other. is_mapped: its
    address is one that the program has reserved, and what is mapped next to it is a part of it.
    """

    address: int
    nbytes: int
    name: str = ""
    is_on_chip: bool = False
    is_mapped: bool = False

    @property
    def end(self) -> int:
        return self.address + self.nbytes


class Shadow(Protocol):
    """A record of which bytes of global memory have a value: it is notified of the host's actions."""

    def undefine(self, address: int, nbytes: int) -> None:
        """Marks bytes as undefined: memory is new, and nothing was written to it."""

    def define(self, address: int, nbytes: int) -> None:
        """Marks bytes as defined."""

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        """Copies the marks of the source's bytes; the two may overlap."""


class AddressSpace:
    """Allocates, frees, reads and writes; first fit, so the same requests always give the same addresses.

    New memory is zero, also where freed memory is used again: what a program sees never depends on what ran before it.
    """

    def __init__(
        self,
        limit_nbytes: int | None = None,
        arena: np.ndarray | None = None,
        alignment: int = ALIGNMENT,
        has_fixed_gaps: bool = False,
        arena_file: int | None = None,
    ):
        """`limit_nbytes`: the chip's memory; None for as much as the host has. `arena`: uint8 (n,), all zero, that is
        used in place of one that grows; `arena_file`: the file that it is a shared mapping of. `alignment`: of
        allocations, a multiple of 256. `has_fixed_gaps`: gaps between allocations must not grow, since these have to be
        where others were.
        """
        self.limit_nbytes, self.alignment, self._guard_nbytes = limit_nbytes, alignment, GUARD_NBYTES
        self._has_fixed_gaps = has_fixed_gaps
        self.used_nbytes = 0
        self._grows, self._arena_file = arena is None, arena_file
        self._arena = np.zeros(FIRST_ARENA_NBYTES, np.uint8) if arena is None else arena
        self._live: list[Allocation] = []  # ascending
        self._new: list[Allocation] = []  # since `take_new`
        self._freed: dict[int, Allocation] = {}  # by address, for the message of a double free
        self._resting: deque[tuple[int, int]] | None = None  # ranges that were freed and are not used again yet
        self._resting_nbytes = 0
        self._reserved: list[tuple[int, int]] = []  # addresses that are only mapped, ascending
        self._holes: list[tuple[int, int]] = []  # free ranges below _top, ascending, no two adjacent
        self._top = GLOBAL_BASE  # end of the allocations
        self._used_top = GLOBAL_BASE  # the highest _top so far: memory above it was never written
        self.images = ImageTable()
        self.shadows: list[Shadow] = []
        self._bounds: tuple[np.ndarray, np.ndarray] | None = None
        self._views: dict[int, np.ndarray] = {}  # of the arena

    @property
    def arena(self) -> np.ndarray:
        """uint8 (n,): all of global memory; index = address - GLOBAL_BASE. A later `allocate` may put another array in
        its place.
        """
        return self._arena

    @property
    def views(self) -> dict[int, np.ndarray]:
        """The arena as numbers of 1, 2, 4 and 8 bytes."""
        if self._views.get(1) is not self._arena:
            self._views = {1: self._arena} | {n: self._arena.view(f"u{n}") for n in (2, 4, 8)}
        return self._views

    @property
    def starts(self) -> np.ndarray:
        """int64: first address of each live allocation, ascending."""
        return self._start_and_end()[0]

    @property
    def ends(self) -> np.ndarray:
        """int64: address after the last byte of each live allocation, ascending."""
        return self._start_and_end()[1]

    @property
    def on_chip(self) -> np.ndarray:
        """int64 (k, 2): first address and end of each live allocation on the chip, ascending."""
        ranges = [(allocation.address, allocation.end) for allocation in self._live if allocation.is_on_chip]
        return np.array(ranges, np.int64).reshape(-1, 2)

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """The live allocations, by ascending address."""
        return tuple(self._live)

    def at(self, address: int) -> Allocation | None:
        """The live allocation that an address lies in; one of no bytes has that of its start."""
        index = self._index_at(address)
        if index < 0 or address >= max(self._live[index].end, self._live[index].address + 1):
            return None
        return self._live[index]

    def take_new(self) -> list[Allocation]:
        """The live allocations made since the last call, in that order."""
        new, self._new = self._new, []
        return [allocation for allocation in new if self.at(allocation.address) is allocation]

    def separate_allocations(self, nbytes: Iterable[int]) -> None:
        """Makes gaps between allocations have at least so many bytes from now on; where that is more than none, freed
        memory is reused late, so that uses of it are found. To be called before the first allocation.
        """
        assert not self._live, "a gap has the length that it was made with"
        if not self._has_fixed_gaps:
            most = max(*nbytes, 0)
            self._guard_nbytes, self._resting = max(GUARD_NBYTES, most), deque() if most else None

    def allocate(self, nbytes: int, name: str = "", is_undefined: bool = False, is_on_chip: bool = False) -> Allocation:
        """`nbytes` of zeros at a 256-byte aligned address; a program that relies on the zeros is wrong where the memory
        is undefined. Raises DeviceMemoryError when that is negative or too much.
        """
        if nbytes < 0:
            raise DeviceMemoryError(f"cannot allocate {nbytes} bytes{_for(name)}: the size is negative")
        self._check_limit(nbytes, name)
        taken_nbytes = self._taken_nbytes(nbytes)
        if self._rests_too_much(taken_nbytes):
            self._wake(0)
        address = self._take_hole(taken_nbytes)
        if address is None:
            address = self._take_top(taken_nbytes, nbytes, name)
        self._clear(address, nbytes)
        allocation = Allocation(address, nbytes, name, is_on_chip)
        insort(self._live, allocation)
        self._new.append(allocation)
        self._freed.pop(address, None)
        self.used_nbytes += nbytes
        self._bounds = None
        for shadow in self.shadows:
            (shadow.undefine if is_undefined else shadow.define)(address, nbytes)
        return allocation

    def parts(self, start: int, end: int) -> list[Allocation]:
        """The bytes [start, end) of allocations, apart by allocation."""
        index = max(self._index_at(start), 0)
        meeting = takewhile(lambda each: each.address < end, self._live[index:])
        cut = ((max(each.address, start), min(each.end, end), each.name) for each in meeting)
        return [Allocation(first, after - first, name) for first, after, name in cut if first < after]

    def name_part(self, address: int, nbytes: int, name: str) -> None:
        """Makes bytes of an allocation one of their own, with a name; what is before and after them keeps its name.
        Raises DeviceMemoryError unless one allocation holds them all.
        """
        self.check(address, nbytes, "name")
        index = self._index_at(address)
        whole, end = self._live[index], address + nbytes
        before = Allocation(whole.address, address - whole.address, whole.name)
        after = Allocation(end, whole.end - end, whole.name)
        parts = [each for each in (before, Allocation(address, nbytes, name), after) if each.nbytes]
        self._live[index : index + 1] = parts
        self._new += parts
        self._bounds = None

    def free(self, address: int) -> None:
        """Frees the allocation that starts at `address`. Raises DeviceMemoryError when none does, or no longer."""
        index = self._index_at(address)
        if index < 0 or self._live[index].address != address or self._live[index].is_mapped:
            raise DeviceMemoryError(self._cannot_free(address))
        allocation = self._live.pop(index)
        self._freed[address] = allocation
        self._rest(address, address + self._taken_nbytes(allocation.nbytes))
        self.used_nbytes -= allocation.nbytes
        self._bounds = None

    def reserve(self, nbytes: int, alignment: int) -> int:
        """Addresses that `allocate` does not give, at the end of the arena: nothing is there until it is mapped. Raises
        DeviceMemoryError where so many do not follow each other.
        """
        ceiling = GLOBAL_BASE + len(self._arena)
        for start, end in [*reversed(self._reserved), (GLOBAL_BASE, self._top)]:
            address = (ceiling - self._taken_nbytes(nbytes)) // alignment * alignment
            if address >= end:
                insort(self._reserved, (address, address + nbytes))
                return address
            ceiling = start
        raise DeviceMemoryError(f"{nbytes} bytes of addresses that follow each other are not there")

    def unreserve(self, address: int) -> None:
        """The opposite of `reserve`; nothing is mapped there."""
        self._reserved = [each for each in self._reserved if each[0] != address]

    def map(self, address: int, nbytes: int) -> Allocation:
        """Memory at an address that `reserve` gave, one allocation with what is mapped next to it. Raises
        DeviceMemoryError where there is some already, or too much in use.
        """
        index = self._index_at(address + nbytes - 1)
        if index >= 0 and self._live[index].end > address:
            raise DeviceMemoryError(f"cannot map {nbytes} bytes at 0x{address:x}: {_named(self._live[index])} is there")
        self._check_limit(nbytes, "cuMemMap")
        if (needed := address + nbytes - GLOBAL_BASE) > len(self._arena):
            self._grow_far(needed)
        start, end = address, address + nbytes
        if index >= 0 and self._live[index].end == start and self._live[index].is_mapped:
            start = self._live.pop(index).address
            index -= 1
        if index + 1 < len(self._live) and self._live[index + 1].address == end and self._live[index + 1].is_mapped:
            end = self._live.pop(index + 1).end
        self.used_nbytes += nbytes
        for shadow in self.shadows:
            shadow.undefine(address, nbytes)
        return self._add_mapped(start, end)

    def unmap(self, address: int, nbytes: int) -> None:
        """The opposite of `map`, also for a part. Raises DeviceMemoryError unless all of it is mapped."""
        index = self._index_at(address)
        held = self._live[index] if index >= 0 else None
        if held is None or not held.is_mapped or address + nbytes > held.end:
            raise DeviceMemoryError(f"cannot unmap {nbytes} bytes at 0x{address:x}: {self.describe(address)}")
        self._live.pop(index)
        self._arena[address - GLOBAL_BASE : address + nbytes - GLOBAL_BASE] = 0
        self.used_nbytes -= nbytes
        self._bounds = None
        for start, end in ((held.address, address), (address + nbytes, held.end)):
            if start < end:
                self._add_mapped(start, end)

    def _add_mapped(self, start: int, end: int) -> Allocation:
        allocation = Allocation(start, end - start, "cuMemMap", is_mapped=True)
        insort(self._live, allocation)
        self._new.append(allocation)
        self._bounds = None
        return allocation

    def read(self, address: int, nbytes: int) -> bytes:
        """The bytes [address, address + nbytes). Raises DeviceMemoryError unless one allocation holds them all."""
        index = self._checked_index(address, nbytes, "read")
        return self._arena[index : index + nbytes].tobytes()

    def write(self, address: int, data: bytes | bytearray | memoryview | np.ndarray) -> None:
        """Puts bytes at `address`. Raises DeviceMemoryError unless one allocation holds them all."""
        raw = _as_bytes(data)
        index = self._checked_index(address, len(raw), "write")
        self._arena[index : index + len(raw)] = raw
        for shadow in self.shadows:
            shadow.define(address, len(raw))

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        """Copies bytes, also onto themselves. Raises DeviceMemoryError unless one allocation each holds them all."""
        start = self._checked_index(source, nbytes, "read")
        to = self._checked_index(destination, nbytes, "write")
        self._arena[to : to + nbytes] = self._arena[start : start + nbytes].copy()
        for shadow in self.shadows:
            shadow.copy(destination, source, nbytes)

    def fill(self, address: int, nbytes: int, pattern: bytes) -> None:
        """Repeats a pattern over bytes, whose number is a multiple of its length. Raises DeviceMemoryError unless one
        allocation holds them all.
        """
        index = self._checked_index(address, nbytes, "write")
        patterns = self._arena[index : index + nbytes].reshape(-1, len(pattern))
        patterns[:] = np.frombuffer(pattern, np.uint8)
        for shadow in self.shadows:
            shadow.define(address, nbytes)

    def has(self, address: int, data: bytes | memoryview) -> bool:
        """True when these bytes are at `address` already. Raises DeviceMemoryError unless one allocation holds them."""
        index = self._checked_index(address, len(data), "read")
        return np.array_equal(self._arena[index : index + len(data)], _as_bytes(data))

    @property
    def written_nbytes(self) -> int:
        """The number of bytes from the arena's start that may have been written; those after them are zero."""
        return self._used_top - GLOBAL_BASE

    def bookkeeping(self) -> tuple:
        """The state of the allocations, for `restore`, without their contents."""
        return (list(self._live), list(self._new), dict(self._freed), list(self._holes), self._top, self._used_top,
                self.used_nbytes)  # fmt: skip

    def restore(self, bookkeeping: tuple) -> None:
        """The allocations are those of `bookkeeping` again."""
        live, new, freed, holes, self._top, self._used_top, self.used_nbytes = bookkeeping
        self._live, self._new, self._freed, self._holes = list(live), list(new), dict(freed), list(holes)
        self._bounds = None

    def check(self, address: int, nbytes: int, verb: str) -> None:
        """Raises DeviceMemoryError unless one allocation holds the bytes [address, address + nbytes)."""
        self._checked_index(address, nbytes, verb)

    def describe(self, address: int) -> str:
        """A text on the location of an address: the allocation that holds it, or the nearest one and the distance."""
        for window, space in ((SHARED_WINDOW, "shared"), (LOCAL_WINDOW, "local"), (PARAM_WINDOW, "parameter")):
            if window <= address < window + WINDOW_NBYTES:
                return f"0x{address:x} is byte {address - window} of the {space} memory window"
        if address < NULL_PAGE_NBYTES:
            return f"0x{address:x} is {f'{address} bytes past ' if address else ''}the null address"
        if not self._live:
            return f"0x{address:x} is in no allocation; there is none"
        index = self._index_at(address)
        candidates = self._live[max(index, 0) : index + 2]
        return _where(
            address, min(candidates, key=lambda allocation: _distance(address, allocation))
        ) + self._was_freed(address)

    def was_freed(self, address: int) -> bool:
        """True when an allocation began at an address, and no other does now."""
        return address in self._freed

    def are_null(self, addresses: np.ndarray) -> np.ndarray:
        """bool: the addresses, int64, that are an index into a null pointer."""
        return (addresses >= 0) & (addresses < NULL_PAGE_NBYTES)

    def were_freed(self, addresses: np.ndarray) -> np.ndarray:
        """bool: the addresses, int64, in no allocation, that were in one that has been freed."""
        freed = np.zeros(addresses.shape, np.bool_)
        for allocation in self._freed.values():
            freed |= (addresses >= allocation.address) & (addresses < allocation.end)
        return freed

    def _taken_nbytes(self, nbytes: int) -> int:
        """The bytes of an allocation with the gap after it."""
        return -(-(nbytes + self._guard_nbytes) // self.alignment) * self.alignment

    def _start_and_end(self) -> tuple[np.ndarray, np.ndarray]:
        if self._bounds is None:
            self._bounds = (
                np.array([allocation.address for allocation in self._live], np.int64),
                np.array([allocation.end for allocation in self._live], np.int64),
            )
        return self._bounds

    def _check_limit(self, nbytes: int, name: str) -> None:
        if self.limit_nbytes is not None and self.used_nbytes + nbytes > self.limit_nbytes:
            raise DeviceMemoryError(
                f"out of device memory: {nbytes} bytes asked{_for(name)}, {self.used_nbytes} of {self.limit_nbytes} "
                "bytes are in use"
            )

    def _take_hole(self, nbytes: int) -> int | None:
        for index, (start, end) in enumerate(self._holes):
            if end - start >= nbytes:
                self._holes[index : index + 1] = [(start + nbytes, end)] if end - start > nbytes else []
                return start
        return None

    def _take_top(self, taken_nbytes: int, nbytes: int, name: str) -> int:
        address = self._top
        needed = address + taken_nbytes - GLOBAL_BASE
        if address + taken_nbytes > SHARED_WINDOW:
            raise DeviceMemoryError(
                f"out of device memory: {nbytes} bytes asked{_for(name)} do not fit into the address space"
            )
        if self._reserved and address + taken_nbytes > self._reserved[0][0]:
            raise DeviceMemoryError(
                f"out of device memory: {nbytes} bytes asked{_for(name)}; the addresses after them are reserved"
            )
        if needed > len(self._arena):
            if not self._grows:
                raise DeviceMemoryError(
                    f"out of device memory: {nbytes} bytes asked{_for(name)}; {len(self._arena)} bytes are shared"
                )
            self._grow(needed, nbytes, name)
        self._top += taken_nbytes
        return address

    def _clear(self, address: int, nbytes: int) -> None:
        """Zeroes memory that was used before; memory that never was is zero, and touching it would make the host
        provide it.
        """
        start, end = address - GLOBAL_BASE, min(address + nbytes, self._used_top) - GLOBAL_BASE
        if start < end:
            self._arena[start:end] = 0
        self._used_top = max(self._used_top, self._top)

    def _grow(self, needed: int, nbytes: int, name: str) -> None:
        """Doubles the arena, so that growing costs little on average; takes just what is needed where that is too
        much.
        """
        old = self._arena
        for size in (max(needed, 2 * len(old)), needed):
            try:
                self._arena = np.zeros(size, np.uint8)
            except MemoryError:
                continue
            self._arena[: len(old)] = old
            return
        raise DeviceMemoryError(
            f"out of memory: the host has no room for {nbytes} more bytes of device memory{_for(name)}"
        )

    def _grow_far(self, needed: int) -> None:
        """For memory that is mapped where a program has reserved it, at the end of its arena. The host provides only
        what is touched.
        """
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        try:
            far = np.frombuffer(mmap.mmap(-1, needed, flags), np.uint8)
        except OSError:
            raise DeviceMemoryError(f"out of memory: the host has no {needed} bytes of addresses") from None
        far[: len(self._arena)] = self._arena
        self._arena, self._arena_file = far, None

    def have_own_copy(self) -> None:
        """In a forked process: nothing written from here on is seen by others. OSError where the host has not as many
        addresses.
        """
        if self._arena_file is not None:
            flags = mmap.MAP_PRIVATE | _NO_RESERVE
            self._arena = np.frombuffer(mmap.mmap(self._arena_file, len(self._arena), flags), np.uint8)

    def _rest(self, start: int, end: int) -> None:
        """Frees a range: at once, or when enough others have been freed after it."""
        if self._resting is None:
            self._return_range(start, end)
            return
        self._resting.append((start, end))
        self._resting_nbytes += end - start
        self._wake(MOST_RESTING_NBYTES)

    def _wake(self, most_nbytes: int) -> None:
        """Not more rest than so many bytes: those that were freed first are used again."""
        while self._resting and self._resting_nbytes > most_nbytes:
            start, end = self._resting.popleft()
            self._resting_nbytes -= end - start
            self._return_range(start, end)

    def _rests_too_much(self, nbytes: int) -> bool:
        """True when there may be no room for an allocation because of freed ranges that are not reused yet."""
        if not self._resting:
            return False
        return not self._grows and self._top + nbytes - GLOBAL_BASE > len(self._arena)

    def _return_range(self, start: int, end: int) -> None:
        """Puts a range among the holes, joined with its neighbours; a hole that reaches the top lowers the top."""
        index = bisect_right(self._holes, (start, end))
        if index < len(self._holes) and self._holes[index][0] == end:
            end = self._holes.pop(index)[1]
        if index > 0 and self._holes[index - 1][1] == start:
            index -= 1
            start = self._holes.pop(index)[0]
        if end == self._top:
            self._top = start
        else:
            self._holes.insert(index, (start, end))

    def _index_at(self, address: int) -> int:
        """Index of the last live allocation that starts at or below `address`; -1 for none."""
        return bisect_right(self._live, address, key=lambda allocation: allocation.address) - 1

    def _checked_index(self, address: int, nbytes: int, verb: str) -> int:
        index = self._index_at(address)
        if nbytes < 0 or index < 0 or address + nbytes > self._live[index].end:
            raise DeviceMemoryError(f"cannot {verb} {nbytes} bytes at 0x{address:x}: {self.describe(address)}")
        return address - GLOBAL_BASE

    def _cannot_free(self, address: int) -> str:
        if address in self._freed:
            return f"cannot free 0x{address:x}: {_named(self._freed[address])} was freed before"
        if (held := self.at(address)) and held.is_mapped:
            return f"cannot free 0x{address:x}: it is mapped, for cuMemUnmap"
        return f"cannot free 0x{address:x}: no allocation starts there; {self.describe(address)}"

    def _was_freed(self, address: int) -> str:
        for allocation in self._freed.values():
            if allocation.address <= address < allocation.end and not self._holds(address):
                return f"; {_named(allocation)} was there and has been freed"
        return ""

    def _holds(self, address: int) -> bool:
        index = self._index_at(address)
        return index >= 0 and address < self._live[index].end


def _as_bytes(data: bytes | bytearray | memoryview | np.ndarray) -> np.ndarray:
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return np.frombuffer(data, np.uint8)


def _for(name: str) -> str:
    return f" for {name}" if name else ""


def _named(allocation: Allocation) -> str:
    return f"{allocation.name or 'an unnamed allocation'} ({allocation.nbytes} bytes at 0x{allocation.address:x})"


def _distance(address: int, allocation: Allocation) -> int:
    return max(allocation.address - address, address - allocation.end + 1, 0)


def _where(address: int, allocation: Allocation) -> str:
    if address < allocation.address:
        return f"0x{address:x} is {allocation.address - address} bytes before {_named(allocation)}"
    if address < allocation.end:
        return f"0x{address:x} is byte {address - allocation.address} of {_named(allocation)}"
    past = f"{address - allocation.end} bytes past" if address > allocation.end else "just past"
    return f"0x{address:x} is {past} the end of {_named(allocation)}"
