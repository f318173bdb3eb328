"""Conversions and half precision. Oracles: LLVM on the host, numpy's float16, and exact fractions for bfloat16."""

from fractions import Fraction

import numpy as np
import pytest

from gpuprof.isa.modifiers import pack
from tests.emulate.test_arithmetic import RNG, N, assert_same_bits, floats, integers, jit
from tests.support.emulate_harness import evaluate, op

RZ = pack(rnd="rz")


@pytest.mark.parametrize("to,source,intrinsic", [
    ("s32", "f32", "fptosi.sat.i32.f32"), ("u32", "f32", "fptoui.sat.i32.f32"),
    ("s64", "f64", "fptosi.sat.i64.f64"), ("u64", "f64", "fptoui.sat.i64.f64"),
])  # fmt: skip
def test_float_to_integer_saturates(to, source, intrinsic):
    dtype, t = {"f32": (np.float32, "float"), "f64": (np.float64, "double")}[source]
    bits = int(to[1:])
    scale = np.exp2(RNG.uniform(0, bits + 3, N)) * RNG.choice([-1, 1], N)
    a = np.concatenate([floats(dtype), scale.astype(dtype)])
    body = f"%r = call i{bits} @llvm.{intrinsic}({t} %0)\n ret i{bits} %r"
    wanted = jit(body, f"i{bits}", t)(f"u{bits // 8}", a)
    wanted = np.where(np.isnan(a) & (bits == 64), np.uint64(1 << 63), wanted).astype(wanted.dtype)
    (found,) = evaluate(op(f"CVT.{to}.{source}".upper(), mods=RZ), {"a": a}, {"dst": f"u{bits // 8}"})
    assert_same_bits(found, wanted, a)


def test_float_to_narrow_integers():
    a = np.array(
        [-200, -128.4, -1, -0.6, 0.5, 1.5, 2.5, 127.6, 255.9, 70000, np.nan, np.inf, -np.inf, 3, 4, 5] * 8, np.float32
    )
    (s8,) = evaluate(op("CVT.S8.F32"), {"a": a}, {"dst": np.uint32})
    (u8,) = evaluate(op("CVT.U8.F32", mods=RZ), {"a": a}, {"dst": np.uint32})
    (u16,) = evaluate(op("CVT.U16.F32", mods=pack(rnd="rp")), {"a": a}, {"dst": np.uint32})
    assert s8[:13].tolist() == [128, 128, 255, 255, 0, 2, 2, 127, 127, 127, 0, 127, 128]
    assert u8[:13].tolist() == [0, 0, 0, 0, 0, 1, 2, 127, 255, 255, 0, 255, 0]
    assert u16[:13].tolist() == [0, 0, 0, 0, 1, 2, 3, 128, 256, 65535, 0, 65535, 0]


@pytest.mark.parametrize("to,t", [("f32", "float"), ("f64", "double")])
@pytest.mark.parametrize(
    "source,dtype,code",
    [
        ("s32", np.int32, "sitofp"),
        ("u32", np.uint32, "uitofp"),
        ("s64", np.int64, "sitofp"),
        ("u64", np.uint64, "uitofp"),
    ],
)
def test_integer_to_float(to, t, source, dtype, code):
    a = integers(dtype)
    wanted = jit(f"%r = {code} i{source[1:]} %0 to {t}\n ret {t} %r", t, f"i{source[1:]}")(
        np.float32 if to == "f32" else np.float64, a
    )
    (found,) = evaluate(op(f"CVT.{to}.{source}".upper()), {"a": a}, {"dst": wanted.dtype})
    assert_same_bits(found, wanted, a)


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
@pytest.mark.parametrize("source,dtype", [("s64", np.int64), ("u64", np.uint64)])
@pytest.mark.parametrize("to,float_dtype", [("f32", np.float32), ("f64", np.float64)])
def test_integer_to_float_directed(mode, source, dtype, to, float_dtype):
    a = integers(dtype)
    (found,) = evaluate(op(f"CVT.{to}.{source}".upper(), mods=pack(rnd=mode)), {"a": a}, {"dst": float_dtype})
    for value, result in zip(a.tolist(), found, strict=True):
        down = mode == "rm" or (mode == "rz" and value >= 0)
        other = Fraction(float(np.nextafter(result, float_dtype(np.inf if down else -np.inf))))
        last = Fraction(float(result))
        assert last <= value < other if down else last >= value > other or value == last, (value, result)


