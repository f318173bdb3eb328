"""DRAM: channels with the throughput that programs reach, and banks that must open a row before they read or write it.

A channel's bus is reserved at once, for as long as the transfer takes. Requests to an open row need no more than that;
others wait until their bank may open another, `dram_row_cycle_ns` after the last, and their channel, `dram_activate_ns`
after the last of any bank: so accesses of a few sectors to rows do not fill the bus. The bus turns from reading to
writing and back, `dram_turn_ns`, once for each QUEUE sectors written. Controllers hold requests back and serve those to
one row together: here a row that was accessed within the time that a queue of QUEUE sectors takes still counts as open
when another one is, up to OPEN_ROWS of them.

Loads wait for their data, so there are never more of them than their warps can have in flight. No warp waits for what
is written back, nor for what stores and reductions fetch: the L2 waits instead when a channel has `dram_posted_sectors`
of these (`posted`).
"""

from gpuprof.jit.internal import inline_njit
from gpuprof.timing.state.layout import OPEN_ROWS, QUEUE, TICK_BITS
from gpuprof.timing.state.table_rows import (
    block_at,
    channel_activate_at,
    channel_posted_at,
    channel_tick_at,
    channel_turn_at,
    dram_row_at,
    grid_at,
    write_queue_at,
)
from gpuprof.timing.units.set_associative import fold_bits

SCATTER = 0x9E3779B1  # 2^32 by the golden ratio: multiplicative hashing (Knuth, volume 3, 6.4)


@inline_njit
def transfer(machine, line, ticks, tick, reads):
    """Takes a line's channel for some ticks, and its bank; returns the tick in which the data reaches the asking SM.
    After a read (`reads` 1) the channel works for as long on its queue of writes.
    """
    channel = channel_of_line(machine, line)
    queue = caught_up(machine, channel, tick)
    tick = max(tick, channel_tick_at(machine, channel).value)
    share = reads * min(ticks, queue.queued - queue.written)
    write_queued(machine, queue, share)
    machine.queue_share = share
    channel_tick_at(machine, channel).value = tick + ticks + share
    return max(tick + machine.dram_hit_ticks, open_row(machine, channel, line, tick) + machine.dram_miss_ticks)


@inline_njit
def caught_up(machine, channel, tick):
    """The queue of a channel, after what it has written by `tick` while there was nothing else to do."""
    queue = write_queue_at(machine, channel)
    free = channel_tick_at(machine, channel)
    step = min(queue.queued - queue.written, tick - free.value)
    if step > 0:
        write_queued(machine, queue, step)
        free.value += step
    return queue


@inline_njit
def write_queued(machine, queue, ticks):
    """A channel works on its queue for so many ticks, for the grid that asks: on average its sectors take the same."""
    left = queue.queued - queue.written
    sectors = queue.sectors if ticks == left else queue.sectors * ticks // left
    queue.written += ticks
    queue.sectors -= sectors
    grid_at(machine, machine.grid).dram_write_sectors += sectors


@inline_njit
def channel_of_line(machine, line):
    return channel_of(line >> machine.dram_interleave_bits) % machine.dram_channels


@inline_njit
def turned(machine, line, sectors):
    """Ticks that a line's channel needs to turn its bus before so many sectors are written: none but once a full queue
    of them, and none while nothing else is read.
    """
    pending = channel_turn_at(machine, channel_of_line(machine, line))
    pending.value += 2 * sectors
    if pending.value < 2 * QUEUE:
        return 0
    ticks = (pending.value & 1) * machine.dram_turn_ticks
    pending.value = 0
    return ticks


@inline_njit
def channel_of(number):
    """A number that selects the channel of the neighbouring lines with this number. It scatters: some channels get more
    of a stream's lines at a time than others, as with the unknown hashes of chips.
    """
    return number * SCATTER >> 16 & 0xFFFF


@inline_njit
def open_row(machine, channel, line, tick):
    """The tick in which a line's row was opened, or will be."""
    number = line // machine.dram_row_span
    bank = channel * machine.dram_banks + fold_bits(number) % machine.dram_banks
    match, oldest, newest = -1, 0, 0
    for k in range(OPEN_ROWS):
        row = dram_row_at(machine, bank, k)
        if row.number == number:
            match = k
        if row.opened < dram_row_at(machine, bank, oldest).opened:
            oldest = k
        if row.opened > dram_row_at(machine, bank, newest).opened:
            newest = k
    # FR-FCFS: requests of one row count as one visit while they come within the time of a full queue (docs/model.md,
    # DRAM). Between two rows that a bank opens there is at least a row cycle (tRC).
    opened = dram_row_at(machine, bank, newest).opened
    machine.opens_row = 0
    if match < 0 or (match != newest and tick - dram_row_at(machine, bank, match).used > machine.dram_queue_ticks):
        machine.opens_row = 1
        match = oldest if match < 0 else match
        dram_row_at(machine, bank, match).number = number
        activate = channel_activate_at(machine, channel)
        from_now = max(tick, activate.value)
        activate.value = from_now + machine.dram_activate_ticks
        dram_row_at(machine, bank, match).opened = max(from_now, opened + machine.dram_row_cycle_ticks)
    dram_row_at(machine, bank, match).used = tick
    return dram_row_at(machine, bank, match).opened


@inline_njit
def read(machine, line, sectors, tick):
    """The cycle in which the data reaches the SM that asked."""
    grid_at(machine, machine.grid).dram_read_sectors += sectors
    if machine.asker >= 0:
        block_at(machine, machine.asker).dram_read_sectors += sectors
    channel_turn_at(machine, channel_of_line(machine, line)).value |= 1
    return transfer(machine, line, sectors * machine.dram_ticks, tick, 1) >> TICK_BITS


@inline_njit
def write(machine, line, sectors, tick, masked):
    """The tick in which there is room for what is written. `masked`: some bytes are left out, and the
    masks take time on the bus.
    """
    grid_at(machine, machine.grid).dram_write_sectors += sectors
    if machine.asker >= 0:
        block_at(machine, machine.asker).dram_write_sectors += sectors
    ticks = turned(machine, line, sectors) + sectors * machine.dram_ticks + masked * machine.dram_mask_ticks
    machine.written_back = transfer(machine, line, ticks, tick, 0) - machine.dram_miss_ticks
    return posted(machine, line, ticks, tick)


@inline_njit
def posted(machine, line, ticks, tick):
    """The tick in which a channel has room for the last access to the DRAM, for which no warp waits. It takes
    `ticks` on the bus, or the time until the channel can open another row, if it opened one, and then what the
    channel has written of its queue.
    """
    done = channel_posted_at(machine, channel_of_line(machine, line))
    ticks = max(ticks, machine.opens_row * machine.dram_row_turn_ticks) + machine.queue_share
    done.value = max(done.value, tick) + ticks
    return done.value - machine.dram_posted_ticks
