"""How accesses of a launch lie in memory: as its recording counted them (table access_counters), or what follows from
lines and sectors where it did not.
"""

import sqlite3
from typing import NamedTuple

import numpy as np

BIN_BITS = 2  # a bin is a quarter of an octave wide


class Reuse(NamedTuple):
    """float64 (bins,): sectors of lines by how many other lines were accessed since. `least_lines` ascends; -1: never
    before.
    """

    least_lines: np.ndarray
    lines: np.ndarray
    loaded: np.ndarray
    stored: np.ndarray

    @property
    def is_known(self) -> bool:
        return len(self.least_lines) > 0

    def far(self, lines: np.ndarray, sectors: np.ndarray) -> np.ndarray:
        """Of `sectors`, those whose line has left a cache of so many lines, of each of `lines`; first accesses, too.
        Distances of a bin lie evenly in it.
        """
        if not self.is_known:
            return np.zeros(len(lines))
        least = self.least_lines
        wide = np.maximum(1, 2.0 ** (np.floor(np.log2(np.maximum(least, 1))) - BIN_BITS))
        inside = np.clip((least + wide - lines[:, None]) / wide, 0, 1)
        return np.where(least < 0, 1.0, inside) @ sectors


def together(first: Reuse, second: Reuse) -> Reuse:
    """The histogram of two launches, one after the other."""
    least = np.union1d(first.least_lines, second.least_lines)
    sums = np.zeros((3, len(least)))
    for each in (first, second):
        sums[:, np.searchsorted(least, each.least_lines)] += each[1:]
    return Reuse(least, *sums)


NO_REUSE = Reuse(*np.zeros((4, 0)))
TAG_BANKS = 4
SECTOR_WORDS = 8
COLUMNS = ("wavefronts", "tag_passes", "tag_lookups", "conflicts", "partial_sectors", "partial_requests")


def counted(database: sqlite3.Connection, launch: int) -> dict[int, tuple[float, ...]]:
    """COLUMNS by pc; nothing of a launch that was collected without such counters."""
    text = f"SELECT pc, {', '.join(COLUMNS)} FROM access_counters WHERE launch = ?"
    return {pc: values for pc, *values in database.execute(text, (launch,))}


def reused(database: sqlite3.Connection, launch: int, scope: str) -> Reuse:
    """Of a scope of the table reuse_distances; empty for a launch that was collected without."""
    rows = database.execute(
        "SELECT least_lines, lines, sectors - store_sectors, store_sectors FROM reuse_distances "
        "WHERE launch = ? AND scope = ? ORDER BY least_lines",
        (launch, scope),
    ).fetchall()
    return Reuse(*np.array(rows, float).reshape(-1, 4).T)


def assumed(warps, lanes, lines, sectors, ideal) -> dict[str, np.ndarray]:
    """COLUMNS as they are where lanes that share nothing are scattered, and those that share are packed."""
    excess = np.maximum(sectors - ideal, 0)
    partial = np.where(sectors >= 2 * ideal, np.where(excess > 0, sectors, 0), np.minimum(sectors, 2 * excess))
    return {
        "wavefronts": warps.copy(),
        "tag_passes": np.maximum(lines / TAG_BANKS, np.minimum(warps, lines)),
        "tag_lookups": lines.copy(),
        "conflicts": np.where(sectors > 0, np.maximum(warps, lanes / np.maximum(sectors * SECTOR_WORDS, 1) * warps), 0),
        "partial_sectors": partial,
        "partial_requests": np.where(partial > 0, np.minimum(lines, partial), 0),
    }
