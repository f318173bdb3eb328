"""The source view in a browser: panes that follow each other, measures, keys, links."""

import sqlite3

import pytest

from tests.support.report_database import make_database


@pytest.fixture
def shown(show, tmp_path):
    return show(make_database(tmp_path / "t.gpudb"), hash_="kernel=transpose_naive")


def rows(shown, pane: str, kind: str) -> list[str]:
    """The numbers of the rows of a class in a pane: lines, or addresses."""
    return shown.texts(f'.pane[aria-label="{pane}"] tr.{kind} td:nth-child(2)')


def selected(shown, pane: str) -> list[str]:
    return shown.texts(f'.pane[aria-label="{pane}"] tr[aria-selected="true"] td:nth-child(2)')


def test_the_hottest_line_is_selected_with_its_instructions(shown):
    """Line 14 has instructions 20 and 21 of its own, 16 to 19 from the inlined `at`."""
    assert selected(shown, "Source") == ["14"]
    assert rows(shown, "Instructions", "match") == ["0x1100", "0x1110", "0x1120", "0x1130", "0x1140", "0x1150"]
    assert selected(shown, "Instructions") == ["0x1150"]
    assert shown.texts(".pane[aria-label=Source] tr[aria-selected=true] td.heat") == ["63.9%"]  # 59,000 of 92,360


def test_a_row_chosen_in_one_pane_is_found_in_the_others(shown):
    """An inlined instruction belongs to its own line, 4 of index.cuh, and to the line that has the call."""
    shown.page.locator('.pane[aria-label="Instructions"] tr', has_text="IMAD R10,").click()
    assert rows(shown, "Source", "match") == ["4"]
    assert rows(shown, "Source", "caller") == ["13"]
    assert shown.page.evaluate("location.hash") == "#view=source&kernel=transpose_naive&at=0x10a0"
    shown.page.get_by_role("button", name="PTX", exact=True).click()
    assert rows(shown, "PTX", "match") == ["18"]


def test_a_link_opens_a_line(show, tmp_path):
    shown = show(make_database(tmp_path / "t.gpudb"), hash_="line=index.cuh:4")
    assert selected(shown, "Source") == ["4"]
    assert shown.page.locator(".pane h2").all_inner_texts() == ["Source", "Instructions"]
    shown.at("ptx=18&panes=ptx")
    assert selected(shown, "PTX") == ["18"]


def test_a_kernel_that_has_the_symbol_of_another_for_its_name(show, tmp_path):
    """As of `extern "C"`: the name that both share is the symbol of one."""
    path = make_database(tmp_path / "t.gpudb")
    pc = 0x9000
    with sqlite3.connect(path) as db:
        db.execute(
            "INSERT INTO functions VALUES (9, 0, 'transpose_naive', 'transpose_naive', 1, ?, 1, 32, 0, 0, 0)", (pc,)
        )
        db.execute("INSERT INTO instructions VALUES (?, 0, 9, 'EXIT', 'EXIT', 0, 3, 0, 3, '', '', 0, '', 0)", (pc,))
        db.execute(
            "INSERT INTO launches VALUES (9, 9, 'transpose_naive', '1,1,1', '32,1,1', 0, 0, '', 20000, 20100, 100, 0, "
            "0, 0, 0, 1)"
        )
        db.execute("INSERT INTO ledger VALUES (9, ?, 0, 100)", (pc,))
    db.close()
    shown = show(path, hash_="view=source&kernel=transpose_naive&panes=isa")
    code = '.pane[aria-label="Instructions"] tbody tr'
    assert shown.page.locator(code).count() == 2  # the kernel's name, EXIT
    shown.at("view=source&kernel=_Z15transpose_naiveiPKfPf&panes=isa")
    assert shown.page.locator(code).count() > 30


def test_numbers_of_the_selection_are_those_of_the_database(shown):
    """Two launches of SPECIAL[20], SPECIAL[21], from tests/support/report_database.py."""
    table = shown.texts(".detail table:first-of-type >> nth=0 >> tbody tr")
    assert [line.split("\t") for line in table] == [
        ["lg_throttle", "60,000", "50.8%", "600"],
        ["long_scoreboard", "54,000", "45.8%", "540"],
        ["selected", "2,048", "1.7%", "20"],
        ["wait", "976", "0.8%", "8"],
        ["drain", "976", "0.8%", "8"],
    ]


def test_measures_change_the_heat(shown):
    shown.page.get_by_label("measure").select_option(label="excess")
    assert shown.texts(".pane[aria-label=Source] th:nth-child(3)") == ["excess"]
    hot = [text for text in shown.texts(".pane[aria-label=Source] tbody tr:not(.heading) td.heat") if text]
    assert hot == ["28.7K"]  # of line 14: 2 launches of 16,384 - 2,048 sectors


def test_keys_walk_the_lines_by_cost(shown):
    """Two launches of 59,000 cycles in line 14, 12,816 in line 9, 5,696 in line 4 of index.cuh, 4,312 in line 13."""
    order = []
    for key in ("n", "n", "p"):
        shown.page.keyboard.press(key)
        order += selected(shown, "Source")
    assert order == ["9", "4", "9"]


def test_search_finds_and_folded_loops_hide(shown):
    page = shown.page
    page.keyboard.press("/")
    page.keyboard.type("value")
    assert shown.texts("output") == ["2 found"]
    page.keyboard.press("Enter")
    assert selected(shown, "Source") == ["13"]
    before = page.locator('.pane[aria-label="Source"] tbody tr').count()
    page.locator('.pane[aria-label="Source"] table').focus()
    page.keyboard.press("f")
    assert page.locator('.pane[aria-label="Source"] tbody tr').count() < before
    assert page.locator('.pane[aria-label="Source"] button.fold').get_attribute("aria-expanded") == "false"
    page.keyboard.press("f")
    assert page.locator('.pane[aria-label="Source"] tbody tr').count() == before
