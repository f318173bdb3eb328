"""The way of a record out of the SM: a FIFO of a few places. A record that finds it full is lost.

With stream `aux` the FIFO drains over a port of its own, one record every `drain_cycles`, which costs the kernel
nothing: the cycle in which a record leaves is known when it comes. With stream `lsu` each record goes as a store
through the SM's load/store unit and the L2, into the SM's part of the event buffer, and is in the kernel's way. The
next record follows `drain_cycles` after the load/store unit took it.
"""

from gpuprof.chips.model import LINE_NBYTES
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import BUFFER_LINE, NEVER, TICK_BITS, TICKS, WRITE
from gpuprof.timing.state.table_rows import fifo_at, leaves_at, loss_at, request_at, sm_at
from gpuprof.timing.units.banks import take_turn
from gpuprof.timing.units.l1 import request


@call_njit
def enter(machine, sm, grid_index, cycle):
    """Enters a record of `grid_index`, the one that is written next, into the FIFO in `cycle`: 1 when it finds a place.
    It is due either way.
    """
    s = sm_at(machine, sm)
    loss = loss_at(machine, grid_index, sm)
    loss.due += 1
    slot = fifo_at(machine, sm, s.records % machine.fifo_depth)
    # The place was taken `fifo_depth` records ago. It is free if that record has left.
    if slot.leaves > cycle:
        loss.dropped_fifo += 1
        return 0
    free = max(cycle, fifo_at(machine, sm, (s.records - 1) % machine.fifo_depth).leaves) + machine.drain_cycles
    slot.leaves = free
    if machine.through_lsu:
        slot.leaves = NEVER
        slot.record = machine.n_samples
        slot.grid = grid_index
        if s.stores == s.records:
            s.next_store = free
    leaves_at(machine, machine.n_samples).value = slot.leaves
    s.records += 1
    return 1


@call_njit
def store(machine, sm, cycle):
    """The oldest record goes to the load/store unit in `cycle`."""
    s = sm_at(machine, sm)
    slot = fifo_at(machine, sm, s.stores % machine.fifo_depth)
    # One pass, as a store to a single line takes.
    ticks = max(max(TICKS, machine.lsu_ticks), max(machine.tag_pass_ticks, machine.tag_lookup_ticks))
    tick = take_turn(machine, sm, cycle << TICK_BITS, ticks)
    # No instruction of the kernel is to blame for a wait for a record.
    s.lsu_occupant = 0
    slot.leaves = (tick + TICKS - 1) >> TICK_BITS
    leaves_at(machine, slot.record).value = slot.leaves
    machine.grid = slot.grid
    first = s.stores * machine.record_stride % (machine.buffer_lines * LINE_NBYTES)
    sectors = (1 << machine.record_sectors) - 1 << (first >> 5 & 3)
    index = request(
        machine,
        sm,
        slot.leaves,
        BUFFER_LINE + sm * machine.buffer_lines + first // LINE_NBYTES,
        sectors,
        WRITE,
        unrequested_store(machine),
        -1,
    )
    # A compact record fills a part of its sector, and the L2 keeps track of the words that are written.
    if machine.record_sectors == 1:
        request_at(machine, index).missing = (
            0xFF & ~((1 << (machine.record_nbytes >> 2)) - 1 << (first >> 2 & 7))
        ) << 8 * (first >> 5 & 3)
    s.stores += 1
    s.next_store = slot.leaves + machine.drain_cycles if s.stores < s.records else NEVER


@inline_njit
def unrequested_store(machine):
    """The target of a store that no warp requested: nothing waits for its answer."""
    return -1 - machine.sms * machine.warp_slots
