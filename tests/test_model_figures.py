"""docs/model.md: its table is what the model gives, and its list of sources covers every number of every chip."""

import re

import pytest

from gpuprof.chips import list_chips, load_chip
from tests.microbench.__main__ import PAGE, published_table, row
from tests.microbench.figures import FIGURES

TABLE = published_table(PAGE.read_text())
BY_NAME = {figure.name: figure for figure in FIGURES}
# A few of each kind; `python -m tests.microbench` measures all.
QUICK = ("IMAD", "shared load, 8-way bank conflict", "L1 hit, stride 9 words", "L1 hit latency", "__syncthreads, warps: 8")


def test_the_table_has_every_figure():
    names = [line.split("|")[1].strip() for line in TABLE.splitlines()[2:]]
    assert names == [figure.name for figure in FIGURES], "write it anew: python -m tests.microbench --write"


@pytest.mark.parametrize("name", QUICK)
def test_a_row_is_what_the_model_gives(name):
    assert row(BY_NAME[name]) in TABLE, "write it anew: python -m tests.microbench --write"


def test_figures_are_near_what_is_published():
    """Within 10 % where the same chip was measured; the exceptions are those that the page explains."""
    explained = ("__syncthreads", "L1 hit, stride 3 words")
    far = []
    for line in TABLE.splitlines()[2:]:
        name, _, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        differences = [int(found) for cell in cells for found in re.findall(r"([+-]\d+) %", cell)]
        if any(abs(difference) > 10 for difference in differences) and not name.startswith(explained):
            far.append(line)
    assert not far


SOURCES = re.findall(r"`([^`]+)`", PAGE.read_text().split("| source begins with |", 1)[1].split("\n\n", 1)[0])


@pytest.mark.parametrize("chip", list_chips())
def test_every_source_is_of_a_kind_that_the_page_explains(chip):
    beginnings = tuple(re.sub(r", \.\.\., quoted$", "", source) for source in SOURCES)
    assert {name: source for name, source in load_chip(chip).sources.items() if not source.startswith(beginnings)} == {}
