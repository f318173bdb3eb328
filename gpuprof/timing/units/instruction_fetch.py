"""Instruction and constant fetch: an L0 instruction cache per partition fed by a stream buffer, an L1 instruction cache
per SM.

Both are direct-mapped by line number. The cycle in which a line is in the L0 is stored with a bit below it: 1 when the
L1 did not have it. A lookup also requests the lines after it (the stream buffer), so that straight code misses once. A
miss of the L1 is answered by the L2 after a fixed time; it does not compete with data.
"""

import numpy as np

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import KIND
from gpuprof.timing.state.table_rows import (
    constant_l15_ready_at,
    constant_l15_tag_at,
    constant_ready_at,
    constant_tag_at,
    grid_at,
    l0_ready_at,
    l0_tag_at,
    l1i_ready_at,
    l1i_tag_at,
)

LINE_NBYTES = 64  # of the constant cache
# D3D12 requires constant buffers at multiples of 256 bytes, so this is the least distance between those of draws in
# flight.
LINES_OF_DRAW = 256 // LINE_NBYTES
L0_MISS, L1I_MISS = KIND["l0_miss"], KIND["l1i_miss"]


@inline_njit
def request_line(machine, partition, sm, line, cycle):
    """The cycle at which a line is in the L0 and the bit below, asking for it at `cycle` when it is not there."""
    index = line % machine.l0i_lines
    if l0_tag_at(machine, partition, index).value == line:
        return l0_ready_at(machine, partition, index).value
    l1_index = line % machine.l1i_lines
    if l1i_tag_at(machine, sm, l1_index).value != line:
        l1i_tag_at(machine, sm, l1_index).value = line
        l1i_ready_at(machine, sm, l1_index).value = cycle + machine.l1i_miss_cycles
    l1_ready = l1i_ready_at(machine, sm, l1_index).value
    ready = (max(cycle, l1_ready) + machine.l0i_miss_cycles) << 1 | (l1_ready > cycle)
    # The tag is set before the line has come, so that others who want it wait for the same fetch.
    l0_tag_at(machine, partition, index).value = line
    l0_ready_at(machine, partition, index).value = ready
    return ready


@call_njit
def fetch(machine, partition, line, cycle, last_line):
    """The cycle from which a warp can issue from an instruction line that it reaches at `cycle`, and the bit below.
    `last_line` is the program's.
    """
    sm = partition // machine.partitions
    ready = request_line(machine, partition, sm, line, cycle)
    last = min(line + machine.prefetch_lines, last_line)
    for ahead in range(line + 1, last + 1):
        request_line(machine, partition, sm, ahead, cycle)
    return ready


@inline_njit
def missed(fetched):
    """The kind of cause of a wait, from the result of `fetch`."""
    return L1I_MISS if fetched & 1 else L0_MISS


@call_njit
def constant_line(machine, sm, grid, line, cycle, is_load):
    """The cycle from which a 64-byte line of a grid is in the constant cache of the SM: of loads if `is_load`, else of
    operands. Lines count through both constant segments.
    """
    # Grids of a batch have parameters of their own at the same offsets. Warps of many draws share an SM, so theirs lie
    # one after the other; those of other grids take each other's places.
    if grid_at(machine, grid).first_item >= 0:
        line += np.int64(grid) * LINES_OF_DRAW
    index = line % machine.constant_lines + is_load * machine.constant_lines
    tag = np.int64(grid) << 32 | line
    if constant_tag_at(machine, sm, index).value != tag:
        constant_tag_at(machine, sm, index).value = tag
        constant_ready_at(machine, sm, index).value = constant_l15_line(machine, sm, grid, line, cycle)
    return constant_ready_at(machine, sm, index).value


@call_njit
def constant_l15_line(machine, sm, grid, line, cycle):
    """The cycle from which a line that the constant cache lacks is there: from the next cache, whose lines are longer,
    or from the L2. Like fetch, it does not compete with data.
    """
    line = line * LINE_NBYTES // machine.constant_l15_line_nbytes
    # The segments begin at multiples of its size, so without the hash they would take each other's places.
    index = (line ^ line >> 5) % machine.constant_l15_lines
    tag = np.int64(grid) << 32 | line
    if constant_l15_tag_at(machine, sm, index).value != tag:
        constant_l15_tag_at(machine, sm, index).value = tag
        constant_l15_ready_at(machine, sm, index).value = cycle + machine.constant_cold_cycles
    return max(cycle + machine.constant_miss_cycles, constant_l15_ready_at(machine, sm, index).value)
