"""Copies of structures through pointers that were cast: as wide as nvcc's."""

import re

import numpy as np
import pytest

import gpuprof
from gpuprof.compile import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from tests.support.nvidia_tools import needs_nvcc

HEAD = """
struct S4 { float a, b, c, d; };
struct alignas(16) Around { S4 first; };
struct alignas(16) Derived : S4 {};
union Either { float4 vector; S4 structure; };
"""
# name: the shared array, the kernel's statements, and their accesses in nvcc 13.0's PTX, with bytes
WIDENED = {
    "into_an_array": (
        "float tile[64]",
        "float4 v = *(float4 *)(p + 4 * i); *(float4 *)(tile + 4 * i) = v;",
        ["ld.global 16", "st.shared 16"],
    ),
    "out_of_an_array": (
        "float tile[64]",
        "tile[i] = 1; float4 v = *(float4 *)(tile + 4 * i); *(float4 *)(p + 4 * i) = v;",
        ["ld.shared 16", "st.global 16", "st.shared 4"],
    ),
    "without_a_variable": (
        "float tile[64]",
        "*(float4 *)(tile + 4 * i) = *(float4 *)(p + 4 * i);",
        ["ld.global 16", "st.shared 16"],
    ),
    "by_reinterpret_cast": (
        "float rows[4][16]",
        "reinterpret_cast<float4 *>(&rows[i][4])[0] = reinterpret_cast<const float4 *>(&p[8 * i])[0];",
        ["ld.global 16", "st.shared 16"],
    ),
    "pairs": (
        "float tile[64]",
        "*(float2 *)(tile + 2 * i) = *(float2 *)(p + 2 * i);",
        ["ld.global 8", "st.shared 8"],
    ),
    "bytes": (
        "unsigned char tile[64]",
        "*(uchar4 *)(tile + 4 * i) = ((uchar4 *)p)[i];",
        ["ld.global 4", "st.shared 4"],
    ),
    "one_by_one": (
        "float tile[64]",
        "S4 v = *(S4 *)(p + 4 * i); *(S4 *)(tile + 4 * i) = v;",
        4 * ["ld.global 4"] + 4 * ["st.shared 4"],
    ),
}
# name: the kernel's statements, and tile[2] after them for p[k] = k and i = 1
NOT_WIDENED = {
    "a_member": ("*(S4 *)(tile + i) = ((Around *)p)[i].first;", 5),
    "a_base": ("*(S4 *)(tile + i) = ((Derived *)p)[i];", 5),
    "of_a_union": ("*(S4 *)(tile + i) = ((Either *)(p + 4 * i))->structure;", 5),
    "copied_by_hand": ("float4 v; __builtin_memcpy(&v, p + i, 16); tile[i + 1] = v.y;", 2),
}


def source(name: str, array: str, statements: str) -> str:
    return f"""{HEAD}
        __global__ void {name}(float *p, float *out, int i)
        {{
            __shared__ {array};
            {statements}
            out[i] = {array.split()[-1].split("[")[0]}[i + 1]{"[5]" if "][" in array else ""};
        }}"""


def accesses(ptx: str) -> list[str]:
    """Loads and stores of global and shared memory, sorted, each with its bytes."""
    found = re.findall(r"\b((?:ld|st)\.(?:global|shared))(?:\.nc)?(?:\.v(\d))?\.[a-z](\d+)", ptx)
    return sorted(f"{operation} {int(elements or 1) * int(nbits) // 8}" for operation, elements, nbits in found)


@pytest.fixture(params=WIDENED)
def widened(request, tmp_path):
    """A file, and the accesses of its kernel; the last two are those of its last statement."""
    array, statements, wanted = WIDENED[request.param]
    file = tmp_path / "k.cu"
    file.write_text(source(request.param, array, statements))
    return file, sorted([*wanted, "ld.shared 1" if "char" in array else "ld.shared 4", "st.global 4"])


def test_as_wide_as_nvcc(widened):
    file, wanted = widened
    assert accesses(compile_cuda(file).ptx) == wanted


@needs_nvcc
@pytest.mark.long
def test_nvcc(widened):
    file, wanted = widened
    assert accesses(compile_nvcc(file, arch="sm_80").ptx) == wanted


@pytest.mark.parametrize("name", NOT_WIDENED)
def test_what_may_lie_anywhere_is_not_widened(name, tmp_path):
    """A structure of 4-byte alignment within one of 16: a wide access would fault at an address that is allowed."""
    statements, wanted = NOT_WIDENED[name]
    file = tmp_path / "k.cu"
    file.write_text(source(name, "float tile[64]", statements))
    p, out = np.arange(64, dtype=np.float32), np.zeros(4, np.float32)
    gpuprof.Device().load(file)[name][1, 1](p, out, np.int32(1))
    assert out.tolist() == [0, wanted, 0, 0]
