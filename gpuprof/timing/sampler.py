"""The trace cell of an SM: every so many cycles it records one random resident warp, or all of them.

A record holds everything that keeps the warp from issuing in that very cycle, the instruction it stands at, and whether it or its
scheduler issued. It is taken before the cycle's issues and completed after them. It does not touch what it watches.
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.records.schema import ISSUED, SCHEDULER_ISSUED, SM_SHIFT
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import EMPTY, HOLDING, N_CLASSES, REASON_OF_CLASS, STARTING
from gpuprof.timing.ledger import NOT_SELECTED, SELECTED

MISC = INDEX["misc"]


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
    value = splitmix64(splitmix64(splitmix64(m.chip[0].seed) ^ np.uint64(sm)) ^ np.uint64(t // m.chip[0].period_cycles))
    return np.int64(value % np.uint64(n))


@hot
def resident(m, wi):
    return m.core.warp[wi].state != EMPTY and m.core.warp[wi].state != STARTING


@cold
def sample(m, sm, t):
    """Takes the records of cycle t."""
    slots = m.chip[0].warp_slots
    n = 0
    for wi in range(sm * slots, (sm + 1) * slots):
        n += resident(m, wi)
    if n == 0:
        return
    chosen = -1 if m.chip[0].every_warp else draw(m, sm, t, n)
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
    chip = m.chip[0]
    gpu = m.gpu[0]
    s = m.core.sm[sm]
    gpu.samples_due += 1
    depth = m.cell.drained.shape[1]
    place = s.records % depth
    if m.cell.drained[sm, place] > t:
        gpu.samples_dropped += 1
        return
    newest = m.cell.drained[sm, (s.records - 1) % depth]
    m.cell.drained[sm, place] = max(t, newest) + chip.drain_cycles
    s.records += 1
    w = m.core.warp[wi]
    r = m.cell.record[gpu.n_samples]
    r.pc = m.chip[0].load_base + 16 * w.pc
    r.stall_sm = holding_reasons(m, wi, t) | sm << SM_SHIFT
    r.cycle = t
    r.launch = chip.launch
    r.block = w.block
    r.mask = w.mask
    r.warp_slot = w.lane * chip.partitions + w.partition % chip.partitions
    r.flags = 0
    r.warp = w.in_block
    m.cell.warp[gpu.n_samples] = wi
    gpu.n_samples += 1


@hot
def holding_reasons(m, wi, t):
    """A bit for each reason that holds in cycle t; not_selected stands for a warp that could issue."""
    w = m.core.warp[wi]
    if w.state == HOLDING:
        return 1 << w.hold_reason
    bits = 0
    for c in range(N_CLASSES):
        if m.core.until[wi, c] > t:
            bits |= 1 << REASON_OF_CLASS[c]
    if bits == 0:
        port = m.core.port[w.partition, m.core.lane[w.partition, w.lane].port]
        bits = 1 << (m.prog.inst[w.pc].throttle if port.free > t else NOT_SELECTED)
    return bits


@cold
def complete(m, sm, first, t):
    """After the issues of cycle t: who issued, and whether its scheduler did, in the records from number `first` on."""
    for k in range(first, m.gpu[0].n_samples):
        w = m.core.warp[m.cell.warp[k]]
        r = m.cell.record[k]
        if m.core.part[w.partition].issued == t:
            r.flags = SCHEDULER_ISSUED
        if w.last == t:
            r.flags = ISSUED | SCHEDULER_ISSUED
            r.stall_sm = 1 << SELECTED | sm << SM_SHIFT
