"""Usual statements, which are read with one expression each, are what the parser of tokens makes of them."""

import re

import pytest

from gpuprof.assemble.ptx import parse_body
from gpuprof.assemble.ptx.parse import _Parser, parse
from gpuprof.errors import PtxError
from tests.bench.large_ptx import long_kernel
from tests.paths import TESTS

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
STATEMENTS = r"""
    add.s32 %r1, %r2, %r3;
    @%p1 add.s32 %r1, %r2, -7;
    @!%p1 bra $L__BB0_2;
    @ !%p1 bra L;
  $L__BB0_2:
    ld.global.v2.u32 {%r1, %r2}, [%rd1+-8];
    ld.global.u32 %r1, [%rd1+8]; st.global.u32 [%rd1], %r1;
    ld.global.u32 %r1, [%rd1 + 8];
    ld.global.u32 %r1, [%rd1+0];
    ld.global.u32 %r1, [%rd1+010];
    ld.global.u32 %r1, [%rd1+8*2];
    ld.global.u32 %r1, [generic(x)+4];
    ld.shared.u32 %r1, [16];
    mov.b32 %r1, %tid.x;
    mov.u32 %r1, WARP_SZ;
    mov.u32 %r1, 010;
    mov.u32 %r1, 0x1F;
    mov.u32 %r1, 5 %3;
    mov.f32 %f1, 0f3F800000;
    mov.f32 %f1, -0f3F800000;
    mov.f64 %fd1, 0d3ff0000000000000;
    mov.f64 %fd1, 1.5e3;
    mov.u64 %rd1, x+4;
    mov.u64 %rd1, 123456789012345678;
    mov.u64 %rd1, 1234567890123456789;
    setp.lt.s32 %p1|%p2, %r1, %r2;
    selp.b32 %r1, %r2, %r3, !%p1;
    and.b32 %r1,%r2,%r3;
    and.b32
        %r1, %r2, // a comment
        %r3;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];
    tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2}];
    call (r), f, (a, b);
    call f;
    ret;
    exit ;
    /* one */ ret; /* two
    .loc 1 1 1
    */
    .loc 1 5 3
    .loc	1 5 3, function_name $L__info_string0, inlined_at 1 9 3
    .loc 1 6 3, function_name $L__info_string0+3, inlined_at 1 9 3
    .loc 1 6 3, inlined_at 1 9 3
    .loc 1 7 3
      , function_name $L__info_string0
    .loc 1 7 0x3
    .loc 1 0 0
    .loc 1 8 3 ret;
    ret; // the end
    .reg .b32 %v<3>;
    { .reg .b32 %r1; add.s32 %r1, %r1, 1; }
  T: .branchtargets $L__BB0_2;
  U:
    .branchtargets $L__BB0_2;
    .pragma "nounroll";
    foo.bar::baz %r1;
    vote.sync.any.pred %p1, %p2, 0xffffffff;
    bar.sync 0;
"""
KERNEL = f'{HEADER}.visible .entry k(.param .u64 p)\n{{\n{STATEMENTS}\n}}\n.file 1 "k.cu"\n'


def trees(text: str) -> list:
    """By both ways: the module, and the positions of all its instructions."""
    return [_Parser(text, "k.ptx", is_whole).module() for is_whole in (False, True)]


def test_all_forms_of_statements():
    usual, whole = trees(KERNEL)
    assert usual == whole
    (function,), (other,) = usual.functions, whole.functions
    assert (function.span, function.positions, function.marks) == (other.span, other.positions, other.marks)
    assert KERNEL[slice(*function.span)].startswith("k(.param") and KERNEL[slice(*function.span)].endswith("\n}")


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.ptx")), ids=lambda path: path.name)
def test_texts(path):
    text = path.read_text(errors="replace")
    try:
        whole = _Parser(text, "k.ptx", is_whole=True).module()
    except PtxError as error:
        with pytest.raises(PtxError, match=re.escape(str(error))):
            parse(text, "k.ptx")
    else:
        assert _Parser(text, "k.ptx", is_whole=False).module() == whole


def test_nearly_all_statements_are_usual(monkeypatch):
    """A count, so that a form which compilers write does not become a slow one unseen."""
    slow = []
    instruction = parse_body.BodyParser.instruction
    monkeypatch.setattr(
        parse_body.BodyParser, "instruction", lambda self: slow.append(self.token.text) or instruction(self)
    )
    parse(long_kernel(2000, block=50).ptx, "k.ptx")
    assert len(slow) <= 1


# Errors are those of the parser that reads all tokens first: a character that starts none comes before all else.
WRONG = {
    "foo %r1, ;\n#": "k.ptx:7:1: unexpected character '#'",
    "foo %r1, ;\n": "k.ptx:6:10: expected an operand, found ';'",
    "add.s32 %r1, %r2, %r3\nret;": "k.ptx:6:22: expected ';', found 'ret'",
    ".loc 1 2 -3\n": "k.ptx:6:6: the numbers of a position are 0 to 4294967295",
}


@pytest.mark.parametrize("statement", WRONG)
def test_errors(statement):
    with pytest.raises(PtxError) as caught:
        parse(f"{HEADER}.visible .entry k()\n{{\n{statement}\n}}\n", "k.ptx")
    assert str(caught.value) == WRONG[statement]
