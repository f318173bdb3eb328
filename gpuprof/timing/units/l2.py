"""The L2, shared by all SMs: slices of sectored, write-back cache in front of the DRAM channels.

Requests of one quantum are served in the order of (arrival cycle, SM, issue). Each reserves its SM's link, its slice
and, when it misses, a DRAM channel; so its completion is known at once. A slice is picked by a hash of the line, and
lies in the near or the far half of the chip (`l2_halves.py`).

A slice that must evict a line waits until the DRAM has room for it, and all that comes after that waits with it. Once
the queue in front of a slice is full, an SM's load/store unit waits to pass on a store.
"""

from gpuprof.isa.causes import INDEX
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.sampling.triggers import L2_MISS
from gpuprof.timing.state.layout import (
    ATOMIC_REQUEST,
    HIT,
    MERGE,
    POLL,
    READ,
    SIGNAL,
    TICK_BITS,
    TOKEN,
    WRITE,
)
from gpuprof.timing.state.table_rows import (
    block_at,
    grid_at,
    l1_line_at,
    l2_line_at,
    l2_tag_at,
    l2_ticket_at,
    l2_use_at,
    load_at,
    miss_free_at,
    request_at,
    slice_join_at,
    slice_joins_at,
    slice_tick_at,
    sm_at,
    warp_at,
)
from gpuprof.timing.units.atomic_time import count_atomic
from gpuprof.timing.units.dram import posted, read, write
from gpuprof.timing.units.events import count_l2_misses
from gpuprof.timing.units.l2_halves import fetched_with, held_sectors
from gpuprof.timing.units.per_block import asker_of
from gpuprof.timing.units.polls import count_signal, polled
from gpuprof.timing.units.set_associative import find, fold_bits, n_sectors, oldest
from gpuprof.timing.units.tlb import translated
from gpuprof.timing.units.write_back import change, written_out

PENDING, L2_NEAR, L2_FAR, DRAM, ATOMIC = (INDEX[name] for name in ("pending", "l2", "l2_far", "dram", "atomic"))

GOLDEN, HALF = 40503, 1 << 15  # 2^16 by the golden ratio: multiplicative hashing (Knuth, volume 3, 6.4)


@inline_njit
def serve(machine, index):
    r = request_at(machine, index)
    machine.grid = r.grid
    if machine.counts_blocks:
        machine.asker = asker_of(machine, r)
    if r.kind == MERGE:
        r.done = request_at(machine, r.place).done
        r.level = PENDING
    else:
        r.done = reach_slice(machine, r)
    if r.kind == READ:
        r.done = in_order(machine, r)
        free = miss_free_at(machine, r.sm, r.slot)
        free.value = r.done if free.value == TOKEN else max(free.value, r.done)
        fill_l1(machine, r, index)
    if machine.asker >= 0 and r.kind != MERGE:
        block = block_at(machine, machine.asker)
        block.l2_requests += 1
        block.l2_request_cycles += r.done - r.arrival
    if r.watch == SIGNAL:
        count_signal(machine, r)
    if r.watch == POLL:
        polled(machine, r)
    elif r.target >= 0:
        load = load_at(machine, r.target)
        if r.done > load.done or (r.done == load.done and r.level > load.level):
            load.done = r.done
            load.level = r.level
    else:
        w = warp_at(machine, -1 - r.target)
        if r.done > w.stores_done or (r.done == w.stores_done and r.slot > w.last_store):
            w.stores_done = r.done
            w.last_store = r.slot
        gone = machine.taken + machine.store_drain_cycles
        if gone > w.stores_gone or (gone == w.stores_gone and r.slot > w.last_gone):
            w.stores_gone = gone
            w.last_gone = r.slot


@inline_njit
def in_order(machine, request):
    """The cycle in which a read is back: the misses of an L1 come back in the order of their requests."""
    s = sm_at(machine, request.sm)
    s.returned = max(s.returned, request.done)
    return s.returned


@inline_njit
def fill_l1(machine, request, index):
    """The line that a miss went for gets its time of arrival, if that was the line's last request and it still has the
    place.
    """
    if request.place >= 0:
        entry = l1_line_at(machine, request.place)
        if entry.pending_until == TOKEN and entry.request == index:
            entry.pending_until = request.done


