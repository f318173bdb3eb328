"""SM activity and stalls over time on the terminal's timeline, by hand."""

import sqlite3

import numpy as np

from gpuprof.isa.stalls import INDEX, N_REASONS
from gpuprof.report.tasks.task_activity import AT_A_TIME, Activity, in_parts, read_activity
from tests.support.command import gpuprof
from tests.support.report_database import make_database

WAIT, BARRIER, SELECTED = INDEX["wait"], INDEX["barrier"], INDEX["selected"]


def make_active(path):
    """A launch of 5,000 cycles in two bins: 54 of 108 SMs, then 27; waits, then barriers; and a task for it."""
    make_database(path, launches=1)
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO task_rows VALUES (0, 'default stream')")
        db.execute(
            "INSERT INTO tasks VALUES (0, NULL, 'launch', 0, 'transpose_naive', 0, 0, 0, 1, 1000, 6000, 5000, 5000)"
        )
        bins = [(0, 0, 1000, 3500, 54 * 2500), (0, 1, 3500, 6000, 27 * 2500)]
        db.executemany("INSERT INTO activity VALUES (?, ?, ?, ?, ?)", bins)
        stalls = [(0, 0, SELECTED, 9000), (0, 0, WAIT, 8000), (0, 1, BARRIER, 3000), (0, 1, WAIT, 2000)]
        db.executemany("INSERT INTO activity_stalls VALUES (?, ?, ?, ?)", stalls)
    db.close()
    return path


def test_parts_of_time(tmp_path):
    """Of the four parts of 1,000 to 9,000 the second has 500 cycles of the first bin, and 1,500 of the second."""
    with sqlite3.connect(make_active(tmp_path / "t.gpudb")) as db:
        stalls, sms = in_parts(read_activity(db), 1000, 9000, 4)
    assert sms.tolist() == [54 * 2000, 54 * 500 + 27 * 1500, 27 * 1000, 0]
    np.testing.assert_allclose(stalls[:, WAIT], [6400, 1600 + 1200, 800, 0])
    np.testing.assert_allclose(stalls[:, BARRIER], [0, 1800, 1200, 0])


def test_the_page(tmp_path):
    """42 columns: a third of them for names, 27 for the time; the first bin has 13 of these and a half."""
    make_active(tmp_path / "t.gpudb")
    code, out, _ = gpuprof(tmp_path, "report", "t.gpudb", "--page", "timeline", "--width", "42")
    assert code == 0
    lines = [line for line in out.splitlines() if line.startswith(("SMs", "largest", "# w"))]
    assert lines == [
        "SMs active, t… " + "5" * 13 + "3" + "2" * 13,
        "largest stall  " + "w" * 14 + "B" * 13,
        "# w wait, B barrier",
    ]


def test_many_bins_are_summed_in_pieces():
    """More than are looked at together: in each of eight parts of the line are as many."""
    n = 8 * (AT_A_TIME // 3)
    begins = 10 * np.arange(n)
    bins = Activity(begins, begins + 10, np.ones((n, N_REASONS)), np.full(n, 5.0))
    stalls, sms = in_parts(bins, 0, 10 * n, 8)
    np.testing.assert_allclose(stalls, n / 8)
    np.testing.assert_allclose(sms, 5 * n / 8)
