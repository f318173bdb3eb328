"""What PTX text says of memory, declarations and calls, run: each kernel's stores against what the manual (PTX ISA 9.0)
says they are.
"""

import numpy as np
import pytest

from gpuprof.errors import PtxError
from tests.support.ptx_support import assemble_text, preamble, run_kernel

HEAD = preamble("sm_100", "9.0")


def run(
    body: str,
    *,
    declarations: str = "",
    words: int = 1,
    inputs: np.ndarray | None = None,
    lanes: int = 32,
    grid: int = 1,
) -> np.ndarray:
    """A kernel whose thread t stores `words` 64-bit numbers from %o on, which is t * 8 * words into the output; %i is
    its 256 bytes of input.
    """
    text = f"""{HEAD}{declarations}
.visible .entry k(.param .u64 out, .param .u64 in)
{{
    .reg .pred %p<8>; .reg .b16 %h<20>; .reg .b32 %r<24>; .reg .b64 %d<24>; .reg .f32 %f<20>; .reg .f64 %e<8>; .reg .b128 %q<6>;
    .reg .b64 %o, %i; .reg .b32 %t;
    ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, {8 * words}, %o; mad.wide.u32 %i, %t, 256, %i;
{body}
    ret;
}}
"""  # noqa: E501
    given = np.arange(lanes * 256, dtype=np.uint32).astype(np.uint8) if inputs is None else inputs
    out = np.zeros(lanes * words * grid, np.uint64)
    found, _ = run_kernel(assemble_text(text), "k", [out, given], grid=grid, block=lanes)
    return np.frombuffer(found, np.uint64).reshape(-1, words)


def words_of(data: np.ndarray, dtype) -> list[int]:
    return data.view(dtype).tolist()


# Constants


@pytest.mark.parametrize(
    "text, value",
    [
        ("3 + 4 * 2", 11), ("(3 + 4) * 2", 14), ("-7 / 2", -3), ("-7 % 4", -3), ("7 %4", 3), ("1 << 4 | 3", 19),
        ("0xF0 & 0x3C ^ 1", 0x31),
        ("~5", ~5), ("!5 + !0", 1), ("- -5", 5), ("5 > 3 ? 11 : 12", 11), ("0 ? 1 : 0 ? 2 : 3", 3), ("1 && 0 || 1", 1),
        ("2 == 2 != 0", 1), ("3 <= 2", 0),
        ("(.s64)0xffffffffffffffff >> "
            "4", -1), ("0xffffffffffffffff >> 60", 15), ("(.u64)-1 > 1", 1), ("-1 < 1", 1), ("-1 < 1U", 0),
            ("017 + 0b11", 18),
        ("WARP_SZ / 2", 16), ("10 - 3 - 2", 5), ("-(2 + 3)", -5), ("(1.5 * 2.0 == 3.0) + 1", 2), ("(.s64)2.9", 2),
    ],
)  # fmt: skip
def test_constant_expressions(text, value):
    """4.6: C's operators and precedence in 64 bits, signed unless an operand is not."""
    assert run(f"mov.u64 %d1, {text}; st.global.u64 [%o], %d1;")[0, 0] == value & (1 << 64) - 1


@pytest.mark.parametrize("text", ["1 / 0", "1 % 0", "1 << 64", "1.5 & 2", "(1", "1 ? 2", "1 +", "~1.5", "1 << -1"])
def test_constants_that_are_none(text):
    with pytest.raises(PtxError):
        run(f"mov.u64 %d1, {text};")


def test_expressions_in_addresses():
    got = run(
        "ld.global.u8 %r1, [%i+4*(1+2)]; ld.global.u8 %r2, [%i+-1+3]; cvt.u64.u32 %d1, %r1; cvt.u64.u32 %d2, %r2; "
        "st.global.v2.u64 [%o], {%d1, %d2};",
        words=2,
    )
    assert got[1].tolist() == [12, 2]


@pytest.mark.parametrize(
    "moves",
    [
        "mov.u32 %r2, %r2;",
        "mov.u32 %r2, %r3; mov.u32 %r3, %r2;",
        "mov.b64 %d1, %d2; mov.b64 %d2, %d3; mov.b64 %d3, %d1;",
    ],
)
def test_copies_in_a_circle_come_to_an_end(moves):
    run(moves)


# Declarations


