"""Stack distances of a stream of units, exact: how many others were asked for since a unit was asked for last.

The algorithm is Bennett's and Kruskal's (IBM J. Res. Dev. 19, 1975): each unit has a mark at the time of its last
access, a tree (Fenwick's) sums the marks, and a distance is the sum behind the last access. Compiled by Numba, when it
is first needed.
"""

import numpy as np

from gpuprof.compiled.kept import kept

FIRST_CAPACITY = 1 << 12  # times in the tree; a power of two
EMPTY = -1
NEVER = -1  # the distance of a unit that is asked for the first time


class StackDistances:
    """Takes a stream in pieces."""

    def __init__(self):
        self._keys = np.full(2 * FIRST_CAPACITY, EMPTY, np.int64)  # open addressing; the unit
        self._last = np.zeros(2 * FIRST_CAPACITY, np.int64)  # time of its last access
        self._tree = np.zeros(FIRST_CAPACITY + 1, np.int32)
        self._time = 0
        self.n_units = 0

    def take(self, units: np.ndarray) -> np.ndarray:
        """int64 (n,): the distance of each of the units, int64 (n,), none negative."""
        for start in range(0, len(units), FIRST_CAPACITY):
            piece = units[start : start + FIRST_CAPACITY]
            self._make_room(len(piece))
            found = np.empty(len(piece), np.int64)
            new = measure(piece, self._keys, self._last, self._tree, self._time, found)
            self._time += len(piece)
            self.n_units += new
            if start == 0:
                every = found
            else:
                every = np.concatenate((every, found))
        return every if len(units) else np.empty(0, np.int64)

    def _make_room(self, count: int) -> None:
        """Room for `count` accesses, all of new units if need be."""
        if 2 * (self.n_units + count) > len(self._keys):
            old, times = self._keys, self._last
            size = 1 << (4 * (self.n_units + count) - 1).bit_length()
            self._keys, self._last = np.full(size, EMPTY, np.int64), np.zeros(size, np.int64)
            rehash(old, times, self._keys, self._last)
        if self._time + count >= len(self._tree):
            self._forget_gaps(count)

    def _forget_gaps(self, count: int) -> None:
        """Only the order of last accesses matters: numbers them from 0 again."""
        used = np.flatnonzero(self._keys != EMPTY)
        order = used[np.argsort(self._last[used])]
        self._last[order] = np.arange(len(order))
        self._time = len(order)
        capacity = 1 << (2 * (self._time + count) - 1).bit_length()
        self._tree = np.zeros(capacity + 1, np.int32)
        fill(self._tree, self._time)


@kept
def slot_of(keys, unit):
    """Where a unit is, or would be, in the table."""
    mask = len(keys) - 1
    # Fibonacci hashing (Knuth, vol. 3, 6.4): the high bits of a product with 2^64 / golden ratio.
    slot = (np.uint64(unit) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & np.uint64(mask)
    place = np.int64(slot)
    while keys[place] != -1 and keys[place] != unit:
        place = (place + 1) & mask
    return place


@kept
def rehash(old, times, keys, last):
    for k in range(len(old)):
        if old[k] != -1:
            place = slot_of(keys, old[k])
            keys[place], last[place] = old[k], times[k]


@kept
def fill(tree, count):
    """Marks the first `count` times."""
    for k in range(1, len(tree)):
        low = k - (k & -k)
        tree[k] = max(0, min(k, count) - min(low, count))


@kept
def measure(units, keys, last, tree, time, found):
    """Writes the distance of each unit to `found`; gives the number of new ones."""
    new = 0
    size = len(tree)
    for k in range(len(units)):
        place = slot_of(keys, units[k])
        if keys[place] == -1:
            keys[place] = units[k]
            new += 1
            found[k] = -1
        else:
            # Marks after the last access: all, less those up to it.
            total = 0
            at = time + k
            while at > 0:
                total += tree[at]
                at -= at & -at
            at = last[place] + 1
            while at > 0:
                total -= tree[at]
                at -= at & -at
            found[k] = total
            at = last[place] + 1
            while at < size:
                tree[at] -= 1
                at += at & -at
        last[place] = time + k
        at = time + k + 1
        while at < size:
            tree[at] += 1
            at += at & -at
    return new
