"""Some rows of the table in docs/advice.md, measured again; the whole table is that of `python -m tests.advice`."""

import pytest

from tests.advice.__main__ import CORPUS, HELD_BACK, PAGE, line
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


def test_what_is_said_of_the_whole_corpus():
    """At least nine in ten are right, and three in four of the promised gains are near."""
    page = PAGE.read_text(encoding="utf-8")
    right, of = (int(word) for word in page.partition("topic is first in ")[2].split(",")[0].split(" of "))
    assert of == len(read_pairs(CORPUS)) and right >= 0.9 * of