@pytest.mark.parametrize(
    "declaration, image",
    [
        (".global .s32 v[][2] = { {-1, 0}, {0, -1}, {1} };", np.array([-1, 0, 0, -1, 1, 0], np.int32)),
        (".global .u8 v[2][2][4] = { {{1, 2}, {3}}, {{4, 5, 6, 7}} "
            "};", np.array([1, 2, 0, 0, 3, 0, 0, 0, 4, 5, 6, 7, 0, 0, 0, 0], np.uint8)),
        (".global .u8 v[2][4] = {1, 2, 3, 4, 5, 6, 7};", np.array([1, 2, 3, 4, 5, 6, 7, 0], np.uint8)),
        (".global .v2 .u16 v[2] = {{1, 2}, {3}};", np.array([1, 2, 3, 0], np.uint16)),
        (".global .v4 .f32 v = {1.0, -2.0, 0f40400000};", np.array([1, -2, 3, 0], np.float32)),
        (".global .u32 v[] = {1 << 4, (3 * 7) % 5, ~0, 5 > 4};", np.array([16, 1, 0xFFFFFFFF, 1], np.uint32)),
        (".global .f64 v[2] = {1.5, .25};", np.array([1.5, 0.25])),
    ],
)  # fmt: skip
def test_initial_values(declaration, image):
    """5.4.4: what inner lists leave out is zero."""
    n = image.nbytes // 8
    body = "".join(f"ld.global.b64 %d1, [v+{8 * k}]; st.global.u64 [%o+{8 * k}], %d1;" for k in range(n))
    aligned = declaration.replace(".global", ".global .align 8", 1)
    assert run(body, declarations=aligned, words=n, lanes=1)[0].tolist() == words_of(image, np.uint64)


def test_too_many_initial_values():
    with pytest.raises(PtxError, match="more initial values than elements"):
        assemble_text(f"{HEAD}.global .u8 v[2][2] = {{{{1, 2, 3}}}};\n.visible .entry k() {{ ret; }}")


MASKS = [0xFF << 8 * k for k in range(8)]


def test_addresses_byte_by_byte():
    """5.4.5: a mask takes one byte of an address. Compilers write packed structures so."""
    inner = ", ".join(f"{mask:#x}(a+4)" for mask in MASKS)
    outer = ", ".join(f"{mask:#x}(generic(a))" for mask in MASKS)
    declarations = f".global .align 8 .u32 a[2] = {{11, 22}};\n.global .align 8 .u8 v[24] = {{9, {inner}, {outer}, 7}};"
    body = """
    ld.global.u8 %r1, [v]; ld.global.u8 %r2, [v+17]; mov.u64 %d5, 0;
    """ + "".join(f"ld.global.u8 %d1, [v+{1 + k}]; shl.b64 %d1, %d1, {8 * k}; or.b64 %d5, %d5, %d1;" for k in range(8))
    body += "mov.u64 %d6, 0;" + "".join(
        f"ld.global.u8 %d1, [v+{9 + k}]; shl.b64 %d1, %d1, {8 * k}; or.b64 %d6, %d6, %d1;" for k in range(8)
    )
    body += (
        "ld.global.u32 %r3, [%d5]; ld.u32 %r4, [%d6]; cvt.u64.u32 %d1, %r1; cvt.u64.u32 %d2, %r2; cvt.u64.u32 %d3, "
        "%r3; cvt.u64.u32 %d4, %r4;"
    )
    body += "st.global.v2.u64 [%o], {%d1, %d2}; st.global.v2.u64 [%o+16], {%d3, %d4};"
    assert run(body, declarations=declarations, words=4, lanes=1)[0].tolist() == [9, 7, 22, 11]


def test_a_part_of_an_address_alone_is_refused():
    with pytest.raises(PtxError, match="the eight bytes of the address of a must be in eight elements"):
        assemble_text(
            f"{HEAD}.global .u32 a;\n.global .u8 v[] = {{0xff(a), 0xff00(a)}};\n.visible .entry k() {{ ret; }}"
        )


def test_extern_variables():
    """A declaration gives way to the definition; without one, whoever uses it is told."""
    both = ".extern .global .u32 v;\n.global .u32 v = 5;\n.extern .global .u32 v;"
    assert run("ld.global.u32 %r1, [v]; cvt.u64.u32 %d1, %r1; st.global.u64 [%o], %d1;", declarations=both)[0, 0] == 5
    with pytest.raises(PtxError, match=r"v is declared \.extern, but not defined"):
        run("ld.global.u32 %r1, [v];", declarations=".extern .global .u32 v;")
    with pytest.raises(PtxError, match="variable v is defined twice"):
        run("", declarations=".global .u32 v; .global .u32 v;")


