"""Float instructions of PTX that become several of ours, or that choose a row by their modifiers, from PTX text to
results, against exact fractions.
"""

import itertools

import numpy as np
import pytest

from tests.references.conformance import FLOATS
from tests.references.conformance_floats import (
    ANY_NAN,
    FORMATS,
    add,
    decode,
    encode,
    extremum,
    flush,
    fused,
    multiply,
    negate,
    saturate,
)
from tests.support.ptx_lanes import run_lanes

RNG = np.random.default_rng(31)
LANES = 512
MODES = ("rn", "rz", "rm", "rp")
FILE = {"f16": "h", "bf16": "h", "f32": "r", "f64": "d"}
DTYPE = {"h": np.uint16, "r": np.uint32, "d": np.uint64}


def operands(t: str, which: int) -> np.ndarray:
    """Specials against each other, then patterns at random, then numbers near one."""
    sign = FORMATS[t].sign
    specials = np.array([*FLOATS[t], *(value | sign for value in FLOATS[t])], np.uint64)
    first = np.resize(
        specials if which == 0 else np.repeat(specials, len(specials)) if which == 1 else RNG.permutation(specials),
        LANES - 128,
    )
    noise = RNG.integers(0, 2 * sign - 1, 64, np.uint64, endpoint=True)
    usual = [encode(decode(int(value), "f64"), t) for value in RNG.uniform(-2, 2, 64).view(np.uint64)]
    return np.concatenate([first, noise, np.array(usual, np.uint64)]).astype(DTYPE[FILE[t]])


def assert_same(text: str, found, wanted, rows) -> None:
    bad = [k for k, (x, y) in enumerate(zip(found.tolist(), wanted, strict=True)) if x != y and y is not ANY_NAN]
    assert not bad, (
        text
        + ": "
        + "; ".join(f"{[hex(int(r[k])) for r in rows]} -> {found[k]:#x}, not {wanted[k]:#x}" for k in bad[:4])
    )


def finished(number, mode: str, text: str, t: str = "f32"):
    bits = encode(number, t, mode)
    return saturate(bits, t) if ".sat" in text else bits


@pytest.mark.parametrize("t", ["f16", "bf16"])
def test_mixed_precision(t):
    """add, sub, fma of f32 with half-precision sources: one rounding, from the exact result."""
    a, b, c = operands(t, 0), operands(t, 1), operands("f32", 2)
    names = [f"{name}.{mode}{sat}.f32.{t}" for name in ("add", "sub", "fma") for mode in MODES for sat in ("", ".sat")]
    texts = [f"{name} r0, h1, {'h2, ' if name.startswith('fma') else ''}r3" for name in names]
    lanes = [
        (decode(x, t), decode(y, t), decode(z, "f32"))
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    ]
    for text, (found,) in zip(texts, run_lanes(texts, {"h1": a, "h2": b, "r3": c}), strict=True):
        name, mode = text.split(".")[:2]
        compute = {
            "add": lambda m, x, y, z: add(m, x, z),
            "sub": lambda m, x, y, z: add(m, x, negate(z)),
            "fma": fused,
        }[name]
        assert_same(text, found, [finished(compute(mode, *lane), mode, text) for lane in lanes], (a, b, c))


def test_two_singles_side_by_side():
    rows = [
        operands("f32", k).astype(np.uint64) | RNG.permutation(operands("f32", k)).astype(np.uint64) << np.uint64(32)
        for k in range(3)
    ]
    texts = [
        f"{name}.{mode}{ftz}.f32x2 d0, d1, d2"
        for name in ("add", "sub", "mul")
        for mode in MODES
        for ftz in ("", ".ftz")
    ]
    texts += [f"fma.{mode}.f32x2 d0, d1, d2, d3" for mode in MODES]
    for text, (found,) in zip(texts, run_lanes(texts, dict(zip(("d1", "d2", "d3"), rows, strict=True))), strict=True):
        name, mode = text.split(".")[:2]
        compute = {"add": add, "sub": lambda m, x, y: add(m, x, negate(y)), "mul": multiply, "fma": fused}[name]

        def half(values, shift, compute=compute, mode=mode, text=text):
            bits = [value >> shift & 0xFFFFFFFF for value in values]
            bits = [flush(x, "f32") for x in bits] if "ftz" in text else bits
            result = encode(compute(mode, *[decode(x, "f32") for x in bits]), "f32", mode)
            return flush(result, "f32") if "ftz" in text else result

        sources = rows if name == "fma" else rows[:2]
        lanes = list(zip(*[row.tolist() for row in sources], strict=True))
        assert_same(text, found, [half(lane, 0) | half(lane, 32) << 32 for lane in lanes], rows)


