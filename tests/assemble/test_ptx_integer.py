"""Integer instructions of PTX that become several of ours, or that fix operands in passing, from PTX text to results,
against plain Python integers.
"""

import numpy as np
import pytest

from tests.references.conformance import COUNTS, INTEGERS_32, INTEGERS_64
from tests.references.conformance_integers import COMPARISONS, divide, remainder, signed
from tests.support.ptx_lanes import run_lanes

RNG = np.random.default_rng(20)
LANES = 640
MASKS = {"h": 0xFFFF, "r": 0xFFFFFFFF, "d": (1 << 64) - 1}


def operands(file: str) -> list[np.ndarray]:
    """Three rows: specials against each other, then random numbers."""
    dtype = {"h": np.uint16, "r": np.uint32, "d": np.uint64}[file]
    specials = {
        "h": [0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF],
        "r": INTEGERS_32,
        "d": INTEGERS_64,
    }[file]
    specials = np.array(specials, dtype)
    noise = [RNG.integers(0, np.iinfo(dtype).max, LANES // 4, dtype, endpoint=True) for _ in range(3)]
    n = LANES - LANES // 4
    rows = [np.resize(specials, n), np.resize(np.repeat(specials, len(specials)), n), RNG.choice(specials, n)]
    return [np.concatenate([row, more]) for row, more in zip(rows, noise, strict=True)]


def clamp32(value: int) -> int:
    return max(-(1 << 31), min((1 << 31) - 1, value))


def low24(value: int, t: str) -> int:
    value &= 0xFFFFFF
    return signed(value, 24) if t == "s32" else value


def number(value: int, t: str) -> int:
    return signed(value, int(t[1:])) if t[0] == "s" else value


def wide(function):
    """Of numbers of type t."""
    return lambda t, *values: function(*[number(value, t) for value in values])


TYPES = {"h": ("u16", "s16"), "r": ("u32", "s32"), "d": ("u64", "s64")}


def upper(t: str, a: int, b: int) -> int:
    return number(a, t) * number(b, t) >> int(t[1:])


# opcode with {t} for the type -> (register files, types or None for all of the file, function(type, a, b, c))
CASES = {
    "add.{t}": ("hrd", None, wide(lambda a, b, c: a + b)),
    "sub.{t}": ("hrd", None, wide(lambda a, b, c: a - b)),
    "add.sat.{t}": ("r", ("s32",), wide(lambda a, b, c: clamp32(a + b))),
    "sub.sat.{t}": ("r", ("s32",), wide(lambda a, b, c: clamp32(a - b))),
    "mul.lo.{t}": ("hrd", None, wide(lambda a, b, c: a * b)),
    "mul.hi.{t}": ("hrd", None, lambda t, a, b, c: upper(t, a, b)),
    "mad.lo.{t}": ("hrd", None, wide(lambda a, b, c: a * b + c)),
    "mad.hi.{t}": ("hrd", None, lambda t, a, b, c: upper(t, a, b) + number(c, t)),
    "mad.hi.sat.{t}": ("r", ("s32",), lambda t, a, b, c: clamp32(upper(t, a, b) + number(c, t))),
    "mul24.lo.{t}": ("r", None, lambda t, a, b, c: low24(a, t) * low24(b, t)),
    "mul24.hi.{t}": ("r", None, lambda t, a, b, c: low24(a, t) * low24(b, t) >> 16),
    "mad24.lo.{t}": ("r", None, lambda t, a, b, c: low24(a, t) * low24(b, t) + c),
    "mad24.hi.{t}": ("r", None, lambda t, a, b, c: (low24(a, t) * low24(b, t) >> 16) + c),
    "mad24.hi.sat.{t}": ("r", ("s32",), lambda t, a, b, c: clamp32((low24(a, t) * low24(b, t) >> 16) + number(c, t))),
    "sad.{t}": ("hrd", None, wide(lambda a, b, c: c + abs(a - b))),
    "div.{t}": ("hrd", None, wide(lambda a, b, c: divide(a, b))),
    "rem.{t}": ("hrd", None, wide(lambda a, b, c: remainder(a, b))),
    "min.{t}": ("hrd", None, wide(lambda a, b, c: min(a, b))),
    "max.{t}": ("hrd", None, wide(lambda a, b, c: max(a, b))),
    "min.relu.{t}": ("r", ("s32",), wide(lambda a, b, c: max(min(a, b), 0))),
    "max.relu.{t}": ("r", ("s32",), wide(lambda a, b, c: max(a, b, 0))),
}  # fmt: skip


def source_count(opcode: str) -> int:
    return 3 if opcode.startswith(("mad", "sad")) else 2


@pytest.mark.parametrize("opcode", CASES)
def test_arithmetic(opcode):
    files, types, function = CASES[opcode]
    for file in files:
        rows = operands(file)
        listed = types or TYPES[file]
        sources = ", ".join(f"{file}{k + 1}" for k in range(source_count(opcode)))
        found = run_lanes(
            [f"{opcode.format(t=t)} {file}0, {sources}" for t in listed],
            {f"{file}{k + 1}": row for k, row in enumerate(rows)},
        )
        for t, (result,) in zip(listed, found, strict=True):
            wanted = [
                function(t, *values) & MASKS[file] for values in zip(*[row.tolist() for row in rows], strict=True)
            ]
            assert_same(f"{opcode.format(t=t)}", result.tolist(), wanted, rows)


def assert_same(what, found, wanted, rows):
    bad = [lane for lane, (x, y) in enumerate(zip(found, wanted, strict=True)) if x != y]
    assert not bad, (
        what
        + ": "
        + "; ".join(f"{[hex(int(r[k])) for r in rows]} -> {found[k]:#x}, not {wanted[k]:#x}" for k in bad[:4])
    )


def test_wide_products():
    for narrow, result, t in (("h", "r", "u16"), ("h", "r", "s16"), ("r", "d", "u32"), ("r", "d", "s32")):
        a, b, _ = operands(narrow)
        c = operands(result)[2]
        texts = [
            f"mul.wide.{t} {result}0, {narrow}1, {narrow}2",
            f"mad.wide.{t} {result}0, {narrow}1, {narrow}2, {result}3",
        ]
        (product,), (total,) = run_lanes(texts, {f"{narrow}1": a, f"{narrow}2": b, f"{result}3": c})
        pairs = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
        exact = [(number(x, t) * number(y, t), z) for x, y, z in pairs]
        assert_same(texts[0], product.tolist(), [p & MASKS[result] for p, _ in exact], (a, b))
        assert_same(texts[1], total.tolist(), [p + z & MASKS[result] for p, z in exact], (a, b, c))


@pytest.mark.parametrize(("file", "bits"), [("r", 32), ("d", 64)])
def test_carry_chains(file, bits):
    """Sums, differences and products of twice the width."""
    a, b, c = operands(file)
    d = RNG.permutation(a)
    texts = [
        f"add.cc.u{bits} {file}0, {file}1, {file}2; addc.u{bits} {file}0, {file}3, {file}4",
        f"sub.cc.u{bits} {file}0, {file}1, {file}2; subc.u{bits} {file}0, {file}3, {file}4",
        f"mad.lo.cc.u{bits} {file}0, {file}1, {file}2, {file}3; madc.hi.u{bits} {file}0, {file}1, {file}2, {file}4",
    ]
    found = run_lanes(texts, {f"{file}{k}": row for k, row in enumerate((a, b, c, d), 1)})
    lanes = list(zip(a.tolist(), b.tolist(), c.tolist(), d.tolist(), strict=True))
    references = (
        lambda x, y, u, v: (x | u << bits) + (y | v << bits),
        lambda x, y, u, v: (x | u << bits) - (y | v << bits),
        lambda x, y, u, v: x * y + (u | v << bits),
    )
    for text, (result,), reference in zip(texts, found, references, strict=True):
        assert_same(text, result.tolist(), [reference(*lane) >> bits & MASKS[file] for lane in lanes], (a, b, c, d))


def test_logic_with_a_predicate():
    """p = (d != 0) BoolOp q (PTX ISA, lop3)."""
    a, b, c = operands("r")
    a[:40] = 0
    q = RNG.integers(0, 2, LANES)
    texts = [
        f"lop3.{op}.b32 r0|p0, r1, r2, r3, {lut:#x}, {sign}p1"
        for op in ("or", "and")
        for lut in (0x80, 0xC0)
        for sign in ("", "!")
    ]
    texts.append("lop3.or.b32 _|p0, r1, r2, r3, 0x80, p1")
    found = run_lanes(texts, {"r1": a, "r2": b, "r3": c, "p1": q})
    for text, results in zip(texts, found, strict=True):
        value = a & b & c if "0x80" in text else a & b
        third = q == 0 if "!p1" in text else q == 1
        held = (value != 0) | third if ".or" in text else (value != 0) & third
        assert (results[-1] == held).all(), text
        if len(results) == 2:
            assert (results[0] == value).all(), text


@pytest.mark.parametrize("file", "hrd")
def test_shifts_past_the_width(file):
    bits = {"h": 16, "r": 32, "d": 64}[file]
    a, amount = operands(file)[0], np.resize(np.array([*COUNTS, 15, 16, 17], np.uint32), LANES)
    texts = [
        f"shl.b{bits} {file}0, {file}1, r2",
        f"shr.u{bits} {file}0, {file}1, r2",
        f"shr.s{bits} {file}0, {file}1, r2",
    ]
    found = run_lanes(texts, {f"{file}1": a, "r2": amount})
    lanes = [(x, min(n, bits)) for x, n in zip(a.tolist(), amount.tolist(), strict=True)]
    wanted = ([x << n for x, n in lanes], [x >> n for x, n in lanes], [signed(x, bits) >> n for x, n in lanes])
    for text, (result,), values in zip(texts, found, wanted, strict=True):
        assert_same(text, result.tolist(), [value & MASKS[file] for value in values], (a, amount))


@pytest.mark.parametrize("file", "hrd")
def test_comparisons(file):
    """setp with both results, and set to integers and floats."""
    a, b, _ = operands(file)
    q = RNG.integers(0, 2, LANES)
    third = q.astype(bool)
    for t in TYPES[file]:
        texts = [f"setp.{name}.xor.{t} p0|p1, {file}1, {file}2, !p2" for name in COMPARISONS]
        texts += [
            f"set.{name}.and.{kind}.{t} r0, {file}1, {file}2, p2" for name in COMPARISONS for kind in ("u32", "f32")
        ]
        found = run_lanes(texts, {f"{file}1": a, f"{file}2": b, "p2": q})
        for text, results in zip(texts, found, strict=True):
            compare = COMPARISONS[text.split(".")[1]]
            held = np.array([compare(number(x, t), number(y, t)) for x, y in zip(a.tolist(), b.tolist(), strict=True)])
            if text.startswith("setp"):
                assert (results[0] == (held ^ ~third)).all() and (results[1] == (~held ^ ~third)).all(), text
            else:
                true = 0x3F800000 if ".f32." in text else 0xFFFFFFFF
                assert (results[0] == np.where(held & third, true, 0)).all(), text


@pytest.mark.parametrize(
    "opcode",
    ["add.u16", "sub.s16", "mul.lo.s16", "mul.hi.s16", "mad.lo.u16", "mad.hi.s16", "sad.s16", "div.u16", "div.s16",
        "rem.u16", "rem.s16", "min.s16",
     "max.s16", "min.u16"],
)  # fmt: skip
def test_results_of_16_bits_have_nothing_above_them(opcode):
    """A comparison sees the whole register: what a store hides, it shows. Quotients by zero are all ones, of 16
    bits.
    """
    a, b, c = operands("h")
    sources = ", ".join(f"h{k + 1}" for k in range(source_count(opcode)))
    texts = [
        f"{opcode} h0, {sources}",
        f"mov.b32 r0, 0; {opcode} h4, {sources}; setp.eq.u16 p0, h4, h5; selp.b32 r0, 1, 0, p0",
    ]
    rows = {"h1": a, "h2": b, "h3": c}
    ((result,),) = run_lanes(texts[:1], rows)
    ((equal,),) = run_lanes(texts[1:], rows | {"h5": result})
    assert (equal == 1).all()
