"""The way of a record out of the SM: a FIFO of a few places. What finds it full is lost.

By `aux` it drains over a port of its own, one record every so many cycles, which costs the kernel nothing: when a
record leaves is known when it comes. By `lsu` each record goes as a store through the SM's load/store unit and the L2,
into the SM's part of the event buffer, and is in the kernel's way. The next follows the drain's cycles after the
load/store unit took it.
"""

from gpuprof.chips.model import LINE_NBYTES
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.l1 import request
from gpuprof.timing.layout import BUFFER_LINE, NEVER, TICK_BITS, TICKS, WRITE
from gpuprof.timing.tables import fifo_at, leaves_at, loss_at, request_at, sm_at


@cold
def enter(m, sm, g, t):
    """A record of grid g, the one that is written next, comes to the FIFO in cycle t: 1 when it finds a place. It is
    due either way.
    """
    s = sm_at(m, sm)
    loss = loss_at(m, g, sm)
    loss.due += 1
    place = fifo_at(m, sm, s.records % m.fifo_depth)
    if place.leaves > t:
        loss.dropped_fifo += 1
        return 0
    free = max(t, fifo_at(m, sm, (s.records - 1) % m.fifo_depth).leaves) + m.drain_cycles
    place.leaves = free
    if m.through_lsu:
        place.leaves = NEVER
        place.record = m.n_samples
        place.grid = g
        if s.stores == s.records:
            s.next_store = free
    leaves_at(m, m.n_samples).value = place.leaves
    s.records += 1
    return 1


@cold
def store(m, sm, t):
    """The oldest record goes to the load/store unit in cycle t."""
    s = sm_at(m, sm)
    place = fifo_at(m, sm, s.stores % m.fifo_depth)
    tick = max(t << TICK_BITS, s.lsu_tick)
    s.lsu_tick = tick + max(max(TICKS, m.lsu_ticks), max(m.tag_pass_ticks, m.tag_lookup_ticks))
    s.lsu_occupant = 0
    place.leaves = (tick + TICKS - 1) >> TICK_BITS
    leaves_at(m, place.record).value = place.leaves
    m.grid = place.grid
    first = s.stores * m.record_stride % (m.buffer_lines * LINE_NBYTES)
    sectors = (1 << m.record_sectors) - 1 << (first >> 5 & 3)
    index = request(
        m, sm, place.leaves, BUFFER_LINE + sm * m.buffer_lines + first // LINE_NBYTES, sectors, WRITE, nobody(m), -1, 0
    )
    if m.record_sectors == 1:
        request_at(m, index).missing = (0xFF & ~((1 << (m.record_nbytes >> 2)) - 1 << (first >> 2 & 7))) << 8 * (
            first >> 5 & 3
        )
    s.stores += 1
    s.next_store = place.leaves + m.drain_cycles if s.stores < s.records else NEVER


@hot
def nobody(m):
    """Whom a store reports to that no warp asked for."""
    return -1 - m.sms * m.warp_slots