@pytest.mark.parametrize("to,source,sat,wanted", [
    ("s32", "s8", 0, [0xFFFFFF80, 0x7F, 0xFFFFFFFF, 0x34]),
    ("u32", "u8", 0, [0x80, 0x7F, 0xFF, 0x34]),
    ("u16", "s8", 0, [0xFF80, 0x7F, 0xFFFF, 0x34]),
    ("u8", "s32", 1, [0, 0x7F, 0xFF, 0xFF]),
    ("s8", "u32", 1, [0x7F, 0x7F, 0x7F, 0x7F]),
    ("s16", "s32", 1, [0x8000, 0x7F, 0xFF, 0x1234]),
])  # fmt: skip
def test_integer_to_integer(to, source, sat, wanted):
    a = np.array([0xFFFF0080, 0x7F, 0xFF, 0x1234] * 32, np.uint32)
    (found,) = evaluate(op(f"CVT.{to}.{source}".upper(), mods=pack(sat=sat)), {"a": a}, {"dst": np.uint32})
    assert [hex(v) for v in found[:4]] == [hex(v) for v in wanted]


def test_single_and_double():
    a = floats(np.float64)
    (found,) = evaluate(op("CVT.F32.F64"), {"a": a}, {"dst": np.float32})
    with np.errstate(all="ignore"):
        wanted = a.astype(np.float32)
    assert_same_bits(found, np.where(np.isnan(wanted), np.uint32(0x7FFFFFFF).view(np.float32), wanted), a)


def test_round_to_integral():
    a = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e30, np.inf, -0.2] * 16, np.float32)
    for mode, function in (("rn", np.rint), ("rz", np.trunc), ("rm", np.floor), ("rp", np.ceil)):
        (found,) = evaluate(op("FRND.F32", mods=pack(rnd=mode)), {"a": a}, {"dst": np.float32})
        assert_same_bits(found, function(a), a)


def half_patterns() -> np.ndarray:
    return RNG.permutation(
        np.concatenate([np.arange(0, 1 << 16, 67, dtype=np.uint32), [0, 1, 0x8000, 0x7C00, 0xFC00, 0x7E00]])
    )[: N - 64].astype(np.uint32)


def canonical_half(bits: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(bits.view(np.float16)), np.uint16(0x7FFF), bits).astype(np.uint32)


@pytest.mark.parametrize("name,operation", [("HADD", np.add), ("HMUL", np.multiply)])
def test_half_arithmetic_is_numpys(name, operation):
    a, b = half_patterns(), half_patterns()[::-1].copy()
    (found,) = evaluate(op(name), {"a": a[:896], "b": b[:896]}, {"dst": np.uint32})
    with np.errstate(all="ignore"):
        wanted = operation(a[:896].astype(np.uint16).view(np.float16), b[:896].astype(np.uint16).view(np.float16))
    assert_same_bits(found, canonical_half(wanted.view(np.uint16)), a, b)


def test_packed_half_works_on_both_halves():
    a, b = RNG.integers(0, 1 << 32, N, np.uint32), RNG.integers(0, 1 << 32, N, np.uint32)
    (pair,) = evaluate(op("HADD2"), {"a": a, "b": b}, {"dst": np.uint32})
    (low,) = evaluate(op("HADD"), {"a": a & 0xFFFF, "b": b & 0xFFFF}, {"dst": np.uint32})
    (high,) = evaluate(op("HADD"), {"a": a >> 16, "b": b >> 16}, {"dst": np.uint32})
    assert_same_bits(pair, low | high << np.uint32(16), a, b)


