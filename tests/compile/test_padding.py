"""Structures with padding: facts about copies of them, and about stores to their members."""

import pytest

from gpuprof.compile import compile_cuda

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
    "Inner *x": (4, ((8, 16),)),
    "Outer *x": (24, ((8, 16), (32, 64), (160, 192))),
    "Whole *x": None,
    "Tagged *x": (16, ((32, 64),)),
    "Pair *x": (12, ((8, 32), (72, 96))),
    "Fields *x": (4, ((10, 16), (24, 32))),
    "Wide *x": (8, ((32, 64),)),
    "Derived *x": (16, ((40, 64),)),
    "Hidden *x": (8, ((8, 32),)),
}
STORES = {
    "Inner &x": ("x.s = 1;", (2, 2, 4, ((8, 16),), ())),
    "Outer &x": ("x.in.s = 1;", (2, 2, 24, ((8, 16), (32, 64), (160, 192)), ())),
    "Whole &x": ("x.b = 1;", None),
    # What a union has by one of its structures alone is padding where that is written.
    "Tagged &x": ("x.e.a.i = 1;", (4, 12, 16, ((32, 64), (72, 96)), ())),
    "Tagged *x": ("x[7].e.d = 1;", (8, 8, 16, ((32, 64),), ())),
    "Pair &x": ("x.of.b.f = 1;", (4, 4, 12, ((8, 32), (72, 96)), ())),
    "Fields &x": ("x.b = 1;", (2, 0, 4, ((10, 16), (24, 32)), ((0, 10),))),
    "Derived *x": ("x[7].b = 1;", (1, 4, 16, ((40, 64),), ())),
    "Hidden *x": ("x[7].i = 1;", (4, 4, 8, ((8, 32),), ())),
    # The bytes behind a base class may be members of others.
    "Behind &x": ("x.b = 1;", (1, 4, 8, ((48, 64),), ())),
    # Of what is larger than MOST_NBYTES, the part that is not.
    "Large &x": ("x.of[2].s = 1;", (2, 2, 4, ((8, 16),), ())),
}


def rows_of(tmp_path, kernels: list[str], level: int, kind: str) -> list[tuple | None]:
    """For each kernel the numbers of its fact of a kind, None for none."""
    path = tmp_path / "padded.cu"
    text = SOURCE + "".join(f"__global__ void k{number}({each}\n" for number, each in enumerate(kernels))
    path.write_text(text)
    first = SOURCE.count("\n") + 1
    facts = getattr(compile_cuda(path, optimize=level).facts, kind)
    assert {fact.file for fact in facts} == {str(path)}
    by_line = {fact.line: fact[3:] for fact in facts}
    return [by_line.get(first + number) for number in range(len(kernels))]


@pytest.mark.parametrize("level", [3, 0])
def test_copies(tmp_path, level):
    kernels = [f"{each}) {{ x[threadIdx.x] = x[32]; }}" for each in COPIES]
    assert rows_of(tmp_path, kernels, level, "padded_copies") == list(COPIES.values())


@pytest.mark.parametrize("level", [3, 0])
def test_stores_to_members(tmp_path, level):
    kernels = [f"{each}) {{ {body} }}" for each, (body, _) in STORES.items()]
    assert rows_of(tmp_path, kernels, level, "member_stores") == [row for _, row in STORES.values()]
