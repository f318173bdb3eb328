"""A quantum's SMs, handed out to threads.

Each thread has a view of the machine: a copy of its record. Tables of the SMs, the memory and the grids are the same in
all of them; accounts, to which every SM adds, are the view's own (state/views.py), as are the numbers that only matter
while an SM runs. The first view is the machine itself, whose thread does all that is not an SM's.

The SMs that have something to do are in a list (`running`). Each thread takes a part of those that are left, smaller
and smaller ones ("guided self-scheduling", Polychronopoulos and Kuck, 1987), so none waits for one that is slow, or not
there at all. What an SM leaves is found by its row: so no result shows which thread ran it.

The quantum and the number of SMs that are left are one number, `work`: a thread that comes late finds another quantum
there, and takes nothing of it by mistake. `done` counts SMs that have run. A negative `work` ends it all.

    63  62                         32 31                    0
   +---+-----------------------------+-----------------------+
   | - | quantum                     | SMs left              |
   +---+-----------------------------+-----------------------+
"""

from gpuprof.jit.atomics import add, observe, publish, rest, take
from gpuprof.jit.internal import call_njit
from gpuprof.tables.samples import SAMPLED_COUNTERS, WIDE
from gpuprof.timing.state.layout import HANDOUT, NEVER, QUANTUM
from gpuprof.timing.state.table_rows import copy_bytes, leaves_at, view_at
from gpuprof.timing.units.sm import empty_lists, run_some

QUANTUM_SHIFT, LEFT = 32, (1 << 32) - 1
OVER = -1
DONE_AT = HANDOUT.fields["done"][1]
# Looks in vain after which a thread returns to Python, to see whether it is still wanted: 0.1 s.
MOST_LOOKS = 3000
RECORD_NBYTES, COUNTED_NBYTES = WIDE.dtype.itemsize, SAMPLED_COUNTERS.dtype.itemsize


@call_njit
def run_sms(machine):
    """Runs the SMs of the list `running` in the quantum that begins `now`."""
    n = machine.n_running
    if machine.n_views == 1 or n < machine.least_running:
        run_some(machine, 0, n, machine.now + QUANTUM)
        return
    done = machine.handout_table + DONE_AT
    target = observe(done) + n
    publish(machine.handout_table, machine.quantum_number << QUANTUM_SHIFT | n)
    take_part(machine, machine)
    looks = 0
    while observe(done) != target:
        rest(looks)
        looks += 1
    for number in range(1, machine.n_views):
        gather(machine, view_at(machine, number))


@call_njit
def take_part(machine, view):
    """Runs SMs of the quantum as long as some are left; returns how many."""
    work = machine.handout_table
    done = 0
    word = observe(work)
    while word > 0 and word & LEFT:
        left = word & LEFT
        n = max(1, left // (2 * machine.n_views))
        if take(work, word, word - n):
            # The quantum cannot end before these have run, so what the main thread has written stays.
            if view.quantum_number != machine.quantum_number:
                follow(machine, view)
            run_some(view, left - n, left, view.now + QUANTUM)
            add(work + DONE_AT, n)
            done += n
        word = observe(work)
    return done


@call_njit
def follow(machine, view):
    """A view begins a quantum: it gets the numbers that change between quanta and that SMs read."""
    view.now = machine.now
    view.quantum_number = machine.quantum_number
    view.head = machine.head
    view.head_since = machine.head_since
    view.n_signals = machine.n_signals
    empty_lists(view)


@call_njit
def gather(machine, view):
    """Moves what SMs have left in a view's lists to the machine's. Their order does not matter (timing.buffer)."""
    if view.n_blame > view.blame_room:
        machine.least_running = NEVER  # where a view's table is, threads do not look again: it cannot grow
    machine.hungry = max(machine.hungry, view.hungry)
    view.hungry = 0
    n = view.n_samples
    if n:
        copy_bytes(machine.record_table + machine.n_samples * RECORD_NBYTES, view.record_table, n * RECORD_NBYTES)
        for k in range(n):
            leaves_at(machine, machine.n_samples + k).value = leaves_at(view, k).value
        machine.n_samples += n
        view.n_samples = 0
    n = view.n_counted
    if n:
        copy_bytes(machine.counted_table + machine.n_counted * COUNTED_NBYTES, view.counted_table, n * COUNTED_NBYTES)
        machine.n_counted += n
        view.n_counted = 0


@call_njit
def help_out(machine, view):
    """Takes part in quanta until they are over, or none has come for a while."""
    work = machine.handout_table
    looks = 0
    while observe(work) >= 0 and looks < MOST_LOOKS:
        if take_part(machine, view):
            looks = 0
        else:
            rest(looks)
            looks += 1
