"""The table of pages: every page in every format, in the help and in the docs."""

import csv
import io
import json
from importlib import import_module
from pathlib import Path

import pytest

from gpuprof import report
from gpuprof.report.describe import describe
from gpuprof.report.pages import PAGES
from gpuprof.report.pages.page_kind import Page, load
from tests.paths import ROOT
from tests.support.command import gpuprof
from tests.support.report_database import make_database


@pytest.fixture
def folder(tmp_path):
    make_database(tmp_path / "t.gpudb")
    return tmp_path


def printed(folder: Path, *arguments: str) -> str:
    code, out, error = gpuprof(folder, "report", "t.gpudb", *arguments)
    assert (code, error) == (0, "")
    return out


@pytest.mark.parametrize("name", PAGES)
def test_every_page_in_every_format(folder, name):
    assert printed(folder, "--page", name).startswith("# gpuprof    0.1.0, model 1, chip a100\n")
    assert len(printed(folder, "--page", name).splitlines()) > 6
    document = json.loads(printed(folder, "--page", name, "--format", "json"))
    assert document["page"] == name and document["kernels"][0]["name"] == "transpose_naive"
    rows = list(csv.reader(io.StringIO(printed(folder, "--page", name, "--format", "csv"))))
    assert rows and len({len(row) for row in rows}) <= 2  # those of a listing, and the kernel's name above them


# A line of each page in a pipe, from the numbers of the fixture.
SAYS = {
    "summary": "# occupancy  achieved 18.0%, theoretical 100.0% (limited by warps)",
    "source": ">>   14  63.9%  67.0%    64.2%  62.0-66.4  ggggLLLL lg:51,long_sb:46   2048   2048   32.0   28672"
    "          -          out[at(x, y + i, n)] = value;",
    "ptx": "-     7   0.8%     0.8%    0.5-1.3  #        wait:28           1024   1024   32.0       -          -  "
    "transpose.cu:6       add.s32     %r7, %r1, 7;",
    "isa": "-   0x1010   0.8%     0.8%    0.5-1.3  #        wait:28           1024   1024   32.0       -          -  "
    "transpose.cu:6   S2R R1, ctaid.x",
    "blame": "# the recording has no causes of stalls: collect again",
    "stalls": "# transpose_naive  144,528 stalled warp-cycles",
    "launches": "     1    5000   7000   4x4   32x8    24       0       0     100.0%  916   916        0       yes  "
    "transpose_naive",
    "api": "# no calls: only whole programs have them (gpuprof collect app.cu -- args)",
    "findings": "advice    uncoalesced  28672       -  transpose.cu:14  -            0      -     -       -  -       "
    "Uncoalesced global access in transpose.cu:14: 32,768 sectors for 4,096, 8 times the ideal. Let neighbouring "
    "threads touch neighbouring addresses, or go through shared memory.",
    "traces": "# no tables of trace generators: gpuprof collect --trace NAME makes them",
    "tasks": "# no tasks: the recording is of an older gpuprof, or was stopped before the first one ended",
    "relations": "# which bytes each task reads and writes was not noted: collect without --no-accesses",
    "timeline": "# no tasks: the recording is of an older gpuprof, or was stopped before the first one ended",
    "draws": "# no draws: only scripts that draw with gpuprof.graphics have them, and older files have none",
    "samples": "transpose.cu:14  32.5%    32.8%  30.6-34.9   +0.3      600   60000  lg_throttle",
}


def test_every_page_says_what_the_tables_say(folder):
    found = {name: SAYS.get(name) in printed(folder, "--page", name).splitlines() for name in PAGES}
    assert found == dict.fromkeys(PAGES, True), "put a line that the page prints into SAYS here"


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_all_renderings(name):
    assert isinstance(load(name), Page)
    assert all(map(callable, load(name)))


def test_a_page_without_a_rendering_cannot_be():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'objects'"):
        Page(load("source").text, load("source").rows)


def test_every_file_with_a_page_is_in_the_table():
    folder = ROOT / "gpuprof" / "report" / "pages"
    modules = {path.stem: import_module(f"gpuprof.report.pages.{path.stem}") for path in folder.glob("[a-z]*.py")}
    assert {name for name, module in modules.items() if hasattr(module, "PAGE")} == {
        entry.file for entry in PAGES.values()
    }


def test_flags_of_pages_are_those_of_the_command():
    assert {flag for entry in PAGES.values() for flag in entry.flags} <= {"--source-lines", "--isa", "--task", "--sort"}


@pytest.mark.parametrize("name", PAGES)
def test_help_says_what_every_page_shows(tmp_path, name):
    _, out, _ = gpuprof(tmp_path, "report", "--help")
    listed = " ".join(out.partition("\nPages:\n")[2].split())
    assert f"{name} {PAGES[name].text}" in listed


def test_docs_are_in_step():
    name = f"{report.__name__}.describe"
    assert (ROOT / "docs" / "report.md").read_text() == describe(), f"python -m {name} > docs/report.md"
