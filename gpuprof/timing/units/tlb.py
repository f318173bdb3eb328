"""Address translation: a TLB in each SM after its L1, which is looked up by virtual addresses, and one for all SMs
after those.

Both replace the least recently used entry. A request whose translation is late keeps what it has reserved of links,
slices and channels. Stores and atomics pass it; loads that its L1 sent later come back after it.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import TLB_HINTS
from gpuprof.timing.state.table_rows import l2_tlb_at, tlb_at, tlb_hint_at


@inline_njit
def translated(machine, request):
    """The cycle in which a request's address is known: 0 when it is at once."""
    if machine.tlb_entries == 0:
        return 0
    page = request.line >> machine.tlb_page_bits
    # A guess at the entry, since most requests access a page that was used before: the search is linear.
    hint = tlb_hint_at(machine, request.sm, page & (TLB_HINTS - 1))
    if tlb_at(machine, request.sm, hint.value).tag != page + 1:
        hint.value = look_up(machine, request.sm, page, request.line >> machine.l2_tlb_page_bits, request.arrival)
    entry = tlb_at(machine, request.sm, hint.value)
    entry.used = machine.l2_uses + 1  # each request uses the L2 once
    return entry.ready


@call_njit
def look_up(machine, sm, page, big_page, arrival):
    """The place of a page in its SM's TLB."""
    oldest = 0
    for index in range(machine.tlb_entries):
        entry = tlb_at(machine, sm, index)
        if entry.tag == page + 1:
            return index
        if entry.used < tlb_at(machine, sm, oldest).used:
            oldest = index
    entry = tlb_at(machine, sm, oldest)
    entry.tag = page + 1
    entry.ready = max(arrival, second_level(machine, big_page, arrival)) + machine.tlb_miss_cycles
    return oldest


@call_njit
def second_level(machine, page, arrival):
    """The cycle in which the TLB of all SMs knows a page, 0 when it always does."""
    # Only V100 and T4 have one in their chip files: on other chips nothing walks (docs/model.md).
    if machine.l2_tlb_entries == 0:
        return 0
    oldest = 0
    for index in range(machine.l2_tlb_entries):
        entry = l2_tlb_at(machine, index)
        if entry.tag == page + 1:
            entry.used = machine.l2_uses + 1
            return entry.ready
        if entry.used < l2_tlb_at(machine, oldest).used:
            oldest = index
    entry = l2_tlb_at(machine, oldest)
    entry.tag = page + 1
    entry.ready = arrival + machine.l2_tlb_miss_cycles
    entry.used = machine.l2_uses + 1
    return entry.ready
