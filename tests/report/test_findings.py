"""The page of findings: whole sentences on a terminal, a line each in a pipe, and who has watched."""

from dataclasses import replace

import pytest

from gpuprof.correlate.findings import Found
from gpuprof.report.model import ChipFacts, Header, Report
from gpuprof.report.pages.page_kind import Request, load
from gpuprof.report.pages.summary import errors_told
from gpuprof.report.terminal.styles import Look

TEXT = "thread (1, 0, 0) writes out of bounds, four bytes behind the end of x"
ERROR = Found(0, "memcheck", "out_of_bounds", "error", TEXT, None, None, 0, 0, 1, 64, "x", 1200)
NOTE = Found(3, "stores", "stores", "note", "many", None, None, None, None, None, None, "", 2)


def report_of(*findings, watchers=()) -> Report:
    report = Report(Header.__new__(Header), ChipFacts.__new__(ChipFacts), (), False)
    return replace(report, findings=findings, watchers=watchers)


def lines_of(report, look) -> list[str]:
    return [line.plain for line in load("findings").text(report, look, Request("findings"))]


def test_on_a_terminal_the_sentence_is_whole():
    assert lines_of(report_of(ERROR, NOTE, watchers=("memcheck", "stores")), Look(50, "", True, False)) == [
        "",
        "severity  kind           count  launch  memory",
        "error     out_of_bounds   1200       0  0x40(x)",
        "  thread (1, 0, 0) writes out of bounds, four",
        "  bytes behind the end of x",
        "note      stores             2       3  -",
        "  many",
        "left out at 50 columns: block, warp, thread (a",
        "wider terminal, --width 68 or --format csv)",
        "watched by memcheck, stores",
    ]


def test_in_a_pipe_a_finding_is_a_line():
    lines = lines_of(report_of(ERROR, watchers=("memcheck",)), Look(None, "", False, True))
    heads = ("severity", "kind", "count", "cycles", "where", "second", "launch", "block", "warp", "thread", "memory")
    assert [line.split(maxsplit=11) for line in lines[1:]] == [
        [*heads, "finding"],
        ["error", "out_of_bounds", "1200", "-", "-", "-", "0", "0", "0", "1", "0x40(x)", TEXT],
        ["#", "watched", "by", "memcheck"],
    ]  # fmt: skip


def test_nobody_has_watched():
    assert lines_of(report_of(), Look(None, "", False, True))[-2:] == [
        "# no findings",
        "# no checker was enabled: gpuprof collect --trace memcheck --trace racecheck",
    ]


@pytest.mark.parametrize(
    "findings, told",
    [
        ((), ""),
        ((NOTE,), ""),
        ((ERROR, ERROR, NOTE), "2,400 errors: "),
        ((ERROR._replace(count=1), NOTE._replace(severity="warning")), "1 error, 2 warnings: "),
    ],
)  # fmt: skip
def test_the_summary_tells_errors(findings, told):
    assert errors_told(report_of(*findings)) == (told and f"{told}gpuprof report FILE --page findings")
