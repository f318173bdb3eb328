"""What lines wait for, as pages show it: a kernel written by hand, and every form of the page."""

import csv
import io
import json
from dataclasses import fields, replace

import pytest
from rich.console import Console

from gpuprof.correlate.frames import Position
from gpuprof.isa.stalls import INDEX, N_REASONS
from gpuprof.report.model import Blame, ChipFacts, Cost, Ending, Header, Instruction, Kernel, Launch, Report
from gpuprof.report.pages.page_kind import Request
from gpuprof.report.render import csv_page, json_page, text_page
from gpuprof.report.sections import source_sections
from gpuprof.report.terminal.styles import Look
from gpuprof.report.warp_ends import attributed, entries, most_waited_for

LONG, WAIT, BARRIER, SELECTED = (INDEX[name] for name in ("long_scoreboard", "wait", "barrier", "selected"))
SOURCE = "void k() {\n  x = a[i];\n  y = x * x;\n  sync();\n}\n"


def instruction(pc, line, **cycles):
    costs = [0] * N_REASONS
    for name, n in cycles.items():
        costs[INDEX[name]] = n
    return Instruction(
        pc, "k", f"OP {pc}", "OP", 0, "", "", 0, (Position("k", "k.cu", line),), Cost(cycles=tuple(costs))
    )


@pytest.fixture
def kernel():
    """Line 2 loads (0x10, 0x20 makes its address), line 3 uses it, line 4 is a barrier: 100 cycles, 10 of which
    issue.
    """
    code = (
        instruction(0x10, 2, selected=4),
        instruction(0x20, 2, wait=6, selected=2),
        instruction(0x30, 3, long_scoreboard=50, selected=2),
        instruction(0x40, 4, barrier=34, selected=2),
    )
    blames = (
        Blame(0x20, WAIT, 0x10, Ending("result", "result", False, False, False), 6, 2),
        Blame(0x30, LONG, 0x20, Ending("dram", "DRAM", False, False, True), 40, 1),
        Blame(0x30, LONG, 0x20, Ending("l2", "L2 hit", False, False, True), 10, 1),
        Blame(0x40, BARRIER, 0x30, Ending("barrier", "last to arrive", True, False, False), 30, 3),
        Blame(0x40, BARRIER, 0x40, Ending("self", "itself", False, False, False), 4, 1),
    )
    launch = Launch(0, "k", (1, 1, 1), (32, 1, 1), 0, 0, "", 0, 100, 100, 0, 0, 0, False, True, {})
    return Kernel("k", "k", "k.cu", 8, 0, 0, 0, (launch,), code, "", {"k.cu": SOURCE}, blames)


@pytest.fixture
def report(kernel):
    empty = {"str": "", "int": 0, "bool": False, "tuple": ()}
    header = Header(
        **{each.name: empty[getattr(each.type, "__name__", "tuple")] for each in fields(Header)}
        | {"complete": True, "samples_time": True}
    )
    return Report(header, ChipFacts("a100"), (kernel,), False)


def shown(report, width, page="blame"):
    out = io.StringIO()
    console = Console(file=out, width=width or 200, no_color=True)
    for line in text_page(report, Look(width, "", False, width is None), Request(page)):
        console.print(line, soft_wrap=True)
    return out.getvalue()


def test_entries_are_lines_and_sum_to_the_stalls(kernel):
    found = entries(kernel)
    assert [(e.stalled.line, e.reason, e.cause.line, str(e.ending), e.cycles, e.stalls) for e in found] == [
        (3, LONG, 2, "DRAM, conflict", 40, 1),
        (4, BARRIER, 3, "last to arrive, other warp", 30, 3),
        (3, LONG, 2, "L2 hit, conflict", 10, 1),
        (2, WAIT, 2, "result", 6, 2),
        (4, BARRIER, 4, "itself", 4, 1),
    ]
    assert sum(e.cycles for e in found) == kernel.cost.warp_cycles - kernel.cost.cycles[SELECTED]


def test_what_others_wait_for_is_attributed(kernel):
    """Line 2 waits 6 cycles for itself, which is nobody else's wait; 50 are line 3's for it."""
    (section,) = source_sections(kernel)
    assert {row.number: attributed(kernel, row) for row in section.rows if row.instructions} == {2: 50, 3: 30, 4: 0}
    own = sum(e.cycles for e in entries(kernel) if e.is_own)
    assert sum(attributed(kernel, row) for row in section.rows) + own == 90
    assert most_waited_for(kernel) == ("k.cu:2", 50, "DRAM", "x = a[i];")


def test_the_page_as_text(report):
    assert shown(report, None).partition("# k\n")[2].splitlines() == [
        "exact  cycles  stalls  line    why      waits for  which is                   source",
        "40.0%      40       1  k.cu:3  long_sb  k.cu:2     DRAM,conflict              x = a[i];",
        "30.0%      30       3  k.cu:4  barrier  k.cu:3     last_to_arrive,other_warp  y = x * x;",
        "10.0%      10       1  k.cu:3  long_sb  k.cu:2     L2_hit,conflict            x = a[i];",
        " 6.0%       6       2  k.cu:2  wait     itself     result                     x = a[i];",
        " 4.0%       4       1  k.cu:4  barrier  itself     itself                     sync();",
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 100])
def test_never_wider_than_the_page(report, width):
    assert max(map(len, shown(report, width).splitlines())) <= width


def test_the_page_for_programs(report):
    rows = list(csv.DictReader(io.StringIO(csv_page(report, Request("blame")))))
    assert [
        (r["Line"], r["Stall"], r["Cause Line"], r["Cause"], r["Conflict"], r["Warp Cycles (Exact)"]) for r in rows[:2]
    ] == [
        ("3", "long_scoreboard", "2", "dram", "1", "40"),
        ("4", "barrier", "3", "barrier", "0", "30"),
    ]
    (found,) = json.loads(json_page(report, Request("blame")))["kernels"]
    assert found["causes"][1] == {
        "path": "k.cu", "line": 4, "address": None, "stall": "barrier", "cause_path": "k.cu", "cause_line": 3,
        "cause_address": None,
        "cause": "barrier", "other_warp": True, "other_launch": False, "conflict": False, "warp_cycles": 30,
        "exact_share": 0.3, "stalls": 3,
    }  # fmt: skip


def test_the_source_page_and_the_summary(report):
    assert "attrib." in shown(report, 200, "source")
    rows = list(csv.reader(io.StringIO(csv_page(report, Request("source")))))
    heading = next(row for row in rows if "Attributed Stalls" in row)
    place, line = heading.index("Attributed Stalls"), heading.index("Line")
    assert {row[line]: row[place] for row in rows[rows.index(heading) + 1 :] if row[line] in "234"} == {
        "2": "50",
        "3": "30",
        "4": "0",
    }
    (found,) = json.loads(json_page(report, Request("source")))["kernels"]
    assert [row["attributed_cycles"] for row in found["sections"][0]["rows"] if row["addresses"]] == [50, 30, 0]
    assert "waited for 50.0%  k.cu:2  (DRAM)  x = a[i];" in shown(report, None, "summary")


def test_recordings_that_do_not_say(report):
    old = replace(report, kernels=tuple(replace(kernel, blames=()) for kernel in report.kernels))
    assert "has no causes of stalls" in shown(old, 100)
    assert "attrib." not in shown(old, 200, "source") and "waited for" not in shown(old, None, "summary")
