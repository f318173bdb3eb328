"""Local arrays that are members of structures, or that functions are given: loops over them are written out whole."""

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.compile.llvm.local_pointers import with_local_arrays
from gpuprof.compile.nvcc import compile_nvcc
from gpuprof.compile.passes.local_arrays import unroll_over_local_arrays
from tests.support.matrices import long_from
from tests.support.nvidia_tools import needs_nvcc

# struct Tile { float x; float sums[4][2]; void clear() { for (int i = 0; i < 8; i++) sums[0][i] = 0; } };
METHOD = """\
%struct.Tile = type { float, [4 x [2 x float]] }
define void @k(ptr %0) {
  %2 = alloca KIND, align 4
  call void @clear(ptr align 4 dereferenceable(36) ARRAY, i32 8) #1
  ret void
}
define linkonce_odr void @clear(ptr align 4 dereferenceable(36) %0, i32 %1) #0 {
  %3 = alloca ptr, align 8
  %4 = alloca i32, align 4
  store ptr %0, ptr %3, align 8
  %5 = load ptr, ptr %3, align 8
  br label %6
6:
  %7 = load i32, ptr %4, align 4
  %8 = icmp slt i32 %7, 8
  br i1 %8, label %9, label %15
9:
  %10 = getelementptr inbounds nuw %struct.Tile, ptr %5, i32 0, i32 1
  %11 = load i32, ptr %4, align 4
  %12 = sext i32 %11 to i64
  %13 = getelementptr inbounds [2 x float], ptr %10, i64 0, i64 %12
  store float 0.0, ptr %13, align 4
  %14 = add nsw i32 %11, 1
  store i32 %14, ptr %4, align 4
  br label %6, !llvm.loop !0
15:
  ret void
}
attributes #0 = { alwaysinline convergent }
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
"""
WHOLE = '!0 = distinct !{!0, !1, !{!"llvm.loop.unroll.full"}}'


def method(kind: str = "%struct.Tile", array: str = "%2", attribute: str = "alwaysinline") -> str:
    return METHOD.replace("KIND", kind).replace("ARRAY", array).replace("alwaysinline", attribute)


def test_a_method_of_a_local_structure_is_unrolled_whole():
    assert unroll_over_local_arrays(method()) == method().replace("!0 = distinct !{!0, !1}", WHOLE)


@pytest.mark.parametrize(
    "ir",
    [
        method(array="%0"),  # a structure in global memory
        method(kind="[384 x float]"),  # nvcc leaves it in memory
        method(kind="float"),  # no array
        method(attribute="noinline"),  # its own local memory is elsewhere
    ],
)
def test_other_methods_stay(ir):
    assert unroll_over_local_arrays(ir) == ir


def test_what_a_function_is_given_it_hands_on():
    ir = """\
define void @"k 1"() {
  %1 = alloca [8 x float], align 4
  %2 = getelementptr inbounds [8 x float], ptr %1, i64 0, i64 0
  call void @f(i32 3, ptr %2)
  call void @f(i32 4, ptr null)
  ret void
}
define void @f(i32 %0, ptr byval({ i32, float }) %1) {
  %3 = alloca ptr, align 8
  store ptr %1, ptr %3, align 8
  %4 = load ptr, ptr %3, align 8
  %5 = call float @g(ptr nonnull %4, ptr %4, ...)
  ret void
}
define float @g(ptr %0, ...) {
  ret float 0.0
}
define void @unused(ptr %0) {
  ret void
}
"""
    found = with_local_arrays(ir, lambda kind: kind.startswith("["))
    assert {name: arrays for name, (_, arrays) in found.items()} == {'"k 1"': {"%1"}, "f": {"%1"}, "g": {"%0"}}


# Sums of a thread, 32 and 128, that a kernel reaches by a method, a reference, a pointer and an operator.
SUMS = {
    "method": """
struct Sums {
    float of[32] = {0};
    __device__ void add(const float *x, int n) { for (int i = 0; i < 32; i++) of[i] += x[i * n]; }
};
__global__ void k(float *x, int n)
{
    Sums sums;
    for (int j = 0; j < n; j++) sums.add(x + j, n);
    for (int i = 0; i < 32; i++) x[i * n] = sums.of[i];
}
""",
    "reference": """
struct Sums { float of[16][8]; };
__device__ void clear(Sums &sums) { for (auto &row : sums.of) for (int j = 0; j < 8; j++) row[j] = 0; }
__device__ void add(float *row, float x, const float *y) { for (int j = 0; j < 8; j++) row[j] += x * y[j]; }
__global__ void k(float *x, int n)
{
    Sums sums;
    clear(sums);
    for (int t = 0; t < n; t++) for (int i = 0; i < 16; i++) add(sums.of[i], x[t * 16 + i], x + t * 8);
    for (int i = 0; i < 16; i++) for (int j = 0; j < 8; j++) x[i * n + j] = sums.of[i][j];
}
""",
    "operator": """
template <int N> struct Fragment {
    float x[N];
    __device__ float &operator[](int i) { return x[i]; }
};
__global__ void k(float *x, int n)
{
    Fragment<128> sums;
    for (int i = 0; i < 128; i++) sums[i] = 0;
    for (int t = 0; t < n; t++) for (int i = 0; i < 128; i++) sums[i] += x[t] * sums[i];
    for (int i = 0; i < 128; i++) x[i * n] = sums[i];
}
""",
}


def is_in_local_memory(compiler, tmp_path, name: str) -> bool:
    path = tmp_path / "k.cu"
    path.write_text(SUMS[name])
    return ".local" in compiler(path, arch="sm_80").ptx


@pytest.mark.parametrize("name", long_from(2, SUMS))
def test_sums_stay_in_registers(tmp_path, name):
    assert not is_in_local_memory(compile_cuda, tmp_path, name)


@needs_nvcc
@pytest.mark.parametrize("name", SUMS)
def test_nvcc_keeps_them_in_registers(tmp_path, name):
    assert not is_in_local_memory(compile_nvcc, tmp_path, name)