@inline_njit
def reach_slice(machine, request):
    """The completion cycle of a request, after its SM's link and its slice; later by as much as its translation is
    later than its turn.
    """
    s = sm_at(machine, request.sm)
    n = n_sectors(request.sectors)
    tick = max(request.arrival << TICK_BITS, s.noc_tick)
    s.noc_tick = tick + n * machine.noc_ticks
    # A late translation delays only this request: what it has reserved stays reserved (docs/model/memory.md, Address
    # translation).
    late = max(0, translated(machine, request) - (tick >> TICK_BITS))
    number = slice_of(machine, request.line)
    tick = max(tick, slice_tick_at(machine, number).value)
    ticks = n * machine.slice_ticks
    if request.kind == ATOMIC_REQUEST:
        ticks = request.place
        count_atomic(machine, number, request, ticks)
    elif request.watch == POLL:
        ticks = n * machine.poll_ticks
    elif request.missing:
        ticks = joined_ticks(machine, number, request, n)
    slice_tick_at(machine, number).value = tick + ticks
    home = number * 2 // machine.l2_slices
    held = held_sectors(machine, request, s.half, home)
    latency = answer_cycles(machine, request, held, s.half == home)
    cycle = tick >> TICK_BITS
    machine.taken = cycle
    if request.kind == WRITE:
        s.lsu_tick = max(s.lsu_tick, tick - machine.slice_queue_ticks)
    late += further(request.sm, machine.l2_spread_cycles)
    if request.kind == WRITE:
        touch(machine, request, n, tick, 0, held)
        return machine.taken + latency - machine.l2_near_cycles + machine.l2_store_cycles + late
    # A half's channels are its own, so a miss of the other half goes as much further as a hit of it.
    way = machine.l2_way_cycles if s.half != home else -machine.l2_way_cycles
    done = touch(machine, request, n, tick, way, held)
    request.level = L2_FAR if latency > machine.l2_near_cycles else L2_NEAR
    if done > cycle + latency:
        request.level = DRAM
    done = max(cycle + latency, done) + late
    if request.kind == ATOMIC_REQUEST:
        request.level = ATOMIC
        return done + (ticks >> TICK_BITS) + machine.atomic_extra_cycles
    return done


@inline_njit
def slice_of(machine, line):
    """The number of a line's slice: neighbouring lines share one (docs/model/memory.md, L2)."""
    return fold_bits(line >> machine.l2_interleave_bits) % machine.l2_slices


@inline_njit
def further(sm, spread):
    """Cycles that an SM is further from the L2 than SMs are on average: -spread / 2 to spread / 2, 0 for the first.
    Where they lie on a chip is not known: multiples of the golden ratio scatter them evenly, however many.
    """
    return ((((sm * GOLDEN + HALF) & (2 * HALF - 1)) - HALF) * spread + HALF) >> 16


@call_njit
def joined_ticks(machine, number, request, count):
    """Ticks that a slice takes for a store of `count` sectors of which it writes some in part: their transfer, and what
    the stores to the line owe whose place it takes. Those to one line are joined (docs/model/memory.md, L2).
    """
    ticks = count * machine.slice_ticks
    place = 0
    while place < machine.l2_join_lines and slice_join_at(machine, number, place).line != request.line + 1:
        place += 1
    if place == machine.l2_join_lines:
        joins = slice_joins_at(machine, number)
        place = joins.value % machine.l2_join_lines
        joins.value += 1
        entry = slice_join_at(machine, number, place)
        if spread(entry.sectors) & ~entry.words:
            ticks += entry.owed
        entry.line = request.line + 1
        entry.owed = entry.words = entry.sectors = 0
    entry = slice_join_at(machine, number, place)
    entry.words |= ~request.missing & spread(request.sectors)
    entry.sectors |= request.sectors
    entry.owed += changed_ticks(machine, request.missing)
    return ticks


@inline_njit
def changed_ticks(machine, missing):
    """Ticks to read, change and write back the sectors that a store writes in part."""
    partial = 0
    for k in range(4):
        partial += (missing >> 8 * k & 0xFF) != 0
    return machine.partial_request_ticks + partial * machine.partial_sector_ticks


@inline_njit
def answer_cycles(machine, request, held, is_home):
    """Cycles from load to use of a request that hits. `held`: as `held_sectors` says; `is_home`: it was sent from the
    line's home half.
    """
    return machine.l2_near_cycles if is_home or not request.sectors & ~(held >> 4) else machine.l2_far_cycles


