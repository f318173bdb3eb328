"""DRAM channels: a fixed latency behind a reservation of bandwidth, with the throughput that programs reach (row misses are in it)."""

from gpuprof.timing.cache import fold_bits
from gpuprof.timing.jit import hot
from gpuprof.timing.layout import TICK_BITS
from gpuprof.timing.tables import channel_tick_at, grid_at


@hot
def reserve(m, line, sectors, tick):
    """Takes a line's channel for some sectors; returns the tick in which the transfer begins."""
    channel = fold_bits(line) // 2 % m.dram_channels
    tick = max(tick, channel_tick_at(m, channel).value)
    channel_tick_at(m, channel).value = tick + sectors * m.dram_ticks
    return tick


@hot
def read(m, line, sectors, tick):
    """The cycle in which the data reaches the SM that asked."""
    grid_at(m, m.grid).dram_read_sectors += sectors
    return (reserve(m, line, sectors, tick) >> TICK_BITS) + m.dram_cycles


@hot
def write(m, line, sectors, tick):
    grid_at(m, m.grid).dram_write_sectors += sectors
    reserve(m, line, sectors, tick)
