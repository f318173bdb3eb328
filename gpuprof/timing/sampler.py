"""The trace cell of an SM: what it writes in a cycle that is to be sampled. It does not touch what it watches.

A cycle is sampled after its issues. A record holds everything that kept the warp from issuing in that very cycle, the
instruction it stood at, and whether it or its scheduler issued. It is taken (the mode says which warps), passes the
filter, and enters the FIFO.
"""

import numpy as np

from gpuprof.records.schema import ISSUED, SCHEDULER_ISSUED, SM_SHIFT
from gpuprof.timing.counted import write_counters
from gpuprof.timing.fifo import enter
from gpuprof.timing.gate import linear_block, passes
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.ledger import SELECTED
from gpuprof.timing.reasons import holding_reasons, resident
from gpuprof.timing.sampling import ALL_WARPS, BY_TRIGGER, RANDOM, ROUND_ROBIN
from gpuprof.timing.tables import grid_at, part_at, record_at, sm_at, warp_at
from gpuprof.timing.triggers import L2_MISS


@hot
def splitmix64(x):
    """The next value of the generator of Steele, Lea and Flood (2014), used as a hash of its state."""
    z = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


@hot
def draw(m, unit, t, n):
    """A number below n that depends on the seed, the unit that draws and the cycle alone: a longer period keeps some of
    the samples of a shorter one. Units are the SMs, and behind them all partitions of the GPU."""
    value = splitmix64(splitmix64(splitmix64(m.seed) ^ np.uint64(unit)) ^ np.uint64(t))
    return np.int64(value % np.uint64(n))


@cold
def count_resident(m, first, last, t):
    n = 0
    for wi in range(first, last):
        n += resident(m, wi, t)
    return n


@cold
def sample(m, sm, t):
    """Takes the records of cycle t, whose issues are done."""
    s = sm_at(m, sm)
    first_partition = sm * m.partitions + m.first_partition
    first = first_partition * m.warps_per_partition
    last = first + m.partitions_in_scope * m.warps_per_partition
    n = count_resident(m, first, last, t)
    if m.mode == RANDOM:
        take_random(m, sm, first, last, sm, n, t)
    elif m.mode == ALL_WARPS:
        for wi in range(first, last):
            take(m, sm, wi, n, t)
    elif m.mode == ROUND_ROBIN:
        turn = (t - m.phase_cycles) // m.period_cycles if m.period_cycles else s.taken
        place = turn % (last - first)
        wi = first + place % m.partitions_in_scope * m.warps_per_partition + place // m.partitions_in_scope
        take(m, sm, wi, n, t)
    elif m.mode == BY_TRIGGER:
        # The slot of a warp whose miss is known later may be another's by now, which may even issue in the cycle in
        # which it starts.
        if first <= s.event_warp < last and (m.trigger != L2_MISS or warp_at(m, s.event_warp).start < t):
            take(m, sm, s.event_warp, n, t)
    else:
        for p in range(first_partition, first_partition + m.partitions_in_scope):
            if part_at(m, p).issued != t:
                k = p * m.warps_per_partition
                n = count_resident(m, k, k + m.warps_per_partition, t)
                take_random(m, sm, k, k + m.warps_per_partition, m.sms + p, n, t)
    s.taken += 1


@cold
def take_random(m, sm, first, last, unit, n, t):
    """One of the n warps that are resident in slots `first` to `last`, each as likely as the other."""
    if n == 0:
        return
    chosen = draw(m, unit, t, n)
    for wi in range(first, last):
        if resident(m, wi, t):
            if chosen == 0:
                take(m, sm, wi, n, t)
                return
            chosen -= 1


@cold
def take(m, sm, wi, n, t):
    """The record of one warp of n, if it is there, the filter lets it pass and the FIFO has room."""
    if not resident(m, wi, t) or not passes(m, sm, wi, t) or enter(m, sm, warp_at(m, wi).grid, t) == 0:
        return
    w = warp_at(m, wi)
    grid = grid_at(m, w.grid)
    r = record_at(m, m.n_samples)
    issued = w.last == t
    pc = w.issued_pc if issued else w.pc
    if m.mode == BY_TRIGGER and sm_at(m, sm).event_pc >= 0:
        pc = sm_at(m, sm).event_pc
    r.pc = grid.pc_base + 16 * pc
    r.stall_sm = stall_field(m, 1 << SELECTED if issued else holding_reasons(m, wi, t)) | sm << SM_SHIFT
    r.cycle = t
    r.launch = grid.launch
    r.block = linear_block(m, wi)
    r.mask = w.issued_mask if issued else w.mask
    r.warp_slot = w.lane * m.partitions + w.partition % m.partitions
    r.flags = issued * ISSUED | (part_at(m, w.partition).issued == t) * SCHEDULER_ISSUED
    r.warp = w.in_block
    r.resident = n
    m.n_samples += 1
    if m.with_counters and sm_at(m, sm).counted_cycle != t:
        sm_at(m, sm).counted_cycle = t
        write_counters(m, sm, w.grid, t)


@hot
def stall_field(m, reasons):
    """All reasons as bits, or the number of the first."""
    if m.stall_index == 0:
        return reasons
    number = 0
    while reasons >> number & 1 == 0:
        number += 1
    return number
