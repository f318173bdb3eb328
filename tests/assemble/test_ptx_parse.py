"""PTX text to values: structure, positions, source lines; and nothing but PtxError for text that is not PTX."""

import pytest
from hypothesis import given, settings, strategies as st

from gpuprof.assemble.assemble import assemble_program
from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.parse import parse
from gpuprof.assemble.ptx.tokens import tokenize
from gpuprof.compile.module import PtxModule
from gpuprof.errors import GpuprofError, PtxError
from gpuprof.isa.program import Location
from tests.support.ptx_support import PREAMBLE, kernel_text

SMALL = """\
.version 8.0
.target sm_80
.address_size 64
.file 1 "dir/k.cu"
.global .align 8 .b8 text[4] = {104, 105, 0};
.visible .entry k(
    .param .u64 .ptr .global .align 16 k_param_0,
    .param .align 8 .b8 k_param_1[24]
)
.maxntid 256, 1, 1
.minnctapersm 2
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
$L__BB0_1:
    .loc 1 5 3
    @!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+-8];
    setp.lt.and.s32 %p0|%p1, %r1, -5, !%p1;   // a comment
    ret;
}
"""


def test_tokens_have_kinds_and_offsets():
    tokens = [tuple(token) for token in tokenize('@!%p1 bra.uni $L_1; // x\n.loc 0f3F800000 0x1F "a\\"b" -3')]
    assert tokens == [
        ("punct", "@", 0), ("punct", "!", 1), ("word", "%p1", 2), ("word", "bra.uni", 6), ("word", "$L_1", 14),
        ("punct", ";", 18),
        ("dot", ".loc", 25), ("number", "0f3F800000", 30), ("number", "0x1F", 41), ("string", '"a\\"b"', 46),
        ("punct", "-", 53),
        ("number", "3", 54), ("end", "end of file", 55),
    ]  # fmt: skip


def test_a_small_module():
    module = parse(SMALL, "k.ptx")
    where = Location("dir/k.cu", 5, 3, "k")
    variable = ast.Variable("text", "global", "b8", 4, 8, 5, True, [ast.Number(104), ast.Number(105), ast.Number(0)])
    body = ast.Block([
        ast.Registers("pred", (("%p", 2),)),
        ast.Registers("b32", (("%r", 3),)),
        ast.Label("$L__BB0_1", 15),
        ast.Instruction("ld", ("global", "v2", "u32"), [ast.Vector((ast.Name("%r1"), ast.Name("%r2"))),
            ast.Memory(ast.Name("%rd1"), -8)],
                        17, 11, "%p1", True, where),
        ast.Instruction("setp", ("lt", "and", "s32"),
                        [ast.Pair(ast.Name("%p0"), ast.Name("%p1")), ast.Name("%r1"), ast.Number(-5),
                            ast.Negated(ast.Name("%p1"))],
                        18, 5, location=where),
        ast.Instruction("ret", (), [], 19, 5, location=where),
    ])  # fmt: skip
    params = (
        ast.Variable("k_param_0", "param", "u64", 8, 8, 7, is_pointer=True),
        ast.Variable("k_param_1", "param", "b8", 24, 8, 8, True),
    )
    function = ast.Function("k", True, params, (), body, 6, "visible", {"maxntid": (256, 1, 1), "minnctapersm": (2,)})
    assert module == ast.Module("k.ptx", "8.0", "sm_80", False, False, 64, {1: "dir/k.cu"}, [variable], [function])


def test_numbers():
    (inst,) = [s for s in parse(kernel_text("x 0x10, 0b101, 017, 1.5, -0f3F800000, 0dBFF0000000000000, 7U, "
        "WARP_SZ;"), "").functions[0]
               .body.statements if isinstance(s, ast.Instruction) and s.opcode == "x"]  # fmt: skip
    assert inst.operands == [
        ast.Number(16), ast.Number(5), ast.Number(15), ast.Number(0x3FF8000000000000, "f64"),
        ast.Number(0xBF800000, "f32"),
        ast.Number(0xBFF0000000000000, "f64"), ast.Number(7), ast.Number(32),
    ]  # fmt: skip


