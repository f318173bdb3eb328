"""Operands of wrong types and sizes, names declared twice: refused with a place, as ptxas does; and what looks wrong
but is right.
"""

import subprocess

import pytest

from gpuprof.errors import PtxError
from tests.support.nvidia_tools import PTXAS, needs_ptxas
from tests.support.ptx_support import assemble_text

HEAD = """\
.version 9.0
.target sm_90a
.address_size 64
.global .align 8 .b8 g[64];
.func callee(.param .b32 x) { ret; }
.visible .entry k(.param .u64 p0)
{
    .reg .pred %p<4>; .reg .b8 %c<4>; .reg .b16 %h<4>; .reg .u16 %us<4>; .reg .f16 %hf<4>; .reg .b32 %r<8>; .reg .u32 %u<4>; .reg .s32 %s<4>;
    .reg .f32 %f<4>; .reg .f16x2 %hh<4>; .reg .b64 %d<4>; .reg .f64 %e<4>; .reg .b128 %q<4>; .reg .v4 .f32 %v;
"""  # noqa: E501

RIGHT = """\
mov.u32 %u0, %s0;  mov.b32 %f0, %u0;  mov.u16 %h0, %tid.x;  mov.b32 %r0, 0f3F800000;  mov.f32 %f0, 0d3FF0000000000000;  mov.f64 %e0, 0f3F800000;
mov.b32 %f0, 1;  mov.b64 %d0, 1.0;  mov.b16 %h0, 70000;  mov.u32 %r0, 0x1ffffffff;  mov.b32 %r0, {%h0, %us0};  mov.b32 %r0, {%c0, %c1, %c2, %c3};
add.f32 %f0, %r0, %r1;  and.b32 %f0, %f0, %r1;  and.b32 %r0, %r1, 0f3F800000;  setp.eq.f32 %p0, %r0, %f1;  setp.eq.b32 %p0, %f0, %f1;
selp.b32 %f0, %r0, %f1, %p0;  mul.wide.u16 %r0, %h0, %h1;  cvt.u32.u16 %r0, %r1;  cvt.u32.u16 %d0, %r1;  cvt.rn.f32.u32 %f0, %d1;
cvt.f64.f32 %d0, %d1;  cvt.u8.u32 %h0, %r1;  cvt.rn.f32.u32 %f0, 5;  cvt.f64.f32 %e0, 1.0;  st.global.u32 [%d0], %d1;  st.global.b8 [%d0], 300;
ld.global.b8 %f1, [%d0];  ld.global.f32 %d1, [%d0];  ld.global.v2.b32 {%d2, %d1}, [%d0];  ld.global.v2.u32 {%s1, %r1}, [%d0];
shfl.sync.idx.b32 %f0, %u0, 0, 31, -1;  redux.sync.add.u32 %r0, %s1, -1;  add.f16 %h0, %hf1, %h1;  prmt.b32 %r0, %f1, %r2, 0;
lop3.b32 %r0, %f1, %r2, %r3, 0xe8;  fma.rn.f32 %f0, %r1, %r2, %r3;  neg.s32 %r0, %u1;  fns.b32 %r0, %f1, %r2, %r3;  clz.b32 %r0, %f1;
vote.sync.ballot.b32 %f0, %p0, -1;  testp.finite.f32 %p0, %r1;  match.any.sync.b32 %r0, %f1, -1;
{ .reg .b32 %r<8>; };  .reg .b32 g;  .reg .b32 k;
"""  # noqa: E501
WRONG = """\
mov.u32 %r0, %d0;  mov.f32 %f0, %u0;  mov.u32 %u0, %f0;  mov.u64 %d0, %e0;  mov.u32 %us0, 5;  mov.u16 %u0, 5;  mov.u64 %e0, 5;  mov.b16 %h0, %c0;
mov.u32 %r0, 1.5;  mov.u32 %r0, 0f3F800000;  mov.b32 %r0, 0d3FF0000000000000;  mov.f32 %f0, 1;  mov.u64 %d0, 1.0;  mov.b32 %r0, {%r1, %us0};
add.f32 %f0, %u0, %f1;  add.u32 %f0, %r0, %r1;  add.u32 %r0, %f0, %r1;  add.f16 %h0, %h1, %us1;  add.u16 %h0, %hf1, %h1;  add.f16x2 %r0, %hh1, %u1;
add.f16x2 %r0, %hh1, %f1;  add.f32 %f0, %f1, 1;  add.f64 %e0, %e1, 1;  add.u32 %r0, %r1, 1.0;  add.f16 %h0, %h1, 0x3C00;  and.b32 %r0, %h1, %r2;
setp.eq.u32 %p0, %f0, %r1;  setp.eq.f32 %p0, %f0, 0;  selp.f32 %f0, %r0, %u1, %p0;  selp.f32 %f0, 1, 0, %p0;  mul.wide.u32 %d0, %r0, %h1;
mul.wide.u16 %h0, %h1, %h2;  mad.wide.u32 %d0, %r1, %r2, %r3;  mad.wide.u32 %d0, %r1, %r2, %e1;  sad.u32 %r0, %s1, %u1, %f2;
shl.b32 %r0, %r1, %h2;  shr.u16 %h0, %h1, %h2;  bfe.u32 %r0, %r1, %h1, %r2;  bfi.b32 %r0, %f1, %r2, %u3, %h1;  bfind.u32 %f0, %r1;
prmt.b32 %d0, %r1, %r2, 0;  lop3.b32 %r0, %h1, %r2, %r3, 0xe8;  shf.l.wrap.b32 %r0, %f1, %r2, %h3;
popc.b32 %d0, %r1;  popc.b64 %r0, %r1;  popc.b64 %f0, %d1;  atom.global.add.u32 %d0, [%d0], %r1;  atom.global.add.u32 %f0, [%d0], %r1;
atom.global.add.f32 %f0, [%d0], %u1;  atom.global.add.u32 %r0, [%d0], %h1;  shfl.sync.idx.b32 %f0, %d0, 0, 31, -1;  redux.sync.add.u32 %r0, %f1, -1;
fma.rn.f32 %f0, %u1, %f2, %f3;  fma.rn.f32 %d0, %f1, %f2, %f3;  fma.rn.f32 %f0, %f1, 2, %f2;
fma.rn.bf16x2 %u0, %u1, %u2, %u3;  ex2.approx.f32 %f0, %u1;  min.f16 %h0, %us1, %h2;  copysign.f32 %f0, %u1, %f2;  testp.finite.f32 %p0, %u1;
set.eq.u32.f32 %f0, %f1, %f2;  slct.u32.s32 %r0, %r1, %r2, %f0;  slct.u32.f32 %r0, %r1, %r2, %s0;  nanosleep.u32 %f0;  bar.sync %h0;  bar.sync %d0;  bar.sync %f0;
.reg .b32 %r0;  .reg .b32 %zz<3>; .reg .b32 %zz1;  .reg .b32 %zz1; .reg .b32 %zz<3>;  .reg .f32 %v;  .shared .b8 x[4]; .shared .b8 x[4];
.shared .b8 x[4]; .reg .b32 x;  .reg .b32 x; .local .b8 x[4];  .param .b32 x; .param .b32 x;  .param .b32 x, x;
cvta.global.u64 %d0, %r1;  ld.global.u32 %r0, [%f0];  ld.global.u32 %r0, [%e0];  cvt.f32.f64 %d0, %f1;  ld.global.u32 %f1, [%d0];  ld.global.f32 %u1, [%d0];
ld.global.f32 %e1, [%d0];  st.global.u32 [%d0], %f1;  st.global.f32 [%d0], %u1;  st.global.f32 [%d0], 1;  st.global.u32 [%d0], 1.0;  st.global.u16 [%d0], %f1;
st.global.b64 [%d0], %f1;  cvt.rn.f32.u32 %u0, %u1;  cvt.rn.f32.u32 %f0, %f1;  cvt.f32.f16 %f0, %us1;
"""  # noqa: E501
MODULES = {
    ".local .b8 x[4];": "7:12: variable x is .local, which is only allowed in a function",
    ".reg .b32 x;": "7:11: variable x is .reg, which is only allowed in a function",
    ".param .b32 x;": "7:13: variable x is .param, which is only allowed in a function",
    ".global .u32 k2;\n.global .u32 k2;": "8:14: variable k2 is defined twice",
    ".func g2() { ret; }\n.global .u32 g2;": "8:14: variable g2 is defined twice",
    ".global .u32 g2;\n.func g2() { ret; }": "8:1: function g2 is defined twice",
    ".func (.param .b32 r) ff(.param .b32 x, .param .b32 x) { ret; "
    "}": "7:1: function ff: two parameters have the same name",
    ".func (.param .b32 x) ff(.param .b32 x) { ret; }": "7:1: function ff: two parameters have the same name",
    ".visible .entry k3(.param .u64 a, .param .u64 a) { ret; }": "7:1: function k3: two parameters have the same name",
}


