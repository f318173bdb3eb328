"""Structures with padding: what the PTX says of copies of them, and of stores to their members."""

import re

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.isa.flow.padding import member_stores, padded_copies

_PLACE = re.compile(r"// gpuprof: (?P<file>.+):(?P<line>\d+):\d+ \w+ (?P<rest>.+)")
SOURCE = """\
struct Inner { char c; short s; };
struct Outer { Inner in; double d; int i; };
struct Whole { int a, b; };
union Either { struct { char c; int i; } a; double d; };
struct Tagged { int tag; Either e; };
union Both { struct { char c; int i; } a; struct { char d; float f; } b; };
struct Pair { Both of; char e; };
struct Fields { unsigned a : 3, b : 7; char c; };
struct alignas(8) Wide { float x; };
struct Base { int a; char b; };
struct Derived : Base { double d; };
struct Made { Made(); int a; char b; };
struct Behind : Made { char c; };
struct Large { Inner of[1000]; };
namespace { struct Hidden { char c; int i; }; }
"""
COPIES = {
    "Inner *x": "4 bytes; padding: bits 8-16",
    "Outer *x": "24 bytes; padding: bits 8-16 32-64 160-192",
    "Whole *x": None,
    "Tagged *x": "16 bytes; padding: bits 32-64",
    "Pair *x": "12 bytes; padding: bits 8-32 72-96",
    "Fields *x": "4 bytes; padding: bits 10-16 24-32",
    "Wide *x": "8 bytes; padding: bits 32-64",
    "Derived *x": "16 bytes; padding: bits 40-64",
    "Hidden *x": "8 bytes; padding: bits 8-32",
}
STORES = {
    "Inner &x": ("x.s = 1;", "2 bytes at 2 of 4; padding: bits 8-16; fields: none"),
    "Outer &x": ("x.in.s = 1;", "2 bytes at 2 of 24; padding: bits 8-16 32-64 160-192; fields: none"),
    "Whole &x": ("x.b = 1;", None),
    # What a union has by one of its structures alone is padding where that is written.
    "Tagged &x": ("x.e.a.i = 1;", "4 bytes at 12 of 16; padding: bits 32-64 72-96; fields: none"),
    "Tagged *x": ("x[7].e.d = 1;", "8 bytes at 8 of 16; padding: bits 32-64; fields: none"),
    "Pair &x": ("x.of.b.f = 1;", "4 bytes at 4 of 12; padding: bits 8-32 72-96; fields: none"),
    "Fields &x": ("x.b = 1;", "2 bytes at 0 of 4; padding: bits 10-16 24-32; fields: bits 0-10"),
    "Derived *x": ("x[7].b = 1;", "1 bytes at 4 of 16; padding: bits 40-64; fields: none"),
    "Hidden *x": ("x[7].i = 1;", "4 bytes at 4 of 8; padding: bits 8-32; fields: none"),
    # The bytes behind a base class may be members of others.
    "Behind &x": ("x.b = 1;", "1 bytes at 4 of 8; padding: bits 48-64; fields: none"),
    # Of what is larger than MOST_NBYTES, the part that is not.
    "Large &x": ("x.of[2].s = 1;", "2 bytes at 2 of 4; padding: bits 8-16; fields: none"),
}


def lines_of(tmp_path, kernels: list[str], level: int, found) -> list[str]:
    path = tmp_path / "padded.cu"
    text = SOURCE + "".join(f"__global__ void k{number}({each}\n" for number, each in enumerate(kernels))
    path.write_text(text)
    first = SOURCE.count("\n") + 1
    told = [_PLACE.fullmatch(str(each)) for each in found(compile_cuda(path, optimize=level).ptx)]
    assert {each["file"] for each in told} == {str(path)}
    by_line = {int(each["line"]): each["rest"] for each in told}
    return [by_line.get(first + number) for number in range(len(kernels))]


@pytest.mark.parametrize("level", [3, 0])
def test_copies(tmp_path, level):
    kernels = [f"{each}) {{ x[threadIdx.x] = x[32]; }}" for each in COPIES]
    assert lines_of(tmp_path, kernels, level, padded_copies) == list(COPIES.values())


@pytest.mark.parametrize("level", [3, 0])
def test_stores_to_members(tmp_path, level):
    kernels = [f"{each}) {{ {body} }}" for each, (body, _) in STORES.items()]
    assert lines_of(tmp_path, kernels, level, member_stores) == [told for _, told in STORES.values()]


@pytest.mark.parametrize(
    "told",
    ["0 bytes; padding: bits 1-2", "8 bytes; padding: bits 1-2-3", "8 bytes; padding: bits 4", "8 bytes; padding: 1-2",
     f"{'9' * 5000} bytes; padding: bits 1-2"],
)  # fmt: skip
def test_comments_of_others_say_nothing(told):
    assert list(padded_copies(f"// gpuprof: a.cu:1:1 copies {told}\n")) == []
