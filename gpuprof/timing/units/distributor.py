"""The work distributor: blocks of the pool's head grid go to SMs in the order in which they run (with clusters, cluster
by cluster), as room becomes free.

A block goes to the SM that has had room for it for longest, among those to the one with the fewest blocks: at first
breadth-first over all SMs. Its warps go to the partitions with the most free warp slots.
"""

from gpuprof.isa.families.control import N_BARRIERS
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import CAUSE_WARP_SHIFT, EMPTY, NEVER, QUANTUM, STARTING, TICK_BITS
from gpuprof.timing.state.table_rows import (
    arrived_at,
    block_at,
    board_at,
    grid_at,
    lane_at,
    presence_at,
    second_at,
    sm_at,
    warp_at,
)
from gpuprof.timing.units.draw_pipeline import advance, released_at, shading
from gpuprof.timing.units.mbarrier import start_mbarriers
from gpuprof.timing.units.per_block import begin_block, begin_warp
from gpuprof.timing.units.pool import pick_head
from gpuprof.timing.units.scoreboard import sleep
from gpuprof.timing.units.sm_resources import blocks_that_fit_since, find_room, next_room, take
from gpuprof.timing.units.trace_cursor import enter


@call_njit
def start_blocks(machine):
    """Starts every block that finds a slot. Returns 0 when a slot is free and blocks remain, but none is known yet;
    else 1.
    """
    present = machine.now + QUANTUM
    if machine.n_draws:
        advance(machine, present)
    pick_head(machine, present)
    while machine.head >= 0:
        grid = grid_at(machine, machine.head)
        # A warp of a draw that has just come finds SMs that have had room for long, and none for longer than another.
        came = released_at(machine, grid.first_item + grid.next_block) if grid.first_item >= 0 else 0
        sm = free_sm(machine, came)
        if sm < 0:
            break
        if grid.next_block % grid.cluster == 0:
            machine.cluster_since = cluster_since(machine, grid) if grid.cluster > 1 else 0
            if machine.cluster_since == NEVER:
                break
        if grid.next_block == grid.known_blocks:
            return 0
        start_block(machine, grid, sm, max(came, machine.cluster_since), present)
        grid.next_block += 1
        if grid.next_block == grid.released:
            pick_head(machine, present)
        else:
            find_room(machine, sm)
    return 1


@call_njit
def cluster_since(machine, grid):
    """The cycle since which there is room for all blocks of a cluster, which start one after the other from then on;
    NEVER: not yet.
    """
    since = 0
    while since < NEVER:
        free = 0
        later = NEVER
        for sm in range(machine.sms):
            if sm_at(machine, sm).block_free < NEVER:
                free += blocks_that_fit_since(machine, sm, since)
                later = min(later, next_room(machine, sm, since))
        if free >= grid.cluster:
            return since
        since = later
    return NEVER


@inline_njit
def free_sm(machine, came):
    """The SM that has had room for longest for a block that came at cycle `came`, -1: none has."""
    best = -1
    for sm in range(machine.sms):
        s = sm_at(machine, sm)
        if s.block_free < NEVER and (best < 0 or sooner(s, sm_at(machine, best), came)):
            best = sm
    return best


@inline_njit
def sooner(first, second, came):
    since, other = max(first.block_free, came), max(second.block_free, came)
    return since < other or (since == other and first.blocks < second.blocks)


