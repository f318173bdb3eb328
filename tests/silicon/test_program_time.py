"""Whole programs, compared with real cards: the rows can be run, and the stored times are near and in order."""

import re
from collections import Counter

import pytest

from gpuprof.chips.fidelity.missing import MISSING
from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.program.hosts import WHY_NOT
from tests.silicon.cards import FOLDER as CARDS
from tests.silicon.program_results import (
    Result,
    Spread,
    by_goal,
    by_set,
    in_order,
    merged,
    result_of,
    spread,
    stored,
    summary,
)
from tests.silicon.program_rows import CLOCKS, GBYTES_PER_S, SETS, US, left_out, pairs, rows
from tests.silicon.program_run import PROGRAMS, NoFigure, chip_of, host_of, modelled_us
from tests.silicon.program_time import line, measure_one

AGAIN = "measure them again: python -m tests.silicon.program_time --write"
IN_ORDER = 0.95
COOPERATIVE = pytest.mark.xfail(
    strict=True, reason="29 %: the cost of cooperative launches by their blocks (0.4 to 0.7 of A100's) is not known"
)
ROWS = {row.id: row for row in rows()}
SOME = (
    "steps-a100-80-graph-4096-256",
    "copies-a100-in",
    "touches-v100-faulting-16777216",
    "cooperative-a100-with-1024",
)


def test_there_are_enough():
    """Eighty rows, of which each set has some."""
    by_name = Counter(row.set for row in rows())
    assert len(ROWS) == len(rows()) >= 80
    assert set(by_name) == set(SETS)
    assert min(by_name.values()) >= 15


def test_every_row_can_be_run():
    """Its program, card and host are there, and its published time makes sense."""
    cards = {path.stem for path in CARDS.glob("*.toml")}
    for row in rows():
        assert (PROGRAMS / row.program).is_file(), row
        assert row.card in cards, row
        assert host_of(row) is None or row.host, row
        assert row.unit in US or (row.unit == GBYTES_PER_S and row.work_nbytes), row
        assert 0.1 < row.published_us < 2e6, row
        assert row.clock in CLOCKS, row
        assert row.goal_percent in (20, 30, None) and row.source and row.trust, row


def test_a_clock_that_is_stated_is_the_chips():
    assert chip_of(ROWS["dependents-h100"]).clock_mhz == 1755
    assert chip_of(ROWS["rounds-v100-graph"]).clock_mhz == 1380


def test_a_rate_becomes_a_time():
    """16 MiB at 26.03 GB/s take 644.5 us; 37.427 ms of 1001 launches are 37.4 us each."""
    assert ROWS["copies-a100-in"].published_us == pytest.approx((16 << 20) / 26.03e3)
    assert ROWS["cooperative-a100-with-32"].published_us == pytest.approx(37.39, rel=1e-4)
    assert ROWS["touches-v100-faulting-1"].published_us == 172.7e3


def test_pairs_are_in_the_published_order():
    for pair in pairs():
        assert ROWS[pair.faster].published_us * 1.05 < ROWS[pair.slower].published_us, pair


def test_what_is_left_out_has_a_reason_and_is_not_run():
    run = {row.row for row in rows()}
    assert all(each.reason and each.row not in run for each in left_out())
    assert len({each.row for each in left_out()}) == len(left_out())


def test_the_results_are_of_these_rows_and_this_version_of_the_model():
    assert [result.id for result in stored()] == [row.id for row in rows()], AGAIN
    assert {result.model_version for result in stored()} == {MODEL_VERSION}, AGAIN
    for result in stored():
        assert result.published_us == pytest.approx(ROWS[result.id].published_us, rel=1e-4), AGAIN


def test_every_program_runs():
    assert [result for result in stored() if result.model_us is None] == []


@pytest.mark.parametrize("goal", (pytest.param(20, marks=COOPERATIVE), 30))
def test_the_mean_error_where_card_driver_and_link_are_stated_and_elsewhere(goal):
    assert by_goal(stored())[goal].error <= goal / 100


