"""The trace cell of an SM: every so many cycles it records one random resident warp, or all of them. It does not touch what it watches.

A cycle is sampled after its issues. A record holds everything that kept the warp from issuing in that very cycle, the instruction it
stood at, and whether it or its scheduler issued. It is taken (the mode says which warps), passes the filter, and enters the FIFO.
"""

import numpy as np

from gpuprof.records.schema import ISSUED, SCHEDULER_ISSUED, SM_SHIFT
from gpuprof.timing.fifo import enter
from gpuprof.timing.gate import passes
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import EMPTY, HOLDING, N_CLASSES, REASON_OF_CLASS, STARTING
from gpuprof.timing.ledger import NOT_SELECTED, SELECTED
from gpuprof.timing.tables import grid_at, inst_at, lane_at, part_at, port_at, record_at, until_at, warp_at


@hot
def splitmix64(x):
    """The next value of the generator of Steele, Lea and Flood (2014), used as a hash of its state."""
    z = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


@hot
def draw(m, sm, t, n):
    """A number below n that depends on the seed, the SM and the cycle alone: a longer period keeps some of the samples of a shorter one."""
    value = splitmix64(splitmix64(splitmix64(m.seed) ^ np.uint64(sm)) ^ np.uint64(t))
    return np.int64(value % np.uint64(n))


@hot
def resident(m, wi, t):
    """Whether a warp was there in cycle t. One that issued its last instruction in it may be gone by now."""
    w = warp_at(m, wi)
    return w.state != STARTING and (w.state != EMPTY or w.last == t)


@cold
def sample(m, sm, t):
    """Takes the records of cycle t, whose issues are done."""
    first = sm * m.warp_slots
    last = first + m.warp_slots
    n = 0
    for wi in range(first, last):
        n += resident(m, wi, t)
    if n == 0:
        return
    chosen = -1 if m.every_warp else draw(m, sm, t, n)
    for wi in range(first, last):
        if resident(m, wi, t):
            if chosen <= 0:
                write(m, sm, wi, n, t)
                if chosen == 0:
                    return
            chosen -= chosen > 0


@cold
def write(m, sm, wi, n, t):
    """The record of one warp of n, if the filter lets it pass and the FIFO has room."""
    if not passes(m, sm, wi, t) or enter(m, sm, warp_at(m, wi).grid, t) == 0:
        return
    w = warp_at(m, wi)
    grid = grid_at(m, w.grid)
    r = record_at(m, m.n_samples)
    issued = w.last == t
    r.pc = grid.pc_base + 16 * (w.issued_pc if issued else w.pc)
    r.stall_sm = (1 << SELECTED if issued else holding_reasons(m, wi, t)) | sm << SM_SHIFT
    r.cycle = t
    r.launch = grid.launch
    r.block = w.block
    r.mask = w.issued_mask if issued else w.mask
    r.warp_slot = w.lane * m.partitions + w.partition % m.partitions
    r.flags = issued * ISSUED | (part_at(m, w.partition).issued == t) * SCHEDULER_ISSUED
    r.warp = w.in_block
    r.resident = n
    m.n_samples += 1


@hot
def holding_reasons(m, wi, t):
    """A bit for each reason that held a warp in cycle t, in which it did not issue; not_selected stands for one that could have.

    A port that took an instruction in this cycle was free before.
    """
    w = warp_at(m, wi)
    if w.state == HOLDING:
        return 1 << w.hold_reason
    bits = 0
    for c in range(N_CLASSES):
        if until_at(m, wi, c).value > t:
            bits |= 1 << REASON_OF_CLASS[c]
    if bits == 0:
        port = port_at(m, w.partition, lane_at(m, w.partition, w.lane).port)
        bits = 1 << (inst_at(m, w.pc).throttle if port.free > t and port.issued < t else NOT_SELECTED)
    return bits
