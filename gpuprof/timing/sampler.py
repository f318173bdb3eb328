"""The trace cell of an SM: every so many cycles it records one random resident warp, or all of them.

A record holds everything that keeps the warp from issuing in that very cycle, the instruction it stands at, and whether it or its
scheduler issued. It is taken before the cycle's issues and completed after them. It does not touch what it watches.
"""

import numpy as np

from gpuprof.records.schema import ISSUED, SCHEDULER_ISSUED, SM_SHIFT
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import EMPTY, HOLDING, N_CLASSES, REASON_OF_CLASS, STARTING
from gpuprof.timing.ledger import NOT_SELECTED, SELECTED
from gpuprof.timing.tables import drained_at, grid_at, inst_at, lane_at, part_at, port_at, record_at, sampled_at, sm_at, until_at, warp_at


@hot
def splitmix64(x):
    """The next value of the generator of Steele, Lea and Flood (2014), used as a hash of its state."""
    z = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


@hot
def draw(m, sm, t, n):
    """A number below n that depends on the seed, the SM and the sample's number alone."""
    value = splitmix64(splitmix64(splitmix64(m.seed) ^ np.uint64(sm)) ^ np.uint64(t // m.period_cycles))
    return np.int64(value % np.uint64(n))


@hot
def resident(m, wi):
    return warp_at(m, wi).state != EMPTY and warp_at(m, wi).state != STARTING


@cold
def sample(m, sm, t):
    """Takes the records of cycle t."""
    slots = m.warp_slots
    n = 0
    for wi in range(sm * slots, (sm + 1) * slots):
        n += resident(m, wi)
    if n == 0:
        return
    chosen = -1 if m.every_warp else draw(m, sm, t, n)
    for wi in range(sm * slots, (sm + 1) * slots):
        if resident(m, wi):
            if chosen <= 0:
                record(m, sm, wi, t)
                if chosen == 0:
                    return
            chosen -= chosen > 0


@hot
def record(m, sm, wi, t):
    """One record into the FIFO, or one more dropped."""
    s = sm_at(m, sm)
    w = warp_at(m, wi)
    grid = grid_at(m, w.grid)
    grid.samples_due += 1
    depth = m.fifo_depth
    place = s.records % depth
    if drained_at(m, sm, place).value > t:
        grid.samples_dropped += 1
        return
    newest = drained_at(m, sm, (s.records - 1) % depth).value
    drained_at(m, sm, place).value = max(t, newest) + m.drain_cycles
    s.records += 1
    r = record_at(m, m.n_samples)
    r.pc = grid.pc_base + 16 * w.pc
    r.stall_sm = holding_reasons(m, wi, t) | sm << SM_SHIFT
    r.cycle = t
    r.launch = grid.launch
    r.block = w.block
    r.mask = w.mask
    r.warp_slot = w.lane * m.partitions + w.partition % m.partitions
    r.flags = 0
    r.warp = w.in_block
    sampled_at(m, m.n_samples).value = wi
    m.n_samples += 1


@hot
def holding_reasons(m, wi, t):
    """A bit for each reason that holds in cycle t; not_selected stands for a warp that could issue."""
    w = warp_at(m, wi)
    if w.state == HOLDING:
        return 1 << w.hold_reason
    bits = 0
    for c in range(N_CLASSES):
        if until_at(m, wi, c).value > t:
            bits |= 1 << REASON_OF_CLASS[c]
    if bits == 0:
        port = port_at(m, w.partition, lane_at(m, w.partition, w.lane).port)
        bits = 1 << (inst_at(m, w.pc).throttle if port.free > t else NOT_SELECTED)
    return bits


@cold
def complete(m, sm, first, t):
    """After the issues of cycle t: who issued, and whether its scheduler did, in the records from number `first` on."""
    for k in range(first, m.n_samples):
        w = warp_at(m, sampled_at(m, k).value)
        r = record_at(m, k)
        if part_at(m, w.partition).issued == t:
            r.flags = SCHEDULER_ISSUED
        if w.last == t:
            r.flags = ISSUED | SCHEDULER_ISSUED
            r.stall_sm = 1 << SELECTED | sm << SM_SHIFT
