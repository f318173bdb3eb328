"""Channels write what is queued (units/write_back.py) before and after a batch of launches, too."""

import numpy as np

from gpuprof.timing.state.layout import TICKS
from gpuprof.timing.state.machine import Machine


def write_until(machine: Machine, cycle: int) -> int:
    """Lets the channels write what is queued until `cycle`, while they have nothing else to do. Returns sectors."""
    queue, free = machine.write_queue, machine.channel_tick
    left = queue["queued"] - queue["written"]
    ticks = np.clip(cycle * TICKS - free, 0, left)
    sectors = np.where(ticks == left, queue["sectors"], queue["sectors"] * ticks // np.maximum(left, 1))
    queue["written"] += ticks
    queue["sectors"] -= sectors
    free += ticks
    return int(sectors.sum())
