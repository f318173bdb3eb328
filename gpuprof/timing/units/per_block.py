"""Exact counters of blocks and warps: a row for each that has ended, where they are requested.

A block's requests are served when the quantum ends, so its row follows after that; until then its slot is not taken
again.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.stall_tables import WAIT_OF_REASON, WAITS
from gpuprof.timing.state.table_rows import (
    block_at,
    block_row_at,
    grid_at,
    load_at,
    part_at,
    waited_at,
    warp_at,
    warp_row_at,
)
from gpuprof.timing.units.effects import WARP_ENDS, note
from gpuprof.timing.units.sample_filter import block_in_grid

N_WAITS = len(WAITS)
FIXED, MEMORY, SHORT, BARRIER, THROTTLE, FETCH, TURN, OTHER = range(N_WAITS)
assert tuple(WAITS) == ("fixed", "memory", "short", "barrier", "throttle", "fetch", "turn", "other")


@call_njit
def begin_block(machine, slot, sm, start):
    block = block_at(machine, slot)
    block.sm = sm
    block.start = start
    block.issue_slots = 0
    block.issue_cycles = 0
    block.resident_cycles = 0
    block.l1_sectors = 0
    block.l1_hits = 0
    block.l2_requests = 0
    block.l2_request_cycles = 0
    block.l2_sectors = 0
    block.l2_hits = 0
    block.dram_read_sectors = 0
    block.dram_write_sectors = 0


@call_njit
def begin_warp(machine, warp):
    for kind in range(N_WAITS):
        waited_at(machine, warp, kind).value = 0


@inline_njit
def count_wait(machine, warp, reason, cycles):
    """`warp`: the record of a warp that was stalled for so many cycles."""
    number = warp.partition * machine.warps_per_partition + warp.lane
    waited_at(machine, number, WAIT_OF_REASON[reason]).value += cycles


@inline_njit
def asker_of(machine, request):
    """The block slot of the warp that asked; -1 for what the trace cells store."""
    warp = load_at(machine, request.target).warp if request.target >= 0 else -1 - request.target
    return warp_at(machine, warp).block_slot if warp < machine.sms * machine.warp_slots else -1


@call_njit
def warp_ends(machine, warp, cycle):
    """The warp is gone from `cycle` on."""
    w = warp_at(machine, warp)
    block = block_at(machine, w.block_slot)
    block.issue_slots += w.issue_slots
    block.issue_cycles += w.issue_cycles
    block.resident_cycles += cycle - w.start
    if machine.counts_warps:
        note(machine, WARP_ENDS, warp, cycle)


@call_njit
def write_warp(machine, warp, cycle):
    w = warp_at(machine, warp)
    r = warp_row_at(machine, machine.n_warp_rows)
    r.start_cycle = w.start
    r.end_cycle = cycle
    r.launch = grid_at(machine, w.grid).launch
    r.block = block_in_grid(machine, warp)
    r.warp = w.in_block
    r.sm = part_at(machine, w.partition).sm
    r.issue_slots = w.issue_slots
    r.issue_cycles = w.issue_cycles
    r.fixed_cycles = waited_at(machine, warp, FIXED).value
    r.memory_cycles = waited_at(machine, warp, MEMORY).value
    r.short_cycles = waited_at(machine, warp, SHORT).value
    r.barrier_cycles = waited_at(machine, warp, BARRIER).value
    r.throttle_cycles = waited_at(machine, warp, THROTTLE).value
    r.fetch_cycles = waited_at(machine, warp, FETCH).value
    r.turn_cycles = waited_at(machine, warp, TURN).value
    r.other_cycles = waited_at(machine, warp, OTHER).value
    machine.n_warp_rows += 1


@call_njit
def block_is_over(machine, warp, cycle):
    """The last warp of a block is gone from `cycle` on."""
    slot = warp_at(machine, warp).block_slot
    block_at(machine, slot).end = cycle
    # It is another number where clusters run: the warp is known here, and not when the row is written.
    block_at(machine, slot).index = block_in_grid(machine, warp)


@call_njit
def write_block(machine, slot):
    """The row of a block that has ended in this quantum, whose requests have been served."""
    block = block_at(machine, slot)
    r = block_row_at(machine, machine.n_block_rows)
    grid = grid_at(machine, block.grid)
    r.start_cycle = block.start
    r.end_cycle = block.end
    r.launch = grid.launch
    r.block = block.index
    r.sm = block.sm
    r.warps = grid.warps_per_block
    r.issue_slots = block.issue_slots
    r.issue_cycles = block.issue_cycles
    r.resident_cycles = block.resident_cycles
    r.l1_sectors = block.l1_sectors
    r.l1_hits = block.l1_hits
    r.l2_requests = block.l2_requests
    r.l2_request_cycles = block.l2_request_cycles
    r.l2_sectors = block.l2_sectors
    r.l2_hits = block.l2_hits
    r.dram_read_sectors = block.dram_read_sectors
    r.dram_write_sectors = block.dram_write_sectors
    machine.n_block_rows += 1
