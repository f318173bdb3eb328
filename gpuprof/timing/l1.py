"""The L1 data cache: sectored, least recently used, write-through without allocation; misses go to the L2 as one request per line."""

from gpuprof.timing.cache import find, fold_bits, n_sectors, oldest
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import MERGE, READ, TOKEN


@hot
def request(m, sm, arrival, line, sectors, kind, target, place, conflicts):
    """Notes a request for the L2; it is served when the quantum ends. Returns its number."""
    index = m.gpu[0].n_requests
    r = m.memory.request[index]
    r.arrival = miss_slot(m, sm, arrival, index) if kind == READ else arrival
    r.line = line
    r.sectors = sectors
    r.kind = kind
    r.target = target
    r.place = place
    r.sm = sm
    r.conflicts = conflicts
    m.gpu[0].n_requests = index + 1
    return index


@hot
def miss_slot(m, sm, arrival, index):
    """The cycle in which a miss finds a free miss register. They are given back in the order they were taken; one that was taken in
    this very quantum comes back after it, at the earliest."""
    s = m.core.sm[sm]
    slot = s.misses % m.chip[0].l1_mshrs
    s.misses += 1
    m.memory.request[index].slot = slot
    free = m.memory.miss_free[sm, slot]
    m.memory.miss_free[sm, slot] = TOKEN
    if free == TOKEN:
        free = m.gpu[0].now + m.chip[0].quantum
    return max(arrival, free)


@hot
def line_mask(m, first, end):
    """The sectors from `first` on that lie in one line: their mask, and how many they are."""
    line = m.trace.sector[first] >> 2
    mask = 0
    k = first
    while k < end and m.trace.sector[k] >> 2 == line:
        mask |= 1 << (m.trace.sector[k] & 3)
        k += 1
    return line, mask, k


@cold
def send(m, wi, first, n, start, kind, target, conflicts):
    """Passes an access to the L2, line by line."""
    sm = m.core.part[m.core.warp[wi].partition].sm
    end = first + n
    while first < end:
        line, mask, first = line_mask(m, first, end)
        request(m, sm, start, line, mask, kind, target, -1, conflicts)


@cold
def load(m, wi, inst, first, n, start, done):
    """The cycle in which a load's data is there: `done` when all of it hits, later when some is on its way, a token when some misses."""
    gpu = m.gpu[0]
    sm = m.core.part[m.core.warp[wi].partition].sm
    index = gpu.n_loads
    end = first + n
    before = gpu.n_requests
    gpu.l1_sectors += n
    while first < end:
        line, mask, first = line_mask(m, first, end)
        if inst.bypass_l1:
            request(m, sm, start, line, mask, READ, index, -1, 0)
        else:
            done = max(done, look_up(m, sm, line, mask, start, index))
    if gpu.n_requests == before:
        return done
    m.memory.load[index].done = done
    m.memory.load[index].warp = wi
    m.memory.load[index].pc = m.core.warp[wi].pc
    gpu.n_loads = index + 1
    return TOKEN + index


@hot
def look_up(m, sm, line, mask, start, index):
    """One line of a load: asks the L2 for the sectors that miss. Returns the cycle in which sectors already on their way arrive, or 0."""
    chip = m.chip[0]
    s = m.core.sm[sm]
    base = sm * chip.l1_lines + fold_bits(line) % chip.l1_sets * chip.l1_ways
    place = find(m.memory.l1_tag, base, chip.l1_ways, line)
    if place < 0:
        place = oldest(m.memory.l1_use, base, chip.l1_ways)
        m.memory.l1_tag[place] = line + 1
        m.memory.l1_line[place].valid = 0
        m.memory.l1_line[place].pending = 0
        m.memory.l1_line[place].pending_until = 0
    s.l1_use += 1
    m.memory.l1_use[place] = s.l1_use
    entry = m.memory.l1_line[place]
    if entry.pending_until <= start:
        entry.pending = 0
    arrives = 0
    if entry.pending & mask:
        if entry.pending_until >= TOKEN:
            request(m, sm, start, line, 0, MERGE, index, entry.request, 0)
        else:
            arrives = entry.pending_until
    missing = mask & ~entry.valid
    m.gpu[0].l1_hits += n_sectors(mask & entry.valid)
    if missing:
        entry.request = request(m, sm, start, line, missing, READ, index, place, 0)
        entry.valid |= missing
        entry.pending |= missing
        entry.pending_until = TOKEN
    return arrives
