"""Plain Numba, GPUPROF_PLAIN_NUMBA=1, gives the same bytes as the extended compiler of gpuprof.jit."""

import pytest

from tests.support.command import process

SOURCE = """// LAUNCH: mixed<<<24, 128>>>(out: f32[3072], in: f32[3072]=random, count: u32[8])
#include <math.h>

extern "C" __global__ void mixed(float *out, const float *in, unsigned *count)
{
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = sinf(in[i]) * expf(in[i]) + rsqrtf(1.0f + in[i]);
    __syncthreads();
    float sum = tile[(threadIdx.x * 5) % 128];
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (sum > in[i] * 32)
        atomicAdd(&count[i % 8], 1u);
    out[(i * 17) % 3072] = (float)((double)sum / 3.0);
}
"""


@pytest.mark.long
def test_the_same_bytes(tmp_path):
    recordings = []
    for plain in ("0", "1"):
        folder = tmp_path / plain
        folder.mkdir()
        (folder / "mixed.cu").write_text(SOURCE)
        flags = ("--period", "64", "--record", "wide+counters", "--stream", "lsu")
        code, _, error = process(folder, "collect", "mixed.cu", *flags, GPUPROF_PLAIN_NUMBA=plain)
        assert code == 0, error
        recordings.append((folder / "mixed.gprec").read_bytes())
    assert len(recordings[0]) > 20_000
    assert recordings[0] == recordings[1]
