"""The emulated GPUs that Triton's kernels run on. Without Triton the tests that use them skip."""

import numpy as np
import pytest

import gpuprof.interop.triton as gpu_triton
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.running import Results


@pytest.fixture
def results():
    return Results()


@pytest.fixture
def hopper(results):
    yield gpu_triton.enable(device=open_device(Settings(observer=results), "h200"))
    gpu_triton.disable()


@pytest.fixture
def random():
    return np.random.default_rng(0)
