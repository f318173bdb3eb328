"""Loads of neighbouring words of shared memory, moves behind a loop, and contracted products: short texts, their
instructions and their values.
"""

import numpy as np
import pytest

from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text, kernel_text, run_kernel

START = """\
.reg .b32 %s<9>; .reg .f32 %v<9>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, sarr;
shl.b32 %r2, %r0, 2;
add.u32 %r3, %r1, %r2;
st.shared.u32 [%r3], %r0;
bar.sync 0;
ld.param.u64 %rd0, [p0];
"""
FOUR = "ld.shared.u32 %s0, [%r4]; ld.shared.u32 %s1, [%r4+4]; ld.shared.u32 %s2, [%r4+8]; ld.shared.u32 %s3, [%r4+12];"
SUM = "mad.lo.u32 %s5, %s1, 10, %s0; mad.lo.u32 %s6, %s2, 100, %s5; mad.lo.u32 %s7, %s3, 1000, %s6;"
END = "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %s7;"
ROW = "and.b32 %r6, %r0, 7; shl.b32 %r5, %r6, 4; add.u32 %r4, %r1, %r5;"


def names(program) -> list[str]:
    return [decode(row).op.name for row in program.code]


def words(program, n: int = 32) -> list[int]:
    (out,) = run_kernel(program, "k", [np.zeros(32, np.uint32), 0, 0.0, 0], block=n)
    return np.frombuffer(out, np.uint32)[:n].tolist()


def weighted(first: int) -> int:
    return sum((first + k) * 10**k for k in range(4))


def test_four_words_of_an_aligned_row_are_one_load():
    program = assemble_text(kernel_text(START + ROW + FOUR + SUM + END))
    assert [name for name in names(program) if name.startswith("LDS")] == ["LDS.V4.32"]
    assert words(program) == [weighted(4 * (i & 7)) for i in range(32)]


@pytest.mark.parametrize(
    "row",
    [
        "cvt.u64.u32 %rd5, %r0; shl.b64 %rd6, %rd5, 4; and.b64 %rd7, %rd6, 112; cvt.u32.u64 %r5, %rd7;",
        "mul.wide.u32 %rd5, %r0, 4; and.b64 %rd6, %rd5, 28; cvt.u32.u64 %r6, %rd6; shl.b32 %r5, %r6, 2;",
        "mul.wide.u32 %rd5, %r0, 16; mov.b64 {%r5, %r6}, %rd5; and.b32 %r5, %r5, 127;",
    ],
)
def test_what_64_bits_tell_of_an_address_is_known(row):
    program = assemble_text(kernel_text(START + row + "add.u32 %r4, %r1, %r5;" + FOUR + SUM + END))
    assert [name for name in names(program) if name.startswith("LDS")] == ["LDS.V4.32"]
    assert words(program) == [weighted(4 * (i & 7)) for i in range(32)]


def test_the_lower_half_of_a_constant_is_a_constant():
    row = "mov.b64 %rd5, 32; cvt.u32.u64 %r5, %rd5; mov.b64 {%r6, %r7}, %rd5; add.u32 %r4, %r1, %r5;"
    program = assemble_text(kernel_text(START + row + FOUR + SUM + END))
    assert not {"LO.64", "HI.64"} & set(names(program))
    assert words(program) == [weighted(8)] * 32


def test_a_barrier_comes_behind_the_arithmetic_on_what_was_loaded():
    """As in all tiled products of tests/silicon with ptxas 13.0: the loads are done before the barrier."""
    program = assemble_text(kernel_text(START + ROW + FOUR + SUM + "bar.sync 0;" + END))
    order = [name for name in names(program) if name in ("LDS.V4.32", "IMAD", "BAR.SYNC")]
    assert order == ["BAR.SYNC", "LDS.V4.32", "IMAD", "IMAD", "IMAD", "BAR.SYNC"]


def test_words_at_an_offset_are_joined_where_they_are_aligned():
    body = ROW + FOUR.replace("%r4+12", "%r4+24").replace("%r4+4", "%r4+16").replace("%r4+8", "%r4+20").replace(
        "[%r4]", "[%r4+12]"
    )
    program = assemble_text(kernel_text(START + body + SUM + END))
    assert sorted(name for name in names(program) if name.startswith("LDS")) == [
        "LDS.32",
        "LDS.32",
        "LDS.V2.32",
    ]  # 16 and 20 of 12, 16, 20, 24
    assert words(program)[:6] == [weighted(4 * i + 3) for i in range(6)]


@pytest.mark.parametrize(
    "address",
    [
        "and.b32 %r6, %r0, 7; shl.b32 %r5, %r6, 2; add.u32 %r4, %r1, %r5;",  # only words
        "ld.param.u32 %r5, [p1]; add.u32 %r4, %r1, %r5;",  # nobody knows
    ],
)
def test_what_may_lie_anywhere_stays_apart(address):
    program = assemble_text(kernel_text(START + address + FOUR + SUM + END))
    assert [name for name in names(program) if name.startswith("LDS")] == ["LDS.32"] * 4
    words(program, 16)


LOOP = """\
    mov.u32 %s7, 0; mov.u32 %s8, 0;
LOOP:
    add.u32 %r4, %r5, %s8; LOADS SUM
    add.u32 %s8, %s8, STEP; setp.lt.u32 %p1, %s8, %r0; @%p1 bra LOOP;
"""


