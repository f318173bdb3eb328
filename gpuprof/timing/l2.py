"""The L2, shared by all SMs: slices of sectored, write-back cache in front of the DRAM channels.

Requests of one quantum are served in the order of (arrival cycle, SM, issue). Each reserves its SM's link, its slice and, when it
misses, a DRAM channel; so its completion is known at once. A slice is picked by a hash of the line, and lies in the near or the far
half of the chip.
"""

from gpuprof.timing.cache import find, fold_bits, n_sectors, oldest
from gpuprof.timing.dram import read, write
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import ATOMIC_REQUEST, MERGE, N_BUCKETS, READ, TICK_BITS, TOKEN, WRITE




@cold
def serve_requests(m):
    """Serves all requests of the quantum and tells the loads and stores that wait for them."""
    gpu = m.gpu[0]
    last = order_requests(m)
    for bucket in range(last + 1):
        index = m.memory.bucket[bucket]
        m.memory.bucket[bucket] = -1
        while index >= 0:
            serve(m, index)
            index = m.memory.request[index].next
    gpu.n_requests = 0


@hot
def order_requests(m):
    """Chains requests by arrival cycle, first come first; returns the last bucket in use."""
    last = -1
    for index in range(m.gpu[0].n_requests - 1, -1, -1):
        r = m.memory.request[index]
        bucket = min(r.arrival - m.gpu[0].now, N_BUCKETS - 1)
        r.next = m.memory.bucket[bucket]
        m.memory.bucket[bucket] = index
        last = max(last, bucket)
    return last


@hot
def serve(m, index):
    r = m.memory.request[index]
    if r.kind == MERGE:
        r.done = m.memory.request[r.place].done
    else:
        r.done = reach_slice(m, r)
    if r.kind == READ:
        m.memory.miss_free[r.sm, r.slot] = r.done
        fill_l1(m, r)
    if r.target >= 0:
        load = m.memory.load[r.target]
        load.done = max(load.done, r.done)
    else:
        w = m.core.warp[-1 - r.target]
        w.stores_done = max(w.stores_done, r.done)


@hot
def fill_l1(m, r):
    """The line that a miss reserved gets its time of arrival, if it has not been given to another since."""
    if r.place >= 0 and m.memory.l1_tag[r.place] == r.line + 1:
        entry = m.memory.l1_line[r.place]
        if entry.pending_until >= TOKEN:
            entry.pending_until = r.done
        else:
            entry.pending_until = max(entry.pending_until, r.done)


@hot
def reach_slice(m, r):
    """The completion cycle of a request, after its SM's link and its slice."""
    chip = m.chip[0]
    s = m.core.sm[r.sm]
    n = n_sectors(r.sectors)
    tick = max(r.arrival << TICK_BITS, s.noc_tick)
    s.noc_tick = tick + n * chip.noc_ticks
    hashed = fold_bits(r.line)
    number = hashed % chip.l2_slices
    tick = max(tick, m.memory.slice_tick[number])
    ticks = n * chip.slice_ticks
    if r.kind == ATOMIC_REQUEST:
        ticks = max(ticks, r.conflicts * chip.atomic_ticks)
    m.memory.slice_tick[number] = tick + ticks
    far = number * 2 // chip.l2_slices != s.half
    latency = chip.l2_far_cycles if far else chip.l2_near_cycles
    cycle = tick >> TICK_BITS
    if r.kind == WRITE:
        touch(m, r, n, tick)
        return cycle + latency - chip.l2_near_cycles + chip.l2_store_cycles
    done = max(cycle + latency, touch(m, r, n, tick))
    if r.kind == ATOMIC_REQUEST:
        return done + (ticks >> TICK_BITS) + chip.atomic_extra_cycles
    return done


@hot
def touch(m, r, n, tick):
    """Looks a request's line up, allocates it, and fetches what a read misses; returns when that arrives, or 0."""
    chip = m.chip[0]
    gpu = m.gpu[0]
    base = fold_bits(r.line) % chip.l2_sets * chip.l2_ways
    place = find(m.memory.l2_tag, base, chip.l2_ways, r.line)
    if place < 0:
        place = oldest(m.memory.l2_use, base, chip.l2_ways)
        evict(m, place, tick)
        m.memory.l2_tag[place] = r.line + 1
    gpu.l2_use += 1
    m.memory.l2_use[place] = gpu.l2_use
    entry = m.memory.l2_line[place]
    sectors = r.sectors
    missing = 0 if r.kind == WRITE else sectors & ~entry.valid
    gpu.l2_sectors += n
    gpu.l2_hits += n - n_sectors(missing)
    arrives = entry.pending_until if entry.valid & sectors and r.kind != WRITE else 0
    if missing:
        arrives = max(arrives, read(m, r.line, n_sectors(missing), tick))
        entry.pending_until = max(entry.pending_until, arrives)
    entry.valid |= sectors
    if r.kind != READ:
        entry.dirty |= sectors
    return arrives


@hot
def evict(m, place, tick):
    """Frees a place; what was written goes to the DRAM."""
    entry = m.memory.l2_line[place]
    if entry.dirty:
        write(m, m.memory.l2_tag[place] - 1, n_sectors(entry.dirty), tick)
    entry.valid = 0
    entry.dirty = 0
    entry.pending_until = 0
