"""The pool of grids: which may start blocks, and in what order.

A grid is pending until what it depends on has ended and its launch has come through, and while the pool is full. Of the
active ones the one of highest priority, and among equals the one launched first, starts its blocks; only when it has
none left does the next begin. So later grids get what earlier ones leave over.
"""

from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.layout import ACTIVE, ENDED, HOLDING, KIND, NEVER, PENDING, QUANTUM
from gpuprof.timing.state.table_rows import block_at, edge_at, grid_at, warp_at
from gpuprof.timing.units.draw_pipeline import shaded
from gpuprof.timing.units.effects import BLOCK_SIGNALS, note
from gpuprof.timing.units.operations import comes_closer, start_operations
from gpuprof.timing.units.scoreboard import hold, sleep
from gpuprof.timing.units.sm_resources import find_room

MEMBAR = INDEX["membar"]
GRID_BEFORE = KIND["grid"]


@call_njit
def pick_head(machine, present):
    """Takes grids into the pool, and finds the one whose blocks start next from cycle `present` on."""
    head = -1
    machine.carve_out = 0
    machine.next_ready = NEVER
    if machine.n_operated < machine.n_operations:
        start_operations(machine, present)
    while machine.first_open < machine.n_grids and grid_at(machine, machine.first_open).state == ENDED:
        machine.first_open += 1
    # Amert et al. (2017) found this order on a Tegra X2; nothing newer was found published. Grids are in the order
    # launched, so among equals the earliest stays.
    for g in range(machine.first_open, machine.n_grids):
        if is_active(machine, g, present):
            grid = grid_at(machine, g)
            # The active grid that needs most shared memory decides how an empty SM divides its L1 (docs/model.md).
            machine.carve_out = max(machine.carve_out, grid.carve_out)
            if grid.next_block < grid.released and (head < 0 or grid.priority < grid_at(machine, head).priority):
                head = g
    machine.next_ready = min(machine.next_ready, machine.next_release)
    if head != machine.head:
        machine.head_since = present
        if machine.head < 0:  # the pool was empty
            machine.head_since = max(grid_at(machine, head).ready, present - QUANTUM)
        machine.head = head
        for sm in range(machine.sms):
            find_room(machine, sm)


@call_njit
def is_active(machine, grid_index, present):
    """True when a grid is in the pool, from now on if it can be."""
    grid = grid_at(machine, grid_index)
    if grid.state != PENDING:
        return grid.state == ACTIVE
    if grid.waits:
        return False
    if grid.ready > present:
        machine.next_ready = min(machine.next_ready, grid.ready)
        return False
    # Shaders of draws come by the fixed-function units, not through the pool of grids.
    if grid.first_item < 0:
        if machine.n_active == machine.max_active_grids:
            return False
        machine.n_active += 1
    grid.state = ACTIVE
    grid.ready = max(grid.ready, machine.pool_freed)
    return True


@call_njit
def block_ends(machine, slot, cycle):
    """A block has ended at `cycle`, and perhaps its grid with it."""
    block = block_at(machine, slot)
    g = block.grid
    grid = grid_at(machine, g)
    grid.end_cycle = max(grid.end_cycle, cycle)
    if not block.signalled:
        signal(machine, slot, cycle)
    if grid.first_item >= 0:
        shaded(machine, grid.first_item + block.index, cycle)
    grid.done_blocks += 1
    if grid.done_blocks == grid.total_blocks:
        grid_ends(machine, g)


@call_njit
def grid_ends(machine, grid_index):
    """A grid has ended, so the grids that wait for it come closer to their launch. (Of blocks that end in one quantum
    the last may be seen first: they come in the order of their SMs.)
    """
    grid = grid_at(machine, grid_index)
    t = grid.end_cycle
    grid.state = ENDED
    machine.n_ended += 1
    if grid.first_item < 0:
        leave_pool(machine, t)
    for k in range(grid.first_edge, grid.last_edge):
        edge = edge_at(machine, k)
        if not edge.programmatic:
            comes_closer(machine, edge.target, t)
            continue
        after = grid_at(machine, edge.target)
        after.prerequisites -= 1
        # block_launch_cycles approximate the time until warps see the end: an estimate.
        after.prerequisites_seen = max(after.prerequisites_seen, t + machine.block_launch_cycles)
        if after.prerequisites == 0:
            let_go(machine, edge.target)


@call_njit
def leave_pool(machine, t):
    """A grid has ended at cycle `t`."""
    if machine.n_active == machine.max_active_grids:
        machine.pool_freed = t
    elif machine.pool_freed >= machine.now:  # another made room in this quantum, and was seen first
        machine.pool_freed = min(machine.pool_freed, t)
    machine.n_active -= 1


@call_njit
def note_signal(machine, slot, cycle):
    """A block lets dependent grids start, once."""
    block = block_at(machine, slot)
    if not block.signalled:
        block.signalled = 1
        note(machine, BLOCK_SIGNALS, slot, cycle)


@call_njit
def signal(machine, slot, cycle):
    """A block has let dependent grids start. When all blocks have, those that were launched so may."""
    grid = grid_at(machine, block_at(machine, slot).grid)
    grid.signalled += 1
    grid.signal_cycle = max(grid.signal_cycle, cycle)
    if grid.signalled == grid.total_blocks:
        for k in range(grid.first_edge, grid.last_edge):
            if edge_at(machine, k).programmatic:
                after = grid_at(machine, edge_at(machine, k).target)
                after.waits -= 1
                after.ready = max(after.ready, grid.signal_cycle)


@call_njit
def wait_for_grids(machine, warp, cycle):
    """Holds a warp until the grids before its own, whose blocks let it start, have ended, and this is seen: as soon as
    a block would start.
    """
    grid = grid_at(machine, warp_at(machine, warp).grid)
    hold(machine, warp, MEMBAR, NEVER)
    if grid.prerequisites == 0:
        see_end_of_grids(machine, warp, max(cycle + 1, grid.prerequisites_seen))


@call_njit
def let_go(machine, grid_index):
    """The grids before `grid_index` have ended, and its warps wait for no other."""
    for warp in range(machine.sms * machine.warp_slots):
        w = warp_at(machine, warp)
        if w.state == HOLDING and w.grid == grid_index and w.hold_reason == MEMBAR and w.ready == NEVER:
            see_end_of_grids(machine, warp, max(w.last + 1, grid_at(machine, grid_index).prerequisites_seen))


@call_njit
def see_end_of_grids(machine, warp, cycle):
    w = warp_at(machine, warp)
    w.ready = cycle
    if cycle > w.last + 1:
        w.hold_cause = GRID_BEFORE | w.pc
    sleep(machine, warp, cycle)


@call_njit
def launch_grids(machine, warp_index, cycle):
    """A warp launches the grids of its next turn in `cycle`: they come through as launches of the host do."""
    w = warp_at(machine, warp_index)
    warp = w.block * grid_at(machine, w.grid).warps_per_block + w.in_block
    order = NEVER
    for g in range(w.grid + 1, machine.n_grids):
        grid = grid_at(machine, g)
        if grid.launched == 0 and grid.launcher == w.grid and grid.launcher_warp == warp:
            order = min(order, grid.turn)
    for g in range(w.grid + 1, machine.n_grids):
        grid = grid_at(machine, g)
        if grid.launched == 0 and grid.launcher == w.grid and grid.launcher_warp == warp and grid.turn == order:
            grid.launched = 1
            grid.waits -= 1
            # An estimate: no measurement was found of launches by kernels, so they take as long as the host's.
            grid.ready = max(grid.ready, cycle + grid.launch_cycles)