@pytest.mark.parametrize("step, wide", [(16, True), (48, True), (4, False)])
def test_what_a_loop_adds_a_multiple_to_stays_aligned(step, wide):
    row = ROW.replace("add.u32 %r4, %r1, %r5;", "add.u32 %r5, %r1, %r5;")
    loop = LOOP.replace("LOADS", FOUR).replace("SUM", SUM).replace("STEP", str(step))
    text = START + row + loop.replace("LOOP:", 'LOOP: .pragma "nounroll";') + END
    found = names(assemble_text(kernel_text(text)))
    assert ("LDS.V4.32" in found) == wide
    assert ("LDS.32" in found) != wide


def test_a_store_between_them_keeps_loads_apart():
    loads = FOUR.replace("ld.shared.u32 %s2", "st.shared.u32 [%r3], 77; ld.shared.u32 %s2")
    program = assemble_text(kernel_text(START + ROW + loads + SUM + END))
    assert sorted(name for name in names(program) if name.startswith("LDS")) == ["LDS.V2.32", "LDS.V2.32"]


@pytest.mark.parametrize("first, loads", [(0, ["LDS.32"] * 4), (1, ["LDS.32"] * 2 + ["LDS.V2.32"])])
def test_a_word_is_not_loaded_before_it_is_stored(first, loads):
    """Each store goes to the word that the next load reads, and no load of another word may bring it up over that."""
    words_of = [f"[%r4+{4 * k}]" for k in range(4)]
    pairs = "".join(f"st.shared.u32 {word}, {k + 2}; ld.shared.u32 %s{k}, {word};" for k, word in enumerate(words_of))
    if first:  # the second word is stored before both
        pairs = f"st.shared.u32 {words_of[1]}, 3;" + pairs.replace(f"st.shared.u32 {words_of[1]}, 3;", "")
    program = assemble_text(kernel_text(START + ROW + pairs + SUM + END))
    assert sorted(name for name in names(program) if name.startswith("LDS")) == loads
    assert words(program) == [2 + 30 + 400 + 5000] * 32


def test_a_move_that_only_the_end_of_a_loop_needs_is_made_there():
    """r7 is the count at a break, or the limit; no turn has a move."""
    body = """
    ld.global.u32 %s0, [%rd0]; mov.u32 %s1, 0; mov.u32 %s7, 5;
LOOP:
    setp.ge.u32 %p0, %s1, %r0; mov.u32 %s7, %s1; @%p0 bra DONE;
    add.u32 %s1, %s1, 1; setp.ne.u32 %p1, %s1, 20; mov.u32 %s7, 99; @%p1 bra LOOP;
DONE:
"""
    program = assemble_text(kernel_text(START + body + END))
    opcodes = names(program)
    loop = opcodes[opcodes.index("ISETP.U32") : opcodes.index("BRA", opcodes.index("BRA") + 1)]
    assert "MOV" not in loop, opcodes
    assert words(program) == [i if i < 20 else 99 for i in range(32)]


SMALL = {"f32": 2.0**-13, "f64": 2.0**-30}  # (1 + it) * (1 - it) rounds to one


@pytest.mark.parametrize("kind, row", [("f32", "FFMA"), ("f64", "DFMA")])
@pytest.mark.parametrize(
    "last, exactly, rounded",
    [
        ("add{r}.{t} %v3, %v2, %v4;", lambda tiny: -tiny, 0.0),
        ("sub{r}.{t} %v3, %v4, %v2;", lambda tiny: -2 + tiny, -2.0),
        ("sub{r}.{t} %v3, %v2, %v4;", lambda tiny: 2 - tiny, 2.0),
    ],
)
def test_products_are_contracted_where_no_rounding_is_named(kind, row, last, exactly, rounded):
    """v2 = (1 + e) * (1 - e) = 1 - e * e, and v4 is -1."""
    dtype, small = {"f32": np.float32, "f64": np.float64}[kind], SMALL[kind]
    values, n = np.array([1 + small, 1 - small, -1.0, 0], dtype), dtype().itemsize
    loads = "".join(f"ld.global.{kind} %v{k}, [%rd0+{n * at}];" for k, at in ((0, 0), (1, 1), (4, 2)))
    for rounding, expected in (("", exactly(small * small)), (".rn", rounded)):
        text = (
            f"mul{rounding}.{kind} %v2, %v0, %v1; {last.format(r=rounding, t=kind)} st.global.{kind} "
            f"[%rd0+{3 * n}], %v3;"
        )
        program = assemble_text(kernel_text(f"ld.param.u64 %rd0, [p0]; .reg .{kind} %v<9>; {loads} {text}"))
        assert (row in names(program)) == (rounding == "")
        (out,) = run_kernel(program, "k", [values, 0, 0.0, 0], block=1)
        assert np.frombuffer(out, dtype)[3] == dtype(expected)


def test_products_stay_as_they_are_for_a_debugger():
    """`nvcc -G` writes such a target; ptxas 13.0 makes FMUL and FADD of it, and FFMA without the word."""
    text = (
        "ld.param.u64 %rd0, [p0]; .reg .f32 %v<4>; ld.global.f32 %v0, [%rd0]; mul.f32 %v1, %v0, %v0; add.f32 %v2, "
        "%v1, %v0; st.global.f32 [%rd0], %v2;"
    )
    whole = kernel_text(text)
    target = next(line for line in whole.splitlines() if line.startswith(".target"))
    assert "FFMA" in names(assemble_text(whole))
    assert {"FMUL", "FADD"} <= set(names(assemble_text(whole.replace(target, target + ", debug"))))
