"""`alloca` in device code."""

import numpy as np

import gpuprof
from gpuprof.compile.cuda import compile_cuda

SOURCE = """\
__device__ int sum(int n, int scale)
{
    int *p = (int *)__builtin_alloca(n * sizeof(int));
    for (int i = 0; i < n; ++i)
        p[i] = i * scale;
    int total = 0;
    for (int i = n; i--;)
        total += p[(i * 7) % n] ^ i;
    return total;
}
extern "C" __global__ void taken(int *o)
{
    int n = 3 + threadIdx.x;
    unsigned char *first = (unsigned char *)alloca(n), *second = (unsigned char *)alloca(2 * n);
    for (int i = 0; i < n; ++i)
        first[i] = second[2 * i] = second[2 * i + 1] = i + 1;
    int total = sum(n, 5);
    for (int i = 0; i < n; ++i)
        total += first[i] * 3 + second[n + i];
    o[threadIdx.x] = total;
}
"""


def test_alloca(tmp_path):
    """The addresses that LLVM has of local memory have 32 bits."""
    (tmp_path / "k.cu").write_text(SOURCE)
    gpu = gpuprof.Device("a100")
    expected = []
    for n in range(3, 35):
        summed = sum(((i * 7) % n * 5) ^ i for i in range(n))
        twice = [i // 2 + 1 for i in range(2 * n)]
        expected.append(summed + sum((i + 1) * 3 + twice[n + i] for i in range(n)))
    for level in (0, 3):
        (tmp_path / "k.ptx").write_text(compile_cuda(tmp_path / "k.cu", optimize=level).ptx)
        o = gpu.device_array(32, np.int32)
        gpu.load(tmp_path / "k.ptx").taken[1, 32](o)
        assert o.copy_to_host().tolist() == expected
