"""The simulation's outer loops, compiled on first use.

Time goes in quanta. In a quantum each SM that has something to do runs by itself, from event to event, on any thread
(units/handout.py); then what they have done to others is carried out, and the requests that all of them sent to the L2
are served, in order. Quanta in which nothing happens are skipped.
"""

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS, SCALAR, call_njit
from gpuprof.timing.state.layout import NEVER, QUANTUM
from gpuprof.timing.state.table_rows import effect_at, machine_of, running_at, sm_at, view_at
from gpuprof.timing.units.activity import fold
from gpuprof.timing.units.arrivals import serve_requests
from gpuprof.timing.units.distributor import start_blocks
from gpuprof.timing.units.draw_pipeline import pass_items
from gpuprof.timing.units.effects import BLOCK_ENDS, BLOCK_SIGNALS, WARP_ENDS, WARP_LAUNCHES
from gpuprof.timing.units.handout import help_out, run_sms
from gpuprof.timing.units.per_block import write_block, write_warp
from gpuprof.timing.units.polls import ask_again, begin_to_poll, drop_those_that_went_on, soonest_poll
from gpuprof.timing.units.pool import block_ends, launch_grids, signal
from gpuprof.timing.units.sm import empty_lists
from gpuprof.timing.units.stage_units import settle

DONE, NEED_BLOCKS, SAMPLES_FULL, BUDGET_SPENT, TOO_LONG, STUCK, NEED_TRACE, CAUSES_FULL = range(8)


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
def run_quantum(machine, now):
    """All SMs from cycle `now`, where a quantum starts, to the next."""
    machine.now = now
    machine.quantum_number += 1
    end = now + QUANTUM
    if end >= machine.fold_cycle:
        fold(machine, end)
    n = 0
    for sm in range(machine.sms):
        if sm_at(machine, sm).next_event < end:
            running_at(machine, n).value = sm
            n += 1
    machine.n_running = n
    empty_lists(machine)
    # SMs can run one after the other, or each on another thread: a quantum is shorter than any round trip to the L2
    # (layout.QUANTUM).
    run_sms(machine)
    for k in range(n):
        carry_out(machine, running_at(machine, k).value)
    first_poll = machine.n_requests
    if machine.n_draws:
        pass_items(machine)  # what blocks have ended for in this quantum may ask in it, too
    if machine.n_pollers:
        ask_again(machine)
    serve_requests(machine, first_poll)
    if machine.n_pollers:
        drop_those_that_went_on(machine)
    for k in range(n):
        settle(machine, running_at(machine, k).value)
    if machine.counts_blocks:
        for k in range(n):
            write_blocks(machine, running_at(machine, k).value)


@call_njit
def carry_out(machine, sm):
    """Carries out what an SM has done in the quantum to what is not its own."""
    for k in range(sm_at(machine, sm).first_effect, sm_at(machine, sm).end_effect):
        effect = effect_at(machine, k)
        if effect.kind == BLOCK_ENDS:
            block_ends(machine, effect.subject, effect.cycle)
        elif effect.kind == BLOCK_SIGNALS:
            signal(machine, effect.subject, effect.cycle)
        elif effect.kind == WARP_ENDS:
            write_warp(machine, effect.subject, effect.cycle)
        elif effect.kind == WARP_LAUNCHES:
            launch_grids(machine, effect.subject, effect.cycle)
        else:
            begin_to_poll(machine, effect.subject)


@call_njit
def write_blocks(machine, sm):
    """Rows of the blocks of an SM that have ended in the quantum, whose requests have been served."""
    for k in range(sm_at(machine, sm).first_effect, sm_at(machine, sm).end_effect):
        if effect_at(machine, k).kind == BLOCK_ENDS:
            write_block(machine, effect_at(machine, k).subject)


def run(machine, n_quanta, number):
    """Simulates until something is needed from outside; returns what, DONE at the end of the launch. machine: the
    thread's views of the machine, rows of MACHINE. A thread whose `number` is not 0 helps with that, in its own view.
    """
    return run_at(machine.ctypes.data, n_quanta, number)


@cached_njit(**OPTIONS, **SCALAR)
def run_at(address, n_quanta, number):
    """`run`, of the machine's record at an address."""
    m = machine_of(address)
    if number:
        help_out(m, view_at(m, number))
        return BUDGET_SPENT
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


KINDS = "i8,i8,i8"  # of arguments that `run_at` is called with
