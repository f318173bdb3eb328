"""Whatever is counted may be one: one thread, one sector, one line, on every page, from every command."""

import re

import pytest

from gpuprof.base.compared_results import Result
from gpuprof.report.pages import PAGES
from gpuprof.report.pages.annotate import hidden_text
from tests.support.command import gpuprof

KERNEL = """\
// LAUNCH: one<<<1, 1>>>(x: f32[1]); x == 2
__global__ void one(float *x) { x[0] = 2; }
"""
ONE_OF_MANY = re.compile(
    r"\b1 (?:[a-z-]+ )?(elements|sectors|wavefronts|registers|samples|launches|stalls|cycles|blocks|threads|arrays|"
    r"instructions|functions|lines|runs|ones|warp-cycles|warps)\b"
)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """All that the commands print of the kernel, by what was asked."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "k.cu").write_text(KERNEL)
    commands = {"collect": ("collect", "k.cu", "--period", "256")}
    commands |= {page: ("report", "k.gprec", "--page", page) for page in PAGES}
    commands["update"] = ("check", "k.gprec", "--baseline", "b.txt", "--update")
    commands["check"] = ("check", "k.gprec", "--baseline", "b.txt")
    commands["correlate"] = ("correlate", "k.gprec")
    found = {}
    for name, arguments in commands.items():
        code, out, error = gpuprof(folder, *arguments)
        assert code == 0, (name, error)
        found[name] = out + error
    return found


def test_one_is_singular_everywhere(said):
    assert {name: match[0] for name, text in said.items() if (match := ONE_OF_MANY.search(text))} == {}


def test_what_is_one(said):
    assert "x == 2: 1 element as expected (rtol 1e-05, atol 0)" in said["collect"]
    assert "# memory     1 sector, 1x ideal" in said["summary"]
    assert "one<<<1, 1>>>" in said["collect"] and "of 1 launch ->" in said["collect"]


def test_a_wrong_element():
    one = Result(0, "x", "3", 1, 1, "0", "0", "[0]", "2.0", "3.0", "1", "0.333333")
    assert str(one).startswith("x == 3: 1 of 1 element differs, first [0]: got 2.0, expected 3.0; ")
    assert str(one._replace(elements=1000)).startswith("x == 3: 1 of 1,000 elements differs, ")
    assert str(one._replace(elements=1000, differ=2)).startswith("x == 3: 2 of 1,000 elements differ, ")


def test_inlined_functions():
    assert hidden_text(1) == "1 inlined function under 1%"
    assert hidden_text(2) == "2 inlined functions under 1% each"
