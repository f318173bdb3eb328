"""Two profiles on one page: each number with its difference, lines beside each other by their text."""

import sqlite3

import pytest

from tests.page.reading import tables_of
from tests.support.command import gpuprof
from tests.support.report_database import CU, make_database


@pytest.fixture
def databases(tmp_path):
    """After a change, line 14 is line 16, and costs 10,000 warp-cycles more in each launch; line 9 costs 300 less."""
    before = make_database(tmp_path / "before.gpudb")
    lines = CU.splitlines()
    moved = "\n".join([*lines[:13], "    // put", "    // in", *lines[13:]]) + "\n"
    after = make_database(tmp_path / "after.gpudb", source=moved)
    with sqlite3.connect(after) as db:
        db.execute("UPDATE instructions SET line = line + 2 WHERE line >= 14 AND source = 0")
        db.execute("UPDATE ledger SET cycles = cycles + 10000 WHERE pc = 0x1150 AND reason = 3")
        db.execute("UPDATE launches SET end_cycle = end_cycle + 700, cycles = cycles + 700")
    db.close()
    return before, after


def rows(shown, caption: str) -> list[list[str]]:
    table = shown.page.get_by_role("region", name=caption)
    return [[cell.strip() for cell in row.locator("td").all_inner_texts()] for row in table.locator("tbody tr").all()]


def test_kernels_numbers_and_lines(show, databases):
    shown = show(*databases, hash_="view=compare")
    ((kernel, *numbers, _),) = rows(shown, "Kernels, those that got slower first")
    assert (kernel, numbers) == ("transpose_naive", ["10,000", "11,400", "+1,400", "+14.0%"])
    found = {row[0]: row[1:5] for row in rows(shown, "Every number, before and after")}
    assert found["cycles"] == ["10,000", "11,400", "+1,400", "+14.0%"]
    assert found["dram_nbytes"] == ["262,144", "262,144", "0", "0.0%"]
    first, *others = rows(shown, "Lines, those that got slower first")
    assert first[0] == "transpose.cu:16 (was 14)"
    assert int(first[2].replace(",", "")) - int(first[1].replace(",", "")) == 20_000
    assert first[3] == "+20,000"
    assert all(row[3] == "0" for row in others)
    assert [row[0] for row in others if "without a source line" in row[5]] == ["transpose.cu"]
    assert shown.errors == []


def test_the_page_of_diff_opens_at_the_comparison_and_names_the_files(show, databases, tmp_path):
    assert gpuprof(tmp_path, "diff", "before.gpudb", "after.gpudb", "-o", "page.html")[0] == 0
    shown = show(page=(tmp_path / "page.html").read_text())
    assert shown.texts("nav [aria-current]") == ["Compare"]
    heads = shown.page.get_by_role("region", name="Reasons and causes").locator("th").all_inner_texts()
    assert [head.strip() for head in heads][:6] == [
        "line",
        "why",
        "ended by",
        "before.gpudb",
        "after.gpudb",
        "difference",
    ]
    (row,) = rows(shown, "Reasons and causes, the largest difference first")
    assert row[:7] == [
        "transpose.cu:16 (was 14)", "long_scoreboard", "", "54,000", "74,000", "+20,000", "+37.0%"
    ]  # fmt: skip
    assert shown.texts("p.words") == [
        "14.0 % slower (10,000 -> 11,400 cycles): line 16 waits 20,000 warp-cycles more for data from global or local "
        "memory"
    ]
    assert "before before.gpudb:" in shown.texts(".compare > p")[0]
    assert shown.errors == []


def test_two_kernels_of_one_file(show, databases, tmp_path):
    before, _ = databases
    with sqlite3.connect(before) as db:
        db.execute("UPDATE functions SET display = 'naive<float>' WHERE function = 0")
    db.close()
    code, _, error = gpuprof(tmp_path, "diff", "before.gpudb", "after.gpudb", "--kernel", "naive", "--with",
        "transpose", "-o", "page.html")  # fmt: skip
    assert (code, error) == (0, "")
    shown = show(page=(tmp_path / "page.html").read_text())
    assert rows(shown, "Kernels, those that got slower first")[0][0] == "naive<float> -> transpose_naive"
    assert shown.errors == []


def test_a_kernel_of_one_alone(show, databases):
    before, after = databases
    with sqlite3.connect(after) as db:
        db.execute("UPDATE functions SET display = 'other'")
        db.execute("UPDATE launches SET kernel = 'other'")
        db.execute("UPDATE instructions SET text = 'NOP'")
    db.close()
    shown = show(before, after, hash_="view=compare&kernel=other")
    found = rows(shown, "Kernels, those that got slower first")
    assert [row[:5] for row in found] == [
        ["other", "-", "11,400", "+11,400", "-"],
        ["transpose_naive", "10,000", "-", "-10,000", "-"],
    ]
    assert rows(shown, "Lines, those that got slower first")[0][0].endswith("(new)")


def test_a_profile_without_a_ledger_is_compared_by_samples(show, databases, tmp_path):
    """As one of a card: its samples less the cycles of the other would be no number."""
    card = make_database(tmp_path / "card.gpudb", with_ledger=False)
    shown = show(databases[0], card, hash_="view=compare")
    found = rows(shown, "Lines, those that got slower first")
    assert found and all(row[1] == row[2] and row[3] == "0" for row in found)
    assert shown.page.locator("th", has_text="difference").nth(1).locator("[title]").get_attribute("title") == "samples"


def test_the_data(tmp_path, databases):
    """Two lines are put in before line 14: they have no partner, and the lines after them are paired with their own."""
    before, after = (path.name for path in databases)
    assert gpuprof(tmp_path, "report", before, after, "--html", "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text()
    comparison = tables_of(page, "comparison")
    words = (
        "14.0 % slower (10,000 -> 11,400 cycles): line 16 waits 20,000 warp-cycles more for data from global or local "
        "memory"
    )
    assert comparison["pairs"] == [{"before": 0, "after": 0, "words": words}]
    assert comparison["sides"] == [{"name": before}, {"name": after}]
    (part,) = comparison["parts"]
    assert (part["before"], part["after"], part["ending"]) == (54000, 74000, "")
    assert comparison["lines"][part["line"]]["kind"] == "same"
    first = tables_of(page)["rows"]
    moved = [(first[line["before"]]["number"], line["after"]) for line in comparison["lines"] if line["before"] >= 0]
    new = [line["after"] for line in comparison["lines"] if line["before"] < 0]
    assert all(line >= 0 for _, line in moved) and len(new) == 2 and new[1] == new[0] + 1
    (put_in,) = [at for at, line in enumerate(comparison["lines"]) if line["after"] == new[0]]
    assert first[comparison["lines"][put_in - 1]["before"]]["number"] == 13
    assert first[comparison["lines"][put_in + 2]["before"]]["number"] == 14


def test_the_command(tmp_path, databases):
    before, after = (path.name for path in databases)
    assert gpuprof(tmp_path, "report", before, after, "--html", "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert page.count('class="data"') == 2 and page.count('class="comparison"') == 1
    code, _, error = gpuprof(tmp_path, "report", before, after)
    assert code == 2 and "two profiles make a page for a browser: give --html NAME" in error
    code, _, error = gpuprof(tmp_path, "report", before, after, "--html", after, "--force")
    assert code == 2 and after in error
