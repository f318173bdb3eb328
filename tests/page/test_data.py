"""The data of a page beside the JSON of the terminal's pages: the same numbers, row by row."""

import json
from collections import defaultdict
from itertools import islice

import pytest

from gpuprof.correlate.database import reading
from gpuprof.isa.stalls import NAMES
from gpuprof.report.html.page import html_of
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.pages.page_kind import Request
from gpuprof.report.queries import read_report
from gpuprof.report.render import json_page
from tests.page.reading import tables_of
from tests.support.report_database import make_database


@pytest.fixture
def made(tmp_path):
    """The tables of a page of two launches, and what gives the JSON of a page."""
    with reading(make_database(tmp_path / "t.gpudb")) as database:
        report = read_report(database)
        tables = tables_of(html_of([Profile(database, report)]))
    return tables, lambda page: json.loads(json_page(report, Request(page)))["kernels"]


def cost_by_reason(tables, instructions, value):
    sums = defaultdict(int)
    for cost in tables["costs"]:
        if cost["instruction"] in instructions and cost[value]:
            sums[tables["terms"][cost["term"]]["name"]] += cost[value]
    return dict(sums)


@pytest.mark.parametrize("listing", ["source", "ptx", "isa"])
def test_each_row_has_the_numbers_of_the_json(made, listing):
    tables, json_of = made
    rows, numbers = iter(tables["rows"]), iter(each["instruction"] for each in tables["row_instructions"])
    found = []
    for section in tables["sections"]:
        for row in islice(rows, section["rows"]):
            own = list(islice(numbers, row["own"]))
            inlined = list(islice(numbers, row["inlined"]))
            if section["listing"] == listing:
                found.append((section, row, own, inlined))
    (kernel,) = json_of(listing)
    wanted = [(section, row) for section in kernel["sections"] for row in section["rows"]]
    assert len(found) == len(wanted)
    for (section, row, own, inlined), (in_section, want) in zip(found, wanted, strict=True):
        assert (section["function"], section["path"]) == (in_section["function"], in_section["path"])
        assert (row["number"], row["text"].strip()) == (
            want["address" if listing == "isa" else "line"],
            want["text"].strip(),
        )
        if listing != "isa":
            assert [tables["instructions"][each]["address"] for each in own] == want["addresses"]
        assert cost_by_reason(tables, own, "cycles") == want["cycles"]
        assert cost_by_reason(tables, own, "samples") == want["samples_by_reason"]
        for name in ("inst_executed", "l2_sectors_global", "l1_wavefronts_shared_ideal"):
            assert sum(tables["instructions"][each][name] for each in own) == want["counters"][name]
        if want["samples"]:
            assert [round(row[end], 6) for end in ("share", "low", "high")] == [
                want["estimated_share"],
                *want["estimated_share_95"],
            ]
        inclusive = sum(cost_by_reason(tables, own + inlined, "cycles").values())
        assert inclusive == want.get("with_inlined", want)["warp_cycles"]


def test_terms_are_in_the_order_of_the_reasons(made):
    tables, _ = made
    assert [term["name"] for term in tables["terms"]] == list(NAMES)


def test_groups_sum_to_the_kernel(made):
    tables, json_of = made
    (kernel,) = json_of("summary")
    for value, wanted in (("cycles", kernel["cost"]["cycles"]), ("samples", kernel["cost"]["samples_by_reason"])):
        sums = defaultdict(int)
        for cell in tables["cells"]:
            sums[tables["terms"][cell["term"]]["name"]] += cell[value]
        assert {name: number for name, number in sums.items() if number} == wanted
    assert tables["runs"] == [{"stream": 0, "task": "", "kernel": 0, "launches": 2, "cycles": 10_000}]
    assert tables["paths"] == [
        {"function": "transpose_naive", "path": "transpose_naive"},
        {"function": "at", "path": "transpose_naive > at (transpose.cu:13)"},
        {"function": "at", "path": "transpose_naive > at (transpose.cu:14)"},
    ]
    assert sum(work["inst_executed"] for work in tables["works"]) == kernel["cost"]["counters"]["inst_executed"]


def test_a_branch_back_is_a_loop(made):
    """CODE of the database ends in BRA 0x1070, the first instruction behind the MOV of line 9."""
    tables, _ = made
    assert tables["loops"] == [{"first": 7, "last": 38}]
    assert [tables["instructions"][place]["address"] for place in (7, 38)] == [0x1070, 0x1260]
