"""Locality of a launch's accesses: as its recording counted them (table access_counters), else estimated from lines and
sectors.
"""

import sqlite3
from typing import NamedTuple

import numpy as np

BIN_BITS = 2  # a bin is a quarter of an octave wide


class Reuse(NamedTuple):
    """float64 (bins,): sectors by their line's reuse distance, the number of other lines accessed since. `least_lines`
    is ascending; -1: first accesses.
    """

    least_lines: np.ndarray
    lines: np.ndarray
    loaded: np.ndarray
    stored: np.ndarray

    @property
    def is_known(self) -> bool:
        return len(self.least_lines) > 0

    def far(self, lines: np.ndarray, sectors: np.ndarray) -> np.ndarray:
        """How many of `sectors` miss a cache of `lines` lines, for each of `lines`: their line was evicted, or is
        accessed for the first time. Distances are spread evenly over a bin.
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
    for reuse in (first, second):
        sums[:, np.searchsorted(least, reuse.least_lines)] += reuse[1:]
    return Reuse(least, *sums)


NO_REUSE = Reuse(*np.zeros((4, 0)))
TAG_BANKS = 4
SECTOR_WORDS = 8
COLUMNS = ("wavefronts", "tag_passes", "tag_lookups", "conflicts", "partial_sectors", "partial_requests")


def counted(database: sqlite3.Connection, launch: int) -> dict[int, tuple[float, ...]]:
    """COLUMNS by pc; empty for a launch that was collected without these counters."""
    text = f"SELECT pc, {', '.join(COLUMNS)} FROM access_counters WHERE launch = ?"
    return {pc: values for pc, *values in database.execute(text, (launch,))}


def reused(database: sqlite3.Connection, launch: int, scope: str) -> Reuse:
    """The histogram of a scope in the table reuse_distances; empty for a launch that was collected without it."""
    rows = database.execute(
        "SELECT least_lines, lines, sectors - store_sectors, store_sectors FROM reuse_distances "
        "WHERE launch = ? AND scope = ? ORDER BY least_lines",
        (launch, scope),
    ).fetchall()
    return Reuse(*np.array(rows, float).reshape(-1, 4).T)


def assumed(warps, lanes, lines, sectors, ideal) -> dict[str, np.ndarray]:
    """COLUMNS estimated for accesses in which lanes that share no sector are scattered, and those that share one are
    packed.
    """
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