def test_vector_registers():
    """5.4.2: elements by name, whole vectors as operands."""
    got = run(
        """.reg .v4 .b32 %v; .reg .v2 .b64 %w<2>;
    ld.global.v4.b32 %v, [%i+16]; add.u32 %v.x, %v.y, %v.z; mov.b32 %v.a, %v.r;
    mov.b64 %w1.x, {%v.x, %v.w}; mov.b64 %w1.y, {%v.y, %v.b}; st.global.v2.b64 [%o], %w1;""",
        words=2,
    )
    y, z = (int.from_bytes(bytes(range(at, at + 4)), "little") for at in (20, 24))
    total = y + z & 0xFFFFFFFF
    assert got[0].tolist() == [total | total << 32, y | z << 32]


def test_128_bits():
    """A value of 128 bits is loaded, taken apart, put together, exchanged and stored."""
    got = run(
        """ld.global.b128 %q1, [%i+32]; mov.b128 {%d1, %d2}, %q1; mov.b128 %q2, {%d2, %d1}; mov.b128 %q3, %q2;
    st.global.b128 [%o], %q3; atom.global.exch.b128 %q4, [%o], %q1; st.global.b128 [%o+16], %q4;
    mov.b128 {%d1, %d2}, %q1; atom.global.cas.b128 %q5, [%o], %q1, %q3; st.global.b128 [%o+32], %q5; atom.cas.b128 %q5, [%o], %q1, %q1;""",  # noqa: E501
        words=6,
    )
    low, high = words_of(np.arange(32, 48, dtype=np.uint8), np.uint64)
    assert got[3].tolist() == [high, low, high, low, low, high]


VECTORS = [("b8", 2, "%h"), ("b8", 4, "%h"), ("b16", 2, "%h"), ("b16", 4, "%h"), ("b32", 8, "%r"), ("b64", 4, "%d")]


@pytest.mark.parametrize(
    "kind, n, registers, space",
    [
        (*v, space)
        for v in VECTORS
        for space in ("global", "shared", "local", "")
        if space in ("global", "") or v[2] == "%h"
    ],
)
def test_vectors_of_every_width(kind, n, registers, space):
    """Loaded, turned round and stored."""
    nbytes = n * int(kind[1:]) // 8
    group = [f"{registers}{k + 1}" for k in range(n)]
    dot = f".{space}" if space else ""
    to = {"global": "%d20", "": "%d20", "shared": "%r22", "local": "%r22"}[space]
    body = f"""mov.u64 %d20, %i; add.u64 %d21, %d20, 64; .shared .align 32 .b8 s[1024]; .local .align 32 .b8 l[32];
    mov.u32 %r22, {"s" if space == "shared" else "l"}; mov.u32 %r23, {"%t" if space == "shared" else "0"}; mad.lo.u32 %r22, %r23, 32, %r22;
    ld.global.v{n}.{kind} {{{", ".join(group)}}}, [%i]; st{dot}.v{n}.{kind} [{to}], {{{", ".join(group[::-1])}}};
    ld{dot}.v{n}.{kind} {{{", ".join(group)}}}, [{to}]; st.global.v{n}.{kind} [%o], {{{", ".join(group)}}};"""  # noqa: E501
    got = run(body, words=4)
    wanted = np.arange(nbytes, dtype=np.uint8).view(f"u{int(kind[1:]) // 8}")[::-1].copy().view(np.uint8).tobytes()
    assert got[5].tobytes()[:nbytes] == wanted


# Calls

FUNCTIONS = """
.func (.param .b32 r) plus(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, 1; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) times(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; mul.lo.u32 %a, %a, 3; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) other(.param .b32 x);
.alias other, times;
.func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 x[16], .param .b64 more)
{ .reg .b64 %a<3>; ld.param.v2.b64 {%a0, %a1}, [x]; ld.param.b64 %a2, [more]; add.u64 %a0, %a0, %a2; st.param.b64 [r], %a1; st.param.b64 [r+8], %a0; ret; }
.func (.param .b32 r) total(.param .b32 n, .param .align 8 .b8 more[])
{
    .reg .b64 %p; .reg .b32 %a, %n, %s, %f; .reg .pred %q;
    ld.param.b32 %n, [n]; mov.u64 %p, more; mov.u32 %s, 0; ld.param.b32 %f, [more+4];
L:  ld.param.b32 %a, [%p]; add.u32 %s, %s, %a; add.u64 %p, %p, 8; sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra L;
    add.u32 %s, %s, %f; st.param.b32 [r], %s; ret;
}
"""  # noqa: E501


