"""Instruction and constant fetch: an L0 instruction cache per partition fed by a stream buffer, an L1 instruction cache
per SM.

Both are direct-mapped by line number. The cycle in which a line is in the L0 is kept with a bit below it: 1 when the L1
did not have it. A lookup also asks for the lines behind it (the stream buffer), so that straight code misses once. What
misses the L1 comes from the L2 after a fixed time; it does not compete with data.
"""

import numpy as np

from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import KIND
from gpuprof.timing.tables import constant_ready_at, constant_tag_at, l0_ready_at, l0_tag_at, l1i_ready_at, l1i_tag_at

L0_MISS, L1I_MISS = KIND["l0_miss"], KIND["l1i_miss"]


@hot
def request_line(m, partition, sm, line, t):
    """The cycle at which a line is in the L0 and the bit below, asking for it at cycle t when it is not there."""
    place = line % m.l0i_lines
    if l0_tag_at(m, partition, place).value == line:
        return l0_ready_at(m, partition, place).value
    place_1 = line % m.l1i_lines
    if l1i_tag_at(m, sm, place_1).value != line:
        l1i_tag_at(m, sm, place_1).value = line
        l1i_ready_at(m, sm, place_1).value = t + m.l1i_miss_cycles
    there = l1i_ready_at(m, sm, place_1).value
    ready = (max(t, there) + m.l0i_miss_cycles) << 1 | (there > t)
    l0_tag_at(m, partition, place).value = line
    l0_ready_at(m, partition, place).value = ready
    return ready


@cold
def fetch(m, partition, line, t, last_line):
    """The cycle from which a warp can issue from an instruction line it comes to at cycle t, and the bit below.
    `last_line` is the program's.
    """
    sm = partition // m.partitions
    ready = request_line(m, partition, sm, line, t)
    last = min(line + m.prefetch_lines, last_line)
    for ahead in range(line + 1, last + 1):
        request_line(m, partition, sm, ahead, t)
    return ready


@hot
def missed(found):
    """The kind of cause that `fetch` tells of."""
    return L1I_MISS if found & 1 else L0_MISS


@cold
def constant_line(m, sm, grid, line, t):
    """The cycle from which a 64-byte line of a grid is in the SM's constant cache. Lines count through both constant
    segments.
    """
    place = line % m.constant_lines
    tag = np.int64(grid) << 32 | line
    if constant_tag_at(m, sm, place).value != tag:
        constant_tag_at(m, sm, place).value = tag
        constant_ready_at(m, sm, place).value = t + m.constant_miss_cycles
    return constant_ready_at(m, sm, place).value
