"""What clang may assume of undefined behaviour, against nvcc's code: its values are stored, and asked for where it is
installed.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import gpuprof
from gpuprof.compile import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from gpuprof.compile.passes.float_conversions import saturate_as_hardware
from gpuprof.compile.undefined import KEPT, TAKEN
from tests.support.nvidia_tools import needs_nvcc

KERNELS = Path(__file__).parent / "undefined" / "kernels.cu"

# Kernel -> its arguments x, y, f, and the values that nvcc 13.0's code writes, which the emulator runs.
NVCC = {
    "aliasing": ((1, 2, 0), [0x20001, 2]),
    "null": ((0, 0, 0), [3, 5]),
    "endless_loop_of_known_turns": ((2, 0, 0), [1]),
    "float_to_integer": ((0, 0, 40000.0), [0x7FFFFFFF, 0, 44, 64, -25536, -0x80000000, -0x80000000, 40000]),
    "scope": ((7, 1, 0), [8, 7]),
    "unset_argument": ((1, 0, 0), [5]),
    "signed_overflow": ((0x7FFFFFFF, 0, 0), [1, 1, 8]),
    "shift": ((5, 0, 0), [-1, 1]),
    "shift_by_variable": ((-8, 40, 0), [0, -1, 0]),
    "pointer_overflow": ((-1, 0, 0), [0]),
    "missing_return": ((1, 0, 0), [5]),
    "unset_variable": ((1, 0, 0), [7]),
    "enumeration": ((9, 0, 0), [0]),
    "alignment": ((1, 0, 0), [1]),
    "assume": ((1, 0, 0), [1]),
    "restrict": ((0, 0, 0), [1, 2]),
    "constant": ((6, 0, 0), [5]),
    "virtual_table": ((0, 0, 0), [1, 2]),
    "contraction": ((0, 0, 1.0001), [0x3951C2AF]),
    "reassociation": ((0, 0, 3.25), [0]),
    "boolean": ((2, 0, 0), [2, 2, 5]),
    "division": ((5, 0, 0), [77]),
}
# Where ours differ; the table of assumptions has the reasons.
OURS = {"boolean": [2, 2, 6], "division": [-1]}
# What other kernels have in their PTX: a branch to itself, and an offset after the index.
PTX = {
    "endless_loop": re.compile(r"(\$L__BB\d+_\d+):\s+(?:\.loc\s.*\s+)?bra(?:\.uni)?\s+\1;"),
    "signed_index": re.compile(r"ld\.global\.\w+\s.*\+4\];"),
}


def of_kernel(ptx: str, name: str) -> str:
    return next(part for part in ptx.split(".entry ") if name in part.partition("(")[0]).partition("\n}")[0]


@pytest.fixture(scope="module", params=["clang", pytest.param("nvcc", marks=[needs_nvcc, pytest.mark.long])])
def compiled(request):
    """The compiler, a device, and the kernels that it has compiled."""
    gpu = gpuprof.Device()
    return request.param, gpu, gpu.load(KERNELS, compiler=request.param)


def test_every_assumption_has_its_kernel():
    names = {each.name for each in (*TAKEN, *KEPT)}
    assert names == NVCC.keys() - {"endless_loop_of_known_turns"} | PTX.keys()
    assert {each.name for each in TAKEN}.isdisjoint(OURS)


@pytest.mark.parametrize("kernel", NVCC)
def test_values(compiled, kernel):
    compiler, _, module = compiled
    (x, y, f), expected = NVCC[kernel]
    o = np.full(8, -1, np.int32)
    module[kernel][1, 1](o, np.int32(x), np.int32(y), np.float32(f))
    if compiler == "clang":
        expected = OURS.get(kernel, expected)
    assert o.tolist()[: len(expected)] == expected


@pytest.mark.parametrize("kernel", PTX)
def test_ptx(kernel):
    assert PTX[kernel].search(of_kernel(compile_cuda(KERNELS).ptx, kernel))


@needs_nvcc
@pytest.mark.long
@pytest.mark.parametrize("kernel", PTX)
def test_nvccs_ptx(kernel):
    assert PTX[kernel].search(of_kernel(compile_nvcc(KERNELS, arch="sm_80").ptx, kernel))


def test_conversions_to_types_without_their_own_instruction():
    before = """\
define void @f(float %0, double %1, half %2) {
  %4 = call i16 @llvm.fptosi.sat.i16.f32(float %0), !dbg !7
  %5 = call i64 @llvm.fptoui.sat.i64.f64(double %1) #3
  %6 = call i32 @llvm.fptosi.sat.i32.f16(half %2)
  ret void
}
"""
    assert (
        saturate_as_hardware(before)
        == """\
define void @f(float %0, double %1, half %2) {
  %gpuprof.wide.47 = call i32 @llvm.fptosi.sat.i32.f32(float %0), !dbg !7
  %4 = trunc i32 %gpuprof.wide.47 to i16, !dbg !7
  %5 = call i64 @llvm.nvvm.d2ull.rz(double %1)
  %6 = fptosi half %2 to i32
  ret void
}
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare i64 @llvm.nvvm.d2ull.rz(double)
"""
    )
