"""Memory instructions: each partition's queue and address unit, and the load/store unit that the SM's partitions share.

All is reserved at issue: the address unit takes one instruction in `address_cycles`, the load/store unit is busy for as
long as the access takes wavefronts through its banks or lines through its tags. An entry of the queue is taken until
shortly after that.
"""

import numpy as np

from gpuprof.emulate.trace import join_sectors
from gpuprof.timing.barrier import open_all
from gpuprof.timing.blame import itself, latecomer, seen_by
from gpuprof.timing.copies import add_to_group, open_group
from gpuprof.timing.fetch import constant_line
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.l1 import expect_load, line_mask, load, request, send
from gpuprof.timing.layout import (
    ACCESS_NBYTES,
    ATOMIC_REQUEST,
    BULK_LOAD,
    BULK_ROOM,
    CAUSE_KIND_SHIFT,
    CONFLICT,
    KIND,
    PORT_LSU,
    READ,
    SECTOR_NBYTES,
    SECTOR_NUMBER_NBYTES,
    TICK_BITS,
    TICKS,
    TOKEN,
    WRITE,
)
from gpuprof.timing.mbarrier import end_phases, wait
from gpuprof.timing.scoreboard import write_results
from gpuprof.timing.static import ATOMIC, BULK, CONSTANT, COPY, GENERIC, GLOBAL, LOAD, MBARRIER, REDUCTION, SHARED
from gpuprof.timing.tables import (
    access_of,
    block_at,
    grid_at,
    inst_at,
    load_at,
    part_at,
    port_at,
    prefetch,
    queue_at,
    queued_at,
    request_at,
    sm_at,
    warp_at,
    word_at,
)

QUEUE, QUEUED, UNIT, SHARED_MEMORY = KIND["queue"], KIND["queued"], KIND["unit"], KIND["shared"]
IN_CACHE, CONSTANT_MISS, ATOMIC_UNIT = KIND["constant"], KIND["constant_miss"], KIND["atomic"]
STORED, ARRIVAL = KIND["store"], KIND["arrival"]
join = hot(join_sectors)
LINES_OF_PARAMETERS = 1024  # constant-cache lines of the parameter block; those of the constant segment follow


@cold
def enter(m, wi, t, ticks, conflict):
    """Warp `wi` issues an instruction at t that keeps the load/store unit for `ticks`; returns the cycle in which it is
    served. `conflict` is CONFLICT when it takes longer than it need."""
    partition = warp_at(m, wi).partition
    part = part_at(m, partition)
    sm = sm_at(m, part.sm)
    address = max(t, part.address_free)
    part.address_free = address + m.address_cycles
    tick = max(address << TICK_BITS, sm.lsu_tick)
    m.lsu_behind = sm.lsu_occupant if sm.lsu_tick > address << TICK_BITS else 0
    sm.lsu_occupant = itself(m, wi, QUEUED) | conflict
    sm.lsu_tick = tick + ticks
    start = (tick + TICKS - 1) >> TICK_BITS
    queue_at(m, partition, part.queued % m.queue_depth).value = start + m.queue_hold_cycles
    queued_at(m, partition, part.queued % m.queue_depth).value = itself(m, wi, QUEUE) | conflict
    part.queued += 1
    port = port_at(m, partition, PORT_LSU)
    port.free = max(t + 1, queue_at(m, partition, part.queued % m.queue_depth).value)
    port.busy += port.free - t - 1
    return start


@cold
def write_served(m, wi, inst, t, start, done, cause):
    """The results of what issued at t, was served at `start` and is done. If the first was longer, what it waited
    behind is the cause.
    """
    if m.lsu_behind and start - t > done - start:
        cause = seen_by(m, wi, m.lsu_behind)
    write_results(m, wi, inst, done, cause)


@cold
def shuffle(m, wi, t):
    inst = inst_at(m, warp_at(m, wi).pc)
    start = enter(m, wi, t, TICKS, 0)
    write_served(m, wi, inst, t, start, start + inst.latency, UNIT | warp_at(m, wi).pc)


