"""The survey of clean code: what it counts, and that it would see an error."""

import pytest

from tests.clean_survey.__main__ import _of_tests, rates

WRONG = """\
import numpy as np
import gpuprof

def test_ahead(tmp_path):
    path = tmp_path / "ahead.cu"
    path.write_text("__global__ void ahead(int *x) { x[threadIdx.x + 1] = 1; }")
    gpuprof.Device().load(path).ahead[1, 32](np.zeros(32, np.int32))

def test_right(tmp_path):
    path = tmp_path / "right.cu"
    path.write_text("__global__ void right(int *x) { x[threadIdx.x] = 1; }")
    gpuprof.Device().load(path).right[1, 32](np.zeros(32, np.int32))
"""


def test_rates():
    rows = [
        ("samples", {"looked_at": 18, "found": {}, "why_not": ""}),
        ("kernels", {"looked_at": 7, "found": {"test_a": ["one", "two"], "test_b": ["three"]}, "why_not": ""}),
        ("kernels", {"looked_at": 0, "found": {}, "why_not": "no time left"}),
    ]
    assert list(rates(rows)) == ["| samples | 18 | 0 | 0 |", "| kernels | 7 | 2 | 1 |"]


@pytest.mark.long
def test_an_error_is_seen(tmp_path):
    path = tmp_path / "test_wrong.py"
    path.write_text(WRONG)
    seen = _of_tests(str(path))
    assert (seen["looked_at"], list(seen["found"])) == (2, ["test_ahead"])
    (told,) = seen["found"]["test_ahead"]
    assert told.startswith("out_of_bounds: ahead: ")
