"""Checkers find nothing in kernels of sm_90: our own, libcu++'s as nvcc compiles it, Triton's."""

import numpy as np
import pytest

from gpuprof.device.tensormap import TensorMap
from gpuprof.run.observers.tracing import Attached
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.trace.checkers.racecheck import Racecheck
from gpuprof.trace.checkers.synccheck import Synccheck
from tests.paths import ROOT

I32, F16, F32 = np.int32, np.float16, np.float32


class Checked:
    """A GPU with checkers."""

    def __init__(self):
        self._checkers = (Racecheck(), Synccheck())
        settings = Settings(is_timed=False, traces=tuple(map(Attached, self._checkers)))
        self.device = open_device(settings, "h200")

    def load(self, path: str):
        return self.device.load(ROOT / "tests" / path)

    def told(self) -> list[tuple[str, str]]:
        """Of all launches so far."""
        results = [result for checker in self._checkers for result in checker.results]
        return [(finding.kind, finding.text) for result in results for finding in result.findings]


def _clusters(gpu: Checked) -> None:
    program = gpu.load("programs/cluster.cu")
    program.sums[16, 64](np.arange(16 * 64, dtype=I32), np.zeros(4, I32))
    program.rotate[(8, 4), 32, 0, 128, (2, 2)](np.arange(1024, dtype=I32), np.zeros(1024, I32))
    tensor = TensorMap(gpu.device.to_device(np.ones((100, 96), F32)), box=(64, 32), swizzle=128)
    program.tile_sums[1, 32](tensor, np.zeros(32, F32), 32, 60)


def _products(gpu: Checked) -> None:
    program = gpu.load("programs/tensor_gemm.cu")
    a, b = np.ones((64, 64), F16), np.ones((64, 64), F16)
    program.pipelined[1, 128](a, b, np.zeros((64, 64), F32), 64, 64)
    program.grouped[1, 128](a, b[:32].copy(), np.zeros((64, 32), F32), 32, 64)


def _libcudacxx(gpu: Checked) -> None:
    program = gpu.load("ptx/hopper_barriers.ptx")
    program["add1"][2, 128](np.arange(2048, dtype=I32), 2048)
    program["histo"][4, 64](np.zeros(128, I32), np.arange(300, dtype=I32) % 128, 300)
    tensor = TensorMap(gpu.device.to_device(np.ones((40, 64), I32)), box=(8, 32))
    program["tile"][1, 256](tensor, 16, 30, np.zeros(1, I32))


def _triton(gpu: Checked) -> None:
    program = gpu.load("ptx/hopper_descriptors.ptx")
    m, n, k = 64, 40, 136
    a, b = (gpu.device.to_device(np.ones(shape, F16)) for shape in ((m, k), (k, n)))
    c, scratch = gpu.device.device_array((m, n), F16), gpu.device.device_array(384 * 4, np.uint8)
    program["mm"][(1, 1), 128, 0, 49176](a, b, c, m, n, k, scratch, scratch)


@pytest.mark.long
@pytest.mark.parametrize("run", [_clusters, _products, _libcudacxx, _triton], ids=lambda run: run.__name__[1:])
def test_clean(run):
    gpu = Checked()
    run(gpu)
    assert gpu.told() == []
