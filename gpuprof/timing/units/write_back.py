"""Lines of the L2 that stores have changed, written to the DRAM before their places are needed.

A set keeps `l2_dirty_ways` of them. Once it has more that are changed as a whole, the one of these that was used
longest ago is queued at its channel. A channel works on its queue while nothing else is to do, and while there are
reads as much as they take: a read and the queue have the bus by turns. So stores wait for the DRAM only once their
places hold lines that are still queued, and what a launch has left in the queue is written while the next one starts.

A line's ticket is the total of what its channel had queued when the line was: the line is written once the channel has
written as much.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import ALL_SECTORS
from gpuprof.timing.state.table_rows import (
    block_at,
    channel_tick_at,
    l2_line_at,
    l2_tag_at,
    l2_ticket_at,
    l2_use_at,
)
from gpuprof.timing.units.dram import caught_up, channel_of_line, open_row, turned, write_queued
from gpuprof.timing.units.set_associative import n_sectors


@call_njit
def change(machine, first, index, line, sectors, tick):
    """Stores change sectors of the line at `index`, in the set that starts at `first`."""
    entry = l2_line_at(machine, index)
    ticket = l2_ticket_at(machine, index)
    if ticket.value and ticket.value <= caught_up(machine, channel_of_line(machine, line), tick).written:
        ticket.value = 0
    if ticket.value:
        return  # it is written as it is by then
    changed = entry.dirty | sectors
    if changed == ALL_SECTORS and entry.dirty != ALL_SECTORS:
        make_room(machine, first, index, tick)
    entry.dirty = changed


@inline_njit
def make_room(machine, first, index, tick):
    """Queues the line of a set that was used longest ago, of those that are changed as a whole, if there are as many as
    a set may have. `index`: the line that is about to be one.
    """
    count = 0
    found = index
    for way in range(first, first + machine.l2_ways):
        entry = l2_line_at(machine, way)
        if entry.dirty == ALL_SECTORS and entry.valid == ALL_SECTORS:
            count += 1
            if l2_use_at(machine, way).value < l2_use_at(machine, found).value:
                found = way
    if count >= machine.l2_dirty_ways and found != index:
        line = l2_tag_at(machine, found).value - 1
        l2_line_at(machine, found).dirty = 0
        l2_ticket_at(machine, found).value = queued(machine, line, tick)


@inline_njit
def queued(machine, line, tick):
    """Queues a line at its channel; returns its ticket."""
    count = n_sectors(ALL_SECTORS)
    if machine.asker >= 0:
        block_at(machine, machine.asker).dram_write_sectors += count
    channel = channel_of_line(machine, line)
    queue = caught_up(machine, channel, tick)
    ticks = turned(machine, line, count) + count * machine.dram_ticks
    open_row(machine, channel, line, max(tick, channel_tick_at(machine, channel).value))
    queue.queued += max(ticks, machine.opens_row * machine.dram_row_turn_ticks)
    queue.sectors += count
    return queue.queued


@inline_njit
def written_out(machine, line, ticket, tick):
    """The tick in which the place of a queued line is free: its channel writes it now, and what is queued before it,
    if it has not yet.
    """
    channel = channel_of_line(machine, line)
    queue = caught_up(machine, channel, tick)
    if ticket <= queue.written:
        return tick
    free = channel_tick_at(machine, channel)
    free.value = max(free.value, tick) + ticket - queue.written
    write_queued(machine, queue, ticket - queue.written)
    machine.written_back = free.value
    return free.value - machine.dram_posted_ticks
