"""Undefined bits of memory: a byte for each byte, in pages that are allocated when one has defined and
undefined bytes.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit
from gpuprof.trace.checkers.slots import with_room

PAGE_SHIFT = 8
PAGE_NBYTES = 1 << PAGE_SHIFT
DEFINED, UNDEFINED = -1, -2  # states of uniform pages; for others, the number of their bytes' page
ONE_LANE = np.ones(1, np.uint32)


class Pages(NamedTuple):
    """The state of a shadow for compiled functions: see MemoryShadow."""

    states: np.ndarray
    data: np.ndarray
    n_undefined: np.ndarray
    base: int
    outside: int


class MemoryShadow:
    """Bytes from `base` on, a multiple of a page; all bytes without a state are `outside`."""

    def __init__(self, outside: int = DEFINED):
        self._outside = outside
        self.clear()

    def clear(self) -> None:
        """Forgets everything."""
        self._base = -1
        self._states = np.zeros(0, np.int32)
        self._bytes = np.zeros((0, PAGE_NBYTES), np.uint8)
        self._n_undefined = np.zeros(0, np.int32)  # undefined bytes of each page with its own bytes
        self._n_pages, self._free = 0, []
        self.is_defined = self._outside == DEFINED  # for certain; otherwise some byte may be undefined

    def look(self) -> None:
        """Determines if all bytes are defined by now."""
        if not self.is_defined and self._outside == DEFINED:
            own = self._states[self._states >= 0]
            self.is_defined = not (self._states == UNDEFINED).any() and not self._n_undefined[own].any()

    @property
    def nbytes(self) -> int:
        """Memory of the shadow itself."""
        return self._states.nbytes + self._bytes.nbytes + self._n_undefined.nbytes

    @property
    def pages(self) -> Pages:
        return Pages(self._states, self._bytes, self._n_undefined, max(self._base, 0), self._outside)

    @property
    def reach(self) -> tuple[int, int]:
        """The addresses with a state are in [first, second)."""
        if not len(self._states):
            return 1 << 62, 0
        return self._base, self._base + (len(self._states) << PAGE_SHIFT)

    # Ranges.

    def define(self, address: int, nbytes: int) -> None:
        self._set(address, nbytes, DEFINED)

    def undefine(self, address: int, nbytes: int) -> None:
        self._set(address, nbytes, UNDEFINED)

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        self.put(destination, self.get(source, nbytes))

    def get(self, address: int, nbytes: int) -> np.ndarray:
        """uint8 (nbytes,): the undefined bits of each byte."""
        bits = np.zeros((1, 1, nbytes), np.uint8)
        self._read(np.full((1, 1), address, np.int64), ONE_LANE, nbytes, bits)
        return bits[0, 0]

    def put(self, address: int, undefined: np.ndarray) -> None:
        """Sets the undefined bits of the bytes from an address on, uint8 (n,)."""
        self.define(address, len(undefined))
        if (undefined == 0xFF).all():
            self.undefine(address, len(undefined))
        elif undefined.any():
            self.is_defined = False
            start, last = address - self._base, address - self._base + len(undefined) - 1
            pages = np.arange(start >> PAGE_SHIFT, (last >> PAGE_SHIFT) + 1)
            self._make(pages[self._states[pages] < 0])
            addresses = np.full((1, 1), address, np.int64)
            self._store(addresses, ONE_LANE, undefined.reshape(1, 1, -1))

    def _set(self, address: int, nbytes: int, state: int) -> None:
        if nbytes <= 0:
            return
        self.is_defined = self.is_defined and state == DEFINED
        end = address + nbytes
        self._reach(address, end)
        first, last = -(-(address - self._base) // PAGE_NBYTES), end - self._base >> PAGE_SHIFT
        if first < last:
            states = self._states[first:last]
            self._free += states[states >= 0].tolist()
            states[:] = state
        for start, stop in _edges(address - self._base, end - self._base):
            page = self._own_page(start >> PAGE_SHIFT, state)
            if page >= 0:
                low = start & (PAGE_NBYTES - 1)
                self._bytes[page, low : low + stop - start] = 0xFF if state == UNDEFINED else 0
                self._n_undefined[page] = np.count_nonzero(self._bytes[page])

    def _own_page(self, page: int, state: int) -> int:
        """The number of a page's bytes; its state, if that is `state`."""
        if self._states[page] < 0 and self._states[page] != state:
            self._make(np.array([page]))
        return int(self._states[page])

    # Accesses of lanes: addresses int64 (n, 32), masks uint32 (n,) of those that take part.

    def is_clean(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> bool:
        """True if all accessed bytes are defined."""
        if not len(self._states):
            return self._outside == DEFINED
        return bool(
            are_defined(
                self._states, self._bytes, self._n_undefined, self._base, self._outside, addresses, masks, nbytes
            )
        )

    def read(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> np.ndarray:
        """uint8 (n, 32, nbytes): undefined bits; 0 for lanes that do not take part."""
        bits = np.zeros((*addresses.shape, nbytes), np.uint8)
        self._read(addresses, masks, nbytes, bits)
        return bits

    def _read(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int, bits: np.ndarray) -> None:
        load_bits(self._states, self._bytes, max(self._base, 0), self._outside, addresses, masks, nbytes, bits)

    def define_lanes(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> None:
        """Lanes store defined bytes."""
        if not len(self._states) and self._outside == DEFINED:
            return
        self._cover(addresses, masks, nbytes)
        if define_bits(self._states, self._bytes, self._n_undefined, self._base, addresses, masks, nbytes):
            self._make(self._touched(addresses, masks, nbytes, (UNDEFINED,)))
            define_bits(self._states, self._bytes, self._n_undefined, self._base, addresses, masks, nbytes)

    def write(self, addresses: np.ndarray, masks: np.ndarray, undefined: np.ndarray) -> None:
        """Lanes store bytes with these undefined bits, uint8 (n, 32, nbytes)."""
        self.take_pages(addresses, masks, undefined.shape[2])
        self._store(addresses, masks, undefined)

    def take_pages(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> None:
        """Gives bytes of their own to the pages to which lanes store undefined bits."""
        self.is_defined = False
        self._cover(addresses, masks, nbytes)
        self._make(self._touched(addresses, masks, nbytes, (DEFINED, UNDEFINED)))

    def _store(self, addresses: np.ndarray, masks: np.ndarray, undefined: np.ndarray) -> None:
        store_bits(self._states, self._bytes, self._n_undefined, self._base, addresses, masks, undefined)

    # Pages.

    def _cover(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> None:
        """Ensures that accessed pages have a state. Bytes outside of all pages are uniform, and need none before they
        change.
        """
        low, high = bounds(addresses, masks)
        if low > high:
            return
        end = self._base + (len(self._states) << PAGE_SHIFT)
        if low < self._base or high + nbytes > end or not len(self._states):
            self._reach(low, high + nbytes)

    def _reach(self, start: int, end: int) -> None:
        """Ensures that all pages of [start, end) have a state."""
        low, high = start >> PAGE_SHIFT << PAGE_SHIFT, -(-end // PAGE_NBYTES) * PAGE_NBYTES
        if not len(self._states):
            self._base, self._states = low, np.full(high - low >> PAGE_SHIFT, self._outside, np.int32)
            return
        top = self._base + (len(self._states) << PAGE_SHIFT)
        if low < self._base:
            before = np.full(self._base - low >> PAGE_SHIFT, self._outside, np.int32)
            self._base, self._states = low, np.concatenate((before, self._states))
        if high > top:
            more = max(high - top >> PAGE_SHIFT, len(self._states) >> 1)
            self._states = np.concatenate((self._states, np.full(more, self._outside, np.int32)))

    def _touched(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int, of: tuple[int, ...]) -> np.ndarray:
        """The accessed pages with these states, ascending."""
        pages = np.empty(addresses.size * (1 + -(-nbytes // PAGE_NBYTES)), np.int64)
        count = touched_pages(self._states, self._base, addresses, masks, nbytes, of, pages)
        return np.unique(pages[:count])

    def _make(self, pages: np.ndarray) -> None:
        """Gives uniform pages bytes of their own."""
        if not len(pages):
            return
        states = self._states[pages]
        reused = [self._free.pop() for _ in range(min(len(self._free), len(pages)))]
        fresh = range(self._n_pages, self._n_pages + len(pages) - len(reused))
        self._n_pages += len(fresh)
        self._bytes = with_room(self._bytes, self._n_pages)
        self._n_undefined = with_room(self._n_undefined, self._n_pages)
        numbers = np.array([*reused, *fresh], np.int64)
        self._bytes[numbers] = np.where(states == UNDEFINED, np.uint8(0xFF), np.uint8(0))[:, None]
        self._n_undefined[numbers] = np.where(states == UNDEFINED, PAGE_NBYTES, 0)
        self._states[pages] = numbers


class TypedShadow(MemoryShadow):
    """`padding`: its undefined bits are those that are padding of a structure with a written member."""

    def __init__(self):
        self.padding = MemoryShadow()
        super().__init__()

    def clear(self) -> None:
        super().clear()
        self.padding.clear()

    def undefine(self, address: int, nbytes: int) -> None:
        super().undefine(address, nbytes)
        if not self.padding.is_defined:
            self.padding.define(address, nbytes)

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        super().copy(destination, source, nbytes)
        if not self.padding.is_defined:
            self.padding.copy(destination, source, nbytes)


def _edges(start: int, end: int) -> list[tuple[int, int]]:
    """The parts of a range that are not complete pages."""
    first, last = -(-start // PAGE_NBYTES) * PAGE_NBYTES, end // PAGE_NBYTES * PAGE_NBYTES
    if first > last:
        return [(start, end)]
    return [(low, high) for low, high in ((start, first), (last, end)) if low < high]


@internal_njit
def state_of(states, page, outside):
    return states[page] if 0 <= page < len(states) else outside


@cached_njit
def bounds(addresses, masks):
    """The lowest and the highest address of lanes that take part; the first is larger if none does."""
    low, high = np.int64(1) << 62, np.int64(-1)
    for row in range(len(masks)):
        for lane in range(32):
            if masks[row] >> np.uint32(lane) & np.uint32(1):
                low, high = min(low, addresses[row, lane]), max(high, addresses[row, lane])
    return low, high


@internal_njit
def _define(states, data, n_undefined, at, nbytes):
    """Marks bytes as defined; true if a page is undefined, so that it needs bytes first."""
    needs, page, state = False, at >> PAGE_SHIFT, states[at >> PAGE_SHIFT]
    for place in range(at, at + nbytes):
        if place >> PAGE_SHIFT != page:
            page = place >> PAGE_SHIFT
            state = states[page]
        if state == UNDEFINED:
            needs = True
        elif state >= 0:
            low = np.uint64(place & (PAGE_NBYTES - 1))
            if data[np.uint64(state), low] != 0:
                data[np.uint64(state), low] = 0
                n_undefined[state] -= 1
    return needs


@internal_njit
def _has_undefined(states, data, at, nbytes, outside):
    for place in range(at, at + nbytes):
        state = state_of(states, place >> PAGE_SHIFT, outside)
        if state == UNDEFINED or (state >= 0 and data[state, place & (PAGE_NBYTES - 1)] != 0):
            return True
    return False


@internal_njit
def _are_words_defined(words, state, at, nbytes):
    """True if a page with its own bytes has no undefined one among those at `at`, all of them in the page. False if
    they are not complete words: the caller then has to check bytes. `words`: the bytes, uint32.
    """
    if (at | nbytes) & 3 != 0:
        return False
    bits, low = np.uint32(0), at & (PAGE_NBYTES - 1)
    for k in range(low >> 2, low + nbytes >> 2):
        bits |= words[np.uint64(state), np.uint64(k)]
    return bits == 0


@cached_njit
def are_defined(states, data, n_undefined, base, outside, addresses, masks, nbytes):
    words, clean = data.view(np.uint32), np.int64(-1)  # the last page that was completely defined
    for row in range(len(masks)):
        mask = masks[row]
        for lane in range(32):
            if not mask >> np.uint32(lane) & np.uint32(1):
                continue
            at = addresses[row, lane] - base
            page = at >> PAGE_SHIFT
            if at + nbytes - 1 >> PAGE_SHIFT == page:
                if page == clean:
                    continue
                state = state_of(states, page, outside)
                if state == DEFINED or (state >= 0 and n_undefined[state] == 0):
                    clean = page
                    continue
                if state >= 0 and _are_words_defined(words, state, at, nbytes):
                    continue
            if _has_undefined(states, data, at, nbytes, outside):
                return False
    return True


@cached_njit
def load_bits(states, data, base, outside, addresses, masks, nbytes, bits):
    for row in range(len(masks)):
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1):
                continue
            at = addresses[row, lane] - base
            page, state = at >> PAGE_SHIFT, state_of(states, at >> PAGE_SHIFT, outside)
            for k in range(nbytes):
                if at + k >> PAGE_SHIFT != page:
                    page = at + k >> PAGE_SHIFT
                    state = state_of(states, page, outside)
                if state >= 0:
                    bits[row, lane, k] = data[state, at + k & (PAGE_NBYTES - 1)]
                elif state == UNDEFINED:
                    bits[row, lane, k] = 0xFF


@cached_njit
def define_bits(states, data, n_undefined, base, addresses, masks, nbytes):
    """Marks bytes of lanes as defined; true if a page is undefined, so that it needs bytes first."""
    needs = False
    for row in range(len(masks)):
        for lane in range(32):
            if masks[row] >> np.uint32(lane) & np.uint32(1):
                needs |= _define(states, data, n_undefined, addresses[row, lane] - base, nbytes)
    return needs


@cached_njit
def touched_pages(states, base, addresses, masks, nbytes, of, pages):
    """The number of accessed pages with some states; they are written to `pages`, int64, some of them several times."""
    count, last = 0, np.int64(-1)
    for row in range(len(masks)):
        for lane in range(32):
            if masks[row] >> np.uint32(lane) & np.uint32(1):
                at = addresses[row, lane] - base
                for page in range(at >> PAGE_SHIFT, (at + nbytes - 1 >> PAGE_SHIFT) + 1):
                    if page != last and states[page] in of:
                        pages[count], last = page, page
                        count += 1
    return count


@cached_njit
def store_bits(states, data, n_undefined, base, addresses, masks, undefined):
    """Stores undefined bits of lanes; all pages have bytes."""
    for row in range(len(masks)):
        for lane in range(32):
            if masks[row] >> np.uint32(lane) & np.uint32(1):
                for k in range(undefined.shape[2]):
                    at = addresses[row, lane] - base + k
                    state, place = states[at >> PAGE_SHIFT], at & (PAGE_NBYTES - 1)
                    before, after = data[state, place], undefined[row, lane, k]
                    n_undefined[state] += np.int32(after != 0) - np.int32(before != 0)
                    data[state, place] = after


# Shared memory of a block. slots: int32, by block the number of its `stride` bytes in the shadow plus one; blocks:
# int64 (n,), of the warps. A block without a number, and addresses of another block, are left to the caller (FOREIGN).

IS_DEFINED, IS_UNDEFINED, FOREIGN = 0, 1, 2


@cached_njit
def through_shared(states, data, n_undefined, slots, blocks, stride, addresses, masks, nbytes, defines):
    """Reads of lanes; or, with `defines`, their writes of defined bytes, which are defined then if their page has
    bytes.
    """
    words, clean, result = data.view(np.uint32), np.int64(-1), IS_DEFINED
    for row in range(len(masks)):
        start, mask = (np.int64(slots[blocks[row]]) - 1) * stride, masks[row]
        if start < 0:
            return FOREIGN
        for lane in range(32):
            if not mask >> np.uint32(lane) & np.uint32(1):
                continue
            address = addresses[row, lane]
            if address < 0 or address + nbytes > stride:
                return FOREIGN
            at = start + address
            page = at >> PAGE_SHIFT
            if at + nbytes - 1 >> PAGE_SHIFT == page:
                if page == clean:
                    continue
                state = states[page]
                if state == DEFINED or (state >= 0 and n_undefined[state] == 0):
                    clean = page
                    continue
                if state >= 0 and _are_words_defined(words, state, at, nbytes):
                    continue
            if defines:
                if _define(states, data, n_undefined, at, nbytes):
                    result = IS_UNDEFINED
            elif _has_undefined(states, data, at, nbytes, UNDEFINED):
                return IS_UNDEFINED
    return result
