"""The activity of warps over time: cycles by stall reason, and cycles in which an SM has warps, in bins of a grid's
time.

A stall may be long and bins short, so each interval is entered only at its two ends: the rate of activity rises in the
bin of its begin and falls in that of its end, and both bins record their part of it in addition to the rate that they
start with (`state.activity_bins` adds up). A bin is 2^bin_shift cycles; when a grid's time outgrows the bins, two
become one.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.activity_bins import MOST_BINS
from gpuprof.timing.state.layout import ACTIVE
from gpuprof.timing.state.table_rows import activity_at, grid_at, view_at


@inline_njit
def spend_issue(machine, number, what, cycle):
    """A warp of grid `number` did `what` in `cycle`."""
    grid = grid_at(machine, number)
    bin_ = (cycle - grid.start_cycle) >> grid.bin_shift
    activity_at(machine, number * machine.activity_bins + bin_, what).area += 1


@call_njit
def spend(machine, number, what, begin, end):
    """A warp of grid `number` did `what` from cycle `begin` to `end`."""
    grid = grid_at(machine, number)
    shift = grid.bin_shift
    begin -= grid.start_cycle
    end -= grid.start_cycle
    first = begin >> shift
    last = end >> shift
    at = activity_at(machine, number * machine.activity_bins + first, what)
    if first == last:
        at.area += end - begin
        return
    at.change += 1
    at.area += ((first + 1) << shift) - begin
    at = activity_at(machine, number * machine.activity_bins + last, what)
    at.change -= 1
    at.area -= ((last + 1) << shift) - end


@call_njit
def fold(machine, end):
    """Makes the bins of every active grid long enough for cycles up to and with `end`."""
    # A grid that starts from now on has room for MOST_BINS cycles.
    soonest = end + MOST_BINS // 2
    for number in range(machine.first_open, machine.n_grids):
        grid = grid_at(machine, number)
        if grid.state != ACTIVE:
            continue
        while (end - grid.start_cycle) >> grid.bin_shift >= machine.activity_bins:
            for view in range(machine.n_views):
                join_pairs(view_at(machine, view), number, grid.bin_shift)
            grid.bin_shift += 1
        soonest = min(soonest, grid.start_cycle + (machine.activity_bins << grid.bin_shift))
    machine.fold_cycle = soonest


@call_njit
def join_pairs(machine, number, shift):
    """Two bins of 2^shift cycles each become one."""
    first = number * machine.activity_bins
    for bin_ in range(machine.activity_bins):
        for what in range(machine.n_activities):
            change = 0
            area = 0
            if 2 * bin_ < machine.activity_bins:
                one = activity_at(machine, first + 2 * bin_, what)
                other = activity_at(machine, first + 2 * bin_ + 1, what)
                change = one.change + other.change
                area = one.area + (one.change << shift) + other.area
            at = activity_at(machine, first + bin_, what)
            at.change = change
            at.area = area
