"""Structures of two halves are one word where functions return them."""

import re

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from gpuprof.compile.passes.whole_pairs import return_words
from tests.support.nvidia_tools import needs_nvcc

TYPES = """\
%struct.half = type { half }
%struct.pair = type { %struct.half, %struct.half }
"""
CALLER = """\
define void @k(ptr %0) {
  %2 = alloca %struct.pair, align 4
  %3 = call %struct.pair @f(float 1.0) #3, !dbg !7
  %4 = getelementptr inbounds nuw %struct.pair, ptr %2, i32 0, i32 0, !dbg !7
  %5 = extractvalue %struct.pair %3, 0, !dbg !7
  store %struct.half %5, ptr %4, align 4, !dbg !7
  %6 = getelementptr inbounds nuw %struct.pair, ptr %2, i32 0, i32 1, !dbg !7
  %7 = extractvalue %struct.pair %3, 1, !dbg !7
  store %struct.half %7, ptr %6, align 2, !dbg !7
  ret void
}
"""
CALLEE = """\
define internal %struct.pair @f(float %0) #4 {
  %2 = alloca %struct.pair, align 4
  %3 = load %struct.pair, ptr %2, align 4, !dbg !8
  ret %struct.pair %3, !dbg !8
}
"""
WORDS = """\
%struct.half = type { half }
%struct.pair = type { %struct.half, %struct.half }
define internal i32 @f(float %0) #4 {
  %2 = alloca %struct.pair, align 4
  %3 = load i32, ptr %2, align 4, !dbg !8
  ret i32 %3, !dbg !8
}
define void @k(ptr %0) {
  %2 = alloca %struct.pair, align 4
  %3 = call i32 @f(float 1.0) #3, !dbg !7
  %4 = getelementptr inbounds nuw %struct.pair, ptr %2, i32 0, i32 0, !dbg !7
  %5 = bitcast i32 %3 to i32
  store i32 %5, ptr %4, align 4
  %6 = getelementptr inbounds nuw %struct.pair, ptr %2, i32 0, i32 1, !dbg !7
  %7 = bitcast i32 %3 to i32
  ret void
}
"""


def test_a_pair_is_returned_as_a_word():
    assert return_words(TYPES + CALLEE + CALLER) == WORDS


@pytest.mark.parametrize(
    "ir",
    [
        TYPES.replace("half }", "float }") + CALLEE + CALLER,  # eight bytes
        TYPES.replace("{ %struct.half, ", "{ i16, i16, ") + CALLEE + CALLER,  # three members
        TYPES + CALLEE.replace("define internal", "declare").partition("{")[0] + "\n" + CALLER,  # elsewhere
        TYPES + CALLEE + CALLER + "@table = global ptr @f\n",  # called by its address
        TYPES + CALLEE + CALLER.replace("%5 = extractvalue", "%5 = freeze"),  # in another form
    ],
)
def test_others_stay(ir):
    assert return_words(ir) == ir


# What is carried from turn to turn, and how often a loop then has to join two halves to a word.
LOOPS = {
    "sums": """
    half2 s = __float2half2_rn(0.0f);
    for (int i = 0; i < n; i++) s = __hfma2(((half2 *)x)[i], ((half2 *)x)[i + n], s);
    *(half2 *)x = s;
""",
    "packed": """
    unsigned p[4] = {};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) {
            ((unsigned *)x)[i * 4 + j] = p[j];
            half2 pair = __floats2half2_rn(x[i + j], x[i + j + 1]);
            p[j] = *(unsigned *)&pair;
        }
""",
    "bfloat": """
    unsigned p = 0;
    for (int i = 0; i < n; i++) {
        ((unsigned *)x)[i + n] = p;
        __nv_bfloat162 pair = __floats2bfloat162_rn(x[i], x[i + 1]);
        p = *(unsigned *)&pair;
    }
""",
}


def joins(compiler, tmp_path, name: str) -> int:
    path = tmp_path / "k.cu"
    path.write_text(
        f"#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n__global__ void k(float *x, int n)\n{{\n{LOOPS[name]}\n}}\n"
    )
    ptx = compiler(path, arch="sm_80").ptx
    return len(re.findall(r"cvt\.u32\.u16|mov\.b32\s+%r\d+, \{%rs", ptx))


@pytest.mark.parametrize("name", LOOPS)
def test_loops_carry_words(tmp_path, name):
    assert joins(compile_cuda, tmp_path, name) == 0


@needs_nvcc
@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_nvcc_carry_words(tmp_path, name):
    assert joins(compile_nvcc, tmp_path, name) == 0
