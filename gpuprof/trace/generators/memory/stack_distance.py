"""Exact stack distances of a stream of units: the number of other units accessed since the last access to a unit.

The algorithm is Bennett's and Kruskal's (IBM J. Res. Dev. 19, 1975): each unit has a mark at the time of its last
access, and a distance is the number of later marks. Marks are bits; a tree (Fenwick's) sums spans of them. Compiled by
Numba, when it is first needed.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit

SPAN, WORD = 512, 64  # times of a leaf of the tree, and of a word of marks
NEAR = 1024  # times: up to this distance marks are counted without the tree
FIRST_CAPACITY = 1 << 12  # times; a power of two, like all capacities
SPARE = 8  # times for each unit: renumbering is rare
AT_A_TIME = 1 << 12  # accesses: room is made for this many new units at once, as most are known
EMPTY = -1
NEVER = -1  # the distance of a unit that is accessed for the first time


class StackDistances:
    """Measures a stream in pieces."""

    def __init__(self, capacity: int = FIRST_CAPACITY):
        """`capacity`: initial number of times, a power of two, at least SPAN."""
        self._table = _table(2 * capacity)
        self._bits, self._tree = _times(capacity)
        self._time = 0
        self.n_units = 0

    def take(self, units: np.ndarray) -> np.ndarray:
        """int64 (n,): the distance of each of the units, int64 (n,), none negative."""
        distances = np.empty(len(units), np.int64)
        for at in range(0, len(units), AT_A_TIME):
            here = slice(at, at + AT_A_TIME)
            self._make_room(len(units[here]))
            self._measure(units[here], distances[here])
        return distances

    def _measure(self, units: np.ndarray, distances: np.ndarray) -> None:
        self.n_units = measure(units, self._table, self._bits, self._tree, self._time, self.n_units, distances)
        self._time += len(units)

    def units_by_time(self) -> np.ndarray:
        """int64: all units, the one with the oldest access first."""
        known = self._table[self._table[:, 0] != EMPTY]
        return known[np.argsort(known[:, 1]), 0]

    def _make_room(self, count: int) -> None:
        """Makes room for `count` accesses, all of new units in the worst case."""
        n_units = self.n_units + count
        if 2 * n_units <= len(self._table) and self._time + count <= len(self._bits) * WORD:
            return
        known = self.units_by_time()
        self._table = _table(max(len(self._table), 1 << (4 * n_units - 1).bit_length()))
        self._bits, self._tree = _times(1 << (SPARE * n_units - 1).bit_length())
        # Only the order of last accesses matters: the units are accessed once more, from time 0 on.
        self._time = self.n_units = 0
        self._measure(known, np.empty(len(known), np.int64))


def _table(n_slots: int) -> np.ndarray:
    """A table with open addressing: unit, time of its last access."""
    return np.full((n_slots, 2), EMPTY, np.int64)


def _times(capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Marks, and the tree of their sums."""
    return np.zeros(capacity // WORD, np.uint64), np.zeros(capacity // SPAN + 1, np.int64)


@cached_njit
def slot_of(table, unit):
    """The slot of a unit in the table, or the free slot for it."""
    mask = len(table) - 1
    # Fibonacci hashing (Knuth, vol. 3, 6.4): the high bits of a product with 2^64 / golden ratio. Sixteen neighbours
    # are adjacent, so that a stream of them misses the machine's caches less often.
    slot = (np.uint64(unit >> 4) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & np.uint64(mask >> 4)
    index = np.int64(slot) << 4 | unit & 15
    while table[index, 0] != -1 and table[index, 0] != unit:
        index = (index + 1) & mask
    return index


@cached_njit
def ones(word):
    """The number of bits that are set (Warren, Hacker's Delight, 5-1): LLVM compiles it to one instruction."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@cached_njit
def marks_between(bits, start, end):
    """Marks at times start to end - 1; `end` is not less than `start`."""
    first, last = start >> 6, end >> 6
    low = bits[first] & ~((np.uint64(1) << np.uint64(start & 63)) - np.uint64(1))
    below = (np.uint64(1) << np.uint64(end & 63)) - np.uint64(1)
    if first == last:
        return ones(low & below)
    total = ones(low)
    for k in range(first + 1, last):
        total += ones(bits[k])
    return total + (ones(bits[last] & below) if end & 63 else 0)


@cached_njit
def marks_before(bits, tree, time):
    """Marks at times below `time`."""
    at = time // SPAN
    total = marks_between(bits, at * SPAN, time)
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@cached_njit
def add(tree, time, change):
    """Changes the sum of a time's span."""
    at, size = time // SPAN + 1, len(tree)
    while at < size:
        tree[at] += change
        at += at & -at


@cached_njit
def measure(units, table, bits, tree, time, n_units, distances):
    """Writes the distance of each unit to `distances`; gives the number of distinct units so far."""
    span = max(time - 1, 0) // SPAN * SPAN  # of the previous time: the tree gets its sum when a later span begins
    n_open = marks_between(bits, span, time)
    for k in range(len(units)):
        now = time + k
        if now == span + SPAN:
            add(tree, span, n_open)
            span, n_open = now, 0
        slot = slot_of(table, units[k])
        last = table[slot, 1]
        table[slot, 1] = now
        if table[slot, 0] == -1:
            table[slot, 0] = units[k]
            n_units += 1
            distances[k] = -1
        else:
            if now - last <= NEAR:
                distances[k] = marks_between(bits, last + 1, now)
            else:
                distances[k] = n_units - marks_before(bits, tree, last + 1)
            bits[last >> 6] &= ~(np.uint64(1) << np.uint64(last & 63))
            if last < span:
                add(tree, last, -1)
            else:
                n_open -= 1
        bits[now >> 6] |= np.uint64(1) << np.uint64(now & 63)
        n_open += 1
    return n_units


@cached_njit
def tally(distances, counts):
    """Counts distances: counts[0] those of NEVER, counts[d + 1] those of d."""
    for distance in distances:
        counts[distance + 1] += 1
