"""Loops that take four turns at a time, as nvcc's do: those whose number of turns can be worked out."""

import re
from itertools import product

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from gpuprof.compile.passes.run_time_steps import count_as_nvcc
from tests.support.nvidia_tools import needs_nvcc

BODIES = {
    "sum": "m += a[i];",
    "most": "m = fmaxf(m, a[i]);",
    "exp": "m += expf(a[i] - c);",
    "store": "o[i] = a[i] * c;",
    "branch": "if (a[i] > m) m = a[i];",
    "integers": "q += b[i];",
}
STARTS = {"thread": "threadIdx.x", "zero": "0", "grid": "blockIdx.x * blockDim.x + threadIdx.x"}
# step: turns at a time in nvcc 13.0's PTX. Without a sign, the sum may wrap around.
STEPS = {"s": 4, "32": 4, "256": 4, "blockDim.x": 1, "gridDim.x * blockDim.x": 1}
FORMS = {
    "variable": ("const int d = blockDim.x; for (int i = threadIdx.x; i < n; i += d) m += a[i];", 4),
    "grid": ("int d = blockDim.x * gridDim.x; for (int i = threadIdx.x; i < n; i += d) m += a[i];", 4),
    "function": ("m = sum(a, n, threadIdx.x, blockDim.x);", 4),
    "while": ("int i = threadIdx.x; while (i < n) { m += a[i]; i += s; }", 4),
    "wide": ("for (long long i = threadIdx.x; i < n; i += s) m += a[i];", 4),
    "twice": ("for (int i = threadIdx.x; i < n; i += s * 2) m += a[i];", 4),
    "quotient": ("for (int i = threadIdx.x; i < n / 4; i += s) m += a[i];", 4),
    "longer": ("for (int i = 0; i < n; i += s) { float x = a[i]; for (int k = 0; k < 6; ++k) x = x * x; m += x; }", 4),
    "variable_to_a_constant": ("const int d = blockDim.x; for (int i = threadIdx.x; i < 256; i += d) m += a[i];", 4),
    "step_to_a_constant": ("for (int i = threadIdx.x; i < 1000; i += s) m += a[i];", 4),
    "block_to_a_constant": ("for (int i = threadIdx.x; i < 256; i += blockDim.x) m += a[i];", 1),
    "unsigned_to_a_constant": ("for (unsigned i = threadIdx.x; i < 1000; i += blockDim.x) m += a[i];", 1),
    "unsigned_variable": ("const int d = blockDim.x; for (unsigned i = threadIdx.x; i < 256; i += d) m += a[i];", 1),
    "unsigned": ("for (unsigned i = threadIdx.x; i < n; i += s) m += a[i];", 1),
    "unsigned_step": ("unsigned d = blockDim.x; for (int i = threadIdx.x; i < n; i += d) m += a[i];", 1),
    "falling": ("for (int i = n; i > 0; i -= s) m += a[i];", 1),
    "halves": ("for (int i = n / 2; i > 0; i >>= 1) m += a[i];", 1),
    "unequal": ("for (int i = 0; i != n; i += s) m += a[i];", 1),
    "left": ("for (int i = threadIdx.x; i < n; i += s) { if (a[i] < 0) break; m += a[i]; }", 1),
    "together": ("for (int i = threadIdx.x; i < n; i += s) { m += a[i]; __syncthreads(); }", 1),
    "of_threads": ("for (int i = 0; i < n; i += threadIdx.x + 1) m += a[i];", 1),
}  # fmt: skip


def kernels() -> dict[str, tuple[str, int]]:
    """name: (statements, turns at a time)"""
    loops = {
        f"{body}_{number}_{start}": (f"for (int i = {first}; i < n; i += {step}) {{ {BODIES[body]} }}", STEPS[step])
        for body, (number, step), (start, first) in product(BODIES, enumerate(STEPS), STARTS.items())
    }
    return loops | FORMS


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    text = """__device__ float sum(const float *a, int n, int first, int step)
    { float m = 0; for (int i = first; i < n; i += step) m += a[i]; return m; }\n"""
    for name, (statements, _) in kernels().items():
        text += f"""extern "C" __global__ void k_{name}(const float *a, const int *b, float *o, int n, int s, float c)
        {{ float m = 0; int q = 0; {statements} o[threadIdx.x] = m + c + q; }}\n"""
    path = tmp_path_factory.mktemp("loops") / "loops.cu"
    path.write_text(text)
    return path


def turns(ptx: str) -> dict[str, int]:
    """Loads of a kernel: of the turns that are taken together, and if several are, of those that are left over."""
    parts = (part for part in ptx.split(".entry ")[1:])
    loads = {re.match(r"k_(\w+)", part)[1]: len(re.findall(r"ld\.global", part)) for part in parts}
    return {name: {5: 4}.get(count, count) for name, count in loads.items()}


def wanted() -> dict[str, int]:
    return {name: count for name, (_, count) in kernels().items()}


def test_turns(file):
    assert turns(compile_cuda(file).ptx) == wanted()


@needs_nvcc
@pytest.mark.long
def test_nvccs_turns(file):
    assert turns(compile_nvcc(file, arch="sm_80").ptx) == wanted()


LOOP = """\
define void @k(i32 %0, i32 %1) {
  %3 = alloca i32, align 4
  %4 = alloca i32, align 4
  br label %5
5:
  %6 = load i32, ptr %3, align 4, !dbg !7
  %7 = icmp slt i32 %6, %0, !dbg !7
  br i1 %7, label %8, label %12
8:
  %9 = load i32, ptr %4, align 4
  %10 = load i32, ptr %3, align 4
  %11 = add nsw i32 %10, %9, !dbg !7
  store i32 %11, ptr %3, align 4
  br label %5, !llvm.loop !0
12:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
"""


def with_mark(ir: str, mark: str) -> str:
    return ir.replace("!{!0, !1}", f'!{{!0, !1, !{{!"llvm.loop.{mark}"}}}}')


def test_a_loop_that_is_said_to_end():
    assert count_as_nvcc(LOOP) == with_mark(LOOP, "mustprogress")


@pytest.mark.parametrize("comparison", ["slt", "ult"])
def test_a_sum_that_may_wrap_around(comparison):
    loop = LOOP.replace("add nsw", "add").replace("slt", comparison)
    assert count_as_nvcc(loop) == with_mark(loop, "unroll.runtime.disable")


@pytest.mark.parametrize(
    "ir",
    [
        LOOP.replace("slt", "ult"),
        LOOP.replace("slt", "sgt"),
        LOOP.replace("slt", "ne"),
        LOOP.replace("%10, %9", "%10, 4"),  # LLVM sees that it ends
        LOOP.replace("%11, ptr %3", "%11, ptr %4"),  # not the counter
        LOOP.replace("add nsw i32 %10, %9", "add nsw i32 %9, %9"),  # no sum with the counter
        LOOP.replace("add nsw", "sub nsw"),
    ],
)
def test_other_loops_stay(ir):
    assert count_as_nvcc(ir) == ir
