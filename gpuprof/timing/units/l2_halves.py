"""The two halves of an L2: which sectors each of them keeps.

A half has lines of two kinds, in one order of their last use: those at home there, and copies of the other half's that
its SMs have read. So data that both halves read takes twice its room, and what does not fit comes from the DRAM again.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import COPY_WAYS, READ
from gpuprof.timing.state.table_rows import l2_copy_at
from gpuprof.timing.units.set_associative import fold_bits


@call_njit
def held_sectors(machine, request, half, home):
    """The sectors of a line that the L2 has for a request from one half, four bits, and above them those that lie in
    that half itself. A half keeps what its SMs read and what others read or write of the lines at home there, in the
    order of their last use. What a half reads of the other's lines stays in both, until it is written.
    """
    if machine.l2_far_cycles == machine.l2_near_cycles:
        return 0xFF
    # From this rule follow chases and shared reads near the L2's size (docs/model/memory.md, L2).
    line, sectors = request.line, request.sectors
    first = copy_set(machine, line) * COPY_WAYS
    half_copies = machine.copy_sets * COPY_WAYS
    own_first, home_first = first + half * half_copies, first + home * half_copies
    if request.kind != READ:
        drop(machine, first + (1 - home) * half_copies, line, sectors)
        return keep(machine, home_first, line, sectors)
    own = keep(machine, own_first, line, sectors)
    held = own
    if half != home and sectors & ~own:
        held |= keep(machine, home_first, line, sectors & ~own)
    if sectors & ~held:  # then the line is the home's newest
        l2_copy_at(machine, home_first).value |= fetched_with(machine, sectors & ~held)
    return own << 4 | held


@inline_njit
def copy_set(machine, line):
    """The set of a line in each half: one line of each half's home after the other, whatever their slices."""
    number = fold_bits(line)
    of_slices = machine.l2_slices << machine.l2_interleave_bits  # lines that lie once in each slice
    of_half = (of_slices + 1) >> 1
    turn = number // of_slices
    place = number - turn * of_slices
    return (turn * of_half + (place - of_half if place >= of_half else place)) % machine.copy_sets


@call_njit
def keep(machine, first, line, sectors):
    """The sectors of a line that a half of the L2 had. From now on it has these, too, and the line is the newest of its
    set, which starts at `first`.
    """
    tag = line + 1
    entry, way, had = tag << 4 | sectors, first, 0
    while way < first + COPY_WAYS:  # each moves one place on, up to the line's own; the oldest goes
        place = l2_copy_at(machine, way)
        before = place.value
        place.value = entry
        entry = before
        if before >> 4 == tag:
            had = before & 15
            break
        way += 1
    l2_copy_at(machine, first).value |= had
    return had


@call_njit
def drop(machine, first, line, sectors):
    """A half of the L2 has these sectors of a line no longer. `first`: as for `keep`."""
    way = first
    while way < first + COPY_WAYS and l2_copy_at(machine, way).value >> 4 != line + 1:
        way += 1
    if way < first + COPY_WAYS:
        l2_copy_at(machine, way).value &= ~sectors


@inline_njit
def fetched_with(machine, missing):
    """The sectors that are requested from the DRAM when some are missing."""
    if machine.fetch_sectors == 1:
        return missing
    if machine.fetch_sectors == 4:
        return 15
    pairs = (missing | missing >> 1) & 5
    return pairs | pairs << 1
