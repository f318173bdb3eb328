"""The activity of SMs and warps over time, in as many parts as a line has cells."""

import sqlite3
from typing import NamedTuple

import numpy as np

from gpuprof.isa.stalls import N_REASONS

AT_A_TIME = 4096  # bins


class Activity(NamedTuple):
    """Bins of all launches: cycles of their begins and ends, int64 (bins,); float64 (bins, N_REASONS), warp-cycles; and
    SM-cycles with warps, float64 (bins,).
    """

    begins: np.ndarray
    ends: np.ndarray
    stalls: np.ndarray
    sms: np.ndarray


def read_activity(database: sqlite3.Connection) -> Activity:
    rows = database.execute(
        "SELECT launch, bin, begin_cycle, end_cycle, sm_active_cycles FROM activity ORDER BY launch, bin"
    ).fetchall()
    row_of = {(launch, bin_): row for row, (launch, bin_, *_) in enumerate(rows)}
    stalls = np.zeros((len(rows), N_REASONS))
    for launch, bin_, reason, cycles in database.execute("SELECT launch, bin, reason, cycles FROM activity_stalls"):
        stalls[row_of[launch, bin_], reason] = cycles
    begins, ends, sms = (np.array([row[column] for row in rows], np.int64) for column in (2, 3, 4))
    return Activity(begins, np.maximum(ends, begins + 1), stalls, sms.astype(np.float64))


def in_parts(activity: Activity, first: int, last: int, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """The time from `first` to `last` in equal parts: warp-cycles by reason, float64 (parts, N_REASONS), and SM-cycles,
    float64 (parts,). A bin's cycles are spread evenly over it.
    """
    stalls, sms = np.zeros((parts, N_REASONS)), np.zeros(parts)
    edges = first + (last - first) * np.arange(parts + 1) / parts
    for first_row in range(0, len(activity.begins), AT_A_TIME):
        rows = slice(first_row, first_row + AT_A_TIME)
        begins, ends = activity.begins[rows, np.newaxis], activity.ends[rows, np.newaxis]
        inside = np.diff(np.clip(edges, begins, ends)) / (ends - begins)
        stalls += inside.T @ activity.stalls[rows]
        sms += inside.T @ activity.sms[rows]
    return stalls, sms