def call(target: str, prototype: str = "") -> str:
    return f"""{{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), {target}, (a){prototype}; ld.param.b32 %r1, [b]; }}
    cvt.u64.u32 %d1, %r1; st.global.u64 [%o], %d1;"""  # noqa: E501


def test_an_alias_is_the_function():
    assert run(call("other"), declarations=FUNCTIONS)[:, 0].tolist() == [3 * k for k in range(32)]


def test_indirect_calls_with_a_prototype_and_with_targets():
    choose = "setp.lt.u32 %p1, %t, 9; mov.u64 %d2, plus; mov.u64 %d3, times; selp.b64 %d4, %d2, %d3, %p1;"
    wanted = [k + 1 if k < 9 else 3 * k for k in range(32)]
    prototype = "P: .callprototype (.param .b32 _) _ (.param .b32 _);"
    assert run(choose + prototype + call("%d4", ", P"), declarations=FUNCTIONS)[:, 0].tolist() == wanted
    targets = "T: .calltargets plus, times;"
    assert run(choose + targets + call("%d4", ", T"), declarations=FUNCTIONS)[:, 0].tolist() == wanted


def test_structures_by_value():
    body = """{ .param .align 8 .b8 a[16]; .param .b64 m; .param .align 8 .b8 b[16]; ld.global.u8 %d1, [%i+1]; cvt.u64.u32 %d2, %t;
    st.param.v2.b64 [a], {%d1, %d2}; st.param.b64 [m], 100; call (b), swap, (a, m); ld.param.b64 %d3, [b]; ld.param.b64 %d4, [b+8]; }
    st.global.v2.u64 [%o], {%d3, %d4};"""  # noqa: E501
    assert run(body, declarations=FUNCTIONS, words=2)[7].tolist() == [7, 101]


PARTS = """
.func (.param .b64 r) mix(.param .b64 x, .param .b32 y)
{ .reg .b32 %a<4>; .reg .b16 %h<3>;
  ld.param.v2.b32 {%a0, %a1}, [x]; ld.param.b32 %a2, [x+4]; ld.param.v2.b16 {%h0, %h1}, [y]; ld.param.s8 %a3, [y+3];
  cvt.u32.u16 %a0, %h1; add.u32 %a1, %a1, %a2; st.param.b32 [r+4], %a0; st.param.b32 [r], %a1; st.param.b16 [r+6], %h0; ret; }
"""  # noqa: E501


def test_parts_of_parameters_in_registers():
    """7.1: a scalar parameter is bytes like any other, however it is passed."""
    body = """{ .param .b64 x; .param .b32 y; .param .b64 r; cvt.u16.u32 %h1, %t; st.param.b32 [x+4], %t; st.param.b32 [x], 9; st.param.v2.b16 [y], {77, %h1};
    call (r), mix, (x, y); ld.param.v2.b32 {%r1, %r2}, [r]; } mov.b64 %d1, {%r1, %r2}; st.global.b64 [%o], %d1;"""  # noqa: E501
    assert run(body, declarations=PARTS)[:, 0].tolist() == [2 * t | t << 32 | 77 << 48 for t in range(32)]


def test_moves_of_vectors():
    body = """.reg .v4 .u32 %v; mov.v4.u32 %v, %ntid; mov.v2.b32 {%r1, %r2}, {%v.y, %v.x}; mov.v2.b32 {%r1, %r2}, {%r2, %r1}; mov.v4.u32 {_, _, %r3, %r4}, %tid;
    add.u32 %r3, %r3, %r4; add.u32 %r1, %r1, %r3; mov.b64 %d1, {%r1, %r2}; st.global.b64 [%o], %d1;"""  # noqa: E501
    assert run(body)[4, 0] == 32 | 1 << 32


def variadic(arguments: list[str]) -> str:
    stores = "".join(
        f"st.param.b32 [v+{8 * k}], {text}; st.param.b32 [v+{8 * k + 4}], {1000 * (k == 0)};"
        for k, text in enumerate(arguments)
    )
    return f"""{{ .param .b32 n; .param .align 8 .b8 v[{8 * len(arguments)}]; .param .b32 s; st.param.b32 [n], {len(arguments)}; {stores}
    call (s), total, (n, v); ld.param.b32 %r1, [s]; }} cvt.u64.u32 %d1, %r1; st.global.u64 [%o], %d1;"""  # noqa: E501


