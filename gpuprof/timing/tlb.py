"""Address translation: a TLB in each SM behind its L1, which is looked up by virtual addresses, and one for all SMs
behind those.

Both forget what was used longest ago. A request whose translation is late waits for it alone: others of its SM pass it,
and what it has reserved of links, slices and channels stays reserved.
"""

from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import TLB_HINTS
from gpuprof.timing.tables import l2_tlb_at, tlb_at, tlb_hint_at


@hot
def translated(m, r):
    """The cycle in which a request's address is known: 0 when it is at once."""
    if m.tlb_entries == 0:
        return 0
    page = r.line >> m.tlb_page_bits
    hint = tlb_hint_at(m, r.sm, page & (TLB_HINTS - 1))
    if tlb_at(m, r.sm, hint.value).tag != page + 1:
        hint.value = look_up(m, r.sm, page, r.line >> m.l2_tlb_page_bits, r.arrival)
    entry = tlb_at(m, r.sm, hint.value)
    entry.used = m.l2_uses + 1  # each request uses the L2 once
    return entry.ready


@cold
def look_up(m, sm, page, big_page, arrival):
    """The place of a page in its SM's TLB."""
    oldest = 0
    for place in range(m.tlb_entries):
        entry = tlb_at(m, sm, place)
        if entry.tag == page + 1:
            return place
        if entry.used < tlb_at(m, sm, oldest).used:
            oldest = place
    entry = tlb_at(m, sm, oldest)
    entry.tag = page + 1
    entry.ready = max(arrival, second_level(m, big_page, arrival)) + m.tlb_miss_cycles
    return oldest


@cold
def second_level(m, page, arrival):
    """The cycle in which the TLB of all SMs knows a page, 0 when it always does."""
    if m.l2_tlb_entries == 0:
        return 0
    oldest = 0
    for place in range(m.l2_tlb_entries):
        entry = l2_tlb_at(m, place)
        if entry.tag == page + 1:
            entry.used = m.l2_uses + 1
            return entry.ready
        if entry.used < l2_tlb_at(m, oldest).used:
            oldest = place
    entry = l2_tlb_at(m, oldest)
    entry.tag = page + 1
    entry.ready = arrival + m.l2_tlb_miss_cycles
    entry.used = m.l2_uses + 1
    return entry.ready
