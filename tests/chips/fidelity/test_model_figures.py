"""docs/model.md: its tables are what is stored and listed, its figures near what is published, and its list of sources
covers every number of every chip.
"""

import re

import pytest

from gpuprof.chips import list_chips, load_chip
from gpuprof.chips.fidelity import model_figures
from tests.microbench.__main__ import MAIN_CHIPS, PAGE, with_tables


def test_the_page_has_the_stored_figures():
    page = PAGE.read_text()
    assert with_tables(page) == page, "write it anew: python -m tests.microbench --page"


@pytest.mark.parametrize("chip", MAIN_CHIPS)
def test_figures_are_near_what_is_published(chip):
    """Within 10 % where the same chip was measured; the exceptions are those that the page explains."""
    explained = (
        "add and div.rn.f64", "blocks of", "DRAM, lines in flight an SM",
        "DFMA, chains: 1, warps: 32",
    )  # fmt: skip
    far = [row for row in model_figures.rows_of(chip) if row.difference is not None and abs(row.difference) > 0.1]
    assert [row for row in far if not row.figure.startswith(explained)] == []


SOURCES = re.findall(r"`([^`]+)`", PAGE.read_text().split("| source begins with |", 1)[1].split("\n\n", 1)[0])


@pytest.mark.parametrize("chip", list_chips())
def test_every_source_is_of_a_kind_that_the_page_explains(chip):
    beginnings = tuple(re.sub(r", \.\.\., quoted$", "", source) for source in SOURCES)
    assert {name: source for name, source in load_chip(chip).sources.items() if not source.startswith(beginnings)} == {}
