"""The method that predictions replace, as their baseline: all units work side by side, so a launch takes as long as its
busiest one, and no longer.
"""

import numpy as np

from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.counters import LaunchCounters
from gpuprof.predict.launch import demands
from gpuprof.predict.traffic import traffic_of
from gpuprof.predict.work import Work


def naive_cycles(counters: LaunchCounters, chips: Numbers) -> np.ndarray:
    """The cycles of the slowest unit, all of its instances equally busy."""
    work = Work(counters, chips)
    needs, warps = demands(work, traffic_of(work)), counters.warps
    partitions = chips["sms"] * chips["partitions"]
    of_units = [cycles * warps / partitions for cycles in needs.partition.values()]
    of_units += [cycles * warps / chips["sms"] for cycles in needs.sm.values()]
    of_units += [cycles * warps for cycles in needs.chip.values()]
    return np.maximum.reduce(of_units)
