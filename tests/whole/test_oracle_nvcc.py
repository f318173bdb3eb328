"""PTX of another compiler gives the same results: nvcc's, where it is installed, against the host's and against
clang's.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gpuprof.device.launching.argument_values import ArraySpec
from gpuprof.device.launching.launch_text import find_launch_comments, parse_launch
from tests.paths import SAMPLES
from tests.support.host_oracle import nvcc
from tests.support.nvidia_tools import needs_nvcc
from tests.support.running import run_file
from tests.whole.test_oracle_host import FOLDER, TABLE, check, device_module

pytestmark = [needs_nvcc, pytest.mark.long]

# What nvcc contracts and clang does not, and the other way round, differs in the last bits.
ROUNDING = {"rtol": 1e-4, "atol": 1e-5}
# share of numbers that may differ: iterations at the set's edge depend on every last bit
CHAOTIC = {"mandelbrot.cu": 1e-3}

# Launches in place of a sample's own, where those are large.
SMALLER = {
    "matmul.cu": (
        "naive<<<(4, 4), (16, 16)>>>(a: f32[64,64]=random, b: f32[64,64]=random, naive: f32[64,64], 64)",
        "tiled<<<(4, 4), (16, 16)>>>(a, b, tiled: f32[64,64], 64)",
        "blocked<<<(2, 2), (16, 8)>>>(a, b, blocked: f32[64,64], 64)",
    )
}


# How the oracle's kernels are compiled; without contraction, as they are written for.
HOW = {
    "sm_75": ("-O3", "-fmad=false"),
    "sm_80": ("-O3", "-fmad=false"),
    "sm_90": ("-O3", "-fmad=false"),
    "sm_80 debug": ("-G",),
}


@pytest.fixture(scope="module")
def oracle_ptx(tmp_path_factory):
    """(how, file) -> PTX of a file of oracle kernels."""

    @cache
    def compiled(how, file):
        folder = tmp_path_factory.mktemp("nvcc")
        return nvcc(FOLDER / f"{file}.cu", folder, *HOW[how], arch=how.split()[0])

    return compiled


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("file, kernel", TABLE, ids=lambda value: getattr(value, "name", value))
def test_same_as_on_the_host(oracle_ptx, how, file, kernel):
    check(device_module(oracle_ptx(how, file)), file, kernel)


def launches_of(path: Path) -> list[str]:
    return list(SMALLER.get(path.name) or (text for _, text in find_launch_comments(path.read_text())))


def array_names(launches: list[str]) -> list[str]:
    """Names of the arrays that the launches make."""
    requests = [parse_launch(text) for text in launches]
    return [
        each.name for request in requests for each in request.arguments if isinstance(each, ArraySpec) and each.name
    ]


@pytest.mark.parametrize(
    "path", sorted(path for path in SAMPLES.glob("*.cu") if launches_of(path)), ids=lambda path: path.name
)
def test_samples_compute_the_same(path, tmp_path):
    launches = launches_of(path)
    ours, our_results = run_file(path, *launches)
    theirs, their_results = run_file(nvcc(path, tmp_path, "-O3"), *launches)
    assert [each.launch.grid for each in our_results.launches] == [each.launch.grid for each in their_results.launches]
    for name in array_names(launches):
        left, right = ours[name].copy_to_host(), theirs[name].copy_to_host()
        if left.dtype.kind == "f":
            np.testing.assert_allclose(left, right, **ROUNDING)
        else:
            assert np.count_nonzero(left != right) <= CHAOTIC.get(path.name, 0) * left.size
