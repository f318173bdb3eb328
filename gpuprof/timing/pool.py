"""The pool of grids: which may start blocks, and in what order.

A grid is pending until what it depends on has ended and its launch has come through, and while the pool is full. Of the
active ones the one of highest priority, and among equals the one launched first, starts its blocks; only when it has
none left does the next begin. So later grids get what earlier ones leave over.
"""

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.jit import cold
from gpuprof.timing.layout import ACTIVE, ENDED, HOLDING, KIND, NEVER, PENDING, QUANTUM
from gpuprof.timing.room import find_room
from gpuprof.timing.scoreboard import hold, sleep
from gpuprof.timing.tables import block_at, edge_at, grid_at, warp_at

MEMBAR = INDEX["membar"]
GRID_BEFORE = KIND["grid"]


@cold
def pick_head(m, present):
    """Takes grids into the pool, and finds the one whose blocks start next from cycle `present` on."""
    head = -1
    m.carve_out = 0
    m.next_ready = NEVER
    while m.first_open < m.n_grids and grid_at(m, m.first_open).state == ENDED:
        m.first_open += 1
    for g in range(m.first_open, m.n_grids):
        if is_active(m, g, present):
            grid = grid_at(m, g)
            m.carve_out = max(m.carve_out, grid.carve_out)
            if grid.next_block < grid.total_blocks and (head < 0 or grid.priority < grid_at(m, head).priority):
                head = g
    if head != m.head:
        m.head_since = present
        if m.head < 0:  # nobody was before it
            m.head_since = max(grid_at(m, head).ready, present - QUANTUM)
        m.head = head
        for sm in range(m.sms):
            find_room(m, sm)


@cold
def is_active(m, g, present):
    """Whether a grid is in the pool, from now on if it can be."""
    grid = grid_at(m, g)
    if grid.state != PENDING:
        return grid.state == ACTIVE
    if grid.waits:
        return False
    if grid.ready > present:
        m.next_ready = min(m.next_ready, grid.ready)
        return False
    if m.n_active == m.max_active_grids:
        return False
    m.n_active += 1
    grid.state = ACTIVE
    grid.ready = max(grid.ready, m.pool_freed)
    return True


@cold
def block_ends(m, slot, t):
    """A block has ended at cycle t, and perhaps its grid with it."""
    g = block_at(m, slot).grid
    grid = grid_at(m, g)
    signal(m, slot, t)
    grid.done_blocks += 1
    if grid.done_blocks == grid.total_blocks:
        grid_ends(m, g)


@cold
def grid_ends(m, g):
    """What waits for grid g is launched. (Of blocks that end in one quantum the last may be seen first: SMs run one
    after the other.)
    """
    grid = grid_at(m, g)
    t = grid.end_cycle
    grid.state = ENDED
    if m.n_active == m.max_active_grids:
        m.pool_freed = t
    elif m.pool_freed >= m.now:  # another made room in this quantum, and was seen first
        m.pool_freed = min(m.pool_freed, t)
    m.n_active -= 1
    m.n_ended += 1
    for k in range(grid.first_edge, grid.last_edge):
        edge = edge_at(m, k)
        after = grid_at(m, edge.grid)
        if edge.programmatic:
            after.prerequisites -= 1
            after.prerequisites_seen = max(after.prerequisites_seen, t + m.block_launch_cycles)
            if after.prerequisites == 0:
                let_go(m, edge.grid)
        else:
            after.waits -= 1
            after.ready = max(after.ready, t + after.launch_cycles)


@cold
def signal(m, slot, t):
    """A block lets dependent grids start, once. When all blocks have, those that were launched so may."""
    block = block_at(m, slot)
    if block.signalled:
        return
    block.signalled = 1
    grid = grid_at(m, block.grid)
    grid.signalled += 1
    grid.signal_cycle = max(grid.signal_cycle, t)
    if grid.signalled == grid.total_blocks:
        for k in range(grid.first_edge, grid.last_edge):
            if edge_at(m, k).programmatic:
                after = grid_at(m, edge_at(m, k).grid)
                after.waits -= 1
                after.ready = max(after.ready, grid.signal_cycle)


@cold
def wait_for_grids(m, wi, t):
    """Holds a warp until the grids before its own, whose blocks let it start, have ended, and this is seen: as soon as
    a block would start.
    """
    grid = grid_at(m, warp_at(m, wi).grid)
    hold(m, wi, MEMBAR, NEVER)
    if grid.prerequisites == 0:
        see_end_of_grids(m, wi, max(t + 1, grid.prerequisites_seen))


@cold
def let_go(m, g):
    """The grids before g have ended, and its warps wait for no other."""
    for wi in range(m.sms * m.warp_slots):
        w = warp_at(m, wi)
        if w.state == HOLDING and w.grid == g and w.hold_reason == MEMBAR and w.ready == NEVER:
            see_end_of_grids(m, wi, max(w.last + 1, grid_at(m, g).prerequisites_seen))


@cold
def see_end_of_grids(m, wi, cycle):
    w = warp_at(m, wi)
    w.ready = cycle
    if cycle > w.last + 1:
        w.hold_cause = GRID_BEFORE | w.pc
    sleep(m, wi, cycle)


@cold
def launch_grids(m, wi, t):
    """A warp launches the grids of its next turn in cycle t: they come through as launches of the host do."""
    w = warp_at(m, wi)
    warp = w.block * grid_at(m, w.grid).warps_per_block + w.in_block
    turn = NEVER
    for g in range(w.grid + 1, m.n_grids):
        grid = grid_at(m, g)
        if grid.launched == 0 and grid.launcher == w.grid and grid.launcher_warp == warp:
            turn = min(turn, grid.turn)
    for g in range(w.grid + 1, m.n_grids):
        grid = grid_at(m, g)
        if grid.launched == 0 and grid.launcher == w.grid and grid.launcher_warp == warp and grid.turn == turn:
            grid.launched = 1
            grid.waits -= 1
            grid.ready = max(grid.ready, t + grid.launch_cycles)
