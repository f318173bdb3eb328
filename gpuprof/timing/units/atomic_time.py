"""How long atomics keep the slices of the L2 busy: by grid and slice, and the lines that most of that time is for.

The lines are found as they come, in a table of HOT_LINES places (Metwally, Agrawal and El Abbadi, "Efficient
Computation of Frequent and Top-k Elements in Data Streams", 2005): a line without a place takes that of the line with
the least time, and inherits it. A line's time is therefore known to be at least what it has less what it inherited.
"""

from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.table_rows import atomic_time_at, hot_line_at


@call_njit
def count_atomic(machine, number, request, ticks):
    """Counts an atomic of the current grid that takes `ticks` of slice `number`."""
    atomic_time_at(machine, machine.grid, number).value += ticks
    least = 0
    for place in range(machine.n_hot_lines):
        row = hot_line_at(machine, machine.grid, place)
        if row.line == request.line + 1:
            row.ticks += ticks
            row.requests += 1
            return
        if row.ticks < hot_line_at(machine, machine.grid, least).ticks:
            least = place
    row = hot_line_at(machine, machine.grid, least)
    row.line = request.line + 1
    row.inherited = row.ticks
    row.ticks += ticks
    row.requests = 1
