"""Block barriers, counted in warps.

A warp's arrival passes the load/store unit after the accesses to memory that issued before it. A barrier opens when the
requested number of warps has arrived, or all that still live. It opens `barrier_cycles` after the last arrival, and not
before the round that begins with the first arrival is over (`latency_tables.round_cycles`). A block in which every live
warp waits is released, whatever the warps wait at: the trace says that the program got past there. A warp that arrives
in two halves looks like that.

The cause of the others' wait is the instruction at which the last warp was held longest since its previous barrier.
"""

import numpy as np

from gpuprof.isa.families.control import N_BARRIERS
from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.latency_tables import MOST_WARPS
from gpuprof.timing.state.layout import ACCESS_NBYTES, CAUSE_WARP_SHIFT, HOLDING, KIND, NEVER, TICK_BITS, TICKS
from gpuprof.timing.state.table_rows import (
    access_of,
    arrived_at,
    begun_at,
    block_at,
    grid_at,
    part_at,
    round_at,
    sm_at,
    warp_at,
)
from gpuprof.timing.units.banks import take_turn
from gpuprof.timing.units.cause_ledger import itself, latecomer, seen_by
from gpuprof.timing.units.mbarrier import let_go
from gpuprof.timing.units.scoreboard import hold, sleep

BARRIER = INDEX["barrier"]
QUEUED = KIND["queued"]
ANY = -1


@call_njit
def arrive(machine, warp, barrier, threads, waits, cycle):
    """`warp` issues its arrival in `cycle`, and waits there unless `waits` is 0."""
    w = warp_at(machine, warp)
    cycle = arrival_turn(machine, warp, cycle)
    block = block_at(machine, w.block_slot)
    cause = latecomer(machine, warp)
    # At the next barrier the warp is judged by its stalls from here on.
    w.longest = 0
    if arrived_at(machine, w.block_slot, barrier).value == 0:
        begun_at(machine, w.block_slot, barrier).value = cycle
    arrived_at(machine, w.block_slot, barrier).value += 1
    if waits:
        w.barrier = barrier
        block.waiting += 1
        hold(machine, warp, BARRIER, NEVER)
    lanes = machine.warp_lanes
    # Thread counts take whole warps (docs/ptx.md, Order), and warps that have ended will never come.
    expected = block.live if threads == 0 else min(block.live, (threads + lanes - 1) // lanes)
    arrived = np.int64(arrived_at(machine, w.block_slot, barrier).value)
    if arrived >= expected:
        arrived_at(machine, w.block_slot, barrier).value = 0
        begun = begun_at(machine, w.block_slot, barrier).value
        # The published series (GB202) does not show how much of the round is left when arrivals are far from each
        # other: here nothing but barrier_cycles.
        ready = max(cycle + machine.barrier_cycles, begun + round_at(machine, min(arrived, MOST_WARPS)).value)
        open_barrier(machine, w.block_slot, barrier, ready, cause)
    elif block.waiting >= block.live:
        open_all(machine, w.block_slot, cycle, cause)


@call_njit
def arrival_turn(machine, warp, cycle):
    """The cycle in which the SM's load/store unit takes an arrival that issued in `cycle`."""
    sm = part_at(machine, warp_at(machine, warp).partition).sm
    tick = take_turn(machine, sm, cycle << TICK_BITS, machine.barrier_ticks)
    sm_at(machine, sm).lsu_occupant = itself(machine, warp, QUEUED)
    return (tick + TICKS - 1) >> TICK_BITS


@call_njit
def arrive_at_traced(machine, warp, waits, cycle):
    """`warp` arrives at a barrier whose number or thread count is in a register. The access record has the number as
    `conflicts` and the count, in warps, as `uniform`. A warp of which no lane arrives (`lanes` 0) continues.
    """
    w = warp_at(machine, warp)
    record = access_of(w.access)
    w.access += ACCESS_NBYTES
    if record.lanes:
        arrive(machine, warp, np.int64(record.conflicts), np.int64(record.uniform) * machine.warp_lanes, waits, cycle)
    elif waits:
        hold(machine, warp, BARRIER, cycle + 1)


@call_njit
def arrivals_after_exit(machine, warp, block_slot, cycle):
    """`warp` has left the block at `cycle`. Warps that wait may have waited for it."""
    block = block_at(machine, block_slot)
    if block.waiting == 0:
        return
    for barrier in range(N_BARRIERS):
        if arrived_at(machine, block_slot, barrier).value >= block.live:
            arrived_at(machine, block_slot, barrier).value = 0
            open_barrier(machine, block_slot, barrier, cycle + machine.barrier_cycles, latecomer(machine, warp))
    if block.waiting and block.waiting >= block.live:
        open_all(machine, block_slot, cycle, latecomer(machine, warp))


@call_njit
def open_all(machine, block_slot, cycle, cause):
    if grid_at(machine, block_at(machine, block_slot).grid).has_mbarriers and let_go(machine, block_slot, cycle, cause):
        return
    for barrier in range(N_BARRIERS):
        arrived_at(machine, block_slot, barrier).value = 0
    open_barrier(machine, block_slot, ANY, cycle + machine.barrier_cycles, cause)


@call_njit
def open_barrier(machine, block_slot, barrier, ready, cause):
    """Lets the block's warps that wait at `barrier` continue at cycle `ready`. `cause` has the warp that completed it,
    which itself does not wait.
    """
    # A block's warps may be in any warp slots of its SM (distributor.take_lane).
    slots = machine.warp_slots
    first = block_slot // machine.block_slots * slots
    for warp in range(first, first + slots):
        w = warp_at(machine, warp)
        waits = w.state == HOLDING and w.hold_reason == BARRIER and w.ready == NEVER and w.block_slot == block_slot
        if waits and (barrier == ANY or w.barrier == barrier):
            w.ready = ready
            if (cause ^ w.cause_warp) >> CAUSE_WARP_SHIFT:
                w.hold_cause = seen_by(machine, warp, cause)
            block_at(machine, block_slot).waiting -= 1
            sleep(machine, warp, w.ready)
