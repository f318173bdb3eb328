"""Some rows of the table in docs/advice.md, measured again; the whole table is that of `python -m tests.advice`."""

import pytest

from tests.advice.__main__ import CORPUS, HELD_BACK, PAGE, TITLES, line
from tests.advice.pairs import read_pairs
from tests.advice.pairs_measured import outcome_of
from tests.advice.test_pairs import QUICK

PAIRS = [pair for folder in (CORPUS, HELD_BACK) for pair in read_pairs(folder)]


@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, id=pair.name, marks=[] if pair.name in QUICK else pytest.mark.long) for pair in PAIRS],
)
def test_the_row_is_in_the_table(pair, tmp_path):
    assert line(outcome_of(pair, tmp_path)) in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_table_has_all_pairs():
    rows = [row.split("|")[1].strip() for row in PAGE.read_text(encoding="utf-8").splitlines() if row.count("|") == 7]
    assert [row for row in rows if row in {pair.name for pair in PAIRS}] == [pair.name for pair in PAIRS]


@pytest.mark.parametrize("folder", [CORPUS, HELD_BACK], ids=["corpus", "held back"])
def test_what_is_said_of_all_pairs_follows_from_their_rows(folder):
    """And of the corpus nine in ten are right."""
    page, pairs = PAGE.read_text(encoding="utf-8"), read_pairs(folder)
    rows = [row for row in page.splitlines() if row.split("|")[1:2] in [[f" {pair.name} "] for pair in pairs]]
    right, near = (len(rows) - sum(mark in row for row in rows) for mark in ("(wrong)", "(off)"))
    said = page.partition(f"### {TITLES[folder]}")[2].strip().splitlines()[0]
    assert said.startswith(f"The right topic is first in {right} of {len(pairs)}, ")
    assert said.endswith(f" {near} gains are within 15 %.")
    assert right >= 0.9 * len(pairs) or folder == HELD_BACK
