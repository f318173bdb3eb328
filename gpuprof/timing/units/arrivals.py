"""The requests of SMs and fixed-function units to the L2 in a quantum, in the order in which they arrive."""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import N_BUCKETS, QUANTUM
from gpuprof.timing.state.table_rows import bucket_at, request_at, running_at, sm_at
from gpuprof.timing.units.draw_traffic import serve_units
from gpuprof.timing.units.l2 import serve


@call_njit
def serve_requests(machine, first_poll):
    """Serves all requests of the quantum and enters their cycles in the loads, stores and items of draws that wait for
    them. Polls are the requests from number `first_poll` on.
    """
    last = order_requests(machine, first_poll)
    if machine.n_draws:
        last = max(last, QUANTUM - 1)
    for bucket in range(last + 1):
        index = bucket_at(machine, bucket).value
        bucket_at(machine, bucket).value = -1
        while index >= 0:
            serve(machine, index)
            index = request_at(machine, index).next
        # SMs pass on some of what comes in a quantum later than its end. Units have not come so far.
        if machine.n_draws and bucket < QUANTUM:
            serve_units(machine, machine.now + bucket)


@inline_njit
def order_requests(machine, first_poll):
    """Chains requests by arrival cycle, first come first; returns the last bucket in use."""
    # From the last to the first, since each goes to the front of its bucket: requests of one cycle are served by SM,
    # then by issue, and polls after them.
    last = order(machine, first_poll, machine.n_requests, -1)
    for k in range(machine.n_running - 1, -1, -1):
        s = sm_at(machine, running_at(machine, k).value)
        last = order(machine, s.first_request, s.end_request, last)
    return last


@inline_njit
def order(machine, first, end, last):
    """Chains some requests; `last` is the last bucket in use before."""
    for index in range(end - 1, first - 1, -1):
        r = request_at(machine, index)
        bucket = min(r.arrival - machine.now, N_BUCKETS - 1)
        r.next = bucket_at(machine, bucket).value
        bucket_at(machine, bucket).value = index
        last = max(last, bucket)
    return last
