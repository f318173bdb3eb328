"""Declarations of variables, parameters and functions, and sums as operands: what ptxas 13.0 takes and refuses."""

import subprocess

import numpy as np
import pytest

from gpuprof.errors import PtxError
from tests.support.nvidia_tools import PTXAS, needs_ptxas
from tests.support.ptx_support import assemble_text, preamble, run_kernel

BODY = """\
.visible .entry k(.param .u64 p0)
{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b16 %h<3>; .reg .v2 .f32 %v; .reg .v4 .b32 %w; .reg .v2 .b32 %v2; .reg .f32 %f<5>;
.reg .b128 %q; .param .b32 s; .param .b32 t; .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; ld.param.u64 %d0, [p0];
BODY ret; }
"""  # noqa: E501
FUNCTIONS = """\
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 v; ld.param.b32 v, [x]; st.param.b32 [r], v; ret; }
.func (.param .align 8 .b8 r[16]) m(.param .align 8 .b8 x[16], .param .align 8 .b8 y[16]) { ret; }
.func (.param .b8 r) f8(.param .b8 x) { ret; }
.func (.param .b128 r) f128(.param .b128 x) { ret; }
.func var(.param .b32 n, .param .align 8 .b8 v[]) { ret; }
.func (.reg .pred r) fp(.reg .pred x) { ret; }
"""

ACCEPTED = """\
.extern .func e (.param .b32 x)
.extern .func e (.param .b32 x) .noreturn
.extern .func e
.extern .func e() .extern .func g() .extern .func h();
.func e()~.func e() { ret; }
.extern .func e()~.file 1 "x"
.extern .func e()~.section .x {}
.extern .func e()~.pragma "nounroll";
.func g(.reg .v2 .f32 x) { ret; }
.func g(.reg .v4 .b8 x) { ret; }
.func g(.reg .v2 .b64 x) { ret; }
.func g(.reg .align 8 .v2 .b32 x) { ret; }
.func g(.reg .b128 x) { ret; }
.func g(.param .b32 x[]) { ret; }
.func g(.reg .pred x) { ret; }
.func (.reg .b32 a, .reg .b32 b) g () { ret; }
.entry g(.param .v4 .b32 x[2]) { ret; }
.extern .shared .b8 x[];
.global .b8 x[] = {1, 2};
.global .b32 x<3>;
.shared .b32 x<3>;
.global .b32 g[2][3];
"""
REFUSED = """\
.entry g(.param .b32 x)
.extern .func e()~{ ret; }
.func g(.reg .v4 .b64 x) { ret; }
.func g(.reg .v2 .pred x) { ret; }
.func g(.reg .v8 .b32 x) { ret; }
.func g(.param .v2 .b32 x) { ret; }
.func g(.reg .v2 .align 8 .b32 x) { ret; }
.func g(.reg .b32 x[2]) { ret; }
.func g(.local .b32 x) { ret; }
.func g(.shared .b32 x) { ret; }
.func g(.global .b32 x) { ret; }
.func g(.param .b32 x[], .param .b32 y) { ret; }
.func (.param .b32 x[]) g() { ret; }
.func g(.param .b32 x[][2]) { ret; }
.func (.param .b32 a, .param .b32 b) g () { ret; }
.func g(.param .pred x) { ret; }
.func g(.param .b32 x, ) { ret; }
.func (.param .b32 r) g(.param .b32 x) { .param .b32 x; ret; }
.func (.param .b32 r) g(.param .b32 x) { .param .b32 r; ret; }
.func (.param .b32 r) g(.param .b32 x) { .reg .b32 x; ret; }
.func (.reg .b32 r) g(.reg .b32 x) { .reg .b32 x; ret; }
.func (.reg .b32 r) g(.reg .b32 x) { .local .b32 r; ret; }
.func (.param .b32 r) g(.param .b32 x) { .reg .b32 v; ld.param.b32 v, [r]; ret; }
.entry g(.reg .b32 x) { ret; }
.entry g(.param .v2 .b32 x) { ret; }
.entry g(.param .b32 x[]) { ret; }
.entry g(.param .b8 x[0]) { ret; }
.entry g(.param .b32 x[2][2]) { ret; }
.entry g(.param .pred x) { ret; }
.entry g(.param .b32 x = 1) { ret; }
.global .b8 x[];
.const .b8 x[];
.shared .b8 x[];
.visible .global .b8 x[];
.weak .global .b8 x[];
.common .global .b8 x[];
.global .b8 x[0];
.shared .b8 x[0];
.shared .b8 x = 1;
.extern .global .b8 x[] = {1};
.global .pred p;
.global .v4 .b64 x;
.common .shared .b32 x;
.common .const .b32 x;
.local .b32 x;
.reg .b32 x;
.tex .u32 x;
"""
ACCEPTED_BODIES = """\
.global .b32 g; st.global.b32 [g], 1;
.const .b32 g; ld.const.b32 %r1, [g];
.global .b32 g = 5; { .global .b32 g; }
.global .u64 g = k;
.global .b32 g; .global .u64 h = generic(g);
.global .align 8 .v2 .f32 g = {1.0, 2.0};
{ .param .b32 p0; }
.param .b32 c<4>;
.param .b32 c, e;
.param .align 8 .b8 c[2][3];
st.param.b32 [s], 1;
st.param.b32 [s], {%r1};
st.param.b32 [s], 1; { call (t), f, (s); }
call (_), f, (s);
call (_), f, (-1);
call (%f1), f, (%f2);
.param .f32 c; call (t), f, (c);
.param .align 8 .b32 c[4]; call (b), m, (c, c);
.param .b128 c; call (c), f128, (c);
call (_), f128, (%q);
call var, (1, a);
call var, (1);
@%p call (t), f, (s);
call (s), f, (t); call (t), f, (s);
st.global.u64 [%d0], %d1 + 1;
st.global.u32 [%d0], %r1 + -1;
st.global.u16 [%d0], %h1 + 2 * 3;
mov.u64 %d0, %d1 + 1 + 1;
add.u32 %r0, %r1 + 1, 1;
setp.eq.u32 %p, %r1 + 1, 0;
"""
REFUSED_BODIES = """\
.global .b32 g; .global .b32 g;
.global .b32 g[];
.shared .b32 g[];
.local .b32 g[];
.local .b32 g = 5;
.shared .b32 g = 5;
.param .b32 p0;
.param .b32 c[];
.param .b8 c[0];
.param .pred c;
.param .b32 c = 5;
.param .align 8 .v2 .b32 c;
.reg .b32 p0;
.local .b32 p0;
st.local.b32 [s], 1;
@%p st.param.b32 [s], 1;
call (t), f, (s); @%p ld.param.b32 %r1, [t];
ld.param.b32 %r1, [s];
st.param.b64 [p0], 1;
mov.b64 %d1, s;
call f, (s);
call (t), f, (p0);
call (a), f, (s);
call (t), f, (a);
call (%d1), f, (%r1);
call (%r1), f8, (3);
.param .b64 c; call (t), f, (c);
.param .b8 c[4]; call (t), f, (c);
.param .align 4 .b8 c[16]; call (b), m, (c, c);
.param .align 8 .b8 c[17]; call (b), m, (c, c);
.param .align 16 .b8 c[16]; call var, (1, c);
.param .b64 c; call var, (1, c);
.param .b64 c[2]; call (_), f128, (c);
call (t), f, (%r1 + 1);
call (t), f, (%tid.x);
call (t), f, (_);
call (%p), fp, (!%p);
st.global.v2.u32 [%d0], {%r1 + 1, %r2};
st.global.u32 [%d0], %tid.x + 1;
"""


