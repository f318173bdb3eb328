"""What `assemble.optimize.combine` joins, and what it must leave alone: the instructions of short texts, and what they
compute beside Python.
"""

import numpy as np
import pytest

from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text, kernel_text, run_kernel


def middle(body: str) -> list[str]:
    """The instructions of a kernel between its loads and its stores."""
    names = [decode(row).op.name for row in assemble_text(kernel_text(body)).code]
    return [name for name in names if not name.startswith(("LOAD.", "LD", "ST", "MOV", "EXIT", "S2R"))]


LOADS = (
    "ld.param.u64 %rd0, [p0]; ld.global.u32 %r0, [%rd0]; ld.global.u32 %r1, [%rd0+4]; ld.global.u32 %r2, [%rd0+8]; "
    "ld.global.u32 %r5, [%rd0+12];"
)
CASES = {
    "add.u32 %r3, %r0, %r1; add.u32 %r4, %r3, %r2;": ["IADD3"],
    "add.u32 %r3, %r0, 7; add.u32 %r4, %r2, %r3;": ["IADD3"],
    "add.u32 %r3, %r0, 7; add.u32 %r4, %r3, 9;": ["IADD", "IADD"],  # one instruction has one constant
    "add.u32 %r3, %r0, %r1; add.u32 %r4, %r3, %r3;": ["IADD", "IADD"],  # the sum is needed twice
    "shl.b32 %r3, %r0, 5; add.u32 %r4, %r3, %r1;": ["LEA"],
    "shl.b32 %r3, %r0, 5; add.u32 %r4, %r1, %r3;": ["LEA"],
    "shl.b32 %r3, %r0, %r2; add.u32 %r4, %r3, %r1;": ["SHL", "IADD"],
    "and.b32 %r3, %r0, %r1; or.b32 %r4, %r3, %r2;": ["LOP3"],
    # a register that is written twice
    "xor.b32 %r3, %r0, %r1; and.b32 %r3, %r3, %r2; xor.b32 %r4, %r3, %r1;": ["XOR", "AND", "XOR"],
    "xor.b32 %r3, %r0, %r1; and.b32 %r6, %r3, %r2; xor.b32 %r4, %r6, %r1;": ["LOP3"],
    "and.b32 %r3, %r0, 12; xor.b32 %r6, %r3, %r2; not.b32 %r4, %r6;": ["LOP3"],
    "and.b32 %r3, %r0, %r1; xor.b32 %r6, %r3, %r2; or.b32 %r4, %r6, %r5;": ["LOP3", "OR"],  # four sources
    "and.b32 %r3, %r0, 4; setp.ne.u32 %p1, %r3, 0; selp.u32 %r4, %r1, %r2, %p1;": ["TEST", "SEL"],
    "and.b32 %r3, %r0, %r5; setp.eq.s32 %p1, %r3, 0; selp.u32 %r4, %r1, %r2, %p1;": ["TEST", "SEL"],
    "and.b32 %r3, %r0, 4; setp.ne.u32 %p1, %r3, 4; selp.u32 %r4, %r1, %r2, %p1;": ["AND", "ISETP.U32", "SEL"],
    "setp.lt.s32 %p1, %r0, %r1; setp.gt.u32 %p2, %r2, 3; or.pred %p3, %p1, %p2; selp.u32 %r4, %r1, %r5, "
        "%p3;": ["ISETP.S32", "ISETP.U32", "SEL"],
    "setp.lt.s32 %p1, %r0, %r1; setp.gt.u32 %p2, %r2, 3; not.pred %p2, %p2; and.pred %p3, %p1, %p2; selp.u32 %r4, %r1, "
        "%r5, %p3;": None,
    "setp.lt.s32 %p1, %r0, %r1; setp.gt.u32 %p2, %r2, 3; not.pred %p4, %p2; xor.pred %p3, %p4, %p1; selp.u32 %r4, %r1, "
        "%r5, %p3;": None,
    # a source changes between the two
    "mov.u32 %r6, %r0; add.u32 %r3, %r6, %r1; mov.u32 %r6, %r2; add.u32 %r4, %r3, %r6;": None,
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_what_is_joined(text):
    if CASES[text] is not None:
        assert sorted(middle(f"{LOADS} {text} st.global.u32 [%rd0+16], %r4;")) == sorted(CASES[text])


@pytest.mark.parametrize("text", CASES)
def test_values(text):
    """Every combination beside the same text in the way that PTX says it, one instruction after the other, in
    Python.
    """
    body = f"{LOADS} {text} st.global.u32 [%rd0+16], %r4;"
    special = [[4, 1, 2, 3], [8, 0xFFFFFFFF, 3, 0], [0, 0, 4, 0]]
    for values in (*special, *np.random.default_rng(4).integers(0, 1 << 32, (6, 4), np.uint32).tolist()):
        memory = np.array([*values, 0], np.uint32)
        (out,) = run_kernel(assemble_text(kernel_text(body)), "k", [memory, 0, 0.0, 0], block=1)
        assert np.frombuffer(out, np.uint32)[4] == interpreted(
            text, dict(zip(("%r0", "%r1", "%r2", "%r5"), values, strict=True))
        ), values


def interpreted(text: str, registers: dict[str, int]) -> int:
    signed = lambda x: (x ^ 0x80000000) - 0x80000000  # noqa: E731
    operations = {
        "add.u32": lambda a, b: a + b, "shl.b32": lambda a, b: a << min(b, 32), "and.b32": lambda a, b: a & b,
        "or.b32": lambda a, b: a | b,
        "xor.b32": lambda a, b: a ^ b, "not.b32": lambda a: ~a, "mov.u32": lambda a: a, "setp.ne.u32": lambda a,
        b: a != b,
        "setp.eq.s32": lambda a, b: a == b, "setp.lt.s32": lambda a, b: signed(a) < signed(b), "setp.gt.u32": lambda a,
        b: a > b,
        "or.pred": lambda a, b: a | b, "and.pred": lambda a, b: a & b, "xor.pred": lambda a, b: a ^ b,
        "not.pred": lambda a: not a,
        "selp.u32": lambda a, b, p: a if p else b,
    }  # fmt: skip
    registers = dict(registers)
    for line in filter(None, (part.strip() for part in text.split(";"))):
        name, operands = line.split(" ", 1)
        target, *sources = (operand.strip() for operand in operands.split(","))
        registers[target] = (
            operations[name](*[registers[s] if s.startswith("%") else int(s) for s in sources]) & 0xFFFFFFFF
        )
    return registers["%r4"]


FLOATS = (0.0, -1.5, 2.0, float("nan"))
# Of numbers; of a NaN these do not hold, and those with a `u` do.
ORDERED = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal}  # fmt: skip
LOGIC = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


