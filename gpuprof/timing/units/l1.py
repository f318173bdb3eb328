"""The L1 data cache: sectored, least recently used, write-through without allocation; misses go to the L2 as one
request per line.

Fences empty it (CCTL.IVALL). A tag has, above the line's number, the count of fences so far, so lines of earlier ones
are not found, and are those used longest ago. What was on its way then still serves the loads that wait for it.
"""

import numpy as np

from gpuprof.emulate.trace_log.trace_entries import MISSING_SHIFT, SECTOR_MASK
from gpuprof.isa.causes import INDEX
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import (
    ATOMIC_REQUEST,
    COPY_WAYS,
    HIT,
    MERGE,
    QUANTUM,
    READ,
    SECTOR_NBYTES,
    SECTOR_NUMBER_NBYTES,
    SIGNAL,
    TOKEN,
)
from gpuprof.timing.state.table_rows import (
    block_at,
    l1_line_at,
    l1_tag_at,
    l1_use_at,
    load_at,
    miss_free_at,
    part_at,
    prefetch,
    presence_at,
    request_at,
    sm_at,
    warp_at,
    word_at,
)
from gpuprof.timing.units.l2_halves import copy_set
from gpuprof.timing.units.set_associative import expect, find, fold_bits, n_sectors, oldest, prefetch_words

L1, PENDING = INDEX["l1"], INDEX["pending"]
EPOCH_SHIFT, EPOCHS = 44, 1 << 18  # lines are those of 48-bit addresses and less


@call_njit
def request(machine, sm, arrival, line, sectors, kind, target, detail):
    """Notes a request for the L2; it is served when the quantum ends. Returns its number."""
    index = machine.n_requests
    r = request_at(machine, index)
    # Only loads take a miss register: the L1 is write-through, without allocation.
    r.arrival = miss_slot(machine, sm, arrival, index) if kind == READ else arrival
    r.line = line
    r.sectors = sectors
    r.kind = kind
    r.target = target
    r.place = detail
    r.sm = sm
    r.grid = machine.grid
    r.missing = 0
    r.watch = 0
    machine.n_requests = index + 1
    if kind != MERGE:
        first = fold_bits(line) % machine.l2_sets * machine.l2_ways
        expect(machine.l2_tag_table, machine.l2_use_table, machine.l2_line_table, first, machine.l2_ways)
        prefetch_words(machine.l2_ticket_table, first, machine.l2_ways)
        if machine.l2_far_cycles != machine.l2_near_cycles:
            prefetch_copies(machine, line)
    return index


@inline_njit
def prefetch_copies(machine, line):
    """Prefetches the entries of both halves of the L2 for a line: reads look up their copies in one of them, writes in
    both.
    """
    first = copy_set(machine, line) * COPY_WAYS
    prefetch(machine.l2_copy_table, first)
    prefetch(machine.l2_copy_table, machine.copy_sets * COPY_WAYS + first)


@inline_njit
def miss_slot(machine, sm, arrival, index):
    """The cycle in which a miss finds a free miss register. They are given back in the order they were taken; one that
    was taken in this very quantum comes back after it, at the earliest."""
    s = sm_at(machine, sm)
    slot = s.misses % machine.l1_mshrs
    s.misses += 1
    request_at(machine, index).slot = slot
    free = miss_free_at(machine, sm, slot).value
    miss_free_at(machine, sm, slot).value = TOKEN
    if free == TOKEN:
        free = machine.now + QUANTUM
    return max(arrival, free)


@inline_njit
def line_mask(machine, first, end):
    """The sectors from address `first` to `end` that lie in the first one's line: it, their mask, and where the next
    ones begin.
    """
    line = (word_at(first, 0).value & SECTOR_MASK) >> 2
    mask = 0
    k = first
    while k < end and (word_at(k, 0).value & SECTOR_MASK) >> 2 == line:
        mask |= 1 << (word_at(k, 0).value & 3)
        k += SECTOR_NUMBER_NBYTES
    return line, mask, k


@inline_njit
def words_mask(machine, first, end):
    """The sectors that a store accesses, like `line_mask`, and the words of these sectors that the store leaves out, a
    bit for each word of the line.
    """
    line = (word_at(first, 0).value & SECTOR_MASK) >> 2
    mask = 0
    missing = 0
    k = first
    while k < end and (word_at(k, 0).value & SECTOR_MASK) >> 2 == line:
        sector = word_at(k, 0).value
        mask |= 1 << (sector & 3)
        missing |= sector >> MISSING_SHIFT << 8 * (sector & 3)
        k += SECTOR_NUMBER_NBYTES
    return line, mask, missing, k


@call_njit
def send(machine, warp, inst, record, first, count, start, kind, target, cause):
    """Passes a store or an atomic to the L2, line by line. `cause`: the store, as the cause of a later wait for it."""
    sm = part_at(machine, warp_at(machine, warp).partition).sm
    end = first + count * SECTOR_NUMBER_NBYTES
    while first < end:
        line, mask, missing, first = words_mask(machine, first, end)
        detail = atomic_ticks(machine, inst, record, n_sectors(mask), count) if kind == ATOMIC_REQUEST else -1
        r = request_at(machine, request(machine, sm, start, line, mask, kind, target, detail))
        r.missing = missing
        r.slot = cause
        r.watch = SIGNAL if inst.signals and record.lanes == 1 and count == 1 else HIT * inst.hits_l2


