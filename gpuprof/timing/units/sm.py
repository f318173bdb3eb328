"""One SM in a quantum, from event to event. It writes only rows of its own, and the accounts of the thread that runs it
(state/views.py): so any thread may run it, whatever others run.
"""

from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.layout import NEVER
from gpuprof.timing.state.table_rows import part_at, running_at, sm_at
from gpuprof.timing.units.expected import expect_next, expect_sm, expect_warps
from gpuprof.timing.units.fifo import store
from gpuprof.timing.units.sampler import sample
from gpuprof.timing.units.scheduler import schedule, wake


@call_njit
def run_sm(machine, sm, end):
    """Runs one SM up to cycle `end`."""
    s = sm_at(machine, sm)
    s.first_request = machine.n_requests
    s.first_load = machine.n_loads
    s.first_blocked = machine.n_blocked
    s.first_effect = machine.n_effects
    machine.n_bulk = 0
    first = sm * machine.partitions
    last = first + machine.partitions
    t = s.next_event
    while t < end:
        for p in range(first, last):
            # Waking comes first: a warp whose wait ends in this cycle may issue in it.
            if part_at(machine, p).next_wake <= t:
                wake(machine, p, t)
        # A record of stream lsu comes before the kernel's own issues, so it delays accesses of the same cycle.
        if s.next_store <= t:
            store(machine, sm, t)
        for p in range(first, last):
            if part_at(machine, p).next_event <= t:
                schedule(machine, p, t)
        # A cycle is sampled after its issues: the record says whether the warp, and its scheduler, issued in it.
        if t == s.next_sample:
            sample(machine, sm, t)
            s.next_sample = t + machine.period_cycles if machine.period_cycles else NEVER
        # An SM without warps has nothing to sample, and its period must not keep time from skipping ahead.
        t = min(s.next_store, s.next_sample if s.warps else NEVER)
        for p in range(first, last):
            t = min(t, part_at(machine, p).next_event)
    s.next_event = t
    s.end_request = machine.n_requests
    s.end_load = machine.n_loads
    s.end_blocked = machine.n_blocked
    s.end_effect = machine.n_effects


@call_njit
def run_some(machine, first, last, end):
    """Runs the SMs from place `first` to `last` of the list of those that run, up to cycle `end`."""
    for k in range(first, last + 3):
        if k < last:
            expect_sm(machine, running_at(machine, k).value)
        if first < k <= last:
            expect_warps(machine, running_at(machine, k - 1).value, end)
        if first + 1 < k <= last + 1:
            expect_next(machine, running_at(machine, k - 2).value)
        if k >= first + 3:
            run_sm(machine, running_at(machine, k - 3).value, end)


@call_njit
def empty_lists(machine):
    """A quantum begins: a view's lists are empty."""
    machine.n_requests = machine.first_request
    machine.n_loads = machine.first_load
    machine.n_blocked = machine.first_blocked
    machine.n_effects = machine.first_effect
