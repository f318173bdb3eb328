"""LLVM does not know how large %tid and its like are, where nvcc's does not: our PTX has the instructions of nvcc's."""

import re
from collections import Counter

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from gpuprof.compile.passes.register_ranges import hide_ranges, show_registers
from tests.support.nvidia_tools import NVCC, needs_nvcc

IR = "  %3 = call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2\n"
HIDDEN = "  %3 = call noundef i32 @llvm.nvvm.read.ptx.sreg.envreg0()\n"
SOURCE = """\
extern "C" __global__ void negative(float *out) { int i = threadIdx.x; if (i < 0) out[1] = 1; out[0] = 2; }
extern "C" __global__ void quarter(int *out) { int i = threadIdx.x; out[0] = i / 4; out[1] = i % 4; }
extern "C" __global__ void blocks(int *out) { int i = blockIdx.x; out[0] = i / 4; if (i < 0) out[1] = 3; }
extern "C" __global__ void five(float *out, const float *in)
{
    __shared__ float tile[512];
#pragma unroll
    for (int j = threadIdx.x; j < 270; j += 64)
        tile[j] = in[j] * 2;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.y];
}
extern "C" __global__ void three(float *out, const float *in)
{
    __shared__ float tile[512];
    for (int j = threadIdx.x; j < 142; j += 64)
        tile[j] = in[j] * 2;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.y];
}
"""
COUNTED = ("shr", "bra", "ld", "st", "setp")
# kernel -> instructions of the kinds of COUNTED, for sm_80 and sm_100
EXPECTED = {
    "negative": ({"setp": 1, "bra": 1, "st": 2}, {"st": 1}),
    "quarter": ({"shr": 3, "st": 2}, {"shr": 1, "st": 2}),
    "blocks": ({"shr": 3, "st": 2, "setp": 1, "bra": 1}, {"shr": 1, "st": 1}),
}


@pytest.mark.parametrize(("arch", "hidden"), [("sm_80", HIDDEN), ("sm_90a", HIDDEN), ("sm_100", IR)])
def test_ranges_are_hidden(arch, hidden):
    assert hide_ranges(IR, arch) == hidden


def test_code_that_reads_the_other_registers_stays():
    ir = IR + "  %4 = call i32 @llvm.nvvm.read.ptx.sreg.envreg3()\n"
    assert hide_ranges(ir, "sm_80") == ir


def test_registers_come_back():
    ptx = "\tmov.b32 \t%r1, %envreg0;\n\tmov.b32 \t%r2, %envreg5;\n\tmov.b32 \t%r3, %r1;\n"
    shown = "\tmov.u32 \t%r1, %tid.x;\n\tmov.u32 \t%r2, %ntid.z;\n\tmov.b32 \t%r3, %r1;\n"
    assert show_registers(ptx, IR) == shown


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_registers_that_code_reads_itself_stay(tmp_path, arch):
    """%envreg1 is no %tid.y."""
    path = tmp_path / "k.cu"
    path.write_text(
        'extern "C" __global__ void k(unsigned *out)\n'
        '{\n    unsigned own;\n    asm("mov.b32 %0, %%envreg1;" : "=r"(own));\n    out[threadIdx.x] = own;\n}\n'
    )
    ptx = compile_cuda(path, arch=arch).ptx
    assert ("%envreg1" in ptx, "%tid.y" in ptx, "%tid.x" in ptx) == (True, False, True)


def counts(ptx: str) -> dict[str, dict[str, int]]:
    """By kernel, its instructions of the kinds of COUNTED. Parameters are no loads."""
    found = {}
    for name, body in re.findall(r"\.entry (\w+)\((.*?)^\}", ptx, re.DOTALL | re.MULTILINE):
        words = Counter(re.findall(rf"^\s+(?:@!?%p\d+ )?({'|'.join(COUNTED)})\b(?!\.param)", body, re.MULTILINE))
        found[name] = dict(words)
    return found


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("place, arch", [(0, "sm_80"), (1, "sm_100")])
def test_instructions(source, place, arch):
    found = counts(compile_cuda(source, arch=arch).ptx)
    assert {name: found[name] for name in EXPECTED} == {name: both[place] for name, both in EXPECTED.items()}


@needs_nvcc
def test_nvcc_has_the_same_instructions(source):
    assert counts(compile_cuda(source, arch="sm_80").ptx) == counts(compile_nvcc(source, arch="sm_80", nvcc=NVCC).ptx)
