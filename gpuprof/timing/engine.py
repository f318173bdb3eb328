"""The simulation's outer loops, compiled on first use.

Time goes in quanta. In a quantum each SM that has something to do runs by itself, from event to event; then the
requests that all of them sent to the L2 are served in order. Quanta in which nothing happens are skipped.
"""

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS, SCALAR, call_njit
from gpuprof.timing.state.layout import NEVER, QUANTUM
from gpuprof.timing.state.table_rows import machine_of, part_at, running_at, sm_at
from gpuprof.timing.units.activity import fold
from gpuprof.timing.units.arrivals import serve_requests
from gpuprof.timing.units.distributor import start_blocks
from gpuprof.timing.units.draw_pipeline import pass_items
from gpuprof.timing.units.expected import expect_next, expect_sm, expect_warps
from gpuprof.timing.units.fifo import store
from gpuprof.timing.units.per_block import write_blocks
from gpuprof.timing.units.polls import ask_again, drop_those_that_went_on, soonest_poll
from gpuprof.timing.units.sampler import sample
from gpuprof.timing.units.scheduler import schedule, wake
from gpuprof.timing.units.stage_units import settle

DONE, NEED_BLOCKS, SAMPLES_FULL, BUDGET_SPENT, TOO_LONG, STUCK, NEED_TRACE, CAUSES_FULL = range(8)


@call_njit
def run_sm(machine, sm, end):
    """Runs one SM up to cycle `end`."""
    s = sm_at(machine, sm)
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


@call_njit
def soonest_event(machine):
    soonest = machine.next_asked if machine.n_draws else NEVER
    if machine.n_pollers:
        soonest = min(soonest, soonest_poll(machine))
    for sm in range(machine.sms):
        soonest = min(soonest, sm_at(machine, sm).next_event)
    return soonest


@call_njit
def skip_to_ready(machine, cycle):
    """Goes to the end of the quantum in which a grid gets ready, if nothing happens before that; `cycle` is the soonest
    event.
    """
    # The pool examines the machine only at the ends of quanta, so a grid cannot start in between.
    due = machine.next_ready + (machine.origin - machine.next_ready) % QUANTUM
    if machine.next_ready == NEVER or due > cycle - (cycle - machine.origin) % QUANTUM:
        return False
    machine.now = due - QUANTUM
    return True


@call_njit
def run_sms(machine, end):
    """All SMs up to cycle `end`, in their order."""
    n = 0
    for sm in range(machine.sms):
        if sm_at(machine, sm).next_event < end:
            running_at(machine, n).value = sm
            n += 1
    # SMs can run one after the other: a quantum is shorter than any round trip to the L2 (layout.QUANTUM).
    for k in range(n + 3):
        if k < n:
            expect_sm(machine, running_at(machine, k).value)
        if 1 <= k <= n:
            expect_warps(machine, running_at(machine, k - 1).value, end)
        if 2 <= k <= n + 1:
            expect_next(machine, running_at(machine, k - 2).value)
        if k >= 3:
            run_sm(machine, running_at(machine, k - 3).value, end)


@call_njit
def run_quantum(machine, now):
    """All SMs from cycle `now`, where a quantum starts, to the next."""
    machine.now = now
    machine.quantum_number += 1
    end = now + QUANTUM
    if end >= machine.fold_cycle:
        fold(machine, end)
    run_sms(machine, end)
    if machine.n_draws:
        pass_items(machine)  # what blocks have ended for in this quantum may ask in it, too
    if machine.n_pollers:
        ask_again(machine)
    if machine.n_requests or machine.n_draws:
        serve_requests(machine)
    if machine.n_pollers:
        drop_those_that_went_on(machine)
    settle(machine)
    if machine.n_over:
        write_blocks(machine)


def run(machine, n_quanta):
    """Simulates until something is needed from outside; returns what, DONE at the end of the launch. machine: a row of
    MACHINE in an array of one.
    """
    return run_at(machine.ctypes.data, n_quanta)


@cached_njit(**OPTIONS, **SCALAR)
def run_at(address, n_quanta):
    """`run`, of the machine's record at an address."""
    m = machine_of(address)
    for _ in range(n_quanta):
        if start_blocks(m) == 0:
            return NEED_BLOCKS
        if m.hungry:
            return NEED_TRACE
        t = soonest_event(m)
        if skip_to_ready(m, t):
            continue
        if t == NEVER:
            return DONE if m.n_ended == m.n_grids and m.n_operated == m.n_operations else STUCK
        # While no grid is active, launch latencies pass. They do not count against --max-cycles.
        if t > m.max_cycle and m.n_active:
            return TOO_LONG
        # The tables keep room for all rows that one quantum can bring, so a look before each quantum is enough.
        if m.n_samples > m.sample_room or max(m.n_block_rows, m.n_warp_rows) > m.row_room:
            return SAMPLES_FULL
        if m.n_blame > m.blame_room:
            return CAUSES_FULL
        run_quantum(m, t - (t - m.origin) % QUANTUM)
    return BUDGET_SPENT


KINDS = "i8,i8"  # of arguments that `run_at` is called with