@pytest.mark.parametrize("grown", [False, True])
def test_variadic_calls(grown):
    """7.2: an array without a size at the end takes what the caller has put into its own."""
    take = "alloca.u64 %d9, 24; st.local.u64 [%d9+16], 5;" if grown else ""
    assert run(take + variadic(["%t", "5", "70"]), declarations=FUNCTIONS)[:, 0].tolist() == [
        k + 1075 for k in range(32)
    ]
    inner = (
        ".func (.param .b32 r) outer(.param .b32 x) { .reg .b32 %t, %r1; .reg .b64 %d1, %d9; ld.param.b32 %t, [x];"
        + take
    )
    inner += variadic(["%t", "7"]).partition("cvt.u64")[0] + "st.param.b32 [r], %r1; ret; }"
    assert run(call("outer"), declarations=FUNCTIONS + inner)[:, 0].tolist() == [k + 1007 for k in range(32)]


# The stack

CALLEE = """.func (.param .align 8 .b8 r[16]) fill(.param .align 8 .b8 x[16])
{ .local .align 8 .b8 own[64]; .reg .b64 %a<3>; ld.param.v2.b64 {%a0, %a1}, [x]; st.local.b64 [own], %a0; st.local.b64 [own+56], %a0;
  alloca.u64 %a2, 40; st.local.b64 [%a2], -1; st.local.b64 [%a2+32], -1; st.param.v2.b64 [r], {%a1, %a0}; ret; }
"""  # noqa: E501


@pytest.mark.parametrize("form", ["", ".func"])
def test_what_was_taken_survives_calls(form):
    """7.3: memory taken with alloca stays until the function returns; callees, with arguments in memory, stand above
    it.
    """
    core = """mad.lo.u32 %r2, %t, 8, 16; cvt.u64.u32 %d5, %r2; alloca.u64 %d1, %d5; alloca.u64 %d2, 8, 64; sub.u64 %d6, %d5, 8; add.u64 %d6, %d1, %d6;
    cvt.u64.u32 %d7, %t; st.local.u64 [%d1], 11; st.local.u64 [%d6], %d7; st.local.u64 [%d2], 33; st.local.u64 [mine+8], 44;
    { .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; st.param.v2.b64 [a], {5, %d7}; call (b), fill, (a); ld.param.v2.b64 {%d8, %d9}, [b]; }
    and.b64 %d10, %d2, 63; ld.local.u64 %d11, [%d1]; ld.local.u64 %d12, [%d6]; ld.local.u64 %d13, [%d2]; ld.local.u64 %d14, [mine+8];
    cvta.local.u64 %d15, %d2; ld.u64 %d15, [%d15];"""  # noqa: E501
    stores = "st.global.v4.u64 [%o], {%d8, %d9, %d10, %d11}; st.global.v4.u64 [%o+32], {%d12, %d13, %d14, %d15};"
    mine = ".local .align 8 .b8 mine[16];"
    if form:
        registers = ".reg .b32 %r<4>, %t; .reg .b64 %d<16>, %o;"
        outer = (
            f".func outer(.param .b64 o, .param .b32 x) {{ {registers} {mine} ld.param.b64 %o, [o]; ld.param.b32 "
            f"%t, [x]; {core} {stores} ret; }}"
        )
        body = "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %o; st.param.b32 [b], %t; call outer, (a, b); }"
        got = run(body, declarations=CALLEE + outer, words=8)
    else:
        got = run(mine + core + stores, declarations=CALLEE, words=8)
    assert got.tolist() == [[k, 5, 0, 11, k, 33, 44, 33] for k in range(32)]


def test_the_stack_is_set_back():
    body = """stacksave.u64 %d1; alloca.u64 %d2, 32; alloca.u64 %d3, 8; stackrestore.u64 %d1; alloca.u64 %d4, 8; sub.u64 %d5, %d3, %d2; sub.u64 %d6, %d4, %d2;
    st.global.v2.u64 [%o], {%d5, %d6};"""  # noqa: E501
    assert run(body, words=2)[9].tolist() == [32, 0]


