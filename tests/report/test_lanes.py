"""Blocks of the graphics pipeline over time: sums by hand, the terminal's timeline, tracks of a trace."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from gpuprof.report.tasks.timeline_lanes import Lane, extent, in_parts, read_lanes, steps
from tests.support.command import gpuprof
from tests.support.drawn_database import make_drawn


def test_lanes_by_hand(tmp_path):
    """Fetch is half busy from 1,000 on, and wholly from 2,000 to 2,600."""
    with closing(sqlite3.connect(make_drawn(tmp_path / "d.gpudb"))) as db:
        found = read_lanes(db)
    assert [lane.block for lane in found] == ["fetch", "vertex", "scan", "pixel"]
    assert extent(found) == (1000, 5000)
    fetch, vertex, scan, pixel = (in_parts(lane, 1000, 5000, 4).tolist() for lane in found)
    assert fetch == [0.5, 0.6, 0, 0]
    assert vertex == [1.0, 0.5, 0, 0]
    assert scan == [0, 0.3, 0, 0] and pixel == [0, 0, 1, 1]
    assert in_parts(found[0], 1500, 2500, 2).tolist() == [0.5, 1.0]


def test_parts_of_many_spans():
    """Against each span by itself, at cycles as large as they come."""
    rng, start = np.random.default_rng(3), 1 << 52
    begins = start + rng.integers(0, 900, 300)
    lane = Lane("pixel", begins, begins + rng.integers(1, 200, 300), rng.random(300))
    edges = start + np.arange(0, 1001, 40)
    inside = np.diff(np.clip(edges, lane.begins[:, None], lane.ends[:, None]))
    np.testing.assert_allclose(in_parts(lane, start, start + 1000, 25), lane.rates @ inside / 40, atol=1e-9)


def test_a_unit_is_never_more_than_busy():
    """One draw leaves in the cycle in which the next one comes."""
    lane = Lane("scan", np.array([0, 9]), np.array([10, 20]), np.array([0.95, 0.95]))
    assert in_parts(lane, 0, 20, 20).tolist() == pytest.approx([0.95] * 9 + [1] + [0.95] * 10)


def test_stretches_by_hand(tmp_path):
    with closing(sqlite3.connect(make_drawn(tmp_path / "d.gpudb"))) as db:
        found = {lane.block: [each.tolist() for each in steps(lane)] for lane in read_lanes(db)}
    assert found == {
        "fetch": [[1000, 2000], [2000, 2600], [0.5, 1.0]],
        "vertex": [[1500, 2000], [2000, 2500], [2.0, 1.0]],
        "scan": [[2000], [3000], [0.3]],
        "pixel": [[3000], [5000], [1.0]],
    }


@pytest.mark.parametrize("block", ["pixel", "scan"])
def test_stretches_of_many_spans(block):
    """In each cycle what is at work there; neighbours differ, and there is none of nothing."""
    rng = np.random.default_rng(5)
    begins = rng.integers(0, 500, 60)
    lane = Lane(block, begins, begins + rng.integers(1, 20, 60), rng.integers(1, 10, 60) / 16)
    of_cycle = np.zeros(520)
    for begin, end, rate in zip(lane.begins, lane.ends, lane.rates, strict=True):
        of_cycle[begin:end] += rate
    if block == "scan":
        of_cycle = np.minimum(of_cycle, 1)
    begins, ends, amounts = steps(lane)
    found = np.zeros(520)
    for begin, end, amount in zip(begins, ends, amounts, strict=True):
        found[begin:end] = amount
    np.testing.assert_array_equal(found, of_cycle)
    follows = begins[1:] == ends[:-1]
    assert (amounts > 0).all() and (amounts[1:] != amounts[:-1])[follows].all()


def test_the_page_has_a_line_for_each_block(tmp_path):
    """37 cells of 108.1 cycles: of the tenth, a quarter is half busy in fetch, and the rest wholly."""
    make_drawn(tmp_path / "d.gpudb")
    code, out, _ = gpuprof(tmp_path, "report", "d.gpudb", "--page", "timeline", "--width", "50")
    assert code == 0
    lines = [line for line in out.splitlines() if line.startswith(("fetch", "vertex", "scan", "pixel", "# busy"))]
    assert lines == [
        "fetch busy   " + "5" * 9 + "8" + "9" * 4 + "8",
        "vertex waves " + " " * 4 + "3" + "9" * 4 + "6" + "5" * 3 + "4",
        "scan busy    " + " " * 9 + "2" + "3" * 8 + "1",
        "pixel waves  " + " " * 18 + "5" + "9" * 18,
        "# busy: tenths of the time; waves: tenths of the",
    ]


def test_tracks_of_draws(tmp_path):
    """Slices by track: the second draw overlaps the first, so it lies beside it. Counters change where waves do."""
    make_drawn(tmp_path / "d.gpudb")
    code, _, error = gpuprof(tmp_path, "export", "d.gpudb", "--format", "chrome", "-o", "d.json")
    assert code == 0, error
    events = json.loads((tmp_path / "d.json").read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X" and "draw" in event["args"]]
    assert [(names[each["tid"]], each["name"], each["args"]["draw"]) for each in slices] == [
        ("draw", "draw 0", 0),
        ("draw, beside", "draw 1", 1),
        ("fetch", "draw 0", 0),
        ("fetch", "draw 1", 1),
        ("scan", "draw 0", 0),
        ("depth", "draw 1", 1),
    ]
    fetch = slices[2]["args"]
    assert (fetch["busy_cycles"], fetch["blocked_cycles"]) == (500.0, 250.0)
    waves = [event["args"]["waves"] for event in events if event["ph"] == "C" and event["name"] == "vertex waves"]
    assert waves[0] == 0 and waves[-1] == 0 and max(waves) == 2
