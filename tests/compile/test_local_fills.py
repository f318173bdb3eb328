"""Local arrays that are filled with a value: the stores of nvcc's machine code."""

import re
from collections import Counter

import numpy as np
import pytest

import gpuprof
from gpuprof.compile import compile_cuda
from gpuprof.compile.passes.local_fills import fill_widely

# name: type, elements, initialiser; the stores in front of the loops, by bytes, as in nvcc 13.0's machine code (sm_80),
# which joins the first three of `the_rest`, too
KERNELS = {
    "four": ("int", 4, "= {0}", {16: 1}),
    "sixteen": ("int", 16, "= {0}", {16: 4}),
    "many": ("int", 64, "= {0}", {16: 16}),
    "most": ("int", 1024, "= {0}", {16: 256}),
    "bytes": ("unsigned char", 64, "= {0}", {16: 4}),
    "doubles": ("double", 32, "= {0}", {16: 16}),
    "ones": ("int", 64, "; memset(h, 0xff, sizeof h)", {16: 16}),
    "the_rest": ("int", 16, "= {1, 2}", {16: 3, 8: 1, 4: 2}),
}


def source(name: str) -> str:
    kind, n, initialiser, _ = KERNELS[name]
    return f"""
        __global__ void {name}(const int *a, int *o, int n)
        {{
            {kind} h[{n}] {initialiser};
            for (int i = threadIdx.x; i < n; i += blockDim.x)
                h[a[i] & {n - 1}]++;
            for (int i = 0; i < {n}; ++i)
                atomicAdd(o + i, (int)h[i]);
        }}"""


@pytest.mark.parametrize("name", KERNELS)
def test_stores(name, tmp_path):
    file = tmp_path / "k.cu"
    file.write_text(source(name))
    ptx = compile_cuda(file).ptx
    before = ptx.partition("ld.global")[0]
    found = re.findall(r"st\.local(?:\.v(\d))?\.[a-z](\d+)", before)
    assert Counter(int(n or 1) * int(nbits) // 8 for n, nbits in found) == KERNELS[name][3]


@pytest.mark.parametrize("name", KERNELS)
def test_values(name, tmp_path):
    file = tmp_path / "k.cu"
    file.write_text(source(name))
    n = KERNELS[name][1]
    threads, a = 32, np.arange(100, dtype=np.int32) * 7
    first = {"ones": [-1] * n, "the_rest": [1, 2] + [0] * (n - 2)}.get(name, [0] * n)
    wanted = threads * np.array(first) + np.bincount(a & n - 1, minlength=n)
    o = np.zeros(n, np.int32)
    gpuprof.Device().load(file)[name][1, threads](a, o, np.int32(len(a)))
    assert o.tolist() == wanted.tolist()


FILL = """\
define void @k(ptr %0) {
  %2 = alloca [7 x i32], align 4
  %3 = alloca [9 x i8], align 1
  call void @llvm.memset.p0.i64(ptr nonnull align 4 dereferenceable(28) %2, i8 1, i64 28, i1 false), !dbg !7
  call void @llvm.memset.p0.i64(ptr nonnull align 1 %3, i8 0, i64 9, i1 false)
  call void @llvm.memset.p0.i64(ptr align 4 %0, i8 0, i64 64, i1 false)
  ret void
}
"""
FILLED = """\
define void @k(ptr %0) {
  %2 = alloca [7 x i32], align 16
  %3 = alloca [9 x i8], align 1
  %gpuprof.fill.90.0 = getelementptr i8, ptr %2, i64 0, !dbg !7
  store <4 x i32> splat (i32 16843009), ptr %gpuprof.fill.90.0, align 16, !dbg !7
  %gpuprof.fill.90.16 = getelementptr i8, ptr %2, i64 16, !dbg !7
  store <2 x i32> splat (i32 16843009), ptr %gpuprof.fill.90.16, align 8, !dbg !7
  %gpuprof.fill.90.24 = getelementptr i8, ptr %2, i64 24, !dbg !7
  store i32 16843009, ptr %gpuprof.fill.90.24, align 4, !dbg !7
  call void @llvm.memset.p0.i64(ptr nonnull align 1 %3, i8 0, i64 9, i1 false)
  call void @llvm.memset.p0.i64(ptr align 4 %0, i8 0, i64 64, i1 false)
  ret void
}
"""


def test_only_local_arrays_of_16_bytes_and_more():
    assert fill_widely(FILL) == FILLED