def test_loops_that_take_memory():
    """Each turn's piece is new, and none overlaps another."""
    body = """mov.u32 %r1, 0; mov.u64 %d5, 0;
L: alloca.u64 %d1, 16; cvt.u64.u32 %d2, %r1; st.local.v2.u64 [%d1], {%d5, %d2}; mov.u64 %d5, %d1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 10; @%p1 bra L;
    mov.u64 %d6, 0;
M: ld.local.v2.u64 {%d7, %d8}, [%d5]; mad.lo.u64 %d6, %d6, 10, %d8; mov.u64 %d5, %d7; setp.ne.u64 %p1, %d5, 0; @%p1 bra M; st.global.u64 [%o], %d6;"""  # noqa: E501
    assert run(".local .b8 first[8];" + body)[3, 0] == 9876543210


# Lanes


def test_votes_and_shuffles_of_whoever_is_there():
    """The forms without .sync: the lanes that run."""
    body = """setp.ge.u32 %p1, %t, 20; @%p1 bra D; and.b32 %r1, %t, 1; setp.ne.u32 %p2, %r1, 0; setp.lt.u32 %p4, %t, 20;
    vote.ballot.b32 %r2, %p2; vote.all.pred %p3, %p4; vote.any.pred %p5, !%p4; vote.uni.pred %p6, %p2; shfl.up.b32 %r3|%p7, %t, 1, 0;
    selp.u32 %r4, 1, 0, %p3; selp.u32 %r5, 2, 0, %p5; selp.u32 %r6, 4, 0, %p6; selp.u32 %r7, 8, 0, %p7; add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; add.u32 %r4, %r4, %r7;
    mov.b64 %d1, {%r2, %r3}; cvt.u64.u32 %d2, %r4; st.global.v2.u64 [%o], {%d1, %d2};
D:"""  # noqa: E501
    odd = sum(1 << k for k in range(1, 20, 2))
    wanted = [[odd | max(k - 1, 0) << 32, 1 + 8 * (k > 0)] if k < 20 else [0, 0] for k in range(32)]
    assert run(body, words=2).tolist() == wanted


def test_special_registers_without_hardware_are_zero():
    names = ["%envreg0", "%envreg31", "%pm3"]
    body = (
        "".join(f"mov.u32 %r{k}, {name};" for k, name in enumerate(names))
        + "or.b32 %r0, %r0, %r1; or.b32 %r0, %r0, %r2;"
    )
    body += (
        "mov.u64 %d1, %pm7_64; mov.u64 %d2, %current_graph_exec; or.b64 %d1, %d1, %d2; cvt.u64.u32 %d2, %r0; "
        "or.b64 %d1, %d1, %d2; st.global.u64 [%o], %d1;"
    )
    assert run(body).max() == 0


def test_shared_memory_sizes():
    body = (
        ".shared .align 16 .b8 s[48]; mov.u32 %r1, %total_smem_size; mov.u32 %r2, %aggr_smem_size; mov.b64 %d1, "
        "{%r1, %r2}; st.global.u64 [%o], %d1; mov.u32 %r3, s;"
    )
    assert run(body)[0, 0] == 48 | (48 + 1024) << 32  # with the system's own kilobyte


# cp.async


def test_copies_with_sizes_predicates_and_groups():
    body = """.shared .align 16 .b8 s[2048]; mov.u32 %r1, s; mad.lo.u32 %r1, %t, 64, %r1; and.b32 %r2, %t, 1; setp.ne.u32 %p1, %r2, 0; mov.u32 %r3, %t;
    cp.async.cg.shared.global [%r1], [%i], 16; cp.async.ca.shared.global.L2::128B [%r1+16], [%i+16], 16, %r3; cp.async.commit_group;
    cp.async.ca.shared::cta.global [%r1+32], [%i+32], 8, 3; cp.async.ca.shared.global [%r1+40], [%i+40], 8, %p1; @%p1 cp.async.ca.shared.global [%r1+48], [%i+48], 4;
    cp.async.wait_group 1; cp.async.wait_all; bar.sync 0;
    ld.shared.v2.b64 {%d1, %d2}, [%r1]; ld.shared.v2.b64 {%d3, %d4}, [%r1+16]; ld.shared.v2.b64 {%d5, %d6}, [%r1+32]; ld.shared.b64 %d7, [%r1+48];
    st.global.v2.b64 [%o], {%d1, %d2}; st.global.v2.b64 [%o+16], {%d3, %d4}; st.global.v2.b64 [%o+32], {%d5, %d6}; st.global.b64 [%o+48], %d7;"""  # noqa: E501
    got = run(body, words=8).view(np.uint8).reshape(32, 64)[:, :56]
    for t in range(32):
        wanted = np.arange(56, dtype=np.uint8)
        wanted[16 + min(t, 16) : 32] = 0
        wanted[35:40] = 0
        wanted[40:48] *= t % 2 == 0
        wanted[48:] = [48, 49, 50, 51, 0, 0, 0, 0] if t % 2 else [0] * 8
        assert got[t].tolist() == wanted.tolist(), t