INLINED = """\
    .loc 1 30 5
    mov.u32 %r1, 1;
    .loc 1 20 7, function_name $L__info_string0, inlined_at 1 30 5
    mov.u32 %r2, 2;
    .loc 1 10 9, function_name $L__info_string1, inlined_at 1 20 7
    mov.u32 %r3, 3;
    .loc 1 0 0
    mov.u32 %r4, 4;
"""
DEBUG_STR = """\
.file 1 "k.cu"
.section .debug_str
{
$L__info_string0:
.b8 111,117,116,101,114
.b8 0
$L__info_string1:
.b8 105,110,110,101,114,0
}
"""


def test_inlined_positions_form_a_chain():
    module = parse(kernel_text(INLINED) + DEBUG_STR, "k.ptx")
    found = [
        s.location for s in module.functions[0].body.statements if isinstance(s, ast.Instruction) and s.opcode == "mov"
    ]
    at_30 = Location("k.cu", 30, 5, "k")
    at_20 = Location("k.cu", 20, 7, "outer", at_30)
    assert found == [at_30, at_20, Location("k.cu", 10, 9, "inner", at_20), None]


MALFORMED = [
    ("", "k.ptx:1:1: no .version directive: this is not a PTX file"),
    ("hello", "k.ptx:1:1: expected a directive, found 'hello'"),
    (PREAMBLE + "\x00", "k.ptx:4:1: unexpected character '\\x00'"),
    (PREAMBLE + ".entry k() { add.s32 %r1 }", "k.ptx:4:25: expected ';', found '}'"),
    (PREAMBLE + ".entry k() {", "k.ptx:4:13: expected an instruction or '}', found 'end of file'"),
    (PREAMBLE + ".entry k() { ret; }\n.entry k() { ret; }", "k.ptx:5:1: function k is defined twice"),
    (PREAMBLE + ".global .align 3 .u32 x;", "k.ptx:4:16: an alignment is a power of two"),
    (PREAMBLE + ".global .u33 x;", "k.ptx:4:9: expected a type, found '.u33'"),
    (PREAMBLE + ".magic 5", "k.ptx:4:1: unknown directive '.magic'"),
    (".version 8.0 .address_size 32", "k.ptx:1:28: only .address_size 64 is supported"),
    (PREAMBLE + ".entry k() " + "{" * 200, "k.ptx:4:113: nested too deeply"),
    (PREAMBLE + '.file 1 "open', "k.ptx:4:9: unexpected character '\"'"),
    (PREAMBLE + ".section .debug_abbrev {", "k.ptx:4:25: the section is not closed"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_malformed_text(text: str, message: str):
    with pytest.raises(PtxError) as caught:
        parse(text, "k.ptx")
    assert str(caught.value) == message


LINES = kernel_text("""\
    ld.param.u64 %rd1, [p0];
    ld.param.u32 %r1, [p1];
$top:
    mad.wide.s32 %rd2, %r1, 4, %rd1;
    ld.global.v2.f32 {%f1, %f2}, [%rd2];
    @%p1 bra $top;
    { .reg .b32 %t; mov.b64 {%t, %r3}, %rd2; shfl.sync.down.b32 %r4|%p2, %t, 1, 31, -1; }
    st.shared.v4.u8 [sarr+4], {%r1, %r2, %r3, %r4};
    atom.global.add.u32 %r5, [gvar], 1;
    bar.sync 0;
""").splitlines()
WORDS = sorted({word for line in LINES for word in line.replace(",", " , ").replace(";", " ; ").split()})


@settings(max_examples=300)
@given(st.data())
def test_damaged_text_gives_our_own_errors(data):
    """Lines dropped, doubled, cut, words and characters exchanged: a program or an error with a place, never a Python
    failure.
    """
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(lines) - 1))
        lines[index] = data.draw(_damages(lines[index]))
    module = PtxModule("k.ptx", "\n".join(lines), {}, {}, compiler="", arch="sm_80")
    try:
        assemble_program(module)
    except GpuprofError as error:
        assert str(error).startswith("k.ptx")


def _damages(line: str):
    words = line.split(" ")
    exchanged = st.tuples(st.integers(0, len(words) - 1), st.sampled_from(WORDS)).map(
        lambda c: " ".join([*words[: c[0]], c[1], *words[c[0] + 1 :]])
    )
    cut = st.integers(0, len(line)).map(lambda n: line[:n])
    character = st.tuples(st.integers(0, len(line)), st.sampled_from('{}[]();,.:%@!+-0x"$<>=|é\0')).map(
        lambda c: line[: c[0]] + c[1] + line[c[0] + 1 :]
    )
    return st.one_of(st.just(""), st.just(line + "\n" + line), exchanged, cut, character)
