"""Kernels of every kind in tests/kernels: the same results from every compiler at every level.

A file's LAUNCH comments say what runs; every array they name, and what is printed, is compared bit for bit with what
our own front end's -O3 gives, or within the relative error that a `// COMPARE:` comment states (mathematical functions
of two libraries). With clang and nvcc as independent compilers, equal results are hardly wrong in the same way.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gpuprof.device.launching.argument_values import ArraySpec
from gpuprof.device.launching.launch_text import find_launch_comments, parse_launch
from gpuprof.run.compile_file import BuildOptions
from tests.paths import TESTS
from tests.ptx import regenerate
from tests.support.host_oracle import nvcc
from tests.support.matrices import long_from
from tests.support.nvidia_tools import needs_nvcc
from tests.support.running import run_file

FOLDER = TESTS / "kernels"
FILES = sorted(path.stem for path in FOLDER.glob("*.cu"))
NVCC = {"sm_80": (), "sm_75": (), "sm_90": (), "sm_80 -G": ("-G",)}


def launches(file: str) -> list[str]:
    return [text for _, text in find_launch_comments((FOLDER / f"{file}.cu").read_text())]


def tag(file: str, name: str) -> str | None:
    found = re.search(rf"^// {name}: (\S+)$", (FOLDER / f"{file}.cu").read_text(), re.MULTILINE)
    return found and found[1]


def results(path: Path, texts: list[str], **settings) -> tuple[dict[str, np.ndarray], str]:
    """The arrays by name after all launches, and what was printed."""
    arrays, outcome = run_file(path, *texts, **settings)
    named = [
        each.name
        for text in texts
        for each in parse_launch(text).arguments
        if isinstance(each, ArraySpec) and each.name
    ]
    return {name: arrays[name].copy_to_host() for name in named}, outcome.printed


@cache
def expected(file: str):
    return results(FOLDER / f"{file}.cu", launches(file))


def compare(file: str, found: dict[str, np.ndarray], printed: str) -> None:
    arrays, text = expected(file)
    assert printed == text
    tolerance = tag(file, "COMPARE")
    for name, right in arrays.items():
        if tolerance:
            np.testing.assert_allclose(found[name], right, rtol=float(tolerance), atol=float(tolerance), err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], right, err_msg=name)


# The others keep the compilers for seconds.
LIGHT = ["integers", "places", "warps"]


@pytest.mark.parametrize("file", long_from(len(LIGHT), [*LIGHT, *(name for name in FILES if name not in LIGHT)]))
def test_something_is_computed(file):
    arrays, _ = expected(file)
    silent = [name for name, array in arrays.items() if not array.view(np.uint8).any()]
    assert not silent


@pytest.mark.long
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("file", FILES)
def test_our_front_end(file, level):
    compare(file, *results(FOLDER / f"{file}.cu", launches(file), options=BuildOptions(optimize=level)))


@needs_nvcc
@pytest.mark.long  # the PTX that is stored is nvcc's for sm_80
@pytest.mark.parametrize("how", NVCC)
@pytest.mark.parametrize("file", FILES)
def test_nvcc(file, how, tmp_path):
    arch = how.split()[0]
    if arch < (tag(file, "ARCH") or arch):
        pytest.skip(f"{file}.cu is for {tag(file, 'ARCH')} and later")
    path = nvcc(FOLDER / f"{file}.cu", tmp_path, *NVCC[how], "-fmad=false", "-Wno-deprecated-gpu-targets", arch=arch)
    compare(file, *results(path, launches(file)))


@pytest.mark.parametrize("file", long_from(1, regenerate.FILES))
def test_stored_ptx(file):
    """nvcc's PTX for sm_80, kept so that this much always runs."""
    path = regenerate.STORED / f"{file}.ptx"
    with path.open() as lines:
        assert lines.readline() == regenerate.heading(FOLDER / f"{file}.cu"), (
            "the source changed: python -m tests.ptx.regenerate"
        )
    compare(file, *results(path, launches(file)))
