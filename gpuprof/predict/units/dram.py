"""The DRAM: bytes on the channels' buses, which switch between reading and writing, and rows that banks must open."""

from functools import cache
from statistics import NormalDist

import numpy as np

from gpuprof.chips.model import LINE_NBYTES
from gpuprof.predict.reuse_profile import TAG_BANKS
from gpuprof.predict.units.caches import LINE_SECTORS, SECTOR_NBYTES, Traffic
from gpuprof.predict.units.lsu import GLOBAL
from gpuprof.predict.work import Work

# Sectors written between reads before a channel's bus switches (docs/model/memory.md, DRAM).
TURN_SECTORS = 64
# Largest of four values with the same normal distribution, in its deviations: the fullest tag bank of scattered lines.
FULLEST_OF_BANKS = 1.03


def dram(work: Work, traffic: Traffic) -> np.ndarray:
    """Cycles of the fullest channel's bus or of the fullest bank, whichever is longer."""
    return np.maximum(buses(work, traffic) * uneven(work, traffic), banks(work, traffic)) / work.counters.warps


def buses(work: Work, traffic: Traffic) -> np.ndarray:
    """Cycles of the launch on an average channel's bus."""
    chips = work.chips
    nbytes_per_cycle = chips["dram_gbytes_per_s"] * 1000 / chips["clock_mhz"]
    turns = np.where(traffic.read_sectors > 0, traffic.write_sectors / TURN_SECTORS, 0)
    turning = turns * chips["dram_turn_ns"] * chips["clock_mhz"] / 1000 / chips["dram_channels"]
    return (traffic.read_sectors + traffic.write_sectors) * SECTOR_NBYTES / nbytes_per_cycle + turning


def uneven(work: Work, traffic: Traffic) -> np.ndarray:
    """The load of the fullest channel over the average."""
    channels = work.chips["dram_channels"]
    mean = pieces(work, traffic) / channels
    return np.clip(fullest(mean, channels) / mean, 1, channels)


def pieces(work: Work, traffic: Traffic) -> np.ndarray:
    """Pieces of `dram_interleave_nbytes` of the memory that the launch reads or writes; a hash assigns each to a
    channel.
    """
    sectors = traffic.read_sectors + traffic.write_sectors
    lines = np.minimum(work.counters.footprint_lines or sectors / LINE_SECTORS, sectors)
    return np.maximum(lines * LINE_NBYTES / work.chips["dram_interleave_nbytes"], 1)


def banks(work: Work, traffic: Traffic) -> np.ndarray:
    """Cycles of the fullest bank, which opens one row per `dram_row_cycle_ns`. Each fetch of scattered lines needs
    another row, of any bank, unless the banks hold all rows open; the fullest bank has more fetches than the average.
    A channel opens one row per `dram_activate_ns`.
    """
    chips = work.chips
    fetches = scattered(work) * traffic.read_sectors * SECTOR_NBYTES / chips["l2_fetch_nbytes"]
    n_banks = chips["dram_channels"] * chips["dram_banks"]
    rows = work.counters.footprint_lines * LINE_NBYTES / chips["dram_row_nbytes"]
    opened = fetches * np.clip(1 - n_banks / np.maximum(rows, 1), 0, 1)
    of_channels = opened / chips["dram_channels"] * chips["dram_activate_ns"]
    of_banks = fullest(opened / n_banks, n_banks) * chips["dram_row_cycle_ns"]
    return np.maximum(of_channels, of_banks) * chips["clock_mhz"] / 1000


def scattered(work: Work) -> float:
    """The share of loaded lines that are scattered: neighbouring lines take turns in the L1's tag banks, except for a
    pass where they are not aligned; scattered ones fill the banks unevenly.
    """
    executed = work.counters.executed
    is_load = work.mask_of(lambda op: op.space in GLOBAL and op.kind == "load") & (executed.lines > 0)
    lines = executed.lines[is_load] / executed.warps[is_load]
    even = lines / TAG_BANKS
    uneven = FULLEST_OF_BANKS * np.sqrt(lines * (1 - 1 / TAG_BANKS) / TAG_BANKS)
    more = executed.tag_passes[is_load] / executed.warps[is_load] - np.maximum(even, 1) - 1
    share = np.clip(more / np.maximum(uneven - 1, 1e-9), 0, 1)
    return float((share * executed.lines[is_load]).sum() / max(1, executed.lines[is_load].sum()))


def fullest(mean: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """Items in the fullest of `slots` slots, among which a hash scatters them, `mean` on average: a Poisson
    distribution, approximated by a normal one.
    """
    return mean + np.sqrt(mean) * largest_of(slots)


def largest_of(counts: np.ndarray) -> np.ndarray:
    """The expected maximum of as many values of one normal distribution, in standard deviations (Blom 1958)."""
    distinct, index = np.unique(counts, return_inverse=True)
    return np.array([_largest_of(n) for n in distinct.tolist()])[index]


@cache
def _largest_of(count: float) -> float:
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0
