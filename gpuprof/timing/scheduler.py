"""A partition's scheduler: greedy, then youngest. It keeps issuing from one warp while that is ready, else picks the
youngest ready one.

A chip with two dispatch units issues up to two instructions a cycle, both from the warp it picked.
"""

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.barrier import arrive, arrive_at_traced
from gpuprof.timing.blame import itself
from gpuprof.timing.copies import commit
from gpuprof.timing.events import count_issue
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import CLASS_WAIT, HOLDING, KIND, N_CLASSES, NEVER, PORT_LSU, PORT_NONE, STARTING, TICK_BITS
from gpuprof.timing.ledger import charge_hold, charge_issue
from gpuprof.timing.lsu import access, shuffle, wait_for_phase
from gpuprof.timing.multiply import commit_products, multiply, wait_for_products
from gpuprof.timing.pool import launch_grids, signal, wait_for_grids
from gpuprof.timing.retire import DRAIN, finish, hold_for_stores, release, stores_done
from gpuprof.timing.scoreboard import become_ready, hold, next_instruction, wait_for_dependencies, write_results
from gpuprof.timing.static import (
    ARRIVE,
    BARRIER,
    BULK_WAIT,
    COPY_COMMIT,
    FENCE,
    GRID_SIGNAL,
    GRID_WAIT,
    LAUNCH,
    MBARRIER_WAIT,
    MEMBAR,
    MULTIPLY,
    PRODUCT_COMMIT,
    PRODUCT_WAIT,
    SHUFFLE,
    SLEEP,
)
from gpuprof.timing.tables import cause_at, grid_at, inst_at, lane_at, part_at, port_at, until_at, warp_at

MEMBAR_REASON, SLEEPING, LONG_SCOREBOARD = INDEX["membar"], INDEX["sleeping"], INDEX["long_scoreboard"]
RESULT, SLOT, UNIT, PIPE, ISSUED = (KIND[name] for name in ("result", "slot", "unit", "pipe", "scheduler"))


@hot
def wake(m, p, t):
    """Looks at the warps of partition p that asked for it by cycle t."""
    part = part_at(m, p)
    slots = m.warps_per_partition
    for k in range(slots):
        if lane_at(m, p, k).wake <= t:
            lane_at(m, p, k).wake = NEVER
            wake_warp(m, p * slots + k, t)
    soonest = NEVER
    for k in range(slots):
        soonest = min(soonest, lane_at(m, p, k).wake)
    part.next_wake = soonest


@cold
def wake_warp(m, wi, t):
    w = warp_at(m, wi)
    if w.state == HOLDING:
        charge_hold(m, wi, t)
        if w.hold_reason == DRAIN:
            release(m, wi, t)
            return
    if w.state == HOLDING or w.state == STARTING:
        if next_instruction(m, wi, t) == 0:
            finish(m, wi, t)
    else:
        become_ready(m, wi, w.ready)


@hot
def pick(m, p, t, only_current):
    """The slot to issue from in cycle t, or -1."""
    current = part_at(m, p).current
    if current >= 0 and can_issue(m, p, current, t):
        return current
    best = -1
    if not only_current:
        youngest = -1
        for k in range(m.warps_per_partition):
            if lane_at(m, p, k).age > youngest and can_issue(m, p, k, t):
                best = k
                youngest = lane_at(m, p, k).age
    return best


@hot
def can_issue(m, p, k, t):
    lane = lane_at(m, p, k)
    return (
        lane.ready != 0 and port_at(m, p, lane.port).free <= t and warp_at(m, p * m.warps_per_partition + k).ready <= t
    )


@hot
def schedule(m, p, t):
    """Cycle t of partition p: issues, and works out when there is something to do next."""
    part = part_at(m, p)
    if part.n_ready:
        for unit in range(m.dispatch_units):
            k = pick(m, p, t, unit > 0)
            if k < 0:
                break
            part.current = k
            issue(m, p, k, t)
    soonest = part.next_wake
    if part.n_ready:
        for k in range(m.warps_per_partition):
            lane = lane_at(m, p, k)
            if lane.ready:
                soonest = min(soonest, max(t + 1, port_at(m, p, lane.port).free))
    part.next_event = soonest


