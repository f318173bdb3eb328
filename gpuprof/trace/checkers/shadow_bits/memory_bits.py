"""Undefined bits of memory: a byte for each byte, in pages that are made when one has bytes of both sorts."""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit
from gpuprof.trace.checkers.slots import with_room

PAGE_SHIFT = 8
PAGE_NBYTES = 1 << PAGE_SHIFT
DEFINED, UNDEFINED = -1, -2  # states of pages of one sort; of others, the number of their bytes' page
ONE_LANE = np.ones(1, np.uint32)


class MemoryShadow:
    """Bytes from `base` on, which is a multiple of a page; what lies outside of all that was told is `outside`."""

    def __init__(self, outside: int = DEFINED):
        self._outside = outside
        self.clear()

    def clear(self) -> None:
        """Forgets everything."""
        self._base = -1
        self._states = np.zeros(0, np.int32)
        self._bytes = np.zeros((0, PAGE_NBYTES), np.uint8)
        self._n_undefined = np.zeros(0, np.int32)  # bytes of each page that has its own
        self._n_pages, self._free = 0, []
        self.is_defined = self._outside == DEFINED  # for certain; else some byte may be undefined

    def look(self) -> None:
        """Finds out whether all bytes are defined by now."""
        if not self.is_defined and self._outside == DEFINED:
            own = self._states[self._states >= 0]
            self.is_defined = not (self._states == UNDEFINED).any() and not self._n_undefined[own].any()

    @property
    def nbytes(self) -> int:
        """That it takes itself."""
        return self._states.nbytes + self._bytes.nbytes + self._n_undefined.nbytes

    @property
    def reach(self) -> tuple[int, int]:
        """The addresses of which something was told lie in [first, second)."""
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
        found = np.zeros((1, 1, nbytes), np.uint8)
        self._read(np.full((1, 1), address, np.int64), ONE_LANE, nbytes, found)
        return found[0, 0]

    def put(self, address: int, undefined: np.ndarray) -> None:
        """The bytes from an address on have these undefined bits, uint8 (n,)."""
        self.define(address, len(undefined))
        if (undefined == 0xFF).all():
            self.undefine(address, len(undefined))
        elif undefined.any():
            self.is_defined = False
            start, last = address - self._base, address - self._base + len(undefined) - 1
            pages = np.arange(start >> PAGE_SHIFT, (last >> PAGE_SHIFT) + 1)
            self._make(pages[self._states[pages] < 0])
            places = np.full((1, 1), address, np.int64)
            self._store(places, ONE_LANE, undefined.reshape(1, 1, -1))

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
        """The number of a page's bytes; a state of one sort, where that is the one it gets."""
        if self._states[page] < 0 and self._states[page] != state:
            self._make(np.array([page]))
        return int(self._states[page])

    # Accesses of lanes: addresses int64 (n, 32), masks uint32 (n,) of those that take part.

    def is_clean(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> bool:
        """Whether all that is accessed is defined."""
        if not len(self._states):
            return self._outside == DEFINED
        return bool(
            are_defined(
                self._states, self._bytes, self._n_undefined, self._base, self._outside, addresses, masks, nbytes
            )
        )

    def read(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> np.ndarray:
        """uint8 (n, 32, nbytes): undefined bits; 0 of lanes that take no part."""
        found = np.zeros((*addresses.shape, nbytes), np.uint8)
        self._read(addresses, masks, nbytes, found)
        return found

    def _read(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int, found: np.ndarray) -> None:
        load_bits(self._states, self._bytes, max(self._base, 0), self._outside, addresses, masks, nbytes, found)

    def define_lanes(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> None:
        """Lanes store what is defined."""
        if not len(self._states) and self._outside == DEFINED:
            return
        self._cover(addresses, masks, nbytes)
        if define_bits(self._states, self._bytes, self._n_undefined, self._base, addresses, masks, nbytes):
            self._make(self._touched(addresses, masks, nbytes, (UNDEFINED,)))
            define_bits(self._states, self._bytes, self._n_undefined, self._base, addresses, masks, nbytes)

    def write(self, addresses: np.ndarray, masks: np.ndarray, undefined: np.ndarray) -> None:
        """Lanes store bytes with these undefined bits, uint8 (n, 32, nbytes)."""
        self.is_defined = False
        nbytes = undefined.shape[2]
        self._cover(addresses, masks, nbytes)
        self._make(self._touched(addresses, masks, nbytes, (DEFINED, UNDEFINED)))
        self._store(addresses, masks, undefined)

    def _store(self, addresses: np.ndarray, masks: np.ndarray, undefined: np.ndarray) -> None:
        store_bits(self._states, self._bytes, self._n_undefined, self._base, addresses, masks, undefined)

    # Pages.

    def _cover(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> None:
        """What lies outside is known to be of one sort: it need not be kept before somebody changes it."""
        low, high = bounds(addresses, masks)
        if low > high:
            return
        end = self._base + (len(self._states) << PAGE_SHIFT)
        if low < self._base or high + nbytes > end or not len(self._states):
            self._reach(low, high + nbytes)

    def _reach(self, start: int, end: int) -> None:
        """There are states for all pages of [start, end)."""
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
        """The pages of these states that are accessed, ascending."""
        pages = np.empty(addresses.size * (1 + -(-nbytes // PAGE_NBYTES)), np.int64)
        count = touched_pages(self._states, self._base, addresses, masks, nbytes, of, pages)
        return np.unique(pages[:count])

    def _make(self, pages: np.ndarray) -> None:
        """Gives pages of one sort bytes of their own."""
        if not len(pages):
            return
        states = self._states[pages]
        again = [self._free.pop() for _ in range(min(len(self._free), len(pages)))]
        fresh = range(self._n_pages, self._n_pages + len(pages) - len(again))
        self._n_pages += len(fresh)
        self._bytes = with_room(self._bytes, self._n_pages)
        self._n_undefined = with_room(self._n_undefined, self._n_pages)
        numbers = np.array([*again, *fresh], np.int64)
        self._bytes[numbers] = np.where(states == UNDEFINED, np.uint8(0xFF), np.uint8(0))[:, None]
        self._n_undefined[numbers] = np.where(states == UNDEFINED, PAGE_NBYTES, 0)
        self._states[pages] = numbers


class TypedShadow(MemoryShadow):
    """`padding`: has for undefined those bits that are padding of a structure with a member that was written."""

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
    """The parts of a range that are no whole pages."""
    first, last = -(-start // PAGE_NBYTES) * PAGE_NBYTES, end // PAGE_NBYTES * PAGE_NBYTES
    if first > last:
        return [(start, end)]
    return [(low, high) for low, high in ((start, first), (last, end)) if low < high]


@internal_njit
def _state_of(states, page, outside):
    return states[page] if 0 <= page < len(states) else outside


@cached_njit
def bounds(addresses, masks):
    """The lowest and the highest address of lanes that take part; the first is larger where none does."""
    low, high = np.int64(1) << 62, np.int64(-1)
    for row in range(len(masks)):
        for lane in range(32):
            if masks[row] >> np.uint32(lane) & np.uint32(1):
                low, high = min(low, addresses[row, lane]), max(high, addresses[row, lane])
    return low, high


@internal_njit
def _define(states, data, n_undefined, at, nbytes):
    """Whether a page is undefined, so that it needs bytes first."""
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
        state = _state_of(states, place >> PAGE_SHIFT, outside)
        if state == UNDEFINED or (state >= 0 and data[state, place & (PAGE_NBYTES - 1)] != 0):
            return True
    return False


@internal_njit
def _are_words_defined(words, state, at, nbytes):
    """Whether a page with bytes of its own has no undefined one among those at `at`, all of them in the page. False
    where they are no whole words: somebody else has to look. `words`: the bytes, uint32.
    """
    if (at | nbytes) & 3 != 0:
        return False
    found, low = np.uint32(0), at & (PAGE_NBYTES - 1)
    for k in range(low >> 2, low + nbytes >> 2):
        found |= words[np.uint64(state), np.uint64(k)]
    return found == 0


@cached_njit
def are_defined(states, data, n_undefined, base, outside, addresses, masks, nbytes):
    words, clean = data.view(np.uint32), np.int64(-1)  # the page that was found to be defined last
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
                state = _state_of(states, page, outside)
                if state == DEFINED or (state >= 0 and n_undefined[state] == 0):
                    clean = page
                    continue
                if state >= 0 and _are_words_defined(words, state, at, nbytes):
                    continue
            if _has_undefined(states, data, at, nbytes, outside):
                return False
    return True


@cached_njit
def load_bits(states, data, base, outside, addresses, masks, nbytes, found):
    for row in range(len(masks)):
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1):
                continue
            at = addresses[row, lane] - base
            page, state = at >> PAGE_SHIFT, _state_of(states, at >> PAGE_SHIFT, outside)
            for k in range(nbytes):
                if at + k >> PAGE_SHIFT != page:
                    page = at + k >> PAGE_SHIFT
                    state = _state_of(states, page, outside)
                if state >= 0:
                    found[row, lane, k] = data[state, at + k & (PAGE_NBYTES - 1)]
                elif state == UNDEFINED:
                    found[row, lane, k] = 0xFF


@cached_njit
def define_bits(states, data, n_undefined, base, addresses, masks, nbytes):
    """Whether a page is undefined, so that it needs bytes first."""
    needs = False
    for row in range(len(masks)):
        for lane in range(32):
            if masks[row] >> np.uint32(lane) & np.uint32(1):
                needs |= _define(states, data, n_undefined, addresses[row, lane] - base, nbytes)
    return needs


@cached_njit
def touched_pages(states, base, addresses, masks, nbytes, of, pages):
    """How many pages of some states are accessed; `pages`, int64, gets them, some of them several times."""
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
    """All pages have bytes."""
    for row in range(len(masks)):
        for lane in range(32):
            if masks[row] >> np.uint32(lane) & np.uint32(1):
                for k in range(undefined.shape[2]):
                    at = addresses[row, lane] - base + k
                    state, place = states[at >> PAGE_SHIFT], at & (PAGE_NBYTES - 1)
                    before, after = data[state, place], undefined[row, lane, k]
                    n_undefined[state] += np.int32(after != 0) - np.int32(before != 0)
                    data[state, place] = after


# The same of a block's shared memory. slots: int32, by block the number of its `stride` bytes in the shadow plus one;
# blocks: int64 (n,), of the warps. A block that has no number yet, and addresses of another block, are left to others
# (FOREIGN).

IS_DEFINED, IS_UNDEFINED, FOREIGN = 0, 1, 2


@cached_njit
def through_shared(states, data, n_undefined, slots, blocks, stride, addresses, masks, nbytes, defines):
    """What lanes read; or, with `defines`, what they write, which is defined then where its page has bytes."""
    words, clean, found = data.view(np.uint32), np.int64(-1), IS_DEFINED
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
                    found = IS_UNDEFINED
            elif _has_undefined(states, data, at, nbytes, UNDEFINED):
                return IS_UNDEFINED
    return found
