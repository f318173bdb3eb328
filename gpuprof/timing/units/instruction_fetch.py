"""Instruction and constant fetch: an L0 instruction cache per partition fed by a stream buffer, an L1 instruction cache
per SM.

The instruction caches are direct-mapped by line number. The cycle in which a line is in the L0 is stored with a bit
below it: 1 when the L1 did not have it. A lookup also requests the lines after it (the stream buffer), so that straight
code misses once. A miss of the L1 is answered by the L2 after a fixed time; it does not compete with data.

The constant caches are set-associative; of each set the line that was used longest ago makes room.
"""

import numpy as np

from gpuprof.isa.special import CONSTANTS_AT
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import KIND
from gpuprof.timing.state.table_rows import (
    grid_at,
    l0_ready_at,
    l0_tag_at,
    l1i_ready_at,
    l1i_tag_at,
    word_at,
)

LINE_NBYTES = 64  # of the constant cache
# D3D12 requires constant buffers at multiples of 256 bytes, so this is the least distance between those of draws in
# flight.
LINES_OF_DRAW = 256 // LINE_NBYTES
FIRST_OF_MEMORY = CONSTANTS_AT // LINE_NBYTES  # line of operands from which on they are constant memory
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
    # A parameter comes with the launch, so its first use does not come from as far as that of constant memory.
    cold = machine.constant_segment_cycles if is_load or line >= FIRST_OF_MEMORY else machine.constant_cold_cycles
    # Grids of a batch have parameters of their own at the same offsets. Warps of many draws share an SM, so theirs lie
    # one after the other; those of other grids are in the same sets, next to each other.
    if grid_at(machine, grid).first_item >= 0:
        line += np.int64(grid) * LINES_OF_DRAW
    ways = machine.constant_set_ways
    first = sm * machine.constant_places + (is_load * machine.constant_sets + line % machine.constant_sets) * ways
    tag = np.int64(grid) << 32 | line
    tags, readies = machine.constant_tag_table, machine.constant_ready_table
    if word_at(tags, first).value != tag and to_front(tags, readies, first, ways, tag) == 0:
        after = machine.constant_load_miss_cycles if is_load else machine.constant_miss_cycles
        word_at(readies, first).value = constant_l15_line(machine, sm, grid, line, cycle, cycle + after, cold)
    return word_at(readies, first).value


@call_njit
def constant_l15_line(machine, sm, grid, line, cycle, ready, cold):
    """The cycle from which a line that the constant cache lacks is there: from the next cache, whose lines are longer,
    at `ready`, or from beyond it after `cold` cycles. Like fetch, it does not compete with data.
    """
    line = line * LINE_NBYTES // machine.constant_l15_line_nbytes
    ways = machine.constant_l15_set_ways
    # The segments begin at multiples of its size, so without the hash they would take each other's places.
    first = sm * machine.constant_l15_places + (line ^ line >> 5) % machine.constant_l15_sets * ways
    tag = np.int64(grid) << 32 | line
    tags, readies = machine.constant_l15_tag_table, machine.constant_l15_ready_table
    if to_front(tags, readies, first, ways, tag) == 0:
        word_at(readies, first).value = cycle + cold
    return max(ready, word_at(readies, first).value)


@call_njit
def to_front(tags, readies, first, ways, tag):
    """Puts a line at the front of the set that begins at `first`, whose lines are in the order of their last use. 1: it
    was there; 0: it takes the place of the one that was used longest ago, and when it is there is to be entered.
    """
    way = first
    while way < first + ways - 1 and word_at(tags, way).value != tag:
        way += 1
    found = word_at(tags, way).value == tag
    ready = word_at(readies, way).value
    for k in range(way, first, -1):
        word_at(tags, k).value = word_at(tags, k - 1).value
        word_at(readies, k).value = word_at(readies, k - 1).value
    word_at(tags, first).value = tag
    word_at(readies, first).value = ready
    return 1 if found else 0
