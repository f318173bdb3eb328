"""The draws of a page: its data by hand, and the view in a browser."""

import json
import sqlite3

import pytest

from gpuprof.chips import load_chip
from gpuprof.report.html.blocks import draws
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
    cells = [row.split("\t")[:4] for row in table.locator("tbody tr").all_inner_texts()]
    assert [[text.strip() for text in row] for row in cells] == [
        ["0", "draw 0", "2000", "vertex"],
        ["1", "draw 1", "3000", "pixel"],
    ]
    assert page.locator(".lanes text:not(.name)").all_text_contents()[:2] == ["to 100% busy", "to 2 waves"]
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
    assert "task=1&from=1000&to=3000" in page.get_by_role("link", name="In the timeline").get_attribute("href")
    page.get_by_role("link", name="transpose_naive").click()
    page.wait_for_selector(".view-source")
    assert shown.errors == []


def test_memory_that_draws_share(show, database):
    """20,000 bytes of 2,000 cycles, of a L2 with 40 bytes a cycle, are a quarter; the DRAM has what it can transfer.
    The lanes go on until memory has answered the last draw.
    """
    chip = {"l2_slices": 10, "l2_slice_nbytes_per_cycle": 4.0, "dram_gbytes_per_s": 8.0, "clock_mhz": 1000.0}
    with sqlite3.connect(database) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'chip_json'", (json.dumps(chip),))
        db.execute("DELETE FROM launch_metrics")
        db.execute("INSERT INTO draw_traffic VALUES (0, 'write', 0, 20000, 0, 16000)")
        db.execute("UPDATE draws SET end_cycle = 5100 WHERE draw = 1")
    db.close()
    shown = show(database, hash_="view=draws&draw=0")
    blocks = shown.page.get_by_role("region", name="Blocks of the draw").locator("tbody tr")
    cells = [[text.strip() for text in row.split("\t")] for row in blocks.all_inner_texts()[-2:]]
    assert [(row[0], row[1], row[-3]) for row in cells] == [("L2", "25.0%", "20 KB"), ("DRAM", "100.0%", "16 KB")]
    assert shown.page.locator(".busy.bottleneck").count() == 1
    assert shown.page.locator(".lanes text:not(.name)").all_text_contents()[-2:] == ["cycle 1,000", "5,100"]
    heads = shown.page.get_by_role("region", name="Draws", exact=True).locator("thead th").all_inner_texts()
    assert [head.strip() for head in heads if head.strip() in ("L2", "DRAM")] == ["L2", "DRAM"]
    (first, _) = tables_of(page_of(database))["draws"]
    shown = ("bottleneck", "l2_nbytes", "l2_share", "dram_nbytes", "dram_share")
    assert [first[name] for name in shown] == ["DRAM", 20000, 0.25, 16000, 1]


def test_waves_are_no_blocks_to_the_chip(tmp_path):
    """An SM has room for as many as it has slots for warps; nobody chooses their size."""
    chip = load_chip("rtx3090").describe()
    path = make_database(tmp_path / "t.gpudb", launches=1, chip_words=chip)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE launches SET block = '32,1,1'")
    db.close()
    of_blocks = tables_of(page_of(path))
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO draw_launches VALUES (0, 0, 'vertex')")
    db.close()
    of_waves = tables_of(page_of(path))
    assert [each["by_blocks"] for each in (of_blocks["residencies"][0], of_waves["residencies"][0])] == [16, 48]
    assert [each["what"] for each in of_blocks["steps"]] == ["threads a block"] and of_waves["steps"] == []


def test_the_summary_lists_the_longest_draws(show, database):
    shown = show(database)
    rows = shown.page.get_by_role("region", name="Draws", exact=True).locator("tbody tr").all_inner_texts()
    cells = [[text.strip() for text in row.split("\t")] for row in rows]
    assert [[row[0], *row[2:4], row[-1]] for row in cells] == [
        ["1", "3000", "pixel", "draw 1"],
        ["0", "2000", "vertex", "draw 0"],
    ]
    shown.page.get_by_role("link", name="draw 0").click()
    shown.page.wait_for_selector(".view-draws")
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
