"""The L2, shared by all SMs: slices of sectored, write-back cache in front of the DRAM channels.

Requests of one quantum are served in the order of (arrival cycle, SM, issue). Each reserves its SM's link, its slice
and, when it misses, a DRAM channel; so its completion is known at once. A slice is picked by a hash of the line, and
lies in the near or the far half of the chip; each half has copies of what it reads.
"""

from gpuprof.isa.causes import INDEX
from gpuprof.timing.cache import find, fold_bits, n_sectors, oldest
from gpuprof.timing.dram import read, write
from gpuprof.timing.events import count_l2_misses
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import ATOMIC_REQUEST, COPY_WAYS, MERGE, N_BUCKETS, READ, TICK_BITS, TOKEN, WRITE
from gpuprof.timing.tables import (
    bucket_at,
    grid_at,
    l1_line_at,
    l2_copy_at,
    l2_line_at,
    l2_tag_at,
    l2_use_at,
    load_at,
    miss_free_at,
    request_at,
    slice_tick_at,
    sm_at,
    warp_at,
)
from gpuprof.timing.tlb import translated
from gpuprof.timing.triggers import L2_MISS

PENDING, L2_NEAR, L2_FAR, DRAM, ATOMIC = (INDEX[name] for name in ("pending", "l2", "l2_far", "dram", "atomic"))


@cold
def serve_requests(m):
    """Serves all requests of the quantum and tells the loads and stores that wait for them."""
    last = order_requests(m)
    for bucket in range(last + 1):
        index = bucket_at(m, bucket).value
        bucket_at(m, bucket).value = -1
        while index >= 0:
            serve(m, index)
            index = request_at(m, index).next
    m.n_requests = 0
    m.n_bulk = 0


@hot
def order_requests(m):
    """Chains requests by arrival cycle, first come first; returns the last bucket in use."""
    last = -1
    for index in range(m.n_requests - 1, -1, -1):
        r = request_at(m, index)
        bucket = min(r.arrival - m.now, N_BUCKETS - 1)
        r.next = bucket_at(m, bucket).value
        bucket_at(m, bucket).value = index
        last = max(last, bucket)
    return last


@hot
def serve(m, index):
    r = request_at(m, index)
    m.grid = r.grid
    if r.kind == MERGE:
        r.done = request_at(m, r.place).done
        r.level = PENDING
    else:
        r.done = reach_slice(m, r)
    if r.kind == READ:
        free = miss_free_at(m, r.sm, r.slot)
        free.value = r.done if free.value == TOKEN else max(free.value, r.done)
        fill_l1(m, r, index)
    if r.target >= 0:
        load = load_at(m, r.target)
        if r.done > load.done or (r.done == load.done and r.level > load.level):
            load.done = r.done
            load.level = r.level
    else:
        w = warp_at(m, -1 - r.target)
        if r.done > w.stores_done or (r.done == w.stores_done and r.slot > w.last_store):
            w.stores_done = r.done
            w.last_store = r.slot
        gone = m.taken + m.store_drain_cycles
        if gone > w.stores_gone or (gone == w.stores_gone and r.slot > w.last_gone):
            w.stores_gone = gone
            w.last_gone = r.slot


@hot
def fill_l1(m, r, index):
    """The line that a miss went for gets its time of arrival, if that was the line's last request and it still has the
    place.
    """
    if r.place >= 0:
        entry = l1_line_at(m, r.place)
        if entry.pending_until == TOKEN and entry.request == index:
            entry.pending_until = r.done