def statements(table: str) -> list[str]:
    return [statement.strip().rstrip(";") for line in table.splitlines() for statement in line.split(";  ")]


def kernel(statement: str) -> str:
    return f"{HEAD}{statement}{'' if statement.startswith('{') else ';'}\nret;\n}}\n"


@pytest.mark.parametrize("statement", statements(RIGHT))
def test_right(statement):
    assemble_text(kernel(statement))


@pytest.mark.parametrize("statement", statements(WRONG))
def test_wrong(statement):
    with pytest.raises(PtxError, match=r"^k\.ptx:10:\d+: "):
        assemble_text(kernel(statement))


@pytest.mark.parametrize("declaration", MODULES)
def test_wrong_in_a_module(declaration):
    with pytest.raises(PtxError) as raised:
        assemble_text(module(declaration))
    assert str(raised.value) == "k.ptx:" + MODULES[declaration]


def module(declaration: str) -> str:
    return ".version 9.0\n.target sm_90a\n.address_size 64\n\n\n\n" + declaration + "\n.visible .entry k() { ret; }\n"


MESSAGES = {
    "add.u32 %f0, %r0, %r1": "k.ptx:10:1: add.u32: %f0 is a .f32 register, which does not fit the type .u32",
    "shl.b32 %r0, %r1, %h2": "k.ptx:10:1: shl.b32: %h2 is a .b16 register, which does not fit the type .u32",
    "add.f32 %f0, %f1, 1": "k.ptx:10:1: add.f32: the constant is not of type .f32",
    ".reg .b32 %r0": "k.ptx:10:6: %r0 is declared twice in one block",
}


@pytest.mark.parametrize("statement", MESSAGES)
def test_messages(statement):
    with pytest.raises(PtxError) as raised:
        assemble_text(kernel(statement))
    assert str(raised.value) == MESSAGES[statement]


@needs_ptxas
def test_ptxas_says_the_same(tmp_path):
    """One run for everything right; one each for some of what is wrong, since ptxas stops at few errors."""

    def takes(text: str) -> bool:
        (tmp_path / "k.ptx").write_text(text)
        return (
            subprocess.run(
                [PTXAS, "-arch=sm_90a", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")], capture_output=True
            ).returncode
            == 0
        )

    assert takes(
        HEAD
        + "\n".join(each if each.startswith("{") else f"{{ {each}; }}" for each in statements(RIGHT))
        + "\nret;\n}\n"
    )
    assert not [statement for statement in statements(WRONG)[::4] if takes(kernel(statement))]
    assert not [declaration for declaration in list(MODULES)[::2] if takes(module(declaration))]
