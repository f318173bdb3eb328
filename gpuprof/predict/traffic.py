"""Sectors that a launch moves on each chip: what the L1 misses, what the L2 is asked for, what the DRAM reads and
writes.
"""

from dataclasses import dataclass

import numpy as np

from gpuprof.predict.work import Work

SECTOR_NBYTES = 32
LINE_SECTORS = 4


@dataclass(frozen=True)
class Traffic:
    """float64 (chips,), sectors of the whole launch; `rows` are those that banks open."""

    l2_sectors: np.ndarray
    read_sectors: np.ndarray
    write_sectors: np.ndarray
    rows: np.ndarray


def traffic_of(work: Work) -> Traffic:
    metrics = work.counters.metrics
    l2 = metrics["l2_sectors"] + work.zeros
    misses = metrics["l2_sectors"] - metrics["l2_hits"]
    read = metrics["dram_read_nbytes"] / SECTOR_NBYTES
    fetched = fetched_sectors(work, misses, read)
    write = metrics["dram_write_nbytes"] / SECTOR_NBYTES + work.zeros
    return Traffic(l2, fetched, write, work.zeros)


def fetched_sectors(work: Work, misses: float, read: float) -> np.ndarray:
    """A miss fetches `l2_fetch_nbytes`, aligned. On the reference chip `misses` sectors became `read` sectors; twice as
    long a fetch brings as much more once again, up to whole lines.
    """
    if misses == 0:
        return work.zeros + read
    granules = np.log2(work.chips["l2_fetch_nbytes"] / SECTOR_NBYTES)
    growth = read / misses if granules[0] else lone_growth(work)
    per_miss = np.minimum(growth ** (granules / max(granules[0], 1)), LINE_SECTORS)
    return misses * np.maximum(per_miss, 1)


def lone_growth(work: Work) -> float:
    """How many times the sectors become when a fetch is twice a sector: once where accesses ask for whole lines."""
    found = work.counters.executed
    of = found.lines > 0
    per_line = found.sectors[of].sum() / max(1, found.lines[of].sum())
    return float(np.clip(2 / max(per_line, 1), 1, 2))
