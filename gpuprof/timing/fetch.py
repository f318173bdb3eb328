"""Instruction and constant fetch: an L0 instruction cache per partition fed by a stream buffer, an L1 instruction cache per SM.

Both are direct-mapped by line number. A lookup also asks for the lines behind it (the stream buffer), so that straight code
misses once. What misses the L1 comes from the L2 after a fixed time; it does not compete with data.
"""

from gpuprof.timing.jit import cold, hot


@hot
def request_line(m, partition, sm, line, t):
    """The cycle at which a line is in the L0, asking for it at cycle t when it is not there."""
    place = line % m.chip[0].l0i_lines
    if m.fetch.l0_tag[partition, place] == line:
        return m.fetch.l0_ready[partition, place]
    place_1 = line % m.chip[0].l1i_lines
    if m.fetch.l1_tag[sm, place_1] != line:
        m.fetch.l1_tag[sm, place_1] = line
        m.fetch.l1_ready[sm, place_1] = t + m.chip[0].l1i_miss_cycles
    ready = max(t, m.fetch.l1_ready[sm, place_1]) + m.chip[0].l0i_miss_cycles
    m.fetch.l0_tag[partition, place] = line
    m.fetch.l0_ready[partition, place] = ready
    return ready


@cold
def fetch(m, partition, line, t):
    """The cycle from which a warp can issue from an instruction line it comes to at cycle t."""
    sm = partition // m.chip[0].partitions
    ready = request_line(m, partition, sm, line, t)
    last = min(line + m.chip[0].prefetch_lines, m.prog.inst[len(m.prog.inst) - 1].line)
    for ahead in range(line + 1, last + 1):
        request_line(m, partition, sm, ahead, t)
    return ready


@cold
def constant_line(m, sm, line, t):
    """The cycle from which a 64-byte line is in the SM's constant cache. Lines count through both constant segments."""
    place = line % m.chip[0].constant_lines
    if m.fetch.constant_tag[sm, place] != line:
        m.fetch.constant_tag[sm, place] = line
        m.fetch.constant_ready[sm, place] = t + m.chip[0].constant_miss_cycles
    return m.fetch.constant_ready[sm, place]
