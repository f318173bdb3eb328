"""The activity of a grid's warps over time: the ledger's cycles by stall reason, and cycles in which an SM had its
warps, in bins of the grid's time.

    table `activity` ─ activity_of ─> Activity ─ extended, coarser ─> the rows of a recording
"""

from typing import NamedTuple

import numpy as np

from gpuprof.isa.stalls import N_REASONS

MOST_BINS = 1 << 10  # of a grid
ROWS = 1 << 14  # of the table: of a batch that has more grids each has fewer bins
SM_HAS_WARPS = N_REASONS  # the column after the stall reasons
N_ACTIVITIES = N_REASONS + 1


def bins_of(n_grids: int) -> int:
    """Bins for each grid of a batch of so many, a power of two."""
    return 1 << min(MOST_BINS, max(1, ROWS // n_grids)).bit_length() - 1


def first_shift(n_bins: int) -> int:
    """The logarithm of a bin's first length: the bins have MOST_BINS cycles together."""
    return (MOST_BINS // n_bins).bit_length() - 1


class Activity(NamedTuple):
    """cycles: uint64 (bins, N_ACTIVITIES), warp-cycles by stall reason, then SM-cycles. Bin b has the `bin_cycles`
    cycles from the grid's start + b * bin_cycles on; the last may be shorter.
    """

    bin_cycles: int
    cycles: np.ndarray


def activity_of(rows: np.ndarray, shift: int, cycles: int) -> Activity:
    """The activity of a grid that took `cycles`, from its `rows` of the table. They are zero afterwards, as a batch
    finds them.
    """
    rows = rows[: (cycles >> shift) + 1]
    rate = np.cumsum(rows["change"], axis=0) - rows["change"]  # of activity that continues from earlier bins
    warp_cycles = (rate << shift) + rows["area"]
    rows[:] = 0
    n_bins = max(1, -(-cycles >> shift))
    assert not warp_cycles[n_bins:].any(), "cycles after the end of a grid"
    return Activity(1 << shift, warp_cycles[:n_bins].astype(np.uint64))


def coarser(activity: Activity, most_bins: int) -> Activity:
    """Halves the number of bins, each twice as long, until there are at most `most_bins`."""
    together = 1
    while -(-len(activity.cycles) // together) > most_bins:
        together *= 2
    return _joined(activity, together) if together > 1 else activity


def extended(activity: Activity, warp_cycles: np.ndarray, sm_cycles: int, cycles: int) -> Activity:
    """The activity of a launch that ends `cycles` after its start, from that of its part that was timed. The part of
    its total `warp_cycles`, uint64 (N_REASONS,), and `sm_cycles` beyond the timed ones is spread evenly over the bins
    after it.
    """
    while -(-cycles // activity.bin_cycles) > MOST_BINS:
        activity = _joined(activity)
    more = np.append(warp_cycles, np.uint64(sm_cycles)) - activity.cycles.sum(axis=0)
    n_bins = -(-cycles // activity.bin_cycles) - len(activity.cycles)
    if n_bins <= 0:
        return activity._replace(cycles=np.vstack([activity.cycles[:-1], activity.cycles[-1:] + more]))
    marks = np.rint(np.outer(np.arange(n_bins + 1) / n_bins, more.astype(np.float64))).astype(np.uint64)
    marks[-1] = more
    return activity._replace(cycles=np.vstack([activity.cycles, np.diff(marks, axis=0)]))


def _joined(activity: Activity, together: int = 2) -> Activity:
    cycles = np.add.reduceat(activity.cycles, np.arange(0, len(activity.cycles), together), axis=0)
    return Activity(together * activity.bin_cycles, cycles)
