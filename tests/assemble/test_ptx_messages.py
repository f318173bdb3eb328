"""Where a message points: at what is missing, not at what follows it."""

import pytest

from gpuprof.assemble.ptx.tokens import Positions, Token, tokenize
from gpuprof.errors import GpuprofError, PtxError
from tests.support.ptx_support import PREAMBLE, assemble_text, kernel_text

MODULE = """\
.version 8.7
.target sm_80
.address_size 64
.extern .func (.param .b32 r) ext(.param .b32 x);
.global .align 8 .b32 g[2] = {1, 2};
.const .f32 c = 0f3F800000;
.func (.param .b32 r) f(.param .b32 x, .reg .v2 .f32 y)
{
    .reg .b32 t;
    ld.param.b32 t, [x];
    st.param.b32 [r], t;
    ret;
}
.visible .entry k(.param .u64 p0, .param .align 8 .b8 s[16])
.maxntid 32, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .v2 .f32 %v;
    .local .align 8 .b8 l[16];
    .shared .b32 sh;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    @%p1 bra $L1;
    add.s32 %r2, %r1, 5;
    {
        .param .b32 a;
        .param .b32 q;
        st.param.b32 [a], %r2;
        call.uni (q), f, (a, %v);
        ld.param.b32 %r3, [q];
    }
    st.global.v2.u32 [%rd1+8], {%r2, %r3};
$L1:
    bar.sync 0;
    ret;
}
"""
WHERE = Positions(MODULE)
TOKENS = tokenize(MODULE)[:-1]
# Only the use of these shows that something is missing: the number of the token, and the line that says so.
ELSEWHERE = {(7, ".v2"): 31, (20, ".v2"): 31, (27, "{"): 34, (33, "}"): 38}


def end_of(token: Token) -> tuple[int, int]:
    return WHERE.place(token.offset + len(token.text))


@pytest.mark.parametrize("number", range(len(TOKENS)))
def test_a_missing_token_is_blamed_where_it_is_missing(number):
    """The place is on the token's line, or where the token before it ends or the next one begins; for `;`, where the
    statement ends.
    """
    token = TOKENS[number]
    text = MODULE[: token.offset] + " " * len(token.text) + MODULE[token.offset + len(token.text) :]
    try:
        assemble_text(text)
    except GpuprofError as error:
        name, line, column = str(error).split(":")[:3]
    else:
        return
    line = int(line)
    expected = {ELSEWHERE.get((WHERE.line(token.offset), token.text), WHERE.line(token.offset))}
    neighbours = {end_of(TOKENS[number - 1])[0], WHERE.line(TOKENS[min(number + 1, len(TOKENS) - 1)].offset)}
    assert name == "k.ptx"
    assert line in expected | neighbours
    if token.text == ";":
        assert (line, int(column)) == end_of(TOKENS[number - 1])


MESSAGES = {
    ("mov.u32 %r1, 1\n    mov.u32 %r2, 2;", "k.ptx:12:15: expected ';', found 'mov.u32'"),
    ("mov.u32 %r1,\n    1\n    ret;", "k.ptx:13:6: expected ';', found 'ret'"),
    ("ret\n    mov.u32 %r2, 2;", "k.ptx:12:4: expected ';', found 'mov.u32'"),
    ("bar.sync 0\n    .reg .b32 q;", "k.ptx:12:11: expected ';', found '.reg'"),
    ("ret\n}", "k.ptx:12:4: expected ';', found '}'"),
    ("add.u32 %r1, %r2,\n    ;", "k.ptx:12:18: expected an operand, found ';'"),
    (".reg .b32 a, b\n    ret;", "k.ptx:12:15: expected ';', found 'ret'"),
    ("ret;\n    .shared .b32 x[];", "k.ptx:13:18: variable x: an array without a size is .extern"),
    ("ret;\n    .local .b32 loc;", "k.ptx:13:17: loc is declared twice in one block"),
    ("add.u32 %r1, x + 1, 2;", "k.ptx:12:1: add.u32: x is not declared"),
    (
        "add.f32 %f1, %f2 + 1, %f3;",
        "k.ptx:12:1: add.f32: %f2 + 1: a constant is added to an integer of 16 to 64 bits, and this operand is .f32",
    ),
    (
        "mov.u32 %r1, %tid.x + 1;",
        "k.ptx:12:1: mov.u32: %tid.x + 1: a constant is added to a register of the function's own",
    ),
}


@pytest.mark.parametrize(("body", "message"), sorted(MESSAGES))
def test_messages(body, message):
    with pytest.raises(PtxError) as raised:
        assemble_text(kernel_text(body))
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ".entry q(.param .u32 x)\n.entry r() { ret; }",
            "k.ptx:4:24: expected '{', the body of the kernel, found '.entry'",
        ),
        (".func q()\n    .reg .b32 x;", "k.ptx:4:10: expected '{' or ';', found '.reg'"),
        (".func q()\nret;", "k.ptx:4:10: expected '{' or ';', found 'ret'"),
        (".entry q()", "k.ptx:4:11: expected '{', the body of the kernel, found 'end of file'"),
    ],
)
def test_a_missing_body_is_blamed_on_the_function(text, message):
    with pytest.raises(PtxError) as raised:
        assemble_text(PREAMBLE + text)
    assert str(raised.value) == message
