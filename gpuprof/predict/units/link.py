"""The crossbar: an SM's link to the L2, in both directions one after the other."""

import numpy as np

from gpuprof.predict.traffic import SECTOR_NBYTES, Traffic
from gpuprof.predict.work import Work


def link(work: Work, traffic: Traffic) -> np.ndarray:
    return traffic.l2_sectors * SECTOR_NBYTES / work.chips["noc_nbytes_per_cycle"] / work.counters.warps
