"""Sets of bytes, beside Python's sets of addresses."""

import random

import numpy as np
import pytest

from gpuprof.relate.byte_ranges import Ranges, coarser, common, join, none, one, union


def ranges(*pairs: tuple[int, int]) -> Ranges:
    return union(np.array([pair[0] for pair in pairs], np.int64), np.array([pair[1] for pair in pairs], np.int64))


def addresses(value: Ranges) -> set[int]:
    return {address for start, end in value.pairs() for address in range(start, end)}


def drawn(rng: random.Random) -> list[tuple[int, int]]:
    return [(start, start + rng.randrange(0, 9)) for start in (rng.randrange(60) for _ in range(rng.randrange(12)))]


def test_overlapping_and_touching_ranges_are_one():
    assert ranges((8, 12), (0, 4), (4, 6), (10, 11), (20, 20)).pairs() == [(0, 6), (8, 12)]


def test_no_bytes():
    assert (none().pairs(), one(7, 0).pairs(), ranges((3, 3)).pairs(), none().nbytes) == ([], [], [], 0)


@pytest.mark.parametrize("seed", range(200))
def test_sets(seed):
    rng = random.Random(seed)
    first, second = drawn(rng), drawn(rng)
    a, b = ranges(*first), ranges(*second)
    assert addresses(a) == {address for start, end in first for address in range(start, end)}
    assert a.nbytes == len(addresses(a))
    assert addresses(join(a, b)) == addresses(a) | addresses(b)
    assert addresses(common(a, b)) == addresses(a) & addresses(b)


def test_the_smallest_gaps_are_filled():
    value = ranges((0, 1), (10, 11), (12, 13), (20, 21), (24, 25))
    assert coarser(value, 3).pairs() == [(0, 1), (10, 13), (20, 25)]
    assert coarser(value, 1).pairs() == [(0, 25)]
    assert coarser(value, 5) is value
