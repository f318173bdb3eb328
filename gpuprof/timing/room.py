"""What an SM has left: warp slots, block slots, registers and shared memory, shared by the grids that have blocks on
it.

A grid that is alone on an SM has as many blocks there as the occupancy rules give it. Of several, each block takes what
it needs of what the others left. How much of the L1 is shared memory is settled while an SM is empty, and stays while
it has blocks.
"""

from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import NEVER
from gpuprof.timing.state import sets_of_l1
from gpuprof.timing.tables import block_at, grid_at, l1_line_at, l1_tag_at, l1_use_at, presence_at, sm_at

sets = hot(sets_of_l1)


@hot
def blocks_that_fit(m, g, sm):
    """Blocks of grid g that an SM could take now."""
    s = sm_at(m, sm)
    grid = grid_at(m, g)
    n = min(grid.blocks_per_sm - presence_at(m, g, sm).blocks, m.max_blocks - s.blocks)
    n = min(n, (m.warp_slots - s.warps_taken) // grid.warps_per_block)
    if grid.registers:
        n = min(n, (m.registers - s.registers) // grid.registers)
    if grid.shared_nbytes and s.blocks:
        n = min(n, (s.carve_out - s.shared_nbytes) // grid.shared_nbytes)
    return n


@cold
def find_room(m, sm):
    """Notes for an SM the block slot that the head grid's next block would take, and since when it could have it
    (NEVER: not now).

    Of the grid's own former slots it is the one that has been free for longest. Other slots are free since another grid
    last gave something back.
    """
    s = sm_at(m, sm)
    s.block_free = NEVER
    if m.head < 0 or blocks_that_fit(m, m.head, sm) <= 0:
        return
    own = presence_at(m, m.head, sm).blocks
    other = -1
    for slot in range(sm * m.max_blocks, (sm + 1) * m.max_blocks):
        block = block_at(m, slot)
        if block.used:
            continue
        if block.grid == m.head:
            own += 1
            if block.free < s.block_free:
                s.block_free = block.free
                s.next_slot = slot
        elif other < 0:
            other = slot
    if other >= 0 and own < grid_at(m, m.head).blocks_per_sm and s.freed < s.block_free:
        s.block_free = s.freed
        s.next_slot = other
    s.block_free = max(s.block_free, m.head_since)


@cold
def blocks_that_fit_since(m, sm, since):
    """Blocks of the head grid that an SM could have taken at cycle `since`, of those it could take now."""
    own = presence_at(m, m.head, sm).blocks
    former = 0
    other = 0
    for slot in range(sm * m.max_blocks, (sm + 1) * m.max_blocks):
        block = block_at(m, slot)
        if not block.used and block.grid == m.head:
            own += 1
            former += max(block.free, m.head_since) <= since
        elif not block.used:
            other += 1
    if max(sm_at(m, sm).freed, m.head_since) <= since:
        former += max(0, min(other, grid_at(m, m.head).blocks_per_sm - own))
    return min(former, blocks_that_fit(m, m.head, sm))


@cold
def next_room(m, sm, since):
    """The first cycle after `since` in which an SM had a further slot; NEVER: there is none."""
    later = NEVER
    for slot in range(sm * m.max_blocks, (sm + 1) * m.max_blocks):
        block = block_at(m, slot)
        if not block.used:
            free = max(block.free if block.grid == m.head else sm_at(m, sm).freed, m.head_since)
            if free > since:
                later = min(later, free)
    return later


@cold
def take(m, g, sm):
    """A block of grid g takes its share of an SM."""
    s = sm_at(m, sm)
    grid = grid_at(m, g)
    presence = presence_at(m, g, sm)
    if presence.started == 0 or (s.blocks == 0 and s.carve_out != m.carve_out):
        divide(m, sm)
    presence.started = 1
    presence.blocks += 1
    s.blocks += 1
    s.warps_taken += grid.warps_per_block
    s.registers += grid.registers
    s.shared_nbytes += grid.shared_nbytes


@cold
def give_back(m, slot, sm, t):
    """The block in a slot has ended at cycle t."""
    s = sm_at(m, sm)
    block = block_at(m, slot)
    grid = grid_at(m, block.grid)
    block.used = 0
    block.free = t
    presence_at(m, block.grid, sm).blocks -= 1
    s.blocks -= 1
    s.warps_taken -= grid.warps_per_block
    s.registers -= grid.registers
    s.shared_nbytes -= grid.shared_nbytes
    if block.grid != m.head:
        s.freed = max(s.freed, t)
    find_room(m, sm)


@cold
def divide(m, sm):
    """A grid comes to an SM: its L1 is emptied, and when no block is there, divided anew into cache and shared
    memory.
    """
    s = sm_at(m, sm)
    if s.l1_use:
        for place in range(sm * m.l1_lines, (sm + 1) * m.l1_lines):
            l1_tag_at(m, place).value = 0
            l1_use_at(m, place).value = 0
            l1_line_at(m, place).valid = 0
            l1_line_at(m, place).pending = 0
            l1_line_at(m, place).pending_until = 0
    if s.blocks == 0:
        s.carve_out = m.carve_out
        s.l1_sets = sets(m.l1_nbytes, m.l1_shared_pool, s.carve_out, m.l1_ways)