@pytest.mark.parametrize("name", SETS)
def test_the_mean_error_of_a_set(name):
    found = by_set(stored())[name]
    assert found.error <= found.goal


@pytest.mark.xfail(
    strict=True, reason="69 of 81: barriers of much data on H200, small copies on B200, a V100's dense faults"
)
def test_the_order_of_pairs():
    order = in_order(stored())
    assert len(order) == len(pairs())
    assert sum(order.values()) >= IN_ORDER * len(order)


@pytest.mark.long
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.parametrize("id", SOME)
def test_a_row_again_gives_what_is_stored(id):
    (known,) = (result for result in stored() if result.id == id)
    assert result_of(ROWS[id], modelled_us(ROWS[id])) == known, AGAIN


GRAPH, LAUNCHES = "empties-rtx3090-graph", "empties-rtx3090-launches"


def test_results_as_lines():
    """Published: 186.9 and 347.5 us."""
    graph, launches = result_of(ROWS[GRAPH], 93.45), result_of(ROWS[LAUNCHES], 695.0)
    missing = result_of(ROWS[GRAPH], None, "it does not compile")
    assert line(graph) == f"{GRAPH:<44}       186.9 us       93.45 us   0.50"
    assert line(missing) == f"{GRAPH:<44}       186.9 us           -         - it does not compile"
    assert list(summary([graph, launches])) == [
        "set launches      1 rows, mean error  100.0 %",
        "set graphs        1 rows, mean error   50.0 %",
        "goal 30 %         2 rows, mean error   75.0 %",
        "1 of 1 pairs are in order (100 %)",
    ]
    slow = result_of(ROWS[GRAPH], 700.0)
    assert list(summary([slow, launches]))[-2:] == [
        "0 of 1 pairs are in order (0 %)",
        f"not in order: {GRAPH} before {LAUNCHES}",
    ]


@pytest.mark.parametrize(
    ("name", "ids", "said"),
    [
        ("managed memory", r"touches-v100-faulting-.*", "0.5 to 1.5"),
        ("mapped memory of the host", r"copies-.*-(read|write|mapped)", "1.02 to 1.15"),
    ],
)
def test_what_pages_say_of_the_programs_memory_is_what_was_measured(name, ids, said):
    (part,) = (each for each in MISSING if each.name == name)
    ratios = [each.model_us / each.published_us for each in stored() if re.fullmatch(ids, each.id)]
    digits = len(said.split()[0]) - 2
    assert f"{min(ratios):.{digits}f} to {max(ratios):.{digits}f}" == said
    assert said in part.off


def test_a_program_that_does_not_run_is_wholly_off():
    missing = result_of(ROWS[GRAPH], None, "it does not compile")
    assert spread([missing, result_of(ROWS[LAUNCHES], 347.5)]) == Spread(2, 0.5, 0.3)


def test_a_row_without_a_goal_counts_in_pairs_only():
    assert spread([result_of(ROWS["copies-rtx4090-behind"], 1.0)]) is None


def test_what_is_measured_again_takes_the_place_of_what_was_stored(monkeypatch):
    old, other = result_of(ROWS[GRAPH], 100.0), result_of(ROWS[LAUNCHES], 300.0)
    gone = Result(MODEL_VERSION, "no such row", 1.0, 1.0, "")
    monkeypatch.setattr("tests.silicon.program_results.stored", lambda: (old, other, gone))
    new = result_of(ROWS[GRAPH], 150.0)
    assert merged([new]) == [other, new]


def test_a_program_that_prints_no_figure_says_why(monkeypatch):
    def fails(_):
        raise NoFigure("unknown: sideways")

    monkeypatch.setattr("tests.silicon.program_time.modelled_us", fails)
    result, _ = measure_one(ROWS[GRAPH])
    assert result == result_of(ROWS[GRAPH], None, "unknown: sideways")
