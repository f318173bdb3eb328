"""Programs with Thrust, CUB and libcu++, where `gpuprof[cccl12]` is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpuprof.compile import cccl
from gpuprof.compile.cccl import HINT, hint_for
from tests.program.hosts import WHY_NOT

FOLDER = Path(__file__).parent / "cccl"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))


@pytest.mark.long
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.skipif(cccl.find() is None, reason=HINT)
@pytest.mark.parametrize("name", NAMES)
def test_a_program_passes_its_own_check(name):
    command = [sys.executable, "-m", "gpuprof", "run", f"{name}.cu"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=900)
    assert (done.stdout, done.returncode) == ("PASS\n", 0), done.stderr


@pytest.mark.parametrize("header", ["cub/cub.cuh", "thrust/sort.h", "cuda/std/array", "nv/target"])
def test_what_is_not_installed_is_named(header, monkeypatch):
    monkeypatch.setattr(cccl, "find", lambda: None)
    assert hint_for(f"a.cu:1:10: fatal error: '{header}' file not found") == f"\n{HINT}"


def test_other_headers_are_no_matter_of_it():
    assert hint_for("a.cu:1:10: fatal error: 'cublas_v2.h' file not found") == ""


def test_installed_headers_are_not_named_again(monkeypatch, tmp_path):
    monkeypatch.setattr(cccl, "find", lambda: cccl.Cccl(tmp_path, "1"))
    assert hint_for("a.cu:1:10: fatal error: 'cub/other.cuh' file not found") == ""
