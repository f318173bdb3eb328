"""docs/pytest.md: its tests are the sample project's, and its build files run there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import DOCS, ROOT
from tests.support.tools import program

SAMPLE = ROOT / "samples" / "project"
TESTS = SAMPLE / "tests" / "test_kernels.py"
FILES = ("Makefile", "CMakeLists.txt")


def test_the_page_shows_the_tests_of_the_sample():
    shown = re.search(r"```python\n(.*?)```", (DOCS / "pytest.md").read_text(), re.DOTALL)[1]
    assert shown == TESTS.read_text().partition('"""\n\n')[2]


@pytest.fixture
def project(tmp_path) -> Path:
    """The sample with the build files, and a change that takes out the padding of a tile."""
    folder = tmp_path / "project"
    shutil.copytree(SAMPLE, folder)
    for name in FILES:
        shutil.copy(DOCS / "ci" / name, folder)
    return folder


def run(folder: Path, *words: str) -> tuple[int, str]:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        words, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300
    )
    return done.returncode, done.stdout


def slow_down(folder: Path) -> None:
    kernel = folder / "kernels" / "transpose.cu"
    kernel.write_text(kernel.read_text().replace("PAD = 1", "PAD = 0"))


@pytest.mark.long
def test_make_check(project):
    make = program("make")
    code, out = run(project, make, "check")
    assert code == 0, out
    assert re.search(r"^3 entries: 3 passed", out, re.M)
    slow_down(project)
    code, out = run(project, make, "check")
    assert code == 2  # make's own, for a command that failed
    assert re.search(r"^3 entries: 1 regressed, 2 passed", out, re.M)
    code, out = run(project, make, "baselines")
    assert code == 0, out
    code, out = run(project, make, "check")
    assert code == 2 and re.search(r"^3 entries: 1 over budget, 2 passed", out, re.M)  # no baseline lifts a budget


@pytest.mark.long
def test_ctest(project):
    ctest = program("ctest")
    code, out = run(project, program("cmake"), "-B", "build", ".")
    assert code == 0, out
    slow_down(project)
    code, out = run(project / "build", ctest, "--output-on-failure")
    assert code == 8  # ctest's own, for tests that failed
    assert [line.split()[-1] for line in out.splitlines() if re.match(r"\s+\d - ", line)] == ["(Failed)"]
    assert "gpuprof.transpose (Failed)" in out and "kernels/transpose.cu:19  29632 -> 498176 warp-cycles" in out