def test_vector_atomics_of_halves():
    """Two f16 of eight at once, each added to what is there; the old values come back."""
    one, two = 0x3C00, 0x4000
    initial = np.tile(np.full(8, one, np.uint16).view(np.uint8), 16)
    body = f"""{"".join(f"mov.b16 %h{k + 1}, {two};" for k in range(8))}
    atom.global.add.noftz.v8.f16 {{%h9,%h10,%h11,%h12,%h13,%h14,%h15,%h16}}, [%i], {{%h1,%h2,%h3,%h4,%h5,%h6,%h7,%h8}};
    red.global.max.noftz.v4.f16 [%i], {{%h1,%h9,%h1,%h9}}; mov.b64 %d1, {{%h9,%h10,%h11,%h16}}; ld.global.v2.b64 {{%d2, %d3}}, [%i]; st.global.v2.b64 [%o], {{%d1, %d2}};"""  # noqa: E501
    got = run(body, words=2, lanes=1, inputs=initial)
    assert got[0].view(np.uint16).tolist() == [one] * 4 + [0x4200] * 4


def test_what_only_copies_read_is_a_pointer():
    text = f"""{HEAD}.visible .entry k(.param .u64 a, .param .u64 b)
{{ .reg .b64 %d<4>; .shared .align 16 .b8 s[64]; .reg .b32 %r; ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; cvta.to.global.u64 %d1, %d1; mov.u32 %r, s;
    cp.async.cg.shared.global [%r], [%d1+32], 16; cp.async.wait_all; ret; }}"""  # noqa: E501
    a, b = assemble_text(text).functions[0].params
    assert (a.is_pointer, a.is_read, a.is_written, b.is_pointer) == (True, True, False, False)


# Addresses

SPACES = ("global", "shared", "local", "const", "param::entry")


def test_spaces_of_generic_addresses():
    """9.7.8.19 to 21: an address goes to generic and back, and is in its own space alone; a variable of each space, and
    the last byte of each.
    """
    declarations = ".global .align 8 .b8 g[64]; .const .align 8 .b8 c[64] = {1, 2, 3}; .shared .align 8 .b8 s[64];"
    body = ".local .align 8 .b8 l[64]; mov.u64 %d9, 0; mov.u32 %r9, 0;"
    for number, (space, name) in enumerate(zip(SPACES, ("g", "s", "l", "c", "in"), strict=True)):
        where = "param" if space.startswith("param") else space
        body += (
            f"mov.u64 %d1, {name}; cvta.{where}.u64 %d2, %d1; cvta.to.{where}.u64 %d3, %d2; setp.ne.u64 %p1, %d3, "
            f"%d1; @%p1 or.b32 %r9, %r9, {1 << 30};"
        )
        for bit, other in enumerate(SPACES):
            body += f"isspacep.{other} %p2, %d2; @%p2 or.b32 %r9, %r9, {1 << 5 * number + bit};"
        if space != "param::entry":
            body += f"add.u64 %d2, %d2, 63; isspacep.{space} %p2, %d2; @!%p2 or.b32 %r9, %r9, {1 << 31};"
    got = run(body + "cvt.u64.u32 %d1, %r9; st.global.u64 [%o], %d1;", declarations=declarations)
    assert set(got[:, 0].tolist()) == {sum(1 << 6 * k for k in range(5))}


# Barriers and lanes


def test_barriers_with_counts_and_reductions():
    """Two halves of a block of 128, each at a barrier of its own, in every spelling; predicates are counted, and'ed,
    or'ed, also negated.
    """
    body = """shr.u32 %r1, %t, 6; add.u32 %r2, %r1, 3; mov.u32 %r3, 64; setp.lt.u32 %p1, %t, 70; setp.ge.u32 %p2, %t, 64;
    bar.red.popc.u32 %r4, %r2, %r3, %p1; barrier.cta.red.popc.aligned.u32 %r5, %r2, 64, !%p1; bar.red.and.pred %p3, %r2, 64, %p1; barrier.red.or.pred %p4, %r2, %r3, !%p1;
    barrier.sync.aligned 1; bar.sync 1, 128; barrier.cta.sync %r2, %r3;
    @%p2 bar.sync 9, 128; @!%p2 bar.arrive 9, 128;
    selp.u32 %r6, 1, 0, %p3; selp.u32 %r7, 2, 0, %p4; add.u32 %r6, %r6, %r7; shl.b32 %r5, %r5, 8; shl.b32 %r6, %r6, 16; or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, %r6;
    cvt.u64.u32 %d1, %r4; st.global.u64 [%o], %d1;"""  # noqa: E501
    got = run(body, lanes=128)[:, 0].tolist()
    assert got == [64 | 0 << 8 | 1 << 16] * 64 + [6 | 58 << 8 | 2 << 16] * 64


