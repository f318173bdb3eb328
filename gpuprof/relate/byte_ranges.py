"""Sets of bytes, as ranges of addresses."""

from typing import NamedTuple

import numpy as np


class Ranges(NamedTuple):
    """The bytes [start[k], end[k]) for each k. start, end: int64 (n,), ascending; no two overlap or touch."""

    start: np.ndarray
    end: np.ndarray

    @property
    def nbytes(self) -> int:
        return int((self.end - self.start).sum())

    def __len__(self) -> int:
        return len(self.start)

    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.start.tolist(), self.end.tolist(), strict=True))


def none() -> Ranges:
    return Ranges(np.empty(0, np.int64), np.empty(0, np.int64))


def one(start: int, nbytes: int) -> Ranges:
    """The `nbytes` bytes from `start` on."""
    return Ranges(np.array([start], np.int64), np.array([start + nbytes], np.int64)) if nbytes else none()


def union(start: np.ndarray, end: np.ndarray) -> Ranges:
    """The bytes that are in any of the ranges [start[k], end[k]), int64 (n,), in any order; empty ones are allowed."""
    filled = end > start
    if not filled.any():
        return none()
    order = np.argsort(start[filled], kind="stable")
    start, end = start[filled][order], np.maximum.accumulate(end[filled][order])
    begins = np.flatnonzero(np.concatenate(([True], start[1:] > end[:-1])))
    return Ranges(start[begins], end[np.concatenate((begins[1:] - 1, [len(end) - 1]))])


def join(*sets: Ranges) -> Ranges:
    return union(np.concatenate([ranges.start for ranges in sets]), np.concatenate([ranges.end for ranges in sets]))


def common(a: Ranges, b: Ranges) -> Ranges:
    """The bytes that are in both."""
    # Each range of b is met by those of a from the first that ends after its start to the last that starts before its
    # end.
    first = np.searchsorted(a.end, b.start, side="right")
    after = np.searchsorted(a.start, b.end, side="left")
    counts = np.maximum(after - first, 0)
    of_b = np.repeat(np.arange(len(b)), counts)
    of_a = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
    return Ranges(np.maximum(a.start[of_a], b.start[of_b]), np.minimum(a.end[of_a], b.end[of_b]))


def coarser(ranges: Ranges, most: int) -> Ranges:
    """At most `most` ranges that hold all the bytes of `ranges`: the smallest gaps between them are filled."""
    if len(ranges) <= most:
        return ranges
    gaps = ranges.start[1:] - ranges.end[:-1]
    left = np.sort(np.argsort(gaps, kind="stable")[len(gaps) - most + 1 :])
    return Ranges(ranges.start[np.concatenate(([0], left + 1))], ranges.end[np.concatenate((left, [len(gaps)]))])