@cold
def access(m, wi, t):
    """Warp `wi` issues a memory instruction in cycle t: takes its access record and reserves what it needs."""
    w = warp_at(m, wi)
    inst = inst_at(m, w.pc)
    record = access_of(w.access)
    first = w.sector
    w.access += ACCESS_NBYTES
    w.sector += join(record.n_sectors, record.more_sectors) * SECTOR_NUMBER_NBYTES
    prefetch(w.access, 0)
    prefetch(w.sector, 0)
    kind = inst.kind
    if kind == GENERIC:
        kind = SHARED if record.n_sectors == 0 and record.wavefronts > 0 else GLOBAL
    if record.lanes == 0:
        start = enter(m, wi, t, TICKS, 0)
        write_served(m, wi, inst, t, start, start + 1, UNIT | w.pc)
    elif kind == BULK:
        bulk(m, wi, inst, record, first, t)
    elif kind == MBARRIER:
        shared(m, wi, inst, record, t)
        if record.uniform:
            end_phases(m, w.block_slot, np.int64(record.conflicts), np.int64(record.uniform), t, itself(m, wi, ARRIVAL))
    elif kind == SHARED:
        shared(m, wi, inst, record, t)
    elif kind == CONSTANT:
        constant(m, wi, inst, record, first, t)
    else:
        global_memory(m, wi, inst, record, first, t)


@hot
def shared(m, wi, inst, record, t):
    """Bank conflicts take further wavefronts; lanes of an atomic on one address take turns."""
    passes = np.int64(record.wavefronts)
    conflict = CONFLICT * (passes > inst.least_passes)
    extra = m.shared_wide_cycles if inst.width > 2 else 0
    if inst.operation == ATOMIC or inst.operation == REDUCTION:
        passes = max(passes, np.int64(record.conflicts))
        conflict = CONFLICT * (passes > inst.least_passes)
        passes *= inst.atomic_passes
        if inst.slots > 1:  # a compare-and-swap loop runs once per lane that competes
            extra = (np.int64(record.conflicts) - 1) * inst.slots * inst.chain
    grid_at(m, m.grid).shared_wavefronts += passes
    sm_at(m, part_at(m, warp_at(m, wi).partition).sm).bank_conflicts += max(0, passes - inst.least_passes)
    start = enter(m, wi, t, max(passes * TICKS, m.shared_ticks), conflict)
    done = start + inst.latency + extra + max(0, passes - inst.width) * m.shared_wavefront_cycles
    if record.n_lookups and m.cluster_shared_cycles:
        done += reach_others(m, wi, inst, np.int64(record.n_lookups), start, t)
    write_served(m, wi, inst, t, start, done, SHARED_MEMORY | conflict | warp_at(m, wi).pc)


@cold
def reach_others(m, wi, inst, lanes, start, t):
    """Cycles that an access takes longer since `lanes` of it go to other blocks' shared memory: they wait for the SM's
    port to it, in the partition's queue, and are farther away."""
    partition = warp_at(m, wi).partition
    part = part_at(m, partition)
    s = sm_at(m, part.sm)
    tick = max(start << TICK_BITS, s.cluster_tick)
    s.cluster_tick = tick + lanes * inst.width * m.cluster_ticks
    left = (tick + TICKS - 1) >> TICK_BITS
    queue_at(m, partition, (part.queued - 1) % m.queue_depth).value = left + m.queue_hold_cycles
    port = port_at(m, partition, PORT_LSU)
    free = max(t + 1, queue_at(m, partition, part.queued % m.queue_depth).value)
    port.busy += free - port.free
    port.free = free
    return left - start + m.cluster_shared_cycles - inst.latency


@cold
def wait_for_phase(m, wi, inst, t):
    """A wait at a memory barrier asks shared memory, then stands still if it must."""
    start = enter(m, wi, t, TICKS, 0)
    write_served(m, wi, inst, t, start, start + inst.latency, SHARED_MEMORY | warp_at(m, wi).pc)
    if wait(m, wi, t) and block_at(m, warp_at(m, wi).block_slot).waiting >= block_at(m, warp_at(m, wi).block_slot).live:
        open_all(m, warp_at(m, wi).block_slot, t, latecomer(m, wi))


