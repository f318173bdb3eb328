"""Copies of structures with padding: what the PTX says of them."""

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.isa.flow.padding import padded_copies

SOURCE = """\
struct Inner { char c; short s; };
struct Outer { Inner in; double d; int i; };
struct Whole { int a, b; };
union Either { struct { char c; int i; } a; double d; };
struct Tagged { int tag; Either e; };
__global__ void inner(Inner *x) { x[threadIdx.x] = x[32]; }
__global__ void outer(Outer *x) { x[threadIdx.x] = x[32]; }
__global__ void whole(Whole *x) { x[threadIdx.x] = x[32]; }
__global__ void tagged(Tagged *x) { x[threadIdx.x] = x[32]; }
namespace { struct Hidden { char c; int i; }; }
__global__ void hidden(Hidden *x) { x[threadIdx.x] = x[32]; }
"""
PADDING = [
    "// gpuprof: {}:6:50 copies 4 bytes; padding: 1-2",
    "// gpuprof: {}:7:50 copies 24 bytes; padding: 1-2 4-8 20-24",
    "// gpuprof: {}:9:52 copies 16 bytes; padding: 4-8",
    "// gpuprof: {}:11:52 copies 8 bytes; padding: 1-4",
]


@pytest.mark.parametrize("level", [3, 0])
def test_padding(tmp_path, level):
    path = tmp_path / "padded.cu"
    path.write_text(SOURCE)
    found = list(padded_copies(compile_cuda(path, optimize=level).ptx))
    assert sorted(map(str, found)) == sorted(each.format(path) for each in PADDING)


@pytest.mark.parametrize(
    "told",
    ["0 bytes; padding: 1-2", "8 bytes; padding: 1-2-3", "8 bytes; padding: 4", f"{'9' * 5000} bytes; padding: 1-2"],
)
def test_comments_of_others_say_nothing(told):
    assert list(padded_copies(f"// gpuprof: a.cu:1:1 copies {told}\n")) == []
