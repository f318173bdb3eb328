"""The memory traffic of the fixed-function units of draws, in the L2 and the DRAM that kernels use: indices, depths,
stencils and colors.

All that a unit accesses for an item arrives at its slices when the item begins there; units have no SM's link and no
TLB before them. A read is answered as an SM's is by the half of the L2 that is near. A write is answered when its slice
has it, and what had to leave the L2 for it has found room in a channel's queue: so a full DRAM holds the unit up.
Answers for a unit's items come in their order.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import (
    ASKING_COLUMN,
    ASKING_SERIES,
    N_ASKING,
    READ,
    TICK_BITS,
    TICKS,
    WRITE,
)
from gpuprof.timing.state.table_rows import (
    column_at,
    grid_at,
    item_at,
    passage_at,
    request_at,
    slice_tick_at,
    unit_access_at,
    unit_traffic_at,
)
from gpuprof.timing.units.l2 import joined_ticks, slice_of, touch
from gpuprof.timing.units.l2_halves import held_sectors
from gpuprof.timing.units.set_associative import n_sectors


@call_njit
def serve_units(machine, cycle):
    """Serves what units ask for up to a cycle, each in its order."""
    for k in range(N_ASKING):
        unit = column_at(machine, ASKING_SERIES[k], ASKING_COLUMN[k])
        while unit.asked < unit.end and passage_at(machine, unit.asked, ASKING_COLUMN[k]).begun >> TICK_BITS <= cycle:
            serve_item(machine, unit, k)


@call_njit
def serve_item(machine, unit, k):
    """Serves all that unit `k` asks for the item whose turn it is."""
    machine.grid, machine.asker = machine.n_grids, -1  # it is no grid's, nor a block's
    passage = passage_at(machine, unit.asked, ASKING_COLUMN[k])
    traffic = unit_traffic_at(machine, item_at(machine, unit.asked).draw, k)
    for number in range(unit.access, unit.access + passage.n_lines):
        access = unit_access_at(machine, number)
        unit.answered = max(unit.answered, answered(machine, access, passage.begun))
        traffic.read_sectors += n_sectors(access.reads)
        traffic.write_sectors += n_sectors(access.writes)
    passage.answered = unit.answered
    unit.access += passage.n_lines
    unit.asked += 1
    collect(machine, traffic)


@call_njit
def collect(machine, traffic):
    """Moves the L2's counts for the units to the draw."""
    unassigned = grid_at(machine, machine.n_grids)
    traffic.hits += unassigned.l2_hits
    traffic.dram_read_sectors += unassigned.dram_read_sectors
    traffic.dram_write_sectors += unassigned.dram_write_sectors
    unassigned.l2_sectors = unassigned.l2_hits = unassigned.dram_read_sectors = unassigned.dram_write_sectors = 0


@call_njit
def answered(machine, access, tick):
    """The tick in which a line that is requested from `tick` on is answered."""
    request = request_at(machine, machine.n_requests)  # after those of the SMs
    request.line = access.line
    request.sm = -1
    cycle = 0
    if access.reads:
        request.kind = READ
        request.sectors = access.reads
        request.missing = 0
        begun = take_slice(machine, request, tick)
        held = held_sectors(machine, request, home_of(machine, request), home_of(machine, request))
        arrives = touch(machine, request, n_sectors(access.reads), begun, -machine.l2_way_cycles, held)
        cycle = max((begun >> TICK_BITS) + machine.l2_near_cycles, arrives)
    if access.writes:
        request.kind = WRITE
        request.sectors = access.writes
        request.missing = access.missing
        begun = take_slice(machine, request, tick)
        held = held_sectors(machine, request, home_of(machine, request), home_of(machine, request))
        machine.written_back = 0
        touch(machine, request, n_sectors(access.writes), begun, -machine.l2_way_cycles, held)
        queued = (machine.written_back - machine.dram_queue_ticks + TICKS - 1) >> TICK_BITS
        cycle = max(cycle, max((begun >> TICK_BITS) + machine.l2_store_cycles, queued))
    return cycle << TICK_BITS


@inline_njit
def take_slice(machine, request, tick):
    """The tick in which a request's slice takes it."""
    number = slice_of(machine, request.line)
    n = n_sectors(request.sectors)
    begun = max(tick, slice_tick_at(machine, number).value)
    ticks = joined_ticks(machine, number, request, n) if request.missing else n * machine.slice_ticks
    slice_tick_at(machine, number).value = begun + ticks
    return begun


@inline_njit
def home_of(machine, request):
    """The half of the L2 that a request's line lies in."""
    return slice_of(machine, request.line) * 2 // machine.l2_slices
