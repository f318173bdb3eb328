"""Reuse distances: accesses that miss a cache of a size, against caches that are looked at line by line."""

from collections import Counter

import numpy as np

from gpuprof.predict.reuse_profile import NO_REUSE, Reuse, together


def distances(lines):
    """How many other lines were accessed since each was last; -1 the first time."""
    stack, found = [], []
    for line in lines:
        found.append(stack.index(line) if line in stack else -1)
        if line in stack:
            stack.remove(line)
        stack.insert(0, line)
    return found


def lru_misses(lines, size):
    kept, misses = [], 0
    for line in lines:
        misses += line not in kept
        kept = [line, *(each for each in kept if each != line)][:size]
    return misses


EDGES = [*range(8), 8, 10, 12, 14, 16, 20, 24, 28, 32, 40]


def histogram(found):
    counts = Counter(max(edge for edge in (-1, *EDGES) if edge <= distance) for distance in found)
    least = np.array(sorted(counts), float)
    sectors = np.array([counts[int(each)] for each in least], float)
    return Reuse(least, sectors, sectors, np.zeros(len(least)))


def test_misses_are_those_of_a_cache_that_drops_the_least_recently_used():
    lines = np.random.default_rng(1).integers(0, 40, 400).tolist()
    reuse = histogram(distances(lines))
    sizes = np.array(EDGES[1:])
    found = reuse.far(sizes.astype(float), reuse.loaded)
    assert found.tolist() == [lru_misses(lines, size) for size in sizes.tolist()]


def test_a_wide_bin_is_cut_in_proportion():
    """Bins of distances 8 and 9, and 32 to 39; a cache of 9 lines has half of the first one, one of 34 a fourth of the
    second.
    """
    reuse = Reuse(np.array([-1.0, 8.0, 32.0]), *np.array([[5.0, 4.0, 8.0]] * 3))
    assert reuse.far(np.array([8.0, 9.0, 10.0, 34.0, 40.0]), reuse.loaded).tolist() == [17, 15, 13, 11, 5]


def test_histograms_of_two_launches_add_up():
    first = Reuse(np.array([-1.0, 4.0]), *np.array([[1.0, 2.0]] * 3))
    second = Reuse(np.array([0.0, 4.0]), *np.array([[8.0, 16.0]] * 3))
    found = together(first, second)
    assert found.least_lines.tolist() == [-1, 0, 4]
    assert found.loaded.tolist() == [1, 8, 18]
    assert not NO_REUSE.is_known
    assert NO_REUSE.far(np.array([3.0]), NO_REUSE.loaded).tolist() == [0]
