"""Memory instructions: each partition's queue and address unit, and the load/store unit that the SM's partitions share.

All is reserved at issue: the address unit takes one instruction in `address_cycles`, the load/store unit is busy for as
long as the access takes wavefronts through its banks or lines through its tags. An entry of the queue is taken until
shortly after the address unit has passed the instruction to a deeper queue: one in front of the L1 for accesses to
global memory, and one for all else.
"""

import numpy as np

from gpuprof.emulate.trace_log.trace_entries import ON_CHIP, join_sectors
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import (
    ACCESS_NBYTES,
    ATOMIC_REQUEST,
    BULK_LOAD,
    BULK_ROOM,
    CAUSE_KIND_SHIFT,
    CLASS_SHORT,
    CONFLICT,
    HIT,
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
from gpuprof.timing.state.static_program import (
    ATOMIC,
    BULK,
    CONSTANT,
    COPY,
    GENERIC,
    GLOBAL,
    LOAD,
    MBARRIER,
    REDUCTION,
    SHARED,
    STORE,
)
from gpuprof.timing.state.table_rows import (
    access_of,
    block_at,
    inst_at,
    l1_queue_at,
    load_at,
    mio_queue_at,
    part_at,
    port_at,
    prefetch,
    presence_at,
    queue_at,
    queued_at,
    request_at,
    sm_at,
    warp_at,
    word_at,
)
from gpuprof.timing.units.async_copies import add_to_group, open_group
from gpuprof.timing.units.banks import take_turn
from gpuprof.timing.units.barrier import open_all
from gpuprof.timing.units.cause_ledger import itself, latecomer, seen_by
from gpuprof.timing.units.instruction_fetch import constant_line
from gpuprof.timing.units.l1 import expect_load, invalidate, line_mask, load, request, send
from gpuprof.timing.units.mbarrier import end_phases, wait
from gpuprof.timing.units.polls import poll
from gpuprof.timing.units.register_file import taken_cycles
from gpuprof.timing.units.scoreboard import brought_forward, write_class, write_results
from gpuprof.timing.units.set_associative import n_sectors

QUEUE, QUEUED, UNIT, SHARED_MEMORY = KIND["queue"], KIND["queued"], KIND["unit"], KIND["shared"]
IN_CACHE, CONSTANT_MISS, ATOMIC_UNIT = KIND["constant"], KIND["constant_miss"], KIND["atomic"]
STORED, ARRIVAL = KIND["store"], KIND["arrival"]
join = inline_njit(join_sectors)
LINES_OF_PARAMETERS = 1024  # constant-cache lines of the parameter block; those of the constant segment follow


@call_njit
def enter(machine, warp, cycle, ticks, conflict):
    """`warp` issues an instruction at `cycle` that keeps the load/store unit for `ticks`; returns the cycle in which it
    is served. `conflict` is CONFLICT when it takes longer than it need. It leaves the partition's queue once the
    address unit has passed it to the next one, which may have to make room.
    """
    part = part_at(machine, warp_at(machine, warp).partition)
    slot = mio_queue_at(machine, warp_at(machine, warp).partition, part.passed_mio % machine.mio_queue_depth)
    part.passed_mio += 1
    return enter_queue(machine, warp, cycle, ticks, conflict, slot)


@call_njit
def enter_l1(machine, warp, cycle, ticks, conflict):
    """Passes an access to global memory, whose next queue is the L1's, through the address unit, like `enter`."""
    part = part_at(machine, warp_at(machine, warp).partition)
    slot = l1_queue_at(machine, warp_at(machine, warp).partition, part.passed_l1 % machine.l1_queue_depth)
    part.passed_l1 += 1
    return enter_queue(machine, warp, cycle, ticks, conflict, slot)


@inline_njit
def enter_queue(machine, warp, cycle, ticks, conflict, slot):
    """`slot` of the next queue has the cycle from which it is free, and gets that in which the access is served."""
    part = part_at(machine, warp_at(machine, warp).partition)
    address = max(cycle, part.address_free, slot.value)
    start = pass_on(machine, warp, address, ticks, conflict)
    slot.value = start
    leave_queue(machine, warp, cycle, address, conflict)
    return start


@inline_njit
def pass_on(machine, warp, address, ticks, conflict):
    """The address unit takes an instruction at `address`; returns the cycle in which the load/store unit serves it."""
    part = part_at(machine, warp_at(machine, warp).partition)
    sm = sm_at(machine, part.sm)
    part.address_free = address + machine.address_cycles
    machine.lsu_behind = sm.lsu_occupant if sm.lsu_tick > address << TICK_BITS else 0
    sm.lsu_occupant = itself(machine, warp, QUEUED) | conflict
    tick = take_turn(machine, part.sm, address << TICK_BITS, ticks)
    return (tick + TICKS - 1) >> TICK_BITS


@inline_njit
def leave_queue(machine, warp, cycle, left, conflict):
    """The instruction that `warp` issues in `cycle` leaves the partition's queue shortly after `left`."""
    partition = warp_at(machine, warp).partition
    part = part_at(machine, partition)
    queue_at(machine, partition, part.queued % machine.queue_depth).value = left + machine.queue_hold_cycles
    queued_at(machine, partition, part.queued % machine.queue_depth).value = itself(machine, warp, QUEUE) | conflict
    part.queued += 1
    port = port_at(machine, partition, PORT_LSU)
    # The queue is a ring: the entry that comes next is the oldest, and must have been left.
    # An access of which no lane takes part may come while it is taken: one to constants has no port to wait for.
    before = max(cycle + 1, port.free)
    port.free = max(before, queue_at(machine, partition, part.queued % machine.queue_depth).value)
    port.busy += taken_cycles(part, before, port.free)


@call_njit
def write_served(machine, warp, inst, cycle, start, done, cause):
    """Gives an instruction's registers their cycle. It issued at `cycle`, is served from `start` on and done at
    `done`.
    """
    write_results(machine, warp, inst, done, served_cause(machine, warp, cycle, start, done, cause))


@inline_njit
def served_cause(machine, warp, cycle, start, done, cause):
    """If the wait for service is the longer part, the access in front of it is the cause."""
    return seen_by(machine, warp, machine.lsu_behind) if machine.lsu_behind and start - cycle > done - start else cause


@call_njit
def shuffle(machine, warp, cycle):
    inst = inst_at(machine, warp_at(machine, warp).pc)
    start = enter(machine, warp, cycle, TICKS, 0)
    write_served(machine, warp, inst, cycle, start, start + inst.latency, UNIT | warp_at(machine, warp).pc)


@call_njit
def access(machine, warp, cycle):
    """`warp` issues a memory instruction in `cycle`: takes its access record and reserves what it needs."""
    w = warp_at(machine, warp)
    inst = inst_at(machine, w.pc)
    record = access_of(w.access)
    first = w.sector
    w.access += ACCESS_NBYTES
    w.sector += join(record.n_sectors, record.more_sectors) * SECTOR_NUMBER_NBYTES
    prefetch(w.access, 0)
    prefetch(w.sector, 0)
    kind = inst.kind
    stays = record.n_sectors == 0 and record.uniform & ON_CHIP and may_stay_on_chip(inst)
    if kind == GENERIC:
        # The trace does not name the space. In shared memory an access has bank passes and no sectors.
        kind = SHARED if record.n_sectors == 0 and record.wavefronts > 0 else GLOBAL
    if stays:
        # Shared memory also holds what the stages of a draw pass to each other (docs/model/draws.md, Draws).
        shared(machine, warp, inst, record, cycle, np.int64(machine.attribute_cycles), np.int64(CLASS_SHORT))
    elif record.lanes == 0:
        # No lane takes part, but the instruction has issued and passes the unit all the same.
        start = enter(machine, warp, cycle, TICKS, 0)
        write_served(machine, warp, inst, cycle, start, start + 1, UNIT | w.pc)
    elif kind == BULK:
        bulk(machine, warp, inst, record, first, cycle)
    elif kind == MBARRIER:
        shared(machine, warp, inst, record, cycle, inst.latency, inst.result_class)
        if record.uniform:
            end_phases(
                machine,
                w.block_slot,
                np.int64(record.tag_passes),
                np.int64(record.uniform),
                cycle,
                itself(machine, warp, ARRIVAL),
            )
    elif kind == SHARED:
        shared(machine, warp, inst, record, cycle, inst.latency, inst.result_class)
    elif kind == CONSTANT:
        constant(machine, warp, inst, record, first, cycle)
    else:
        global_memory(machine, warp, inst, record, first, cycle)


@call_njit
def shared(machine, warp, inst, record, cycle, latency, result_class):
    """Bank conflicts take further wavefronts; lanes of an atomic on one address take turns, or are counted. What is
    loaded is there after `latency` without them, and waited for as `result_class` says.
    """
    passes = np.int64(record.wavefronts)
    conflict = CONFLICT * (passes > inst.least_passes)
    # Measured latencies: 8 bytes a lane cost nothing more, 16 bytes do (docs/model/memory.md, Memory instructions).
    extra = machine.shared_wide_cycles if inst.width > 2 else 0
    if inst.operation == ATOMIC or inst.operation == REDUCTION:
        passes = max(passes, np.int64(record.conflicts) * inst.lane_turns)
        conflict = CONFLICT * (passes > inst.least_passes)
        passes *= inst.atomic_passes
        if inst.slots > 1:  # a compare-and-swap loop runs once per lane that competes
            extra = (np.int64(record.conflicts) - 1) * inst.slots * inst.chain
    sm = part_at(machine, warp_at(machine, warp).partition).sm
    presence_at(machine, machine.grid, sm).shared_wavefronts += passes
    sm_at(machine, sm).bank_conflicts += max(0, passes - inst.least_passes)
    start = enter(machine, warp, cycle, max(passes * TICKS, machine.shared_ticks), conflict)
    done = start + latency + extra + max(0, passes - inst.width) * machine.shared_wavefront_cycles
    if record.n_lookups and machine.cluster_shared_cycles:
        done += reach_others(machine, warp, inst, np.int64(record.n_lookups), start, cycle)
    cause = served_cause(machine, warp, cycle, start, done, SHARED_MEMORY | conflict | warp_at(machine, warp).pc)
    write_class(machine, warp, inst, done, cause, result_class)


@inline_njit
def may_stay_on_chip(inst):
    """True when the trace marks which of an instruction's accesses pass from one stage of a draw to the next."""
    return inst.operation <= STORE and (inst.kind == GLOBAL or inst.kind == GENERIC)


@call_njit
def reach_others(machine, warp, inst, lanes, start, cycle):
    """Cycles that an access takes longer since `lanes` of it go to other blocks' shared memory: they wait for the SM's
    port to it, in the partition's queue, and are farther away."""
    partition = warp_at(machine, warp).partition
    part = part_at(machine, partition)
    s = sm_at(machine, part.sm)
    tick = max(start << TICK_BITS, s.cluster_tick)
    s.cluster_tick = tick + lanes * inst.width * machine.cluster_ticks
    left = (tick + TICKS - 1) >> TICK_BITS
    queue_at(machine, partition, (part.queued - 1) % machine.queue_depth).value = left + machine.queue_hold_cycles
    port = port_at(machine, partition, PORT_LSU)
    free = max(cycle + 1, queue_at(machine, partition, part.queued % machine.queue_depth).value)
    port.busy += taken_cycles(part, port.free, free)
    port.free = free
    return left - start + machine.cluster_shared_cycles - inst.latency


@call_njit
def wait_for_phase(machine, warp, inst, cycle):
    """A wait at a memory barrier reads shared memory, then holds the warp if it must."""
    start = enter(machine, warp, cycle, TICKS, 0)
    write_served(machine, warp, inst, cycle, start, start + inst.latency, SHARED_MEMORY | warp_at(machine, warp).pc)
    if (
        wait(machine, warp, cycle)
        and block_at(machine, warp_at(machine, warp).block_slot).waiting
        >= block_at(machine, warp_at(machine, warp).block_slot).live
    ):
        open_all(machine, warp_at(machine, warp).block_slot, cycle, latecomer(machine, warp))


@call_njit
def bulk(machine, warp, inst, record, first, cycle):
    """A bulk copy takes the load/store unit for as long as shared memory is busy with it, and passes its lines to the
    L2, one a cycle.
    """
    w = warp_at(machine, warp)
    end = first + join(record.n_sectors, record.more_sectors) * SECTOR_NUMBER_NBYTES
    start = enter(machine, warp, cycle, max(np.int64(record.wavefronts), 1) * TICKS, 0)
    sm = part_at(machine, w.partition).sm
    # Loads take miss registers of the L1, since nothing is known of the copy engine's own (docs/model.md).
    kind = READ
    target = machine.n_loads
    if inst.operation == LOAD:
        load_at(machine, target).done = 0
        load_at(machine, target).warp = warp
        load_at(machine, target).pc = w.pc
        load_at(machine, target).level = 0
        load_at(machine, target).group = BULK_LOAD - (np.int64(record.conflicts) | np.int64(record.uniform) << 8)
        block_at(machine, w.block_slot).copies += 1
        machine.n_loads += 1
    else:
        w.stores_quantum = machine.quantum_number
        kind = ATOMIC_REQUEST if inst.operation == REDUCTION else WRITE
        target = -1 - warp
    while first < end and machine.n_bulk < BULK_ROOM:
        line, mask, first = line_mask(machine, first, end)
        detail = n_sectors(mask) * machine.atomic_sector_ticks if kind == ATOMIC_REQUEST else -1
        index = request(machine, sm, start, line, mask, kind, target, detail)
        request_at(machine, index).watch = HIT * inst.hits_l2
        if target < 0:
            request_at(machine, index).slot = STORED | w.pc
        machine.n_bulk += 1
        start += 1


@inline_njit
def constant(machine, warp, inst, record, first, cycle):
    """Different constants take turns, in a unit of the SM that only loads constants. Parameters have no sectors: the
    launch brings them along, first use misses.
    """
    w = warp_at(machine, warp)
    n = max(1, np.int64(record.n_sectors))
    s = sm_at(machine, part_at(machine, w.partition).sm)
    start = max(cycle, s.constant_free)
    machine.lsu_behind = s.constant_occupant if start > cycle else 0
    s.constant_free = start + n
    s.constant_occupant = itself(machine, warp, QUEUED)
    ready = start
    for k in range(np.int64(record.n_sectors)):
        line = LINES_OF_PARAMETERS + (word_at(first, k).value >> 1)
        ready = max(ready, constant_line(machine, part_at(machine, w.partition).sm, w.grid, line, start, 1))
    cause = (CONSTANT_MISS if ready > start else IN_CACHE) | w.pc
    write_served(machine, warp, inst, cycle, start, ready + inst.latency + n - 1, cause)


@inline_njit
def global_memory(machine, warp, inst, record, first, cycle):
    w = warp_at(machine, warp)
    n = np.int64(record.n_sectors)
    if inst.operation == LOAD and n and not inst.bypass_l1:
        expect_load(machine, part_at(machine, w.partition).sm, first)
    tags = max(
        machine.tag_pass_ticks * np.int64(record.tag_passes), machine.tag_lookup_ticks * np.int64(record.n_lookups)
    )
    passes = np.int64(record.wavefronts)
    if inst.operation == COPY:  # and through the banks it writes to
        passes = max(passes, np.int64(record.conflicts))
        sm = part_at(machine, w.partition).sm
        presence_at(machine, machine.grid, sm).shared_wavefronts += np.int64(record.conflicts)
    # Each 4 bytes of a lane take lsu_ticks at least: some chips' L1 delivers 64 bytes a cycle.
    conflict = CONFLICT * scattered(inst, record)
    start = enter_l1(machine, warp, cycle, max(inst.width * machine.lsu_ticks, max(passes * TICKS, tags)), conflict)
    here = conflict | w.pc
    if inst.invalidates:  # an acquire
        invalidate(machine, part_at(machine, w.partition).sm)
    if inst.polls and n and poll(machine, warp, first, n, start):
        write_results(machine, warp, inst, start, UNIT | w.pc)
    elif inst.operation == LOAD:
        done = start + inst.latency + (np.int64(record.wavefronts) - 1) * machine.l1_wavefront_cycles
        index = machine.n_loads
        done = load(machine, warp, inst, first, n, start, done, -1, conflict)
        write_served(
            machine, warp, inst, cycle, start, done, np.int64(load_at(machine, index).level) << CAUSE_KIND_SHIFT | here
        )
    elif inst.operation == COPY:
        done = start + inst.latency + (np.int64(record.wavefronts) - 1) * machine.l1_wavefront_cycles
        group = open_group(machine, warp)
        index = machine.n_loads
        done = load(machine, warp, inst, first, n, start, done, group, conflict)
        done = brought_forward(machine, warp, inst, done)
        add_to_group(machine, warp, group, done, np.int64(load_at(machine, index).level) << CAUSE_KIND_SHIFT | here)
    elif inst.operation == ATOMIC:
        index = machine.n_loads
        load_at(machine, index).done = 0
        load_at(machine, index).warp = warp
        load_at(machine, index).pc = w.pc
        load_at(machine, index).group = -1
        load_at(machine, index).level = 0
        machine.n_loads += 1
        send(machine, warp, inst, record, first, n, start, ATOMIC_REQUEST, index, 0)
        write_results(machine, warp, inst, TOKEN + index, ATOMIC_UNIT | here)
    else:
        w.stores_quantum = machine.quantum_number
        kind = ATOMIC_REQUEST if inst.operation == REDUCTION else WRITE
        send(machine, warp, inst, record, first, n, start, kind, -1 - warp, STORED | here)


@inline_njit
def scattered(inst, record):
    """True when an access has more sectors than its lanes' bytes fill, or its lanes compete for a word (in a copy: for
    a bank of shared memory).
    """
    nbytes = np.int64(record.lanes) * inst.lane_nbytes
    return nbytes > 0 and (
        np.int64(record.n_sectors) * SECTOR_NBYTES >= nbytes + SECTOR_NBYTES
        or record.conflicts > (inst.lane_nbytes >> 2 if inst.operation == COPY else 1)
    )
