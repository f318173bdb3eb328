"""The DRAM: bytes on the channels' buses, which turn between reading and writing, and rows that banks must open."""

import numpy as np

from gpuprof.predict.traffic import SECTOR_NBYTES, Traffic
from gpuprof.predict.work import Work

TURN_SECTORS = 64  # written among reads before a channel's bus turns (docs/model.md, DRAM)


def dram(work: Work, traffic: Traffic) -> np.ndarray:
    chips = work.chips
    nbytes_per_cycle = chips["dram_gbytes_per_s"] * 1000 / chips["clock_mhz"]
    turns = np.where(traffic.read_sectors > 0, traffic.write_sectors / TURN_SECTORS, 0)
    turning = turns * chips["dram_turn_ns"] * chips["clock_mhz"] / 1000 / chips["dram_channels"]
    buses = (traffic.read_sectors + traffic.write_sectors) * SECTOR_NBYTES / nbytes_per_cycle + turning
    return buses / work.counters.warps