@pytest.mark.parametrize("number", ["f32", "f64"])
@pytest.mark.parametrize("compared", [*ORDERED, *(f"{each}u" for each in ORDERED), "num", "nan"])
def test_comparisons_of_floats_take_a_predicate(number, compared):
    """Each logic with the comparison and with its opposite, in one instruction beside the comparison that made the
    predicate; of all pairs of four numbers, one of them a NaN.
    """
    forms = [(logic, negated) for logic in LOGIC for negated in (False, True)]
    text = ".reg .pred %q<18>; ld.param.u64 %rd0, [p0]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 3; "
    text += "shr.u32 %r2, %r0, 2; and.b32 %r2, %r2, 3; "
    text += "mad.wide.u32 %rd1, %r1, 8, %rd0; mad.wide.u32 %rd2, %r2, 8, %rd0; mad.wide.u32 %rd3, %r0, 4, %rd0; "
    text += "ld.global.f64 %fd0, [%rd1]; ld.global.f64 %fd1, [%rd2]; "
    text += "cvt.rn.f32.f64 %f0, %fd0; cvt.rn.f32.f64 %f1, %fd1; setp.gt.u32 %p0, %r0, 15; "
    pair = "%f0, %f1" if number == "f32" else "%fd0, %fd1"
    for place, (logic, negated) in enumerate(forms):
        first, opposite, result = (f"%q{3 * place + k}" for k in range(3))
        text += f"setp.{compared}.{number} {first}, {pair}; not.pred {opposite}, {first}; "
        text += f"{logic}.pred {result}, {opposite if negated else first}, %p0; selp.u32 %r3, 1, 0, {result}; "
        text += f"st.global.u32 [%rd3+{32 + 128 * place}], %r3; "
    names = middle(text)
    assert not {"PAND", "POR", "PXOR", "PMOV"} & set(names)
    (out,) = run_kernel(
        assemble_text(kernel_text(text)), "k", [np.array([*FLOATS, *[0] * 96], np.float64), 0, 0.0, 0], block=32
    )
    found = np.frombuffer(out, np.uint32)[8 : 8 + 32 * len(forms)].reshape(len(forms), 32)
    lanes = np.arange(32)
    x, y = np.array(FLOATS)[lanes & 3], np.array(FLOATS)[lanes >> 2 & 3]
    unordered = np.isnan(x) | np.isnan(y)
    if compared in ("num", "nan"):
        holds = unordered == (compared == "nan")
    else:
        holds = np.where(unordered, compared.endswith("u"), ORDERED[compared.removesuffix("u")](x, y))
    expected = [LOGIC[logic](holds ^ negated, lanes > 15) for logic, negated in forms]
    assert (found == np.array(expected)).all()


@pytest.mark.parametrize("sign", ["u32", "s32"])
@pytest.mark.parametrize("order", [("hi", "lo"), ("lo", "hi")])
def test_both_halves_of_a_product(sign, order):
    """One widening multiplication, whichever half is asked for first."""
    halves = {"hi": f"mul.hi.{sign} %r3, %r0, %r1;", "lo": f"mul.lo.{sign} %r4, %r1, %r0;"}
    body = f"{LOADS} {halves[order[0]]} {halves[order[1]]} st.global.u32 [%rd0+16], %r3; st.global.u32 [%rd0+20], %r4;"
    program = assemble_text(kernel_text(body))
    assert [name for name in middle(body) if name.startswith("IMUL")] == [f"IMUL.WIDE.{sign[0].upper()}32"]
    for x, y in ((0xFFFFFFFF, 0xFFFFFFFF), (0x80000000, 3), (123456789, 987654321)):
        (out,) = run_kernel(program, "k", [np.array([x, y, 0, 0, 0, 0], np.uint32), 0, 0.0, 0], block=1)
        a, b = ((v ^ 0x80000000) - 0x80000000 if sign == "s32" else v for v in (x, y))
        high, low = np.frombuffer(out, np.uint32)[4:6].tolist()
        assert (high, low) == (a * b >> 32 & 0xFFFFFFFF, a * b & 0xFFFFFFFF)


def test_a_widened_product_is_computed_in_every_sum_with_it():
    """A 64-bit sum takes two slots, this product one. ptxas 13.0 does so for any number of readers."""
    sums = "".join(f"ld.global.u64 %rd2, [%rd0+{8 * k}]; add.s64 %rd3, %rd2, %rd1; st.global.u64 [%rd0+{8 * k}], %rd3;"
                   for k in range(9))  # fmt: skip
    found = middle("ld.param.u64 %rd0, [p0]; ld.global.u32 %r0, [%rd0+128]; mul.wide.s32 %rd1, %r0, 8;" + sums)
    assert found == ["IMAD.WIDE.S32"] * 9