@call_njit
def atomic_ticks(machine, inst, record, sectors, count):
    """Ticks of a slice's atomic unit for `sectors` of one line, of the access's `count`. A pass of the unit takes a
    sector, with as many lanes as a sector has words for; lanes on one word take turns (docs/model/memory.md, L2).
    """
    # The trace does not say which lines have how many of the lanes: here each sector has its share.
    nbytes = np.int64(record.lanes) * inst.lane_nbytes * sectors
    passes = max(sectors * machine.atomic_sector_ticks, nbytes * machine.atomic_sector_ticks // (SECTOR_NBYTES * count))
    return max(passes, np.int64(record.conflicts) * inst.atomic_lane_ticks) * inst.atomic_passes


@call_njit
def load(machine, warp, inst, first, count, start, done, group, conflict):
    """The cycle in which a load's data is there: `done` when all of it hits, later when some is on its way, a token
    when some misses. `load_level` gives where its last part came from, when that is known."""
    sm = part_at(machine, warp_at(machine, warp).partition).sm
    index = machine.n_loads
    end = first + count * SECTOR_NUMBER_NBYTES
    before = machine.n_requests
    presence = presence_at(machine, machine.grid, sm)
    presence.l1_sectors += count
    hits = presence.l1_hits
    load_at(machine, index).level = L1
    while first < end:
        line, mask, first = line_mask(machine, first, end)
        if inst.bypass_l1:
            sm_at(machine, sm).l1_misses += n_sectors(mask)
            request(machine, sm, start, line, mask, READ, index, -1)
        else:
            arrives = look_up(machine, sm, line, mask, start, index)
            if arrives > 0 and arrives >= done:
                done = arrives
                load_at(machine, index).level = PENDING
    if machine.counts_blocks:
        block = block_at(machine, warp_at(machine, warp).block_slot)
        block.l1_sectors += count
        block.l1_hits += presence.l1_hits - hits
    if machine.n_requests == before:
        return done
    if inst.hits_l2:
        for k in range(before, machine.n_requests):
            request_at(machine, k).watch = HIT
    load_at(machine, index).done = done
    load_at(machine, index).warp = warp
    load_at(machine, index).pc = warp_at(machine, warp).pc
    load_at(machine, index).group = group
    load_at(machine, index).conflict = conflict >> 16
    machine.n_loads = index + 1
    return TOKEN + index


@inline_njit
def expect_load(machine, sm, first):
    """A load will look up the line of the sector at address `first`, its first: there is time until it has been through
    the load/store unit.
    """
    line = (word_at(first, 0).value & SECTOR_MASK) >> 2
    base = sm * machine.l1_lines + fold_bits(line) % sm_at(machine, sm).l1_sets * machine.l1_ways
    expect(machine.l1_tag_table, machine.l1_use_table, machine.l1_line_table, base, machine.l1_ways)


@inline_njit
def look_up(machine, sm, line, mask, start, index):
    """Looks up one line of a load, and requests the sectors that miss from the L2. Returns the cycle in which sectors
    already on their way arrive, or 0.
    """
    s = sm_at(machine, sm)
    base = sm * machine.l1_lines + fold_bits(line) % s.l1_sets * machine.l1_ways
    name = line + (s.l1_epoch << EPOCH_SHIFT)
    way = find(machine.l1_tag_table, base, machine.l1_ways, name)
    if way < 0:
        way = oldest(machine.l1_use_table, base, machine.l1_ways)
        l1_tag_at(machine, way).value = name + 1
        l1_line_at(machine, way).valid = 0
        l1_line_at(machine, way).pending = 0
        l1_line_at(machine, way).pending_until = 0
    s.l1_use += 1
    l1_use_at(machine, way).value = s.l1_use
    entry = l1_line_at(machine, way)
    if entry.pending_until <= start:
        entry.pending = 0
    arrives = 0
    if entry.pending & mask:
        # The line was requested in this quantum, and its cycle is known when the requests are served.
        if entry.pending_until >= TOKEN:
            request(machine, sm, request_at(machine, entry.request).arrival, line, 0, MERGE, index, entry.request)
        else:
            arrives = entry.pending_until
    missing = mask & ~entry.valid
    presence_at(machine, machine.grid, sm).l1_hits += n_sectors(mask & entry.valid)
    if missing:
        s.l1_misses += n_sectors(missing)
        entry.request = request(machine, sm, start, line, missing, READ, index, way)
        # Valid at once, so that later loads do not ask again. `pending` makes them wait for the data.
        entry.valid |= missing
        entry.pending |= missing
        entry.pending_until = TOKEN
    return arrives


@call_njit
def invalidate(machine, sm):
    """Empties an SM's L1, all of it at once."""
    s = sm_at(machine, sm)
    s.l1_epoch += 1
    if s.l1_epoch == EPOCHS:
        s.l1_epoch = 0
        empty(machine, sm)


@call_njit
def empty(machine, sm):
    """Empties an SM's L1 line by line."""
    for way in range(sm * machine.l1_lines, (sm + 1) * machine.l1_lines):
        l1_tag_at(machine, way).value = 0
        l1_use_at(machine, way).value = 0
        l1_line_at(machine, way).valid = 0
        l1_line_at(machine, way).pending = 0
        l1_line_at(machine, way).pending_until = 0