def module(declaration: str) -> str:
    return preamble("sm_90", "9.0") + declaration.replace("~", "\n") + "\n" + BODY.replace("BODY", "")


def with_body(body: str) -> str:
    return preamble("sm_90", "9.0") + FUNCTIONS + BODY.replace("BODY", f".reg .pred %p; {body}")


def texts(declarations: str, bodies: str) -> list[str]:
    return [*map(module, declarations.splitlines()), *map(with_body, bodies.splitlines())]


def named(lists: tuple[str, str]):
    names = [line for each in lists for line in each.splitlines()]
    return [pytest.param(text, id=name) for name, text in zip(names, texts(*lists), strict=True)]


@pytest.mark.parametrize("text", named((ACCEPTED, ACCEPTED_BODIES)))
def test_accepted(text):
    assert "k" in [function.name for function in assemble_text(text).functions]


@pytest.mark.parametrize("text", named((REFUSED, REFUSED_BODIES)))
def test_refused(text):
    with pytest.raises(PtxError, match=r"^k\.ptx:\d+:\d+: "):
        assemble_text(text)


def ptxas_takes(folder, text: str, arch: str = "sm_90") -> bool:
    (folder / "k.ptx").write_text(text)
    command = [PTXAS, f"-arch={arch}", folder / "k.ptx", "-o", folder / "k.cubin"]
    return subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.long
