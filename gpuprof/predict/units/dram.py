"""The DRAM: bytes on the channels' buses, which turn between reading and writing, and rows that banks must open."""

import numpy as np

from gpuprof.chips.model import LINE_NBYTES
from gpuprof.predict.reuse_profile import TAG_BANKS
from gpuprof.predict.traffic import LINE_SECTORS, SECTOR_NBYTES, Traffic
from gpuprof.predict.units.fullest import fullest
from gpuprof.predict.units.lsu import GLOBAL
from gpuprof.predict.work import Work

TURN_SECTORS = 64  # written among reads before a channel's bus turns (docs/model/memory.md, DRAM)
# Largest of four values with the same normal distribution, in its deviations: the fullest tag bank of scattered lines.
FULLEST_OF_BANKS = 1.03


def dram(work: Work, traffic: Traffic) -> np.ndarray:
    """The fullest channel's bus, or the fullest bank."""
    return np.maximum(buses(work, traffic) * uneven(work, traffic), banks(work, traffic)) / work.counters.warps


def buses(work: Work, traffic: Traffic) -> np.ndarray:
    """Cycles of the launch that an average channel's bus takes."""
    chips = work.chips
    nbytes_per_cycle = chips["dram_gbytes_per_s"] * 1000 / chips["clock_mhz"]
    turns = np.where(traffic.read_sectors > 0, traffic.write_sectors / TURN_SECTORS, 0)
    turning = turns * chips["dram_turn_ns"] * chips["clock_mhz"] / 1000 / chips["dram_channels"]
    return (traffic.read_sectors + traffic.write_sectors) * SECTOR_NBYTES / nbytes_per_cycle + turning


def uneven(work: Work, traffic: Traffic) -> np.ndarray:
    """How many times as much as the average channel the fullest one has."""
    channels = work.chips["dram_channels"]
    mean = pieces(work, traffic) / channels
    return np.clip(fullest(mean, channels) / mean, 1, channels)


def pieces(work: Work, traffic: Traffic) -> np.ndarray:
    """Of memory that the launch reads or writes, each of `dram_interleave_nbytes`: a hash gives each a channel."""
    sectors = traffic.read_sectors + traffic.write_sectors
    lines = np.minimum(work.counters.footprint_lines or sectors / LINE_SECTORS, sectors)
    return np.maximum(lines * LINE_NBYTES / work.chips["dram_interleave_nbytes"], 1)


def banks(work: Work, traffic: Traffic) -> np.ndarray:
    """A bank opens a row each `dram_row_cycle_ns`. Each fetch of scattered lines finds another row, of any bank, unless
    the banks hold all rows open: the fullest of so many banks has some more of them than the average.
    """
    chips = work.chips
    fetches = scattered(work) * traffic.read_sectors * SECTOR_NBYTES / chips["l2_fetch_nbytes"]
    n_banks = chips["dram_channels"] * chips["dram_banks"]
    there = work.counters.footprint_lines * LINE_NBYTES / chips["dram_row_nbytes"]
    mean = fetches / n_banks * np.clip(1 - n_banks / np.maximum(there, 1), 0, 1)
    return fullest(mean, n_banks) * chips["dram_row_cycle_ns"] * chips["clock_mhz"] / 1000


def scattered(work: Work) -> float:
    """The share of loaded lines that lie anywhere: neighbouring lines take the L1's tag banks in turns, but for a pass
    where they begin in the middle; scattered ones fill them unevenly.
    """
    found = work.counters.executed
    of = work.places(lambda op: op.space in GLOBAL and op.kind == "load") & (found.lines > 0)
    lines = found.lines[of] / found.warps[of]
    even = lines / TAG_BANKS
    uneven = FULLEST_OF_BANKS * np.sqrt(lines * (1 - 1 / TAG_BANKS) / TAG_BANKS)
    more = found.tag_passes[of] / found.warps[of] - np.maximum(even, 1) - 1
    share = np.clip(more / np.maximum(uneven - 1, 1e-9), 0, 1)
    return float((share * found.lines[of]).sum() / max(1, found.lines[of].sum()))
