"""What checkers find in kernels of numba and Triton has the lines of their Python. Without these the tests skip."""

import pytest

from gpuprof.errors import UsageError
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.command import process
from tests.support.tools import lacking, module

NUMBA = """\
import numpy as np
from numba import cuda, int32
import gpuprof.interop.numba
gpuprof.interop.numba.enable()
@cuda.jit
def reverse(x, out):
    kept = cuda.shared.array(32, int32)
    i = cuda.threadIdx.x
    if i < 20:
        kept[i] = x[i]
    cuda.syncthreads()
    out[i] = kept[31 - i]
    out[i + 4] = 1
reverse[1, 32](np.ones(32, np.int32), np.zeros(32, np.int32))
"""
TRITON = """\
import numpy as np
import triton
import triton.language as tl
import gpuprof.interop.triton
gpuprof.interop.triton.enable()
@triton.jit
def shifted(x, out, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    values = tl.load(x + places + 3)
    tl.store(out + places, values)
shifted[(1,)](np.ones(64, np.float32), np.zeros(64, np.float32), BLOCK=64)
"""


def told(folder, source: str) -> list[str]:
    """The errors' kinds, places and counts."""
    (folder / "script.py").write_text(source)
    code, _, error = process(folder, "collect", "script.py", "--trace", "memcheck", "--trace", "initcheck")
    assert code == 0, error
    found = [line.split(": ") for line in error.splitlines() if "script.py:" in line]
    return sorted(f"{kind} {place} {line[-1].split('; ')[-1]}" for _, kind, _, place, *line in found)


@pytest.mark.long
def test_numba(tmp_path):
    module("numba_cuda", "interop")
    import gpuprof.interop.numba as interop

    try:
        interop.enable(device=open_device(Settings()))
        interop.disable()
    except UsageError as error:
        lacking("numba-cuda", "interop", f"cannot compile here: {error}")
    assert told(tmp_path, NUMBA) == ["out_of_bounds script.py:13 4 times", "uninitialised_store script.py:12 12 times"]


@pytest.mark.long
def test_triton(tmp_path):
    module("triton", "interop")
    # 64 values in 128 threads are loaded twice.
    assert told(tmp_path, TRITON) == ["out_of_bounds script.py:9 6 times"]
