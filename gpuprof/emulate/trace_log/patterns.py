"""The addresses of a warp's lanes in shared memory, relative to each other: they show which padding of an array's rows
avoids bank conflicts.

An instruction has few such patterns, or no regular ones: the first MOST_PATTERNS of it are recorded, and the others are
counted.
"""

from typing import NamedTuple

import numpy as np

MOST_PATTERNS = 8  # ours: as many strides as a tree over 256 elements has
LEVELS = 3  # strides of a pattern: those of a block's three dimensions


class Patterns(NamedTuple):
    """The patterns of one instruction, arrays of MOST_PATTERNS rows; the last row of `warps` counts all others."""

    places: np.ndarray  # int64 (n, 32): bytes above the lowest lane's; 0 for lanes that take no part
    masks: np.ndarray  # uint32 (n,): lanes that take part
    warps: np.ndarray  # uint64 (n + 1,): executions by a warp
    first: np.ndarray  # int64 (n,): lowest byte of the block's shared memory
    end: np.ndarray  # int64 (n,): highest byte, plus one
    used: np.ndarray  # int64 (1,): rows that are in use

    @classmethod
    def none(cls) -> "Patterns":
        n = MOST_PATTERNS
        return cls(
            np.zeros((n, 32), np.int64),
            np.zeros(n, np.uint32),
            np.zeros(n + 1, np.uint64),
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
            np.zeros(1, np.int64),
        )


def add_patterns(more: Patterns, known: Patterns) -> None:
    """Adds the patterns of accesses that came after those of `known`; each of them has a row of its own."""
    for row in range(int(more.used[0])):
        n = int(known.used[0])
        same = (known.masks[:n] == more.masks[row]) & (known.places[:n] == more.places[row]).all(axis=1)
        if not same.any() and n == MOST_PATTERNS:
            known.warps[-1] += more.warps[row]
            continue
        if same.any():
            match = int(np.argmax(same))
        else:
            match, known.used[0] = n, n + 1
            known.places[match], known.masks[match] = more.places[row], more.masks[row]
            known.first[match], known.end[match] = more.first[row], more.end[row]
        known.warps[match] += more.warps[row]
        known.first[match] = min(known.first[match], more.first[row])
        known.end[match] = max(known.end[match], more.end[row])


class Lattice(NamedTuple):
    """Places as sums of strides: lane k of those that take part is at the sum of (k // lanes before % its lanes) *
    stride over the levels, in bytes above the first lane's.
    """

    strides: tuple[int, ...]  # LEVELS of them
    lanes: tuple[int, ...]


def lattice(offsets: np.ndarray, mask: int) -> Lattice | None:
    """The strides of a pattern; None where LEVELS strides do not describe its lanes."""
    rest = [int(offset) for lane, offset in enumerate(offsets) if mask >> lane & 1]
    strides, lanes = [], []
    for _ in range(LEVELS):
        stride = rest[1] - rest[0] if len(rest) > 1 else 0
        n = next((k for k in range(1, len(rest)) if rest[k] - rest[k - 1] != stride), len(rest))
        if any(offset - rest[k - k % n] != k % n * stride for k, offset in enumerate(rest)):
            return None
        strides.append(stride)
        lanes.append(n)
        rest = rest[::n]
    return Lattice(tuple(strides), tuple(lanes)) if len(rest) == 1 else None
