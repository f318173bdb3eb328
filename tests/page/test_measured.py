"""What was measured by timing launches again, on a page: its data, advice, the table of changes, and curves."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from gpuprof.correlate.database import reading
from gpuprof.isa.vocabularies import INTEL
from gpuprof.report.html.page import html_of
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.queries import read_report
from tests.page.conftest import page_of
from tests.page.reading import tables_of
from tests.support.measured_rows import add_measured
from tests.support.report_database import KERNEL, make_database

LINE_13 = {"path": "samples/transpose.cu", "line": 13, "place": "transpose.cu:13"}
LINE_14 = {"path": "samples/transpose.cu", "line": 14, "place": "transpose.cu:14"}
NO_LINE = {"path": "", "line": 0}
FIRST = {"kernel": 0, "launch": 0, "cycles_before": 5000}
COST, CHANGE = {"is_cost": 1}, {"is_cost": 0}
AT_ONCE, NO_CURVE = {"curve": 0, "sooner_cycles": 0}, {"curve": -1, "sooner_cycles": 0}
# By hand, from the rows of `tests.support.measured_rows`: 5,000 over cycles_after, and over what bound_cycles leave.
ADVICE = [
    {
        **FIRST, "launch": 1, "place": "kernel", **NO_LINE, "topic": "bank_conflicts", "evidence": "8-way conflicts",
        "change": "Pad <b>rows</b>.", "sketch": "", "refuted_by": "they stay 8-way", "intervention": "no_conflicts",
        "cycles_after": 2000, "speedup": 2.5,
    },
    {
        **FIRST, **LINE_14, "topic": "coalesce", "evidence": "9 sectors where 3 would do", "change": "Pack them.",
        "sketch": "out[i] = 1;", "refuted_by": "sectors stay above 3", "intervention": "packed",
        "cycles_after": 2500, "speedup": 2.0,
    },
]  # fmt: skip
CHANGES = [
    {**FIRST, **LINE_14, **COST, **NO_CURVE, "kind": "free", "cycles_after": 1000, "speedup": 5.0, "bound": 10.0},
    {
        **FIRST, **LINE_14, **COST, **NO_CURVE, "place": "transpose.cu:14 + kernel", "kind": "packed + perfect_l1",
        "cycles_after": 1250, "speedup": 4.0, "bound": 5.0,
    },
    {**FIRST, **LINE_13, **COST, **AT_ONCE, "kind": "sooner", "cycles_after": 2000, "speedup": 2.5, "bound": 5000.0},
    {
        **FIRST, **LINE_13, **COST, "curve": 0, "sooner_cycles": 200, "kind": "sooner 200", "cycles_after": 3125,
        "speedup": 1.6, "bound": 2.0,
    },
    {
        **FIRST, **LINE_13, **COST, "curve": 0, "sooner_cycles": 100, "kind": "sooner 100", "cycles_after": 4000,
        "speedup": 1.25, "bound": 1.25,
    },
    {**FIRST, **LINE_14, **COST, **NO_CURVE, "kind": "sooner", "cycles_after": 5000, "speedup": 1.0, "bound": 1.0},
    {
        **FIRST, **NO_LINE, **CHANGE, **NO_CURVE, "place": "dram unit", "kind": "twice dram", "cycles_after": 6250,
        "speedup": 0.8, "bound": 1.0,
    },
]  # fmt: skip
REASONS = [
    (0, "barrier", 0.5),
    *((row, reason, share) for row in (2, 3, 4) for reason, share in (("long_scoreboard", 0.25), ("drain", 0.125))),
]
ROWS = [
    ["5.00x", "free cost", "transpose.cu:14", "1,000", "10.00x", "barrier 50.0%"],
    ["4.00x", "packed + perfect_l1 cost", "transpose.cu:14 + kernel", "1,250", "5.00x", ""],
    ["2.50x", "sooner cost", "transpose.cu:13", "2,000", "5000.00x", "long_scoreboard 25.0%, drain 12.5%"],
    ["1.60x", "sooner 200 cost", "transpose.cu:13", "3,125", "2.00x", "long_scoreboard 25.0%, drain 12.5%"],
    ["1.25x", "sooner 100 cost", "transpose.cu:13", "4,000", "1.25x", "long_scoreboard 25.0%, drain 12.5%"],
    ["1.00x", "sooner cost", "transpose.cu:14", "5,000", "1.00x", ""],
    ["0.80x", "twice dram", "dram unit", "6,250", "1.00x", ""],
]
BARS = ["80%", "75%", "60%", "37.5%", "20%", "0%", "0%"]  # of the cycles that go
SPOKEN = (
    "Causal curve of transpose.cu:13, launch 0: the launch takes 5,000 cycles as it is; "
    "4,000 with results 100 cycles sooner; 3,125 with results 200 cycles sooner; 2,000 with results at once"
)


@pytest.fixture
def database(tmp_path):
    return add_measured(make_database(tmp_path / "t.gpudb"))


def change(path, *script: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in script:
            db.execute(statement)


def test_the_data_by_hand(database):
    tables = tables_of(page_of(database))
    assert tables["measured_advice"] == ADVICE
    assert tables["changes"] == CHANGES
    terms = [term["name"] for term in tables["terms"]]
    assert [(row["change"], terms[row["term"]], row["share"]) for row in tables["change_reasons"]] == REASONS


def test_advice_stands_whole_with_the_largest_gain_first(show, database):
    shown = show(database)
    kernel = shown.page.locator(".kernel")
    assert kernel.locator("h3").all_inner_texts()[:2] == ["Advice, measured", "What else to look at"]
    first, second = (piece.inner_text().split("\n") for piece in kernel.locator(".measured > li").all())
    assert [line for line in first if line] == [
        "2.50x bank_conflicts at kernel · 2,000 of 5,000 cycles · launch 1",
        *("evidence", "8-way conflicts", "change", "Pad <b>rows</b>."),
        *("measured with", "no_conflicts", "wrong if", "they stay 8-way"),
    ]
    assert [line for line in second if line] == [
        "2.00x coalesce at transpose.cu:14 · 2,500 of 5,000 cycles · launch 0",
        *("evidence", "9 sectors where 3 would do", "change", "Pack them.", "sketch", "out[i] = 1;"),
        *("measured with", "packed", "wrong if", "sectors stay above 3"),
    ]
    assert kernel.locator(".measured code").all_inner_texts() == ["out[i] = 1;"]
    assert "times as fast, measured" not in kernel.inner_text()  # what the summary says of it would be said twice
    kernel.locator(".measured").get_by_role("link", name="transpose.cu:14").click()
    shown.page.wait_for_selector(".view-source")
    assert shown.page.url.endswith(f"#view=source&kernel={KERNEL}&line=transpose.cu%3A14")
    assert shown.errors == []


def cells(shown) -> list[list[str]]:
    table = shown.page.get_by_role("region", name="What if")
    rows = [[cell.strip() for cell in row.locator("td").all_inner_texts()] for row in table.locator("tbody tr").all()]
    return [[speedup, *others] for speedup, bar, *others in rows if bar == ""]


def test_changes_are_a_table_that_sorts(show, database):
    shown = show(database)
    table = shown.page.get_by_role("region", name="What if")
    assert cells(shown) == ROWS
    widths = table.locator(".fill").evaluate_all("(bars) => bars.map((bar) => bar.style.width)")
    assert widths == BARS
    links = table.get_by_role("link").all_inner_texts()
    assert links == [row[2] for row in ROWS if row[2] in ("transpose.cu:13", "transpose.cu:14")]
    assert "cost shows what the place costs. It is no change that can be had." in shown.texts(".changes p")
    table.get_by_role("button", name="cycles").click()
    assert [row[3] for row in cells(shown)] == ["6,250", "5,000", "4,000", "3,125", "2,000", "1,250", "1,000"]
    table.get_by_role("button", name="where").click()
    assert [row[2] for row in cells(shown)] == sorted(row[2] for row in ROWS)
    assert shown.errors == []


def test_launches_are_told_apart_where_there_are_several(show, database):
    change(database, "UPDATE whatif SET launch = 1 WHERE row = 0")
    shown = show(database)
    table = shown.page.get_by_role("region", name="What if")
    assert table.locator("thead th").first.inner_text() == "launch"
    assert table.locator("tbody tr td:first-child").all_inner_texts() == ["1", *["0"] * 6]


def test_a_curve_leads_from_the_launch_as_it_is_to_results_at_once(show, database):
    """Equal steps to the right; in height, cycles in proportion."""
    shown = show(database)
    (curve,) = shown.page.locator(".curve").all()
    assert curve.locator("figcaption").inner_text() == "transpose.cu:13 · launch 0"
    assert curve.get_by_role("img").get_attribute("aria-label") == SPOKEN
    titles = curve.locator("circle title").evaluate_all("(titles) => titles.map((title) => title.textContent)")
    assert titles == [
        *("0 cycles sooner: 5,000 cycles", "100 cycles sooner: 4,000 cycles", "200 cycles sooner: 3,125 cycles"),
        "at once: 2,000 cycles",
    ]
    dots = [[float(dot.get_attribute(name)) for name in ("cx", "cy")] for dot in curve.locator("circle").all()]
    (left, top), (right, bottom) = dots[0], dots[-1]
    across, down = ([(value - low) / (high - low) for value in values] for values, low, high in
                    (([x for x, _ in dots], left, right), ([y for _, y in dots], top, bottom)))  # fmt: skip
    assert across == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert down == pytest.approx([0, 1000 / 3000, 1875 / 3000, 1])
    texts = curve.locator("text").evaluate_all("(texts) => texts.map((text) => text.textContent)")
    assert texts == [
        *("2,000", "3,000", "4,000", "5,000", "6,000"),
        *("0", "100", "200", "at once"),
        *("launch, cycles", "results sooner, cycles"),
    ]
    ways = curve.locator("polyline").evaluate_all(
        "(ways) => ways.map((way) => [way.className.baseVal, way.points.length])"
    )
    assert ways == [["way", 3], ["way leap", 2]]


def test_a_curve_without_results_at_once_ends_before(show, database):
    change(database, "DELETE FROM whatif WHERE row = 4")
    curve = show(database).page.locator(".curve")
    assert curve.get_by_role("img").get_attribute("aria-label") == SPOKEN.rpartition(";")[0]
    assert (curve.locator("circle").count(), curve.locator(".leap").count()) == (3, 0)


@pytest.mark.parametrize(
    "cycles", ["0, cycles_after = 0", "1 << 59, cycles_after = 1 << 59", "1, cycles_after = 1 << 59"]
)
def test_any_cycles_are_drawn(show, database, cycles):
    change(database, f"UPDATE whatif SET cycles_before = {cycles}", f"UPDATE advice SET cycles_before = {cycles}")
    shown = show(database)
    drawn = shown.page.locator(".curve svg").evaluate("(drawing) => drawing.outerHTML")
    assert "NaN" not in drawn and "Infinity" not in drawn
    assert len(cells(shown)) == 7
    assert shown.errors == []


def test_what_was_not_measured_is_not_there(show, tmp_path):
    shown = show(make_database(tmp_path / "t.gpudb"))
    assert shown.texts(".kernel h3") == ["What to look at first"]
    assert shown.page.locator(".measured, .changes, .curve").count() == 0


def test_reasons_with_one_word_are_added(database):
    """In Intel's words long_scoreboard and imc_miss are SBID, and drain is OTHER."""
    reasons = '[["drain", 0.375], ["long_scoreboard", 0.25], ["imc_miss", 0.1875]]'
    change(database, f"UPDATE whatif SET moved_to = '{reasons}' WHERE row = 0")
    with reading(database) as db:
        tables = tables_of(html_of([Profile(db, replace(read_report(db), vocabulary=INTEL))]))
    terms = [term["name"] for term in tables["terms"]]
    found = [(terms[row["term"]], row["share"]) for row in tables["change_reasons"] if row["change"] == 0]
    assert found == [("SBID", 0.4375), ("OTHER", 0.375)]