def nearest_pattern(value: Fraction, widen, largest: int) -> int:
    """The 16-bit pattern nearest to a positive value, ties to even, by bisection over all patterns."""
    lo, hi = 0, largest
    while hi - lo > 1:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if widen(middle) <= value else (lo, middle)
    below, above = value - widen(lo), widen(hi) - value
    return lo if below < above or (below == above and lo % 2 == 0) else hi


@pytest.mark.parametrize("name,shift,exponents", [("BFMA", 16, (100, 150)), ("HFMA", 0, (8, 22))])
def test_half_fma_rounds_once(name, shift, exponents):
    """Products that lie halfway between two results, with a tiny addend that decides."""

    def widen(pattern: int) -> Fraction:
        bits = np.array(pattern, np.uint16)
        value = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32) if shift else bits.view(np.float16)
        return Fraction(float(value))

    fraction_bits = 7 if shift else 10
    mantissa = lambda: RNG.integers(0, 1 << fraction_bits, 256)  # noqa: E731
    exponent = lambda: RNG.integers(*exponents, 256)  # noqa: E731
    a, b = ((exponent() << fraction_bits | mantissa()).astype(np.uint32) for _ in range(2))
    c = np.where(RNG.random(256) < 0.5, 1, exponent() << fraction_bits | mantissa()).astype(np.uint32)
    (found,) = evaluate(op(name), {"a": a, "b": b, "c": c}, {"dst": np.uint32})
    largest = 0x7F7F if shift else 0x7BFF
    for x, y, z, result in zip(a, b, c, found, strict=True):
        exact = widen(x) * widen(y) + widen(z)
        if exact < widen(largest):
            assert result == nearest_pattern(exact, widen, largest), (hex(x), hex(y), hex(z))


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("t", ["F16", "BF16"])
def test_single_to_half(mode, t):
    a = np.concatenate([floats(np.float32), (RNG.random(N) * 100 - 50).astype(np.float32)])
    (found,) = evaluate(op(f"CVT.{t}.F32", mods=pack(rnd=mode)), {"a": a}, {"dst": np.uint32})
    (back,) = evaluate(op(f"CVT.F32.{t}"), {"a": found}, {"dst": np.float32})
    ok = np.isfinite(back) & (np.abs(a) <= (65504 if t == "F16" else 3.38e38))
    exact, rounded = a[ok].astype(np.float64), back[ok].astype(np.float64)
    if mode == "rn" and t == "F16":
        with np.errstate(all="ignore"):
            assert_same_bits(found, canonical_half(a.astype(np.float16).view(np.uint16)), a)
    if mode in ("rm", "rp"):
        assert (rounded <= exact).all() if mode == "rm" else (rounded >= exact).all()
    if mode == "rz":
        assert (np.abs(rounded) <= np.abs(exact)).all()
    error = np.abs(rounded - exact)
    ulp = np.maximum(
        np.exp2(np.floor(np.log2(np.maximum(np.abs(exact), 1e-300))) - (10 if t == "F16" else 7)),
        2.0**-24 if t == "F16" else 2.0**-133,
    )
    assert (error <= ulp * (0.5 if mode == "rn" else 1)).all()


def test_pack_of_two_floats():
    a, b = np.full(128, 1.0, np.float32), np.full(128, -2.0, np.float32)
    (found,) = evaluate(op("CVT.F16X2.F32"), {"a": a, "b": b}, {"dst": np.uint32})
    (relu,) = evaluate(op("CVT.BF16X2.F32", mods=pack(relu=1)), {"a": a, "b": b}, {"dst": np.uint32})
    assert (hex(found[0]), hex(relu[0])) == ("0x3c00c000", "0x3f800000")


def test_tensor_float_rounds_halves_away_from_zero():
    a = np.array([0x3F801000, 0x3F800FFF, 0xBF801000, 0x7F800000] * 32, np.uint32).view(np.float32)
    (found,) = evaluate(op("CVT.TF32.F32", mods=pack(rnd="rna")), {"a": a}, {"dst": np.uint32})
    assert [hex(v) for v in found[:4]] == ["0x3f802000", "0x3f800000", "0xbf802000", "0x7f800000"]
