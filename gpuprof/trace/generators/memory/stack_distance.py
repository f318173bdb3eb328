"""Stack distances of a stream of units, exact: how many others were asked for since a unit was asked for last.

The algorithm is Bennett's and Kruskal's (IBM J. Res. Dev. 19, 1975): each unit has a mark at the time of its last
access, and a distance is the number of marks behind it. Marks are bits; a tree (Fenwick's) sums spans of them.
Compiled by Numba, when it is first needed.
"""

import numpy as np

from gpuprof.compiled.kept import kept

SPAN, WORD = 512, 64  # times of a leaf of the tree, and of a word of marks
NEAR = 1024  # times: what is no further back is counted without the tree
FIRST_CAPACITY = 1 << 12  # times; a power of two, as all capacities
SPARE = 8  # times for each unit: so seldom all are numbered again
EMPTY = -1
NEVER = -1  # the distance of a unit that is asked for the first time


class StackDistances:
    """Takes a stream in pieces."""

    def __init__(self, capacity: int = FIRST_CAPACITY):
        """`capacity`: times that there is room for at first, a power of two, at least SPAN."""
        # open addressing; unit, time of its last access
        self._table = np.full((2 * capacity, 2), EMPTY, np.int64)
        self._bits, self._tree = _times(capacity)
        self._time = 0
        self.n_units = 0

    def take(self, units: np.ndarray) -> np.ndarray:
        """int64 (n,): the distance of each of the units, int64 (n,), none negative."""
        self._make_room(len(units))
        found = np.empty(len(units), np.int64)
        self.n_units = measure(units, self._table, self._bits, self._tree, self._time, self.n_units, found)
        self._time += len(units)
        return found

    def units_by_time(self) -> np.ndarray:
        """int64: all units, that of the oldest access first."""
        known = self._table[self._table[:, 0] != EMPTY]
        return known[np.argsort(known[:, 1]), 0]

    def _make_room(self, count: int) -> None:
        """Room for `count` accesses, all of new units if need be."""
        if 2 * (self.n_units + count) > len(self._table):
            old = self._table
            self._table = np.full((1 << (4 * (self.n_units + count) - 1).bit_length(), 2), EMPTY, np.int64)
            rehash(old, self._table)
        if self._time + count > len(self._bits) * WORD:
            self._forget_gaps(count)

    def _forget_gaps(self, count: int) -> None:
        """Only the order of last accesses matters: numbers them from 0 again."""
        renumber(self._table, self._bits, self._tree)
        self._time = self.n_units
        self._bits, self._tree = _times(1 << (SPARE * (self._time + count) - 1).bit_length())
        fill(self._bits, self._tree, self._time)


def _times(capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Marks, and the tree of their sums."""
    return np.zeros(capacity // WORD, np.uint64), np.zeros(capacity // SPAN + 1, np.int64)


@kept
def slot_of(table, unit):
    """Where a unit is, or would be, in the table."""
    mask = len(table) - 1
    # Fibonacci hashing (Knuth, vol. 3, 6.4): the high bits of a product with 2^64 / golden ratio. Sixteen neighbours
    # stay together, so that a stream of them misses the machine's caches less often.
    slot = (np.uint64(unit >> 4) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & np.uint64(mask >> 4)
    place = np.int64(slot) << 4 | unit & 15
    while table[place, 0] != -1 and table[place, 0] != unit:
        place = (place + 1) & mask
    return place


@kept
def rehash(old, table):
    for k in range(len(old)):
        if old[k, 0] != -1:
            place = slot_of(table, old[k, 0])
            table[place, 0], table[place, 1] = old[k, 0], old[k, 1]


@kept
def ones(word):
    """The number of bits that are set (Warren, Hacker's Delight, 5-1): LLVM makes one instruction of it."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kept
def marks_between(bits, start, end):
    """Marks at times start..end - 1, which is not before `start`."""
    first, last = start >> 6, end >> 6
    low = bits[first] & ~((np.uint64(1) << np.uint64(start & 63)) - np.uint64(1))
    below = (np.uint64(1) << np.uint64(end & 63)) - np.uint64(1)
    if first == last:
        return ones(low & below)
    total = ones(low)
    for k in range(first + 1, last):
        total += ones(bits[k])
    return total + (ones(bits[last] & below) if end & 63 else 0)


@kept
def marks_before(bits, tree, time):
    """Marks at times below `time`."""
    at = time // SPAN
    total = marks_between(bits, at * SPAN, time)
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@kept
def add(tree, time, change):
    """Changes the sum of a time's span."""
    at, size = time // SPAN + 1, len(tree)
    while at < size:
        tree[at] += change
        at += at & -at


@kept
def renumber(table, bits, tree):
    """Gives each unit the number of its place in the order of last accesses as its time."""
    for k in range(len(table)):
        if table[k, 0] != -1:
            table[k, 1] = marks_before(bits, tree, table[k, 1])


@kept
def fill(bits, tree, count):
    """Marks the first `count` times."""
    for k in range(len(bits)):
        n = min(max(count - WORD * k, 0), WORD)
        bits[k] = ~np.uint64(0) if n == WORD else (np.uint64(1) << np.uint64(n)) - np.uint64(1)
    closed = open_span(count)
    for k in range(1, len(tree)):
        low = k - (k & -k)
        tree[k] = min(SPAN * k, closed) - min(SPAN * low, closed)


@kept
def open_span(time):
    """Where the span of the time before `time` begins. The tree has its sum when a time behind it comes."""
    return max(time - 1, 0) // SPAN * SPAN


@kept
def measure(units, table, bits, tree, time, n_units, found):
    """Writes the distance of each unit to `found`; gives the number of units that were ever asked for."""
    span = open_span(time)
    n_open = marks_between(bits, span, time)
    for k in range(len(units)):
        now = time + k
        if now == span + SPAN:
            add(tree, span, n_open)
            span, n_open = now, 0
        place = slot_of(table, units[k])
        last = table[place, 1]
        table[place, 1] = now
        if table[place, 0] == -1:
            table[place, 0] = units[k]
            n_units += 1
            found[k] = -1
        else:
            if now - last <= NEAR:
                found[k] = marks_between(bits, last + 1, now)
            else:
                found[k] = n_units - marks_before(bits, tree, last + 1)
            bits[last >> 6] &= ~(np.uint64(1) << np.uint64(last & 63))
            if last < span:
                add(tree, last, -1)
            else:
                n_open -= 1
        bits[now >> 6] |= np.uint64(1) << np.uint64(now & 63)
        n_open += 1
    return n_units


@kept
def tally(distances, counts):
    """Counts distances: counts[0] those of NEVER, counts[d + 1] those of d."""
    for distance in distances:
        counts[distance + 1] += 1
