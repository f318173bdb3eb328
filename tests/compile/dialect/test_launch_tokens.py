"""Launches with spaced tokens: the text that clang gets, and that nothing else moves."""

import random

import pytest

from gpuprof.compile.dialect.edits import edited, inserted, offset_of
from gpuprof.compile.dialect.launch_tokens import launch_edits
from gpuprof.compile.dialect.shared_objects import unconstructed
from tests.support.matrices import long_from

# A source -> what clang gets.
JOINED = {
    "k << <1, 31 >> > (x);": "k  <<<1, 31  >>> (x);",
    "k<< <1, 33>> >(x);": "k <<<1, 33 >>>(x);",
    "k << /* a */ < 1, 36 >> /* b */ > (x)": "k          <<< 1, 36          >>> (x)",
    "k<int> << <1, 38>> >(x)": "k<int>  <<<1, 38 >>>(x)",
    "k<(280 >> 2)> << <1, 1>> > (x);": "k<(280 >> 2)>  <<<1, 1 >>> (x);",
    "k << <n < 4 ? 1 : 2, n > 5 ? 64 : 32>> >(x)": "k  <<<n < 4 ? 1 : 2, n > 5 ? 64 : 32 >>>(x)",
    "k<< <1, size<39>::value>> >(x)": "k <<<1, size<39>::value >>>(x)",
    "k << <1, f<v<w<int> > >(1) >> > (x)": "k  <<<1, f<v<w<int> > >(1)  >>> (x)",
    "k << <1, v<w<int>>>> >(x)": "k  <<<1, v<w<int>> >>>(x)",
    "k<<<1, 7 >>\n     > (x);": "k<<<1, 7   \n   >>> (x);",
    "k<<<1, 7>> \n > (x);": "k<<<1, 7  >\\\n>> (x);",
    "k<<<1, 7>>\n> (x);": "k<<<1, 7>>\\\n> (x);",
    "#define L(k, g, b) k << <g, b >> >\nx >> > y": "#define L(k, g, b) k  <<<g, b  >>>\nx >> > y",
    "#define B << <\n#define E >> >\n": "#define B  <<<\n#define E  >>>\n",
    "operator<<<T>(s, b)": "operator<< \n#line 1\n          <T>(s, b)",
    "\tk<<<{1, 1}, 64>>>(x);": "\tk<<<dim3\n#line 1\n\t    {1, 1}, 64>>>(x);",
}
# Sources that stay as they are.
SAME = (
    "operator<< <T>(s, b);",
    'puts("k << <1, 2 >> >"); // k << <1, 2 >> >\n/* << < >> > */ R"x(<< <"1 >> >)x"',
    "a<b<c<d> > > x; k<<<1, 2>>>(x); a<b<c> > y;",
    "k<<<1, 2> >>(x)",
    "k< <<1, 2>>>(x)",
    "k<<\n<1, 2>>>(x)",
    "x = 1 << (n < 1) >> 2; y >>= 3; p->q<r>();",
    "f(1'000'000, '\"', '<'); k<<<1, 2>>>(x)",
    "k<<<1, dim3{2}>>>(x)",
)


@pytest.mark.parametrize("source", JOINED)
def test_tokens_are_joined(source):
    assert edited(source, launch_edits(source)) == JOINED[source]


@pytest.mark.parametrize("source", SAME)
def test_other_text_stays(source):
    assert edited(source, launch_edits(source)) == source


@pytest.mark.parametrize("seed", long_from(1, range(20)))
def test_random_spaces(seed):
    """Between random tokens of a launch, any spaces that nvcc takes give the same tokens, each in its column."""
    draw = random.Random(seed)
    parts = ("f<3>(1)", "g<h<i> >()", "(a < b)", "c >> 2", "d[e >> 1]", "7", "sizeof(v<w<x<int> > >)", "n->m")
    for _ in range(300):
        space, other = ("".join(draw.choice((" ", "\t", "/**/")) for _ in range(draw.randrange(4))) for _ in "ab")
        middle = ", ".join(draw.choice(parts) for _ in range(draw.randint(2, 4)))
        source = f"if (a) k<int> <<{space}<{middle}>>{other}>(x, y<z<int> >()); b >> c;"
        changed = edited(source, launch_edits(source))
        assert changed.replace(" ", "").replace("\t", "") == (
            f"if (a) k<int> <<<{middle}>>>(x, y<z<int> >()); b >> c;".replace(" ", "")
        )
        assert len(changed) == len(source)
        assert all(old == new for old, new in zip(source, changed, strict=True) if old.isalnum())


def test_a_place_is_found_by_bytes():
    source = "one;\n\tzwölf x;"
    assert [offset_of(source, *place) for place in ((1, 1), (2, 2), (2, 9), (3, 1))] == [0, 6, 12, None]
    assert edited(source, [inserted(source, 12, "y")]) == "one;\n\tzwölf y\n#line 2\n\t       x;"


def test_nothing_is_put_into_a_directive():
    assert inserted("#define A \\\n  b\n", 14, "x") is None


def test_an_object_in_shared_memory():
    source = "void f()\n{\n    // one\n    static __shared__ alignas(16) B<1, 2> a, b[3]; int c;\n}\n"
    assert edited(source, unconstructed(source, source.index("a, b"))) == (
        "void f()\n{\n    // one\n    struct gpuprof_shared_4_5 {\n#line 4\n"
        "                      alignas(16) B<1, 2> a, b[3]; };"
        " static __attribute__((shared)) gpuprof_raw<gpuprof_shared_4_5> gpuprof_raw_4_5;"
        " static constexpr auto &a = gpuprof_raw_4_5.value.a;"
        " static constexpr auto &b = gpuprof_raw_4_5.value.b;\n#line 4\n"
        "                                                   int c;\n}\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        "__shared__ B *p, at;",
        "SHARED(B, at);",
        "#define S \\\n __shared__ B at;",
        "__shared__ B at(1), c;",
        "__shared__ int at = 3;",
    ],
)
def test_other_declarations_stay(source):
    assert unconstructed(source, source.index("at")) == []
