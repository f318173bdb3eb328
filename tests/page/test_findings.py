"""What checkers found, on a page: its data, the marks at lines, and the way from one access to the other."""

import sqlite3

import pytest

from tests.page.conftest import page_of
from tests.page.reading import tables_of
from tests.support.report_database import BASE, KERNEL, make_database

LOAD, STORE = BASE + 16 * 15, BASE + 16 * 21  # of lines 13 and 14
RACE = "thread (1, 0, 0) writes what thread <b>0</b> reads"


@pytest.fixture
def database(tmp_path):
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO trace_launches VALUES (0, 'racecheck')")
        db.execute(
            "INSERT INTO findings VALUES (100, 0, 'racecheck', ?, 'error', ?, ?, ?, 0, 0, 1, 64, 'out', 12, NULL)",
            ("global_race", RACE, STORE, LOAD),
        )
    db.close()
    return path


def test_both_accesses_are_in_the_data(database):
    tables = tables_of(page_of(database))
    found = [row for row in tables["findings"] if row["severity"] == "error"]
    assert found == [
        {
            "kernel": 0, "kind": "global_race", "severity": "error", "text": RACE, "launch": 0,
            "instruction": 21, "path": "samples/transpose.cu", "line": 14,
            "other_kernel": 0, "other": 15, "other_path": "samples/transpose.cu", "other_line": 13,
            "count": 12, "cost_cycles": None,
        }
    ]  # fmt: skip
    assert [tables["instructions"][row]["address"] for row in (21, 15)] == [STORE, LOAD]


def test_errors_stand_first_and_lead_to_their_lines(show, database):
    shown = show(database)
    assert shown.texts(".summary > section h2")[0] == "Findings"
    first = shown.page.locator(".findings li").first
    place, facts = f"error global_race in {KERNEL} transpose.cu:14", "· 12 times · launch 0"
    assert first.inner_text() == f"{place} {RACE} (the other access: transpose.cu:13) {facts}"
    assert first.locator("b").count() == 0
    first.get_by_role("link", name="transpose.cu:13").click()
    shown.page.wait_for_selector(".view-source")
    assert "line=transpose.cu%3A13" in shown.page.url
    assert shown.errors == []


def test_both_lines_are_marked_and_linked(show, database):
    """Line 14's mark is that of the store alone: the inlined code in it has none."""
    shown = show(database, hash_=f"kernel={KERNEL}&line=transpose.cu:12")
    marked = '.pane[aria-label="{}"] tr:has(.mark.error) td:nth-child(2)'
    assert shown.texts(marked.format("Source")) == ["! 13", "! 14"]
    assert shown.texts(marked.format("Instructions")) == ["! 0x10f0", "! 0x1150"]
    assert shown.page.locator(".below .findings").count() == 0
    shown.page.get_by_role("button", name="Next finding").click()
    assert "line=transpose.cu%3A13" in shown.page.url
    shown.page.locator(".below .findings").get_by_role("link", name="transpose.cu:14").click()
    shown.page.wait_for_function("location.hash.includes('cu%3A14')")
    assert shown.texts(".below .findings li")[0].startswith("error global_race transpose.cu:14 thread (1, 0, 0) writes")
    assert shown.errors == []


def test_without_errors_nothing_is_marked(show, tmp_path):
    """Advice is in the numbers of a line; it stands behind what the profile says of itself."""
    path = make_database(tmp_path / "t.gpudb")
    shown = show(path)
    assert shown.texts(".summary > section h2")[:3] == ["Kernels", "What this is, and how far to trust it", "Findings"]
    shown.at(f"kernel={KERNEL}")
    assert shown.page.locator(".mark").count() == 0
    assert shown.page.get_by_role("button", name="Next finding").is_hidden()
