"""The resources that an SM has left: warp slots, block slots, registers and shared memory, shared by the grids that
have blocks on it.

A grid that is the only one on an SM has as many blocks there as the occupancy rules give it. Where several grids share
the SM, each block takes what it needs of what the others left. The split of the L1 into cache and shared memory is
settled while an SM is empty, and stays while it has blocks.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import NEVER
from gpuprof.timing.state.machine import sets_of_l1
from gpuprof.timing.state.table_rows import block_at, grid_at, presence_at, sm_at
from gpuprof.timing.units.l1 import empty

sets = inline_njit(sets_of_l1)


@inline_njit
def blocks_that_fit(machine, grid_index, sm):
    """Blocks of `grid_index` that an SM could take now."""
    s = sm_at(machine, sm)
    grid = grid_at(machine, grid_index)
    n = min(grid.blocks_per_sm - presence_at(machine, grid_index, sm).blocks, machine.block_slots - s.blocks)
    n = min(n, (machine.warp_slots - s.warps_taken) // grid.warps_per_block)
    if grid.registers:
        n = min(n, (machine.registers - s.registers) // grid.registers)
    if grid.shared_nbytes and s.blocks:
        n = min(n, (s.carve_out - s.shared_nbytes) // grid.shared_nbytes)
    return n


@call_njit
def find_room(machine, sm):
    """Notes for an SM the block slot that the head grid's next block would take, and since when it could have it
    (NEVER: not now).

    Of the grid's own former slots it is the one that has been free for longest. Other slots are free since another grid
    last gave something back.
    """
    s = sm_at(machine, sm)
    s.block_free = NEVER
    if machine.head < 0 or blocks_that_fit(machine, machine.head, sm) <= 0:
        return
    own = presence_at(machine, machine.head, sm).blocks
    other = -1
    for slot in range(sm * machine.block_slots, (sm + 1) * machine.block_slots):
        block = block_at(machine, slot)
        if block.used:
            continue
        if block.grid == machine.head:
            own += 1
            if block.free < s.block_free:
                s.block_free = block.free
                s.next_slot = slot
        elif other < 0:
            other = slot
    if other >= 0 and own < grid_at(machine, machine.head).blocks_per_sm and s.freed < s.block_free:
        s.block_free = s.freed
        s.next_slot = other
    s.block_free = max(s.block_free, machine.head_since)


@call_njit
def blocks_that_fit_since(machine, sm, since):
    """Blocks of the head grid that an SM could have taken at cycle `since`, of those it could take now."""
    own = presence_at(machine, machine.head, sm).blocks
    former = 0
    other = 0
    for slot in range(sm * machine.block_slots, (sm + 1) * machine.block_slots):
        block = block_at(machine, slot)
        if not block.used and block.grid == machine.head:
            own += 1
            former += max(block.free, machine.head_since) <= since
        elif not block.used:
            other += 1
    if max(sm_at(machine, sm).freed, machine.head_since) <= since:
        former += max(0, min(other, grid_at(machine, machine.head).blocks_per_sm - own))
    return min(former, blocks_that_fit(machine, machine.head, sm))


@call_njit
def next_room(machine, sm, since):
    """The first cycle after `since` in which an SM had a further slot; NEVER: there is none."""
    later = NEVER
    for slot in range(sm * machine.block_slots, (sm + 1) * machine.block_slots):
        block = block_at(machine, slot)
        if not block.used:
            free = max(block.free if block.grid == machine.head else sm_at(machine, sm).freed, machine.head_since)
            if free > since:
                later = min(later, free)
    return later


@call_njit
def take(machine, grid_index, sm):
    """A block of `grid_index` takes its share of an SM."""
    s = sm_at(machine, sm)
    grid = grid_at(machine, grid_index)
    presence = presence_at(machine, grid_index, sm)
    # A launch's first block on an SM finds an empty L1, and so does a block after the L1 has changed its size.
    if presence.started == 0 or (s.blocks == 0 and s.carve_out != machine.carve_out):
        divide(machine, sm)
    presence.started = 1
    presence.blocks += 1
    s.blocks += 1
    s.warps_taken += grid.warps_per_block
    s.registers += grid.registers
    s.shared_nbytes += grid.shared_nbytes


@call_njit
def give_back(machine, slot, sm, cycle):
    """The block in a slot has ended at `cycle`."""
    s = sm_at(machine, sm)
    block = block_at(machine, slot)
    grid = grid_at(machine, block.grid)
    # Warps of draws come one by one, so one that ends where there was room makes none for another.
    had_room = grid.first_item >= 0 and blocks_that_fit(machine, block.grid, sm) > 0
    block.used = 0
    block.free = cycle
    presence_at(machine, block.grid, sm).blocks -= 1
    s.blocks -= 1
    s.warps_taken -= grid.warps_per_block
    s.registers -= grid.registers
    s.shared_nbytes -= grid.shared_nbytes
    if block.grid != machine.head and not had_room:
        s.freed = max(s.freed, cycle)
    find_room(machine, sm)


@call_njit
def divide(machine, sm):
    """Prepares an SM for a grid that is new to it: its L1 is emptied, and when no block is there, divided again into
    cache and shared memory.
    """
    s = sm_at(machine, sm)
    if s.l1_use:
        empty(machine, sm)
    if s.blocks == 0:
        s.carve_out = machine.carve_out
        s.l1_sets = sets(machine.l1_nbytes, machine.l1_shared_pool, s.carve_out, machine.l1_ways)