@hot
def reach_slice(m, r):
    """The completion cycle of a request, after its SM's link and its slice; later by as much as its translation is
    later than its turn.
    """
    s = sm_at(m, r.sm)
    n = n_sectors(r.sectors)
    tick = max(r.arrival << TICK_BITS, s.noc_tick)
    s.noc_tick = tick + n * m.noc_ticks
    late = max(0, translated(m, r) - (tick >> TICK_BITS))
    hashed = fold_bits(r.line)
    number = hashed % m.l2_slices
    tick = max(tick, slice_tick_at(m, number).value)
    ticks = n * m.slice_ticks
    if r.kind == ATOMIC_REQUEST:
        ticks = max(n * m.atomic_sector_ticks, r.conflicts * m.atomic_ticks) * r.place
    slice_tick_at(m, number).value = tick + ticks
    latency = answer_cycles(m, r, s.half, number * 2 // m.l2_slices)
    cycle = tick >> TICK_BITS
    m.taken = cycle
    if r.kind == WRITE:
        touch(m, r, n, tick)
        return cycle + latency - m.l2_near_cycles + m.l2_store_cycles + late
    r.level = L2_FAR if latency > m.l2_near_cycles else L2_NEAR
    done = touch(m, r, n, tick)
    if done > cycle + latency:
        r.level = DRAM
    done = max(cycle + latency, done) + late
    if r.kind == ATOMIC_REQUEST:
        r.level = ATOMIC
        return done + (ticks >> TICK_BITS) + m.atomic_extra_cycles
    return done


@cold
def answer_cycles(m, r, half, home):
    """Load to use of a request from one half that hits. A half has what it has read, as far as there is room, until it
    is written; what is written lies in its home, and there it is written."""
    if m.l2_far_cycles == m.l2_near_cycles:
        return m.l2_near_cycles
    if r.kind != READ:
        copies(m, home, r.line, r.sectors, 1)
        copies(m, 1 - home, r.line, r.sectors, 0)
        return m.l2_near_cycles if half == home else m.l2_far_cycles
    return m.l2_far_cycles if r.sectors & ~copies(m, half, r.line, r.sectors, 1) else m.l2_near_cycles


@cold
def copies(m, half, line, sectors, there):
    """The sectors of a line that a half of the L2 had. From now on it has these, too (`there` 1) or no longer (0)."""
    first = (half * m.copy_sets + fold_bits(line) % m.copy_sets) * COPY_WAYS
    place = first
    while place < first + COPY_WAYS and l2_copy_at(m, place).value >> 4 != line + 1:
        place += 1
    had = 0
    if place < first + COPY_WAYS:
        had = l2_copy_at(m, place).value & 15
        if not there:
            l2_copy_at(m, place).value = (line + 1) << 4 | (had & ~sectors)
    elif there:
        place -= 1  # the one that was read or written longest ago goes
    if there:
        while place > first:
            l2_copy_at(m, place).value = l2_copy_at(m, place - 1).value
            place -= 1
        l2_copy_at(m, first).value = (line + 1) << 4 | had | sectors
    return had


@hot
def touch(m, r, n, tick):
    """Looks a request's line up, allocates it, and fetches what a read misses; returns when that arrives, or 0."""
    base = fold_bits(r.line) % m.l2_sets * m.l2_ways
    place = find(m.l2_tag_table, base, m.l2_ways, r.line)
    if place < 0:
        place = oldest(m.l2_use_table, base, m.l2_ways)
        evict(m, place, tick)
        l2_tag_at(m, place).value = r.line + 1
    m.l2_uses += 1
    l2_use_at(m, place).value = m.l2_uses
    entry = l2_line_at(m, place)
    sectors = r.sectors
    missing = 0 if r.kind == WRITE else sectors & ~entry.valid
    grid = grid_at(m, m.grid)
    grid.l2_sectors += n
    grid.l2_hits += n - n_sectors(missing)
    arrives = entry.pending_until if entry.valid & sectors and r.kind != WRITE else 0
    if missing:
        if m.trigger == L2_MISS:
            count_l2_misses(m, r, n_sectors(missing))
        arrives = max(arrives, read(m, r.line, n_sectors(missing), tick))
        entry.pending_until = max(entry.pending_until, arrives)
    if r.kind != READ:
        entry.dirty |= sectors
    if r.missing:
        sectors = whole_sectors(entry, sectors, r.missing)
    entry.valid |= sectors
    return arrives


@cold
def whole_sectors(entry, sectors, missing):
    """Of the sectors of a store that leaves out some words, those that it makes valid, alone or with what earlier ones
    wrote.
    """
    entry.words |= ~missing & spread(sectors)
    whole = 0
    for k in range(4):
        if entry.words >> 8 * k & 0xFF == 0xFF:
            whole |= 1 << k
    return sectors & whole


@hot
def spread(sectors):
    """Four bits to all words of four sectors, 32 bits."""
    return ((sectors & 1) | (sectors >> 1 & 1) << 8 | (sectors >> 2 & 1) << 16 | (sectors >> 3 & 1) << 24) * 0xFF


@hot
def evict(m, place, tick):
    """Frees a place; sectors that were written, in part or wholly, go to the DRAM."""
    entry = l2_line_at(m, place)
    if entry.dirty:
        write(m, l2_tag_at(m, place).value - 1, n_sectors(entry.dirty), tick)
    entry.valid = 0
    entry.dirty = 0
    entry.words = 0
    entry.pending_until = 0