@needs_ptxas
def test_ptxas_says_the_same(tmp_path):
    assert [text for text in texts(ACCEPTED, ACCEPTED_BODIES) if not ptxas_takes(tmp_path, text)] == []
    assert [text for text in texts(REFUSED, REFUSED_BODIES) if ptxas_takes(tmp_path, text)] == []


OLD_KERNEL = ".entry k(.param .u32 p0) { .reg .b32 %r<9>; .reg .f32 %q<4>; BODY ret; }"
OLD = {  # version, declaration, body: whether ptxas takes it
    ("2.3", ".local .b32 l;", "st.local.b32 [l], 1;"): True,
    ("2.3", ".visible .local .b32 l;", ""): True,
    ("2.3", ".local .b32 l[];", ""): False,
    ("2.3", ".local .b32 l = 5;", ""): False,
    ("3.0", ".local .b32 l;", ""): False,
    ("2.3", ".reg .b32 r;", "mov.b32 r, 1;"): True,
    ("2.3", ".reg .b32 r<5>;", "mov.b32 r1, 1;"): True,
    ("2.3", ".reg .pred p;", ""): True,
    ("2.3", ".reg .v2 .f32 p;", ""): True,
    ("2.3", ".reg .b32 r, s;", ".reg .b32 r;"): True,
    ("3.0", ".reg .b32 r;", ""): False,
    ("2.3", ".param .b32 x;", ""): False,
    ("1.4", ".tex .u32 t;", "tex.1d.v4.f32.s32 {%q0, %q1, %q2, %q3}, [t, {%r1, %r2, %r3, %r4}];"): True,
    ("1.4", ".tex .u64 t, u;", ""): True,
    ("1.4", ".extern .tex .u32 t;", ""): True,
    ("1.4", ".tex .align 4 .u32 t;", ""): True,
    ("1.4", ".tex .f32 t;", ""): False,
    ("1.4", ".tex .u32 t[2];", ""): False,
    ("1.4", ".tex .u32 t = 1;", ""): False,
    ("1.4", "", ".tex .u32 t;"): False,
    ("2.3", ".tex .u32 t;", ""): False,
    ("1.4", ".extern .func e (.reg .b32 x)", ""): True,
}


def old_module(version: str, declaration: str, body: str) -> str:
    size = "" if version == "1.4" else ".address_size 64\n"
    return f".version {version}\n.target sm_10\n{size}{declaration}\n{OLD_KERNEL.replace('BODY', body)}"


@pytest.mark.parametrize("old", OLD)
def test_old_versions(old):
    try:
        assemble_text(old_module(*old))
        found = True
    except PtxError:
        found = False
    assert found == OLD[old]


@needs_ptxas
def test_ptxas_says_the_same_of_old_versions(tmp_path):
    assert {old: ptxas_takes(tmp_path, old_module(*old), "sm_75") for old in OLD} == OLD


# -- what they compute -----------------------------------------------------------------------------