@inline_njit
def start_block(machine, grid, sm, came, present):
    """Puts the head grid's next block, which came at cycle `came`, on an SM, not before cycle `present`."""
    s = sm_at(machine, sm)
    slot = s.next_slot
    block = block_at(machine, slot)
    since = max(s.block_free, came)
    start = begin(machine, grid, s, max(since + machine.block_launch_cycles, present))
    if grid.next_block == 0:
        # A launch's cycles begin with the turn of its first block; profilers leave launch latency out, too.
        grid.start_cycle = since
        machine.max_cycle = max(machine.max_cycle, since + machine.longest_cycles)
    block.used = 1
    block.grid = machine.head
    block.index = grid.next_block
    block.live = grid.warps_per_block
    block.waiting = 0
    block.signalled = 0
    block.copies = 0
    if grid.has_mbarriers:
        start_mbarriers(machine, slot)
    for barrier in range(N_BARRIERS):
        arrived_at(machine, slot, barrier).value = 0
    presence = presence_at(machine, machine.head, sm)
    if presence.warps == 0:
        presence.active_since = start
    if s.warps == 0 and machine.period_cycles:
        s.next_sample = start + (machine.phase_cycles - start) % machine.period_cycles
    take(machine, machine.head, sm)
    s.warps += grid.warps_per_block
    presence.warps += grid.warps_per_block
    if grid.first_item >= 0:
        shading(machine, grid.first_item + grid.next_block, start)
    if machine.counts_blocks:
        begin_block(machine, slot, sm, start)
    for number in range(grid.warps_per_block):
        start_warp(machine, grid, sm, slot, number, start)


@inline_njit
def begin(machine, grid, sm, cycle):
    """The cycle in which a block starts, from `cycle` on."""
    # One distributor serves all SMs: a block every distributor_ticks (an estimate on every chip). Warps of draws come
    # from the units of the SM's own cluster, which take their time themselves: an SM takes one after the other.
    if grid.first_item >= 0:
        tick = max(cycle << TICK_BITS, sm.distributor_tick)
        sm.distributor_tick = tick + machine.distributor_ticks
    else:
        tick = max(cycle << TICK_BITS, machine.distributor_tick)
        machine.distributor_tick = tick + machine.distributor_ticks
    return tick >> TICK_BITS


@inline_njit
def take_lane(machine, sm):
    """A free warp slot in the partition that has the most of them: its number among the warps of the GPU."""
    best = -1
    most = 0
    for p in range(sm * machine.partitions, (sm + 1) * machine.partitions):
        free = 0
        first = -1
        for wi in range(p * machine.warps_per_partition, (p + 1) * machine.warps_per_partition):
            if warp_at(machine, wi).state == EMPTY:
                free += 1
                if first < 0:
                    first = wi
        if free > most:
            most = free
            best = first
    return best


@inline_njit
def start_warp(machine, grid, sm, slot, number, start):
    wi = take_lane(machine, sm)
    w = warp_at(machine, wi)
    w.state = STARTING
    w.pc = -1
    w.block_end = -1
    w.partition = wi // machine.warps_per_partition
    w.lane = wi % machine.warps_per_partition
    w.block_slot = slot
    w.in_block = number
    w.block = grid.next_block
    w.grid = machine.head
    w.alias = 0
    w.joined = 0
    w.groups = 0
    w.products = 0
    w.mask = 0
    w.line = -1
    w.stores_done = 0
    w.stores_gone = 0
    w.stores_quantum = -1
    w.issue_slots = 0
    w.issue_cycles = 0
    w.start = start
    w.last = start - 1
    w.ready = start
    enter(machine, wi, grid.piece)
    # Pieces come between quanta, so a warp needs a quantum's steps now and as many for the one in which it asks.
    if not w.final and w.trace_end - w.step < 2 * machine.lookahead_nbytes:
        machine.hungry = 1
    for register in range(machine.n_registers):
        board_at(machine, wi, register).value = 0
        second_at(machine, wi, register).value = 0
    # Its age decides among warps that became ready in the same cycle (docs/model/instructions.md, Scheduler).
    lane_at(machine, w.partition, w.lane).age = machine.ages
    w.cause_warp = (machine.ages + 1) << CAUSE_WARP_SHIFT
    if machine.counts_warps:
        begin_warp(machine, wi)
    w.longest = 0
    w.last_store = 0
    w.last_gone = 0
    machine.ages += 1
    sleep(machine, wi, start)
