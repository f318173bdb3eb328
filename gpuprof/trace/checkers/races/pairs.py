"""Racing pairs of instructions, with the first pair of threads. Compiled by Numba."""

from gpuprof.jit.internal import call_njit
from gpuprof.trace.checkers.races.vector_clocks import N_FOUND, N_LOST

# Kinds of races.
WRITE_WRITE, READ_WRITE, WRITE_READ, NOT_WAITED, STILL_READ, NOT_FENCED = range(6)
# Columns of a pair. LAST: the number of the last counted access, so that it counts once for its bytes.
KIND, AT, OTHER_AT, COUNT, MY_BLOCK, MY_THREAD, OTHER_BLOCK, OTHER_THREAD, ADDRESS, LAST = range(10)
N_FIELDS = 10
MOST_FOUND = 4096  # pairs of instructions, separately within a warp and between warps; others are only counted


@call_njit
def _is_in_warp(block, thread, other_block, other_thread):
    return block == other_block and thread >> 5 == other_thread >> 5


@call_njit
def note(order, found, kind, at, other_at, block, thread, other_block, other_thread, address, access):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """Counts a race of a pair of instructions, which is added if it is new."""
    n, in_warp = order.counts[N_FOUND], _is_in_warp(block, thread, other_block, other_thread)
    for k in range(n):
        row = found[k]
        is_known = row[KIND] == kind and row[AT] == at and row[OTHER_AT] == other_at
        if is_known and _is_in_warp(row[MY_BLOCK], row[MY_THREAD], row[OTHER_BLOCK], row[OTHER_THREAD]) == in_warp:
            row[COUNT] += row[LAST] != access
            row[LAST] = access
            return
    if n == MOST_FOUND:
        order.counts[N_LOST] += 1
    else:
        found[n, KIND], found[n, AT], found[n, OTHER_AT], found[n, COUNT] = kind, at, other_at, 1
        found[n, MY_BLOCK], found[n, MY_THREAD] = block, thread
        found[n, OTHER_BLOCK], found[n, OTHER_THREAD], found[n, ADDRESS] = other_block, other_thread, address
        found[n, LAST] = access
        order.counts[N_FOUND] = n + 1
