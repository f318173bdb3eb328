"""The draws of a page: its data by hand, and the view in a browser."""

import pytest

from gpuprof.report.html.data import draws
from tests.page.conftest import page_of
from tests.page.reading import tables_of
from tests.support.drawn_database import make_drawn
from tests.support.report_database import make_database
from tests.support.tools import node_module


@pytest.fixture
def database(tmp_path):
    return make_drawn(tmp_path / "d.gpudb")


def test_the_data_of_draws(database):
    tables = tables_of(page_of(database))
    shown = ("draw", "start_cycle", "end_cycle", "bottleneck", "overdraw", "quad_efficiency", "width", "state_changes")
    assert [[each[name] for name in shown] for each in tables["draws"]] == [
        [0, 1000, 3000, "vertex", 0, None, 16, 0],
        [1, 2000, 5000, "pixel", 0, None, 16, 0],
    ]
    shown = ("draw", "block", "share", "blocked", "waves", "most", "first_cycle", "last_cycle")
    assert [tuple(each[name] for name in shown) for each in tables["draw_blocks"]] == [
        (0, "fetch", 0.25, 0.125, 0, 0, 1000, 2000),
        (0, "vertex", 0.375, None, 2, 2, 1500, 2500),  # 1,500 wave-cycles of 2 x 2,000
        (0, "scan", 0.15, 0, 0, 0, 2000, 3000),
        (1, "fetch", 0.2, 0, 0, 0, 2000, 2600),
        (1, "depth", 0, 0, 0, 0, 2600, 2600),
        (1, "pixel", pytest.approx(2 / 3), None, 1, 1, 3000, 5000),
    ]
    assert [(each["kind"], each["name"], each["draws"], each["start_cycle"]) for each in tables["draw_groups"]] == [
        ("pass", "0", 2, 1000)
    ]
    assert tables["draw_shaders"] == [{"draw": 0, "stage": "vertex", "kernel": 0}]
    shown = ("block", "is_stage", "begin_cycle", "end_cycle", "amount")
    assert [tuple(each[name] for name in shown) for each in tables["draw_lanes"]] == [
        ("fetch", 0, 1000, 2000, 0.5),
        ("fetch", 0, 2000, 2600, 1.0),
        ("vertex", 1, 1500, 2000, 2),
        ("vertex", 1, 2000, 2500, 1),
        ("scan", 0, 2000, 3000, 0.3),
        ("pixel", 1, 3000, 5000, 1),
    ]


def test_a_block_that_changes_often_is_in_parts(database, monkeypatch):
    """Of as many as there may be stretches; scan and pixel have one each."""
    monkeypatch.setattr(draws, "MOST_STEPS", 1)
    tables = tables_of(page_of(database))
    shown = ("block", "begin_cycle", "end_cycle", "amount")
    assert [tuple(each[name] for name in shown) for each in tables["draw_lanes"]] == [
        ("fetch", 1000, 5000, 1100 / 4000),
        ("vertex", 1000, 5000, 1500 / 4000),
        ("scan", 2000, 3000, 0.3),
        ("pixel", 3000, 5000, 1),
    ]


def test_the_view(show, database):
    """A click on a draw lists its blocks, and the address names it."""
    shown = show(database, hash_="view=draws")
    page = shown.page
    table = page.get_by_role("region", name="Draws", exact=True)
    cells = [row.split("\t")[:3] for row in table.locator("tbody tr").all_inner_texts()]
    assert [[text.strip() for text in row] for row in cells] == [["0", "2000", "vertex"], ["1", "3000", "pixel"]]
    assert page.locator(".lanes .name").all_text_contents() == ["fetch", "vertex", "scan", "pixel"]
    table.locator("tbody tr").nth(0).click()
    assert page.url.endswith("draw=0") and page.locator(".lanes .span").count() == 1
    blocks = page.get_by_role("region", name="Blocks of the draw").locator("tbody tr")
    assert [row.split()[:2] for row in blocks.all_inner_texts()] == [
        ["fetch", "25.0%"],
        ["vertex", "37.5%"],
        ["scan", "15.0%"],
    ]
    assert page.get_by_text("changes of state: 0").count() == 1
    page.get_by_role("link", name="transpose_naive").click()
    page.wait_for_selector(".view-source")
    assert shown.errors == []


def test_a_profile_without_draws_has_no_such_view(show, tmp_path):
    shown = show(make_database(tmp_path / "t.gpudb"), hash_="view=draws")
    assert "Draws" not in shown.texts("nav a") and shown.page.title().startswith("Summary")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_who_may_use_it(show, database, scheme):
    shown = show(database, hash_="view=draws&draw=1", width=360, color_scheme=scheme)
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 360
    shown.page.evaluate((node_module("axe-core") / "axe.min.js").read_text())
    found = shown.page.evaluate("axe.run().then((result) => result.violations)")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")] == []