@pytest.mark.parametrize("t", ["f16", "bf16", "f32"])
def test_smallest_and_largest(t):
    file = FILE[t]
    rows = [operands(t, k) for k in range(3)]
    ftz = ("",) if t == "bf16" else ("", ".ftz")
    forms = [
        (n, z, nan, sign)
        for n, z, nan, sign in itertools.product(("min", "max"), ftz, ("", ".NaN"), ("", ".xorsign.abs"))
    ]
    texts = [f"{n}{z}{nan}{sign}.{t} {file}0, {file}1, {file}2" for n, z, nan, sign in forms]
    if t == "f32":
        texts += [
            f"{n}{z}{nan}{size}.f32 r0, r1, r2, r3"
            for n, z, nan, size in itertools.product(("min", "max"), ftz, ("", ".NaN"), ("", ".abs"))
        ]
    for text, (found,) in zip(
        texts, run_lanes(texts, {f"{file}{k + 1}": row for k, row in enumerate(rows)}), strict=True
    ):
        mods = {"ftz": ".ftz" in text, "nan": ".NaN" in text, "xorsign": ".xorsign" in text, "abs": ".abs" in text}
        reference = extremum(-1 if text.startswith("min") else 1)
        sources = rows if text.endswith("3") else rows[:2]
        assert_same(
            text,
            found,
            [reference(t, mods, *lane) for lane in zip(*[row.tolist() for row in sources], strict=True)],
            rows,
        )


def test_sub_is_add_of_the_negative():
    for t in FILE:
        file, rows = FILE[t], [operands(t, 0), operands(t, 1)]
        text = f"sub.rn.{t} {file}0, {file}1, {file}2"
        ((found,),) = run_lanes([text], {f"{file}1": rows[0], f"{file}2": rows[1]})
        lanes = zip(rows[0].tolist(), rows[1].tolist(), strict=True)
        wanted = [encode(add("rn", decode(a, t), negate(decode(b, t))), t) for a, b in lanes]
        assert_same(text, found, wanted, rows)


def test_double_reciprocal_root_is_not_the_approximation():
    """rsqrt.approx.f64 has all its bits; rsqrt.approx.ftz.f64 has zeros in the lower word."""
    x = RNG.uniform(1e-9, 1e9, 256)
    (exact,), (rough,) = run_lanes(
        ["rsqrt.approx.f64 d0, d1", "rsqrt.approx.ftz.f64 d0, d1"], {"d1": x.view(np.uint64)}
    )
    assert np.allclose(exact.view(np.float64), 1 / np.sqrt(x), rtol=2.0**-51, atol=0)
    assert (rough & np.uint64(0xFFFFFFFF) == 0).all()
    assert np.allclose(rough.view(np.float64), 1 / np.sqrt(x), rtol=2.0**-20, atol=0)


def test_slct_takes_a_for_zeros_of_both_signs_and_b_for_nan():
    c = np.array([0, 1 << 31, 0x3F800000, 0xBF800000, 0x7FC00000, 0x80000001, 0xFF800000], np.uint32)
    texts = [
        "slct.u32.f32 r0, 7, 9, r3",
        "slct.ftz.u32.f32 r0, 7, 9, r3",
        "slct.u64.f32 d0, 7, 9, r3",
        "slct.u16.s32 h0, 7, 9, r3",
    ]
    found = [row.tolist() for (row,) in run_lanes(texts, {"r3": c})]
    assert found[0] == [7, 7, 7, 9, 9, 9, 9]
    assert found[1] == [7, 7, 7, 9, 9, 7, 9]
    assert found[2] == found[0]
    assert found[3] == [7, 9, 7, 9, 7, 9, 9]
