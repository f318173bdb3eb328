"""The project's kernels in pytest: docs/pytest.md."""

import numpy as np
import pytest


@pytest.mark.gpuprof(baseline="transpose", cycles="1%", registers="<=32", findings=0, trace="memcheck")
def test_transpose(gpuprof):
    run = gpuprof.collect("kernels/transpose.cu", save=["in", "out"])
    np.testing.assert_array_equal(run.array("out"), run.array("in").T)


def test_blur(gpuprof):
    run = gpuprof.program(["app/blur.cu", "app/picture.cpp"], ["data/picture.txt", 2])
    assert run.output == "mean 5.5000\n"
    assert run.kernel("blur").registers <= 32
