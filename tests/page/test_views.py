"""Summary and grid in a browser."""

import sqlite3

import pytest

from tests.support.report_database import make_database


@pytest.fixture
def database(tmp_path):
    """Two launches, each in a stream and a task of its own."""
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE launches SET stream = launch, task = 'step/' || CHAR(97 + launch)")
    db.close()
    return path


def grid(shown) -> list[list[str]]:
    """Name, warp-cycles and samples of each row."""
    return [
        [line.locator("td").nth(place).inner_text().strip(" \n\u25be\u25b8") for place in (0, 2, 4)]
        for line in shown.page.locator(".grid tbody tr").all()
    ]


def test_the_grid_sums_whatever_it_is_grouped_by(show, database):
    shown = show(database, hash_="view=grid&by=task,kernel")
    assert grid(shown) == [
        ["Total", "185K", "1832"],
        ["step/a", "92.4K", "916"],
        ["transpose_naive", "92.4K", "916"],
        ["step/b", "92.4K", "916"],
        ["transpose_naive", "92.4K", "916"],
    ]
    shown.at("view=grid&by=function")
    assert grid(shown) == [["Total", "185K", "1832"], ["transpose_naive", "173K", "1720"], ["at", "11.4K", "112"]]


def test_the_grid_by_keys_alone(show, database):
    shown = show(database, hash_="view=grid&by=stream,kernel")
    page = shown.page
    page.get_by_role("treegrid").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert [name for name, *_ in grid(shown)] == ["Total", "stream 0", "stream 1", "transpose_naive"]
    assert page.locator('tr[aria-selected="true"]').get_attribute("aria-expanded") == "false"


def test_the_grid_is_filtered_sorted_and_regrouped_by_clicks(show, database):
    shown = show(database, hash_="view=grid&by=task,kernel")
    page = shown.page
    page.get_by_label("Filter by text").fill("step/b")
    assert [name for name, *_ in grid(shown)] == ["Total", "step/b", "transpose_naive"]
    page.get_by_label("Filter by text").fill("")
    page.get_by_role("button", name="task / kernel").click()
    assert [name for name, *_ in grid(shown)][1::2] == ["step/a", "step/b"]
    page.get_by_role("button", name="Group by kernel earlier").click()
    assert [name for name, *_ in grid(shown)][:2] == ["Total", "transpose_naive"]
    assert page.evaluate("location.hash") == "#view=grid&by=kernel%2Ctask"


def test_the_summary_says_what_the_terminal_says(show, database):
    shown = show(database)
    assert shown.texts("main h2")[:3] == ["Kernels", "Tasks", "What this is, and how far to trust it"]
    facts = shown.texts("main section.kernel dd")
    assert facts[0].split("\n") == ["7.09 us", "10,000 cycles at 1410 MHz", "2 launches"]
    grid, line = shown.texts("main section.kernel li")[:2]
    assert grid.startswith("The grid has 16 blocks") and line.startswith("transpose.cu:14 ")
    shown.page.locator("main section.kernel li a").first.click()
    assert shown.page.evaluate("location.hash").endswith("&line=transpose.cu%3A14")
    assert shown.texts('.pane[aria-label="Source"] tr[aria-selected="true"] td:nth-child(2)') == ["14"]
    shown.page.go_back()
    assert shown.texts("main h2")[0] == "Kernels"


def test_tasks_have_their_share_of_the_cost(show, database):
    shown = show(database)
    tasks = shown.page.locator('[aria-label="Tasks"] tbody tr').all_inner_texts()
    assert [[*line.split("\t")[:2], line.split("\t")[-1]] for line in tasks] == [
        ["50.0%", "92.4K", "step/a"],
        ["50.0%", "92.4K", "step/b"],
    ]


def test_a_page_without_a_ledger_shows_samples(show, tmp_path):
    shown = show(make_database(tmp_path / "card.gpudb", with_ledger=False), hash_="kernel=transpose_naive")
    assert shown.texts(".pane[aria-label=Source] th:nth-child(3)") == ["sampled"]
    assert shown.errors == []
