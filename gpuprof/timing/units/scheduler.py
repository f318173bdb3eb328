"""A partition's scheduler: greedy, then youngest. It keeps issuing from one warp while that is ready, else picks the
one that became ready last. Memory instructions issue in the order in which their warps reached them.

A chip with two dispatch units issues up to two instructions a cycle, both from the warp it picked.
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import (
    CLASS_WAIT,
    HOLDING,
    KIND,
    NEVER,
    PORT_LSU,
    PORT_NONE,
    STARTING,
    TICK_BITS,
    VECTOR_WORDS,
)
from gpuprof.timing.state.static_program import (
    ARRIVE,
    BARRIER,
    BULK_WAIT,
    COPY_COMMIT,
    FENCE,
    GRID_SIGNAL,
    GRID_WAIT,
    HOLDS,
    LAUNCH,
    MBARRIER_WAIT,
    MEMBAR,
    MULTIPLY,
    PRODUCT_COMMIT,
    PRODUCT_WAIT,
    SHUFFLE,
    SLEEP,
    SLOW_PATH,
)
from gpuprof.timing.state.table_rows import (
    cause_at,
    inst_at,
    lane_at,
    least_word_after,
    lowest_bit,
    part_at,
    port_at,
    presence_at,
    until_at,
    wake_at,
    wake_place,
    warp_at,
    word_at,
    words_until,
)
from gpuprof.timing.units.async_copies import commit
from gpuprof.timing.units.barrier import arrive, arrive_at_traced
from gpuprof.timing.units.cause_ledger import itself
from gpuprof.timing.units.effects import WARP_LAUNCHES, note
from gpuprof.timing.units.events import count_issue
from gpuprof.timing.units.l1 import invalidate
from gpuprof.timing.units.ledger import charge_hold, charge_issue
from gpuprof.timing.units.lsu import access, shuffle, wait_for_phase
from gpuprof.timing.units.pool import note_signal, wait_for_grids
from gpuprof.timing.units.register_file import read_registers
from gpuprof.timing.units.retire import (
    BRANCHING,
    DRAIN,
    WAIT,
    finish,
    hold_for_stores,
    leave,
    release,
    stores_done,
)
from gpuprof.timing.units.scoreboard import become_ready, hold, next_instruction, wait_for_dependencies, write_results
from gpuprof.timing.units.shared_fp64 import enter_fp64
from gpuprof.timing.units.sleep_time import asked_cycles
from gpuprof.timing.units.wgmma import commit_products, multiply, wait_for_products

MEMBAR_REASON, SLEEPING, LONG_SCOREBOARD = INDEX["membar"], INDEX["sleeping"], INDEX["long_scoreboard"]
RESULT, SLOT, UNIT, PIPE, ISSUED = (KIND[name] for name in ("result", "slot", "unit", "pipe", "scheduler"))


@inline_njit
def wake(machine, partition, cycle):
    """Wakes the warps of `partition` whose wake-up time is at most `cycle`."""
    part = part_at(machine, partition)
    due = due_lanes(machine, partition, cycle)
    while due:
        lane = lowest_bit(due)
        due &= due - 1
        wake_at(machine, partition, lane).value = NEVER
        wake_warp(machine, partition * machine.warps_per_partition + lane, cycle)
        if part.next_wake <= cycle:
            # It has let others go at once. Those after it follow in this pass, those before it in the next.
            late = due_lanes(machine, partition, cycle)
            due = late & -2 << lane
            if late != due:
                part.next_wake = cycle


@inline_njit
def due_lanes(machine, partition, cycle):
    """A bit for each lane of `partition` whose wake-up time is at most `cycle`; notes the soonest of the others."""
    times = wake_place(machine, partition, 0)
    due = 0
    soonest = NEVER
    lane = 0
    while lane + VECTOR_WORDS <= machine.warps_per_partition:
        due |= words_until(times, lane, cycle) << lane
        soonest = min(soonest, least_word_after(times, lane, cycle))
        lane += VECTOR_WORDS
    while lane < machine.warps_per_partition:
        time = word_at(times, lane).value
        if time <= cycle:
            due |= 1 << lane
        else:
            soonest = min(soonest, time)
        lane += 1
    part_at(machine, partition).next_wake = soonest
    return due


@call_njit
def wake_warp(machine, warp, cycle):
    w = warp_at(machine, warp)
    if w.state == HOLDING:
        charge_hold(machine, warp, cycle)
        if w.hold_reason == DRAIN:
            release(machine, warp, cycle)
            return
        if w.hold_reason == WAIT or w.hold_reason == BRANCHING:
            leave(machine, warp, cycle)
            return
        if w.hold_reason == MEMBAR_REASON and inst_at(machine, w.pc).invalidates:
            invalidate(machine, part_at(machine, w.partition).sm)
    if w.state == HOLDING or w.state == STARTING:
        if next_instruction(machine, warp, cycle) == 0:
            finish(machine, warp, cycle)
    else:
        become_ready(machine, warp, w.ready)


@inline_njit
def pick(machine, partition, cycle, only_current):
    """The slot to issue from in `cycle`, or -1."""
    # Greedy, then youngest: figure 4 of Huerta et al. (2025), held by tests/timing/test_fetch_by_hand.py. A warp's age
    # counts from when its instruction became ready, and only among equals from its start. The queue of memory
    # instructions, and that of a shared fp64 unit, take warps in the order of their arrival; the first of them goes
    # before the others if its warp started after theirs (docs/model/instructions.md, Scheduler).
    current = part_at(machine, partition).current
    if (
        current >= 0
        and (only_current or not in_order(machine, lane_at(machine, partition, current).port))
        and part_at(machine, partition).ready_lanes >> current & 1
        and may_issue(machine, partition, lane_at(machine, partition, current), cycle)
    ):
        return current
    best = first = -1
    if not only_current:
        latest = -1
        youngest = oldest_wait = NEVER
        lanes = part_at(machine, partition).ready_lanes
        while lanes:
            k = lowest_bit(lanes)
            lanes &= lanes - 1
            lane = lane_at(machine, partition, k)
            if not may_issue(machine, partition, lane, cycle):
                continue
            if not in_order(machine, lane.port):
                if best < 0 or lane.ready > latest or (lane.ready == latest and lane.age > youngest):
                    best = k
                    latest = lane.ready
                    youngest = lane.age
            elif (
                first < 0
                or lane.ready < oldest_wait
                or (lane.ready == oldest_wait and lane.age > lane_at(machine, partition, first).age)
            ):
                first = k
                oldest_wait = lane.ready
        if first >= 0 and (best < 0 or lane_at(machine, partition, first).age > youngest):
            best = first
    return best


@inline_njit
def in_order(machine, port):
    """True for a port that takes warps in the order in which they became ready."""
    return port == PORT_LSU or port == machine.shared_port


@inline_njit
def may_issue(machine, partition, lane, cycle):
    """True when a ready lane could issue in `cycle`: its time has come, and its port is free."""
    return lane.ready <= cycle and port_at(machine, partition, lane.port).free <= cycle


@inline_njit
def schedule(machine, partition, cycle):
    """A cycle of `partition`: issues, and works out when there is something to do next."""
    part = part_at(machine, partition)
    if part.ready_lanes:
        for unit in range(machine.dispatch_units):
            k = pick(machine, partition, cycle, unit > 0) if part.register_free <= cycle else -1
            if k < 0:
                break
            follows = part.current == k
            part.current = k
            issue(machine, partition, k, follows, cycle)
    soonest = part.next_wake
    lanes = part.ready_lanes
    while lanes and soonest > cycle + 1:
        lane = lane_at(machine, partition, lowest_bit(lanes))
        lanes &= lanes - 1
        free = max(part.register_free, port_at(machine, partition, lane.port).free)
        soonest = min(soonest, max(cycle + 1, free))
    part.next_event = soonest


@inline_njit
def issue(machine, partition, slot, follows, cycle):
    """Warp `slot` of `partition` issues one slot of its instruction in `cycle`. `follows`: it was the last to issue."""
    wi = partition * machine.warps_per_partition + slot
    w = warp_at(machine, wi)
    inst = inst_at(machine, w.pc)
    lane = lane_at(machine, partition, slot)
    mask = w.mask
    executed = w.slots_left <= 1
    if w.last < cycle:  # a sample of the cycle shows the first of two
        w.issued_pc = w.pc
        w.issued_mask = w.mask
    charge_issue(machine, wi, cycle)
    port_at(machine, partition, lane.port).issued = cycle
    part = part_at(machine, partition)
    part.ready_lanes &= ~(1 << slot)
    part.issued = cycle
    part.occupant = itself(machine, wi, ISSUED)
    machine.grid = w.grid
    presence_at(machine, w.grid, part.sm).issue_slots += 1
    w.issue_slots += 1
    # The queue of memory instructions is reserved with the access itself, in lsu.enter.
    served = cycle
    if lane.port not in (PORT_LSU, PORT_NONE):
        if lane.port == machine.shared_port:
            served = enter_fp64(machine, partition, np.int64(inst.port_ticks), cycle)
        else:
            occupy(port_at(machine, partition, lane.port), inst.port_ticks, cycle)
        port_at(machine, partition, lane.port).occupant = itself(machine, wi, PIPE)
    if machine.register_word_cycles:
        read_registers(machine, wi, inst, follows, cycle)
    # With two dispatch units the warp may issue once more in this cycle.
    earliest = cycle + 2 - machine.dispatch_units
    if w.slots_left > 1:
        w.slots_left -= 1
        # The registers were waited for before the first slot. Later slots follow at intervals of `chain` cycles, from
        # when the unit takes this one.
        w.held = 1 << CLASS_WAIT
        until_at(machine, wi, CLASS_WAIT).value = served + inst.chain
        cause_at(machine, wi, CLASS_WAIT).value = SLOT | w.pc
        wait_for_dependencies(machine, wi, earliest)
    else:
        execute(machine, wi, inst, cycle, served)
        polls = inst.polls and w.state == HOLDING
        if inst.kind not in HOLDS and not polls and next_instruction(machine, wi, earliest) == 0:
            finish(machine, wi, cycle + 1)
    if machine.trigger:
        count_issue(machine, part.sm, wi, inst, executed, mask, cycle)


@inline_njit
def occupy(port, ticks, cycle):
    """A pipe takes an instruction in `cycle`. Pipes wider than a warp take the next one within the same cycle."""
    port.tick = max(port.tick, cycle << TICK_BITS) + ticks
    port.free = port.tick >> TICK_BITS
    port.busy += max(0, port.free - cycle - 1)


@call_njit
def execute(machine, warp, inst, cycle, served):  # noqa: C901  # compiled: arrays, and a loop without calls
    """The last slot of an instruction issues in `cycle`, and its unit takes it in `served`: what it sets going."""
    kind = inst.kind
    if kind == MBARRIER_WAIT:
        wait_for_phase(machine, warp, inst, cycle)
    elif kind == MULTIPLY:
        multiply(machine, warp, inst, cycle)
    elif inst.has_access and kind not in (BARRIER, ARRIVE, SLOW_PATH, SLEEP):
        access(machine, warp, cycle)
    elif kind == SHUFFLE:
        shuffle(machine, warp, cycle)
    else:
        write_results(
            machine,
            warp,
            inst,
            served + inst.latency,
            (RESULT if inst.result_class == CLASS_WAIT else UNIT) | warp_at(machine, warp).pc,
        )
    if kind in (BARRIER, ARRIVE):
        if inst.has_access:
            arrive_at_traced(machine, warp, kind == BARRIER, cycle)
        else:
            arrive(machine, warp, inst.barrier, inst.barrier_threads, kind == BARRIER, cycle)
    elif kind == SLEEP:
        hold(machine, warp, SLEEPING, cycle + (asked_cycles(machine, warp) if inst.has_access else inst.latency))
    elif kind == COPY_COMMIT:
        commit(machine, warp)
    elif kind == PRODUCT_COMMIT:
        commit_products(machine, warp)
    elif kind == PRODUCT_WAIT:
        wait_for_products(machine, warp, inst.newest, cycle)
    elif kind == GRID_SIGNAL:
        note_signal(machine, warp_at(machine, warp).block_slot, cycle)
    elif kind == GRID_WAIT:
        wait_for_grids(machine, warp, cycle)
    elif kind == BULK_WAIT:
        hold_for_stores(
            machine, warp, LONG_SCOREBOARD, cycle + 1, stores_done(machine, warp), warp_at(machine, warp).last_store
        )
    elif kind == FENCE:
        # A fence of a block does not wait for the L2: the block's threads are on one SM.
        hold(machine, warp, MEMBAR_REASON, cycle + machine.membar_cycles)
    elif kind == MEMBAR:
        hold_for_stores(
            machine,
            warp,
            MEMBAR_REASON,
            cycle + machine.membar_l2_cycles,
            stores_done(machine, warp),
            warp_at(machine, warp).last_store,
        )
    elif kind == LAUNCH:
        note(machine, WARP_LAUNCHES, warp, cycle)