def test_lanes_of_a_mask():
    """vote, match, redux, elect, shfl: the lanes of a mask in a register, half of the warp each, and what each of them
    sees.
    """
    body = """and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, 0x55555555; @%p1 mov.u32 %r2, 0xaaaaaaaa; setp.lt.u32 %p2, %t, 8; shr.u32 %r3, %t, 3;
    vote.sync.ballot.b32 %r4, !%p2, %r2; vote.sync.any.pred %p3, %p2, %r2; vote.sync.all.pred %p4, !%p2, %r2; match.any.sync.b32 %r5, %r3, %r2;
    match.all.sync.b32 %r6|%p5, %r1, %r2; redux.sync.add.s32 %r7, %t, %r2; redux.sync.max.u32 %r8, %t, %r2; redux.sync.xor.b32 %r9, %r1, %r2;
    elect.sync %r10|%p6, %r2; shfl.sync.down.b32 %r11|%p7, %t, 2, 0x1f, %r2;
    selp.u32 %r12, 1, 0, %p3; @%p4 or.b32 %r12, %r12, 2; @%p5 or.b32 %r12, %r12, 4; @%p6 or.b32 %r12, %r12, 8; @%p7 or.b32 %r12, %r12, 16;
    mov.b64 %d1, {%r4, %r5}; mov.b64 %d2, {%r6, %r7}; mov.b64 %d3, {%r8, %r9}; mov.b64 %d4, {%r10, %r11}; cvt.u64.u32 %d5, %r12;
    st.global.v2.u64 [%o], {%d1, %d2}; st.global.v2.u64 [%o+16], {%d3, %d4}; st.global.u64 [%o+32], %d5;"""  # noqa: E501
    got = run(body, words=6).view(np.uint32).reshape(32, 12).tolist()
    for t in range(32):
        mine = [lane for lane in range(32) if lane % 2 == t % 2]
        mask = sum(1 << lane for lane in mine)
        flags = 1 | 4 | 8 * (t == mine[0]) | 16 * (t < 30)
        wanted = [
            sum(1 << lane for lane in mine if lane >= 8), sum(1 << lane for lane in mine if lane // 8 == t // 8), mask,
            sum(mine), mine[-1], 0, mine[0],
            t + 2 if t < 30 else t, flags,
        ]  # fmt: skip
        assert got[t][:9] == wanted, t


@pytest.mark.parametrize(
    "scope", ["", ".cta", ".relaxed.cta", ".relaxed.cluster", ".acquire.gpu", ".release.sys", ".acq_rel.gpu",
        ".acq_rel.cluster", ".gpu"]
)  # fmt: skip
def test_every_scope_computes_the_same(scope):
    body = f"""atom{scope}.global.add.u32 %r1, [v], %t; red{scope.replace("acquire", "relaxed")}.global.max.s32 [v+4], %t; bar.sync 0; ld.volatile.global.v2.u32 {{%r2, %r3}}, [v];
    mov.b64 %d1, {{%r2, %r3}}; st.global.u64 [%o], %d1;"""  # noqa: E501
    assert run(body, declarations=".global .align 8 .u32 v[2] = {1000, 3};")[:, 0].tolist() == [1496 | 31 << 32] * 32


def test_fences_and_hints_are_passed():
    """They change no value."""
    body = """fence.sc.cta; fence.acq_rel.gpu; fence.acquire.cluster; fence.proxy.async.global; membar.sys; prefetch.global.L2::evict_last [%i]; prefetchu.L1 [%i];
    applypriority.global.L2::evict_normal [%i], 128; createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %d5, 0.25; pmevent.mask 3; nanosleep.u32 5;
    ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v2.u32 {%r1, %r2}, [%i], %d5; mov.b64 %d1, {%r1, %r2}; st.global.L1::evict_first.L2::cache_hint.u64 [%o], %d1, %d5;"""  # noqa: E501
    assert run(body)[3, 0] == int.from_bytes(bytes(range(8)), "little")