# Each stores one word a lane; the sums are the ones of ptxas' machine code, which adds in the operand's width.
RESULTS = {
    "registers and constants": (
        "",
        "add.u32 %r2, %r1 + 5, 7; cvt.u64.u32 %d2, %r1; mov.u64 %d2, %d2 + -1; cvt.u32.u64 %r3, %d2; "
        "add.u32 %r2, %r2, %r3;",
        lambda lane: lane + 12 + lane - 1,
    ),
    "sixteen bits": (
        "",
        "cvt.u16.u32 %h1, %r1; mov.u16 %h2, %h1 + 65535; cvt.u32.u16 %r2, %h2;",
        lambda lane: lane - 1 & 0xFFFF,
    ),
    "variables of the same name in several blocks": (
        "",
        ".local .b32 l; .global .b32 g = 3; .const .b32 c = 4; .shared .b32 h; st.local.b32 [l], 7; "
        "st.shared.b32 [h], 1; { .local .b32 l; .global .b32 g = 20; .const .b32 c = 30; .shared .b32 h; "
        "st.local.b32 [l], 90; st.shared.b32 [h], 50; ld.global.b32 %r2, [g]; ld.const.b32 %r3, [c]; "
        "add.u32 %r2, %r2, %r3; }"
        "ld.local.b32 %r3, [l]; add.u32 %r2, %r2, %r3; ld.global.b32 %r3, [g]; add.u32 %r2, %r2, %r3; "
        "ld.const.b32 %r3, [c]; add.u32 %r2, %r2, %r3; ld.shared.b32 %r3, [h]; add.u32 %r2, %r2, %r3;",
        lambda lane: 20 + 30 + 7 + 3 + 4 + 1,
    ),
    "addresses of inner variables": (
        "",
        ".global .b32 g = 11; .global .u64 h = generic(g); ld.global.u64 %d2, [h]; ld.u32 %r2, [%d2];",
        lambda lane: 11,
    ),
    "shared variables of two functions": (
        ".func (.reg .b32 r) one(.reg .b32 x) { .shared .b32 m; st.shared.b32 [m], 1; bar.sync 0; "
        "ld.shared.b32 r, [m]; ret; }\n.func (.reg .b32 r) two(.reg .b32 x) { .shared .align 8 .b32 m[64]; "
        ".reg .b32 a; shl.b32 a, x, 2; mov.b32 r, m; add.u32 a, a, r; st.shared.b32 [a], x; call (r), one, (x); "
        "ld.shared.b32 a, [a]; add.u32 r, r, a; ret; }",
        "call (%r2), two, (%r1);",
        lambda lane: lane + 1,
    ),
    "predicates": (
        ".func (.reg .b32 r) g(.reg .b32 x, "
        + ", ".join(f".reg .pred p{n}" for n in range(7))
        + ") { mov.b32 r, x; "
        + " ".join(f"@p{n} add.u32 r, r, {1 << n + 5};" for n in range(7))
        + " ret; }",
        ".reg .pred %p<7>; "
        + " ".join(f"and.b32 %r2, %r1, {n + 1}; setp.ne.u32 %p{n}, %r2, 0;" for n in range(7))
        + " call (%r2), g, (%r1, %p0, %p1, %p2, %p3, %p4, %p5, %p6);",
        lambda lane: lane + sum(1 << n + 5 for n in range(7) if lane & n + 1),
    ),
    "vectors in registers": (
        ".func (.reg .v4 .b32 r) g(.reg .v2 .b32 x, .reg .b64 y, .reg .v2 .b16 z) { .reg .b32 a; cvt.u32.u16 a, z.y; "
        "add.u32 r.x, x.x, a; mov.b32 r.y, x.y; cvt.u32.u64 r.z, y; add.u32 r.w, x.x, x.y; ret; }",
        ".reg .v2 .b32 v; .reg .v2 .b16 n; .reg .v4 .b32 w; mov.b32 v.x, %r1; mov.b32 v.y, 100; mov.u16 n.y, 7; "
        "mov.u16 n.x, 1; cvt.u64.u32 %d2, %r1; call (w), g, (v, %d2, n); add.u32 %r2, w.x, w.y; add.u32 %r2, %r2, w.z; "
        "add.u32 %r2, %r2, w.w;",
        lambda lane: lane + 7 + 100 + lane + lane + 100,
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    functions, body, expected = RESULTS[name]
    text = (
        preamble("sm_80")
        + functions
        + ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b16 %h<4>; "
        "mov.u32 %r1, %tid.x;\n"
        + body
        + "ld.param.u64 %d0, [out]; mad.wide.u32 %d0, %r1, 4, %d0; st.global.u32 [%d0], %r2; ret; }"
    )
    (found,) = run_kernel(assemble_text(text), "k", [np.zeros(32, np.uint32)])
    assert np.frombuffer(found, np.uint32).tolist() == [expected(lane) for lane in range(32)]


def test_local_variables_and_registers_of_the_module():
    """A thread has one of each variable, whichever function uses it; registers are a kernel's own."""
    text = """\
.version 2.3
.target sm_20
.address_size 64
.reg .b32 shared_register;
.local .b32 first[3];
.local .b32 variable;
.func twice() { .reg .b32 v; ld.local.b32 v, [variable]; add.u32 v, v, v; st.local.b32 [variable], v; ret; }
.entry k(.param .u64 out)
{ .reg .b64 %out; .local .b32 own; mov.u32 shared_register, %tid.x; st.local.b32 [own], 5;
st.local.b32 [variable], shared_register; call twice; ld.local.b32 shared_register, [variable];
ld.param.u64 %out, [out]; .reg .b32 lane, v; mov.u32 lane, %tid.x; ld.local.b32 v, [own];
add.u32 v, v, shared_register; mad.wide.u32 %out, lane, 4, %out; st.global.u32 [%out], v; ret; }
"""
    (found,) = run_kernel(assemble_text(text), "k", [np.zeros(32, np.uint32)])
    assert np.frombuffer(found, np.uint32).tolist() == [2 * lane + 5 for lane in range(32)]
