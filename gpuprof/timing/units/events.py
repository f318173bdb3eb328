"""Events that start the trace cell. Nothing here runs when the clock does."""

from gpuprof.jit.internal import call_njit
from gpuprof.timing.sampling.triggers import BANK_CONFLICT, DIVERGENT_BRANCH, INST_ISSUED, L1_MISS, L2_MISS
from gpuprof.timing.state.layout import QUANTUM
from gpuprof.timing.state.table_rows import load_at, sm_at, warp_at


@call_njit
def count_issue(machine, sm, warp, inst, executed, mask, cycle):
    """Counts what warp `warp` did by issuing in `cycle`, with the lanes of `mask`; `executed`: it was the instruction's
    last slot.
    """
    s = sm_at(machine, sm)
    n = 0
    if machine.trigger == INST_ISSUED:
        n = 1
    elif machine.trigger == L1_MISS:
        n = s.l1_misses - s.counted
        s.counted = s.l1_misses
    elif machine.trigger == BANK_CONFLICT:
        n = s.bank_conflicts - s.counted
        s.counted = s.bank_conflicts
    elif executed and machine.trigger != L2_MISS:
        n = inst.events >> machine.trigger & 1
        if machine.trigger == DIVERGENT_BRANCH:
            # A branch is divergent if some of its lanes run next and others do not (docs/model/samples.md, Samples).
            left = warp_at(machine, warp).mask & mask
            n &= left != 0 and left != mask
    if count(machine, sm, n) and s.next_sample != cycle:
        s.next_sample = cycle
        s.event_warp = warp
        s.event_pc = -1


@call_njit
def count_l2_misses(machine, request, misses):
    """Counts the sectors that `request` does not find in the L2. What is sampled is the first cycle that is not
    simulated yet.
    """
    s = sm_at(machine, request.sm)
    t = machine.now + QUANTUM
    if count(machine, request.sm, misses) and s.next_sample != t:
        s.next_sample = t
        s.next_event = min(s.next_event, t)
        s.event_warp = load_at(machine, request.target).warp if request.target >= 0 else -1 - request.target
        s.event_pc = load_at(machine, request.target).pc if request.target >= 0 else -1


@call_njit
def count(machine, sm, n_events):
    """Counts `n_events`. Whether one of them starts the cell."""
    s = sm_at(machine, sm)
    before = s.events // machine.every
    s.events += n_events
    return s.events // machine.every > before