@cold
def bulk(m, wi, inst, record, first, t):
    """A bulk copy takes the load/store unit for as long as shared memory is busy with it, and passes its lines to the
    L2, one a cycle.
    """
    w = warp_at(m, wi)
    end = first + join(record.n_sectors, record.more_sectors) * SECTOR_NUMBER_NBYTES
    start = enter(m, wi, t, max(np.int64(record.wavefronts), 1) * TICKS, 0)
    sm = part_at(m, w.partition).sm
    kind = READ
    target = m.n_loads
    if inst.operation == LOAD:
        load_at(m, target).done = 0
        load_at(m, target).warp = wi
        load_at(m, target).pc = w.pc
        load_at(m, target).level = 0
        load_at(m, target).group = BULK_LOAD - (np.int64(record.conflicts) | np.int64(record.uniform) << 8)
        block_at(m, w.block_slot).copies += 1
        m.n_loads += 1
    else:
        w.stores_quantum = m.quantum_number
        kind = ATOMIC_REQUEST if inst.operation == REDUCTION else WRITE
        target = -1 - wi
    while first < end and m.n_bulk < BULK_ROOM:
        line, mask, first = line_mask(m, first, end)
        index = request(m, sm, start, line, mask, kind, target, 1 if kind == ATOMIC_REQUEST else -1, 0)
        if target < 0:
            request_at(m, index).slot = STORED | w.pc
        m.n_bulk += 1
        start += 1


@hot
def constant(m, wi, inst, record, first, t):
    """Different constants take turns. Parameters have no sectors: the launch brings them along, first use misses."""
    w = warp_at(m, wi)
    n = max(1, np.int64(record.n_sectors))
    start = enter(m, wi, t, n * TICKS, 0)
    ready = start
    for k in range(np.int64(record.n_sectors)):
        line = LINES_OF_PARAMETERS + (word_at(first, k).value >> 1)
        ready = max(ready, constant_line(m, part_at(m, w.partition).sm, w.grid, line, start))
    cause = (CONSTANT_MISS if ready > start else IN_CACHE) | w.pc
    write_served(m, wi, inst, t, start, ready + inst.latency + n - 1, cause)


@hot
def global_memory(m, wi, inst, record, first, t):
    w = warp_at(m, wi)
    n = np.int64(record.n_sectors)
    if inst.operation == LOAD and n and not inst.bypass_l1:
        expect_load(m, part_at(m, w.partition).sm, first)
    tags = max(m.tag_pass_ticks * np.int64(record.tag_passes), m.tag_lookup_ticks * np.int64(record.n_lookups))
    passes = np.int64(record.wavefronts)
    if inst.operation == COPY:  # and through the banks it writes to
        passes = max(passes, np.int64(record.conflicts))
        grid_at(m, m.grid).shared_wavefronts += np.int64(record.conflicts)
    conflict = CONFLICT * scattered(inst, record)
    start = enter(m, wi, t, max(inst.width * m.lsu_ticks, max(passes * TICKS, tags)), conflict)
    here = conflict | w.pc
    if inst.operation == LOAD:
        done = start + inst.latency + (np.int64(record.wavefronts) - 1) * m.l1_wavefront_cycles
        index = m.n_loads
        done = load(m, wi, inst, first, n, start, done, -1, conflict)
        write_served(m, wi, inst, t, start, done, np.int64(load_at(m, index).level) << CAUSE_KIND_SHIFT | here)
    elif inst.operation == COPY:
        done = start + inst.latency + (np.int64(record.wavefronts) - 1) * m.l1_wavefront_cycles
        group = open_group(m, wi)
        index = m.n_loads
        done = load(m, wi, inst, first, n, start, done, group, conflict)
        add_to_group(m, wi, group, done, np.int64(load_at(m, index).level) << CAUSE_KIND_SHIFT | here)
    elif inst.operation == ATOMIC:
        index = m.n_loads
        load_at(m, index).done = 0
        load_at(m, index).warp = wi
        load_at(m, index).pc = w.pc
        load_at(m, index).group = -1
        load_at(m, index).level = 0
        m.n_loads += 1
        send(m, wi, inst, first, n, start, ATOMIC_REQUEST, index, np.int64(record.conflicts), 0)
        write_results(m, wi, inst, TOKEN + index, ATOMIC_UNIT | here)
    else:
        w.stores_quantum = m.quantum_number
        kind = ATOMIC_REQUEST if inst.operation == REDUCTION else WRITE
        send(m, wi, inst, first, n, start, kind, -1 - wi, np.int64(record.conflicts), STORED | here)


@hot
def scattered(inst, record):
    """Whether a full warp's access of the size need not touch so many sectors for as many lanes, or lanes compete for a
    word.
    """
    nbytes = np.int64(record.lanes) * inst.lane_nbytes
    return nbytes > 0 and (
        np.int64(record.n_sectors) * SECTOR_NBYTES >= nbytes + SECTOR_NBYTES
        or record.conflicts > (inst.lane_nbytes >> 2 if inst.operation == COPY else 1)
    )
