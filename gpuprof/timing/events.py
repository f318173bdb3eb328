"""Events that start the trace cell. Nothing here runs when the clock does."""

from gpuprof.timing.jit import cold
from gpuprof.timing.layout import QUANTUM
from gpuprof.timing.tables import load_at, sm_at, warp_at
from gpuprof.timing.triggers import BANK_CONFLICT, DIVERGENT_BRANCH, INST_ISSUED, L1_MISS, L2_MISS


@cold
def count_issue(m, sm, wi, inst, executed, mask, t):
    """Counts what warp `wi` did by issuing in cycle t, with the lanes of `mask`; `executed`: it was the instruction's
    last slot.
    """
    s = sm_at(m, sm)
    n = 0
    if m.trigger == INST_ISSUED:
        n = 1
    elif m.trigger == L1_MISS:
        n = s.l1_misses - s.counted
        s.counted = s.l1_misses
    elif m.trigger == BANK_CONFLICT:
        n = s.bank_conflicts - s.counted
        s.counted = s.bank_conflicts
    elif executed and m.trigger != L2_MISS:
        n = inst.events >> m.trigger & 1
        if m.trigger == DIVERGENT_BRANCH:
            left = warp_at(m, wi).mask & mask
            n &= left != 0 and left != mask
    if count(m, sm, n) and s.next_sample != t:
        s.next_sample = t
        s.event_warp = wi
        s.event_pc = -1


@cold
def count_l2_misses(m, r, n):
    """Counts the sectors that request r does not find in the L2. What is sampled is the first cycle that is not
    simulated yet.
    """
    s = sm_at(m, r.sm)
    t = m.now + QUANTUM
    if count(m, r.sm, n) and s.next_sample != t:
        s.next_sample = t
        s.next_event = min(s.next_event, t)
        s.event_warp = load_at(m, r.target).warp if r.target >= 0 else -1 - r.target
        s.event_pc = load_at(m, r.target).pc if r.target >= 0 else -1


@cold
def count(m, sm, n):
    """Whether one of the next n events is one that starts the cell."""
    s = sm_at(m, sm)
    before = s.events // m.every
    s.events += n
    return s.events // m.every > before