@hot
def issue(m, p, k, t):
    """Warp k of partition p issues one slot of its instruction in cycle t."""
    wi = p * m.warps_per_partition + k
    w = warp_at(m, wi)
    inst = inst_at(m, w.pc)
    lane = lane_at(m, p, k)
    mask = w.mask
    executed = w.slots_left <= 1
    if w.last < t:  # a sample of the cycle shows the first of two
        w.issued_pc = w.pc
        w.issued_mask = w.mask
    charge_issue(m, wi, t)
    port_at(m, p, lane.port).issued = t
    lane.ready = 0
    part = part_at(m, p)
    part.n_ready -= 1
    part.issued = t
    part.occupant = itself(m, wi, ISSUED)
    m.grid = w.grid
    grid_at(m, w.grid).issue_slots += 1
    if lane.port not in (PORT_LSU, PORT_NONE):
        occupy(port_at(m, p, lane.port), inst.port_ticks, t)
        port_at(m, p, lane.port).occupant = itself(m, wi, PIPE)
    earliest = t + 2 - m.dispatch_units
    if w.slots_left > 1:
        w.slots_left -= 1
        for c in range(N_CLASSES):
            until_at(m, wi, c).value = 0
        until_at(m, wi, CLASS_WAIT).value = t + inst.chain
        cause_at(m, wi, CLASS_WAIT).value = SLOT | w.pc
        wait_for_dependencies(m, wi, earliest)
    else:
        execute(m, wi, inst, t)
        if inst.kind not in HOLDS and next_instruction(m, wi, earliest) == 0:
            finish(m, wi, t + 1)
    if m.trigger:
        count_issue(m, part.sm, wi, inst, executed, mask, t)


HOLDS = (BARRIER, BULK_WAIT, FENCE, GRID_WAIT, MBARRIER_WAIT, MEMBAR, PRODUCT_WAIT, SLEEP)


@hot
def occupy(port, ticks, t):
    """A pipe takes an instruction in cycle t. Pipes wider than a warp take the next one within the same cycle."""
    port.tick = max(port.tick, t << TICK_BITS) + ticks
    port.free = port.tick >> TICK_BITS
    port.busy += max(0, port.free - t - 1)


@cold
def execute(m, wi, inst, t):
    """The last slot of an instruction issues in cycle t: what it sets going."""
    kind = inst.kind
    if kind == MBARRIER_WAIT:
        wait_for_phase(m, wi, inst, t)
    elif kind == MULTIPLY:
        multiply(m, wi, inst, t)
    elif inst.has_access and kind not in (BARRIER, ARRIVE):
        access(m, wi, t)
    elif kind == SHUFFLE:
        shuffle(m, wi, t)
    else:
        write_results(
            m, wi, inst, t + inst.latency, (RESULT if inst.result_class == CLASS_WAIT else UNIT) | warp_at(m, wi).pc
        )
    if kind in (BARRIER, ARRIVE):
        if inst.has_access:
            arrive_at_traced(m, wi, kind == BARRIER, t)
        else:
            arrive(m, wi, inst.barrier, inst.barrier_threads, kind == BARRIER, t)
    elif kind == SLEEP:
        hold(m, wi, SLEEPING, t + inst.latency)
    elif kind == COPY_COMMIT:
        commit(m, wi)
    elif kind == PRODUCT_COMMIT:
        commit_products(m, wi)
    elif kind == PRODUCT_WAIT:
        wait_for_products(m, wi, inst.newest, t)
    elif kind == GRID_SIGNAL:
        signal(m, warp_at(m, wi).block_slot, t)
    elif kind == GRID_WAIT:
        wait_for_grids(m, wi, t)
    elif kind == BULK_WAIT:
        hold_for_stores(m, wi, LONG_SCOREBOARD, t + 1, stores_done(m, wi), warp_at(m, wi).last_store)
    elif kind == FENCE:
        hold(m, wi, MEMBAR_REASON, t + m.membar_cycles)
    elif kind == MEMBAR:
        hold_for_stores(m, wi, MEMBAR_REASON, t + m.membar_cycles, stores_done(m, wi), warp_at(m, wi).last_store)
    elif kind == LAUNCH:
        launch_grids(m, wi, t)
