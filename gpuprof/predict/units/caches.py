"""Sectors that a launch moves on each chip: misses of the L1, requests to the L2, reads and writes of the DRAM.

Hits on another chip follow from reuse distances: an access hits a cache that is larger than the data accessed since the
last access to its line. The counts of the reference chip are corrected by the difference that both chips' caches make.
"""

from dataclasses import dataclass

import numpy as np

from gpuprof.chips.model import LINE_NBYTES
from gpuprof.predict.reuse_profile import Reuse
from gpuprof.predict.units.resident_blocks import residency, shared_of_block
from gpuprof.predict.work import Work

SECTOR_NBYTES = 32
LINE_SECTORS = 4
CARVE_OUT_NBYTES = 8192  # steps in which shared memory is taken from the L1, as in the timing model


@dataclass(frozen=True)
class Traffic:
    """float64 (chips,), sectors of the complete launch. `l1_lost` and `l2_lost`: the share of the hits on the reference
    chip that miss here; `l2_gained`: the share of the DRAM loads there that hit the L2 here.
    """

    l2_sectors: np.ndarray
    read_sectors: np.ndarray
    write_sectors: np.ndarray
    l1_lost: np.ndarray
    l2_lost: np.ndarray
    l2_gained: np.ndarray


def traffic_of(work: Work) -> Traffic:
    counters, metrics = work.counters, work.counters.metrics
    l1_more = moved(counters.reuse_of_blocks.far(l1_lines(work), counters.reuse_of_blocks.loaded))
    l1_more = np.maximum(l1_more, metrics["l1_hits"] - metrics["l1_sectors"])
    l2_lines = work.chips["l2_nbytes"] / LINE_NBYTES
    misses = metrics["l2_sectors"] - metrics["l2_hits"]
    more = np.maximum(moved(counters.reuse.far(l2_lines, counters.reuse.loaded)), -misses)
    read = metrics["dram_read_nbytes"] / SECTOR_NBYTES
    written = metrics["dram_write_nbytes"] / SECTOR_NBYTES + moved(written_back(work, l2_lines))
    return Traffic(
        metrics["l2_sectors"] + l1_more,
        fetched_sectors(work, misses, misses + more, read),
        np.maximum(written, 0),
        np.clip(l1_more / max(1, metrics["l1_hits"]), 0, 1),
        np.clip(more / max(1, metrics["l2_hits"]), 0, 1),
        np.clip(-more / max(1, misses), 0, 1),
    )


def moved(values: np.ndarray) -> np.ndarray:
    """The difference between each chip's value and that of the reference chip, the first."""
    return values - values[:1]


def l1_lines(work: Work) -> np.ndarray:
    """Lines of the L1 per resident block of an SM."""
    chips, fits = work.chips, residency(work).blocks_per_sm
    carved = np.ceil(fits * shared_of_block(work) / CARVE_OUT_NBYTES) * CARVE_OUT_NBYTES
    carved = np.minimum(chips["shared_nbytes"], carved) * chips["l1_shared_pool"]
    resident = np.clip(np.ceil(work.counters.blocks / chips["sms"]), 1, np.maximum(fits, 1))
    return np.maximum(chips["l1_nbytes"] - carved, 0) / LINE_NBYTES / resident


def written_back(work: Work, l2_lines: np.ndarray) -> np.ndarray:
    """Sectors that the launch writes to the DRAM from an L2 of `l2_lines` lines, and what others have left there."""
    before, now = work.counters.reuse_before, work.counters.reuse
    of_sets = l2_lines * work.chips["l2_dirty_ways"] / work.chips["l2_ways"]
    return now.far(of_sets, now.stored) + kept(l2_lines, of_sets, before) - kept(l2_lines, of_sets, before, now)


def kept(l2_lines: np.ndarray, of_sets: np.ndarray, *launches: Reuse) -> np.ndarray:
    """Sectors that stores have changed and that are still in the L2: no more than in the lines that its sets keep
    changed (`of_sets`), and than an average line has.
    """
    changed, lines = sum(map(first_stores, launches)), sum(map(first_lines, launches))
    return np.minimum(changed, np.minimum(of_sets * LINE_SECTORS, l2_lines * changed / max(lines, 1)))


def first_stores(reuse: Reuse) -> float:
    return float(reuse.stored[reuse.least_lines < 0].sum())


def first_lines(reuse: Reuse) -> float:
    return float(reuse.lines[reuse.least_lines < 0].sum())


def fetched_sectors(work: Work, misses: float, missing: np.ndarray, read: float) -> np.ndarray:
    """Sectors that misses fetch: each fetches `l2_fetch_nbytes`, aligned. On the reference chip `misses` sectors became
    `read` sectors; doubling the fetch size adds as many again, up to whole lines. `missing`: sectors that miss on each
    chip.
    """
    granules = np.log2(work.chips["l2_fetch_nbytes"] / SECTOR_NBYTES)
    growth = read / misses if granules[0] and misses else growth_of_fetch(work)
    per_miss = np.minimum(growth ** (granules / max(granules[0], 1)), LINE_SECTORS)
    partial = read if not misses else 0  # reads of lines that are evicted in part
    return partial + missing * np.maximum(per_miss, 1)


def growth_of_fetch(work: Work) -> float:
    """The factor on sectors when a fetch is two sectors: 1 where accesses request whole lines."""
    executed = work.counters.executed
    has_lines = executed.lines > 0
    per_line = executed.sectors[has_lines].sum() / max(1, executed.lines[has_lines].sum())
    return float(np.clip(2 / max(per_line, 1), 1, 2))
