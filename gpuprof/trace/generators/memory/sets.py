"""The sets of a cache. Compiled by Numba, when it is first needed."""

import numpy as np

from gpuprof.jit.cached import cached_njit

# The line of a full set that is replaced: the least recently used one, the oldest one, or a random one.
POLICIES = {"lru": 0, "fifo": 1, "random": 2}
SEED = 0x2545F491


class Sets:
    """`n_sets` sets of `ways` lines, empty. A line is in set (line % n_sets)."""

    def __init__(self, n_sets: int, ways: int, policy: str):
        self._lines = np.full((n_sets, ways), -1, np.int64)
        self._stamps = np.zeros((n_sets, ways), np.int64)  # of the last use (lru) or of the arrival (fifo)
        self._state = np.array([0, SEED], np.int64)  # time, and the state of the random numbers
        self._policy = POLICIES[policy]

    def take(self, lines: np.ndarray) -> tuple[int, int]:
        """Hits and evictions of a stream of lines, int64 (n,), none negative."""
        return access(lines, self._lines, self._stamps, self._state, self._policy)


@cached_njit
def access(requested, lines, stamps, state, policy):
    hits, evictions = 0, 0
    n_sets, ways = lines.shape
    for line in requested:
        row = line % n_sets
        state[0] += 1
        hit_way, free, oldest = -1, -1, 0
        for way in range(ways):
            if lines[row, way] == line:
                hit_way = way
                break
            if lines[row, way] == -1:
                free = way
                break  # ways fill in order
            if stamps[row, way] < stamps[row, oldest]:
                oldest = way
        if hit_way >= 0:
            hits += 1
            if policy == 0:
                stamps[row, hit_way] = state[0]
            continue
        if free < 0:
            evictions += 1
            free = oldest
            if policy == 2:
                # Marsaglia's xorshift of 32 bits (J. Stat. Softw. 8, 2003).
                word = state[1]
                word ^= word << 13 & 0xFFFFFFFF
                word ^= word >> 17
                word ^= word << 5 & 0xFFFFFFFF
                state[1] = word
                free = word % ways
        lines[row, free] = line
        stamps[row, free] = state[0]
    return hits, evictions