@inline_njit
def touch(machine, request, count, tick, way, held):
    """Looks a request's line up, allocates it, and fetches what a read misses; returns when that arrives, or 0. `way`:
    cycles that this takes longer than from the average channel. `held`: the sectors that neither half has lost.
    """
    base = fold_bits(request.line) % machine.l2_sets * machine.l2_ways
    index = find(machine.l2_tag_table, base, machine.l2_ways, request.line)
    if index < 0:
        index = oldest(machine.l2_use_table, base, machine.l2_ways)
        tick = hold(machine, request.line, tick, evict(machine, index, tick))
        l2_tag_at(machine, index).value = request.line + 1
    machine.l2_uses += 1
    l2_use_at(machine, index).value = machine.l2_uses
    entry = l2_line_at(machine, index)
    sectors = request.sectors
    # A write fetches nothing: the sectors whose words it fills become valid (docs/model/memory.md, L2).
    needs = request.kind != WRITE and request.watch != HIT
    valid = entry.valid & held
    missing = sectors & ~valid if needs else 0
    grid = grid_at(machine, machine.grid)
    grid.l2_sectors += count
    grid.l2_hits += count - n_sectors(missing)
    if machine.asker >= 0:
        block = block_at(machine, machine.asker)
        block.l2_sectors += count
        block.l2_hits += count - n_sectors(missing)
    # A hit in a line that the DRAM has not delivered yet waits for it. A write waits for nothing.
    arrives = entry.pending_until if valid & sectors and needs else 0
    if missing:
        if machine.trigger == L2_MISS and request.sm >= 0:
            count_l2_misses(machine, request, n_sectors(missing))
        fetched = fetched_with(machine, missing) & ~valid
        arrives = max(arrives, read(machine, request.line, n_sectors(fetched), tick) + way)
        if request.kind != READ:
            ticks = n_sectors(fetched) * machine.dram_ticks
            hold(machine, request.line, tick, posted(machine, request.line, ticks, tick))
        entry.pending_until = max(entry.pending_until, arrives)
        entry.valid |= fetched
    if request.kind != READ:
        change(machine, base, index, request.line, sectors, tick)
    if request.missing:
        sectors = complete_sectors(entry, sectors, request.missing)
    entry.valid |= sectors
    return arrives


@inline_njit
def hold(machine, line, tick, room):
    """The tick in which the slice of a line continues, which waits from `tick` on for the DRAM to have room."""
    if room <= tick:
        return tick
    slice_tick_at(machine, slice_of(machine, line)).value += room - tick
    machine.taken = room >> TICK_BITS
    return room


@call_njit
def complete_sectors(entry, sectors, missing):
    """The sectors that a store makes valid although it leaves out some words: by itself, or with the words of earlier
    stores.
    """
    entry.words |= ~missing & spread(sectors)
    complete = 0
    for k in range(4):
        if entry.words >> 8 * k & 0xFF == 0xFF:
            complete |= 1 << k
    return sectors & complete


@inline_njit
def spread(sectors):
    """Four bits to all words of four sectors, 32 bits."""
    return ((sectors & 1) | (sectors >> 1 & 1) << 8 | (sectors >> 2 & 1) << 16 | (sectors >> 3 & 1) << 24) * 0xFF


@inline_njit
def evict(machine, index, tick):
    """Frees a place; sectors that were written, in part or wholly, go to the DRAM. One that writes no single bytes
    gives first what stores have left out. Returns the tick in which the DRAM has room for it.
    """
    room = tick
    entry = l2_line_at(machine, index)
    ticket = l2_ticket_at(machine, index)
    if ticket.value:
        room = written_out(machine, l2_tag_at(machine, index).value - 1, ticket.value, tick)
        ticket.value = 0
    elif entry.dirty:
        line = l2_tag_at(machine, index).value - 1
        partial = entry.dirty & ~entry.valid
        if partial and not machine.dram_masks_writes:
            read(machine, line, n_sectors(partial), tick)
            posted(machine, line, n_sectors(partial) * machine.dram_ticks, tick)
            slice_tick_at(machine, slice_of(machine, line)).value += machine.fill_ticks
            partial = 0
        room = write(machine, line, n_sectors(entry.dirty), tick, partial != 0)
    entry.valid = 0
    entry.dirty = 0
    entry.words = 0
    entry.pending_until = 0
    return room
