"""Address translation: a TLB in each SM behind its L1, which is looked up by virtual addresses, and one for all SMs behind those.

Both forget what was used longest ago. A request whose translation is late waits for it alone: others of its SM pass it, and what it has
reserved of links, slices and channels stays reserved.
"""

from gpuprof.timing.jit import cold, hot
from gpuprof.timing.tables import l2_tlb_at, tlb_at


@hot
def translated(m, r):
    """The cycle in which a request's address is known: 0 when it was at once."""
    if m.tlb_entries == 0:
        return 0
    page = r.line >> m.tlb_page_bits
    entry = tlb_at(m, r.sm, 0)
    if entry.tag != page + 1:
        look_up(m, r.sm, page, r.line >> m.l2_tlb_page_bits, r.arrival)
    return entry.ready


@cold
def look_up(m, sm, page, big_page, arrival):
    """Makes a page the first of its SM's TLB."""
    place = 1
    while place < m.tlb_entries and tlb_at(m, sm, place).tag != page + 1:
        place += 1
    if place < m.tlb_entries:
        ready = tlb_at(m, sm, place).ready
    else:
        place = m.tlb_entries - 1
        ready = max(arrival, second_level(m, big_page, arrival)) + m.tlb_miss_cycles
    while place > 0:
        tlb_at(m, sm, place).tag = tlb_at(m, sm, place - 1).tag
        tlb_at(m, sm, place).ready = tlb_at(m, sm, place - 1).ready
        place -= 1
    tlb_at(m, sm, 0).tag = page + 1
    tlb_at(m, sm, 0).ready = ready


@cold
def second_level(m, page, arrival):
    """The cycle in which the TLB of all SMs knows a page, 0 when it always does; the page becomes its first."""
    if m.l2_tlb_entries == 0:
        return 0
    place = 0
    while place < m.l2_tlb_entries and l2_tlb_at(m, place).tag != page + 1:
        place += 1
    if place < m.l2_tlb_entries:
        ready = l2_tlb_at(m, place).ready
    else:
        place -= 1
        ready = arrival + m.l2_tlb_miss_cycles
    while place > 0:
        l2_tlb_at(m, place).tag = l2_tlb_at(m, place - 1).tag
        l2_tlb_at(m, place).ready = l2_tlb_at(m, place - 1).ready
        place -= 1
    l2_tlb_at(m, 0).tag = page + 1
    l2_tlb_at(m, 0).ready = ready
    return ready
