"""<cuda_pipeline.h>: a tile of an array comes into shared memory two stages ahead of its use."""

import numpy as np
import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile import compile_cuda
from tests.support.ptx_support import run_kernel

SOURCE = """
#include <cuda_pipeline.h>
__global__ void sums(const TYPE *in, TYPE *out, int stages)
{
    __shared__ TYPE tile[4][32];
    int t = threadIdx.x;
    for (int s = 0; s < 2; ++s) {
        if (s < stages) __pipeline_memcpy_async(&tile[s][t], in + 32 * s + t, sizeof(TYPE));
        __pipeline_commit();
    }
    TYPE total = in[0];
    total FIELD = 0;
    for (int s = 0; s < stages; ++s) {
        if (s + 2 < stages)
            __pipeline_memcpy_async(&tile[(s + 2) % 4][t], in + 32 * (s + 2) + t, sizeof(TYPE), s + 3 == stages ? sizeof(TYPE) / 2 : 0);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        total FIELD += tile[s % 4][31 - t] FIELD;
        __syncthreads();
    }
    out[t] = total;
}
"""  # noqa: E501


@pytest.mark.parametrize(
    "kind, field, dtype, words",
    [("int", "", np.int32, 1), ("float2", ".x", np.float32, 2), ("int4", ".y", np.int32, 4)],
)
def test_stages(tmp_path, monkeypatch, kind, field, dtype, words):
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))
    stages = 6
    path = tmp_path / "k.cu"
    path.write_text(SOURCE.replace("TYPE", kind).replace("FIELD", field))
    program = assemble_program(compile_cuda(path))
    data = np.arange(stages * 32 * words, dtype=dtype)
    _, found = run_kernel(program, "sums", [data, np.zeros(32 * words, dtype), stages])
    column = {"": 0, ".x": 0, ".y": 1}[field]
    # Half of the last stage is zero: the second of four words and the first of two are in the other half.
    tiles = data.reshape(stages, 32, words)[:, :, column].copy()
    if words == 1:  # half of an int: its low 16 bits
        tiles[-1] &= 0xFFFF
    wanted = tiles.sum(axis=0)[::-1]
    assert np.frombuffer(found, dtype).reshape(32, words)[:, column].tolist() == wanted.tolist()
