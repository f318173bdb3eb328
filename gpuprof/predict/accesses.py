"""How accesses of a launch lie in memory: as its recording counted them (table access_counters), or what follows from
lines and sectors where it did not.
"""

import sqlite3

import numpy as np

TAG_BANKS = 4
SECTOR_WORDS = 8
COLUMNS = ("wavefronts", "tag_passes", "tag_lookups", "conflicts", "partial_sectors", "partial_requests")


def counted(database: sqlite3.Connection, launch: int) -> dict[int, tuple[float, ...]]:
    """COLUMNS by pc; nothing where the recording has no such counters."""
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'access_counters'").fetchone():
        return {}
    text = f"SELECT pc, {', '.join(COLUMNS)} FROM access_counters WHERE launch = ?"
    return {pc: values for pc, *values in database.execute(text, (launch,))}


def assumed(warps, lanes, lines, sectors, ideal) -> dict[str, np.ndarray]:
    """COLUMNS as they are where lanes that share nothing are scattered, and those that share are packed."""
    excess = np.maximum(sectors - ideal, 0)
    partial = np.where(sectors >= 2 * ideal, np.where(excess > 0, sectors, 0), np.minimum(sectors, 2 * excess))
    return {
        "wavefronts": warps,
        "tag_passes": np.maximum(lines / TAG_BANKS, np.minimum(warps, lines)),
        "tag_lookups": lines,
        "conflicts": np.where(sectors > 0, np.maximum(warps, lanes / np.maximum(sectors * SECTOR_WORDS, 1) * warps), 0),
        "partial_sectors": partial,
        "partial_requests": np.where(partial > 0, np.minimum(lines, partial), 0),
    }
