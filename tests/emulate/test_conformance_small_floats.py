"""Floats of 4, 6 and 8 bits against ml_dtypes, stochastic rounding against exact fractions, and packing of integers
against Python integers.
"""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from gpuprof.isa.opcodes import BY_NAME, TABLE
from tests.references.conformance import FLOATS, INTEGERS_32, LANES, Variant, check, every, operand_rows
from tests.references.conformance_floats import FORMATS, INF, NAN, decode, encode, relu
from tests.references.conformance_integers import MASK32, signed
from tests.support.ptx_lanes import run_lanes

RNG = np.random.default_rng(8)
LIBRARY = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "ue8m0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
# Largest number; canonical NaN, or the largest number where a format has none (PTX ISA, cvt, .satfinite); bits of a
# code and of its place in a pair.
LARGEST = {"e4m3": 0x7E, "e5m2": 0x7B, "e2m3": 0x1F, "e3m2": 0x1F, "e2m1": 0x7}
NANS = {"e4m3": 0x7F, "e5m2": 0x7F, "e2m3": 0x1F, "e3m2": 0x1F, "e2m1": 0x7}
BITS = {"e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4}
PLACE = {"e4m3": 8, "e5m2": 8, "e2m3": 8, "e3m2": 8, "e2m1": 4}

NARROWING = [op.name for op in TABLE if op.semantics == "cvt_small"]
WIDENING = [op.name for op in TABLE if op.semantics == "cvt_widen"]
SCALES = [op.name for op in TABLE if op.semantics == "cvt_scale"]
STOCHASTIC = [op.name for op in TABLE if op.semantics in ("cvt_stochastic", "cvt_stochastic4")]
PACKS = [op.name for op in TABLE if op.semantics == "cvt_pack_integers"]
OPCODES = [*NARROWING, *WIDENING, *SCALES, *STOCHASTIC, *PACKS]


def value_of(code: int, t: str) -> Fraction:
    return Fraction(float(np.array(code, np.uint8).view(LIBRARY[t])))


def singles(t: str) -> np.ndarray:
    """f32 patterns: specials, every number of the small format, the points halfway between them, and their
    neighbours.
    """
    codes = np.arange(LARGEST[t] + 1)
    exact = codes.astype(np.uint8).view(LIBRARY[t]).astype(np.float32)
    middles = (exact[1:] + exact[:-1]) / 2
    beyond = [exact[-1] + (exact[-1] - exact[-2]) / 2, exact[-1] * 2]
    around = np.concatenate([exact, middles, np.array(beyond, np.float32)])
    near = np.concatenate([around, np.nextafter(around, np.float32(np.inf)), np.nextafter(around, np.float32(-1))])
    specials = np.array(FLOATS["f32"], np.uint32).view(np.float32)
    values = np.concatenate([specials, near, RNG.uniform(0, 2 * exact[-1], 64).astype(np.float32)])
    return np.concatenate([values, -values]).view(np.uint32)


def to_small(x: float, t: str, with_relu: int) -> int:
    """Through ml_dtypes, whose overflow is then made the largest number, and whose NaN the canonical one."""
    if np.isnan(x):
        return NANS[t]
    limit = float(value_of(LARGEST[t], t))
    code = int(np.array(np.clip(x, -limit, limit)).astype(LIBRARY[t]).view(np.uint8)) & (1 << BITS[t]) - 1
    return 0 if with_relu and code >> BITS[t] - 1 else code


def halves(word: int) -> list[float]:
    return [float(np.array(word >> shift & 0xFFFF, np.uint16).view(np.float16)) for shift in (16, 0)]


def single(bits: int) -> float:
    return float(np.array(bits, np.uint32).view(np.float32))


@pytest.mark.parametrize("name", NARROWING)
def test_narrowing(name):
    t, source = BY_NAME[name].types

    def reference(types, mods, a, b=None):
        upper, lower = (single(a), single(b)) if source == "f32" else halves(a)
        return to_small(upper, t, mods["relu"]) << PLACE[t] | to_small(lower, t, mods["relu"])

    if source == "f32":
        row = singles(t)
        row = np.resize(row, -(-len(row) // 128) * 128)
        rows = {"a": row, "b": RNG.permutation(row)}
    else:
        every_half = np.arange(1 << 16, dtype=np.uint32)[::13]
        every_half = np.resize(every_half, 5120)
        rows = {"a": every_half | RNG.permutation(every_half) << np.uint32(16)}
    check(name, reference, every(relu=(0, 1)), rows)


@pytest.mark.parametrize("name", WIDENING)
def test_widening(name):
    """Every pair of codes of four bits, every code of the others in each place."""
    to, t = BY_NAME[name].types
    half = np.float16 if to == "f16x2" else ml_dtypes.bfloat16

    def wide(code, mods):
        code &= (1 << BITS.get(t, 8)) - 1
        value = np.array(code, np.uint8).view(LIBRARY[t]).astype(np.float64)
        bits = 0x7FFF if np.isnan(value) else int(value.astype(half).view(np.uint16))
        return relu(bits, to.removesuffix("x2")) if mods.get("relu") else bits

    def reference(types, mods, a):
        place = PLACE.get(t, 8)
        return wide(a >> place & (1 << place) - 1, mods) << 16 | wide(a & (1 << place) - 1, mods)

    codes = np.arange(256, dtype=np.uint32)
    row = codes if PLACE.get(t) == 4 else codes | RNG.permutation(codes) << np.uint32(8)
    check(name, reference, every(relu=(0, 1)) if "relu" in BY_NAME[name].fields else [Variant()], {"a": row})


def power_of_two(bits: int, t: str, mods: dict) -> int:
    """The exponent of the magnitude, taken down (rz) or up (rp): from exact fractions."""
    magnitude = decode(bits, t).magnitude
    if magnitude is NAN:
        return 255
    if magnitude is INF:
        return 254 if mods["satfinite"] else 255
    power = -127
    while power < 128 and (
        Fraction(2) ** power < magnitude if mods["rnd"] == "rp" else Fraction(2) ** (power + 1) <= magnitude
    ):
        power += 1
    return min(power + 127, 254 if mods["satfinite"] else 255)


@pytest.mark.parametrize("name", SCALES)
def test_scales(name):
    t = "f32" if BY_NAME[name].types[1] == "f32" else "bf16"

    def reference(types, mods, a, b=None):
        patterns = (a, b) if t == "f32" else (a >> 16, a & 0xFFFF)
        upper, lower = (power_of_two(bits, t, mods) for bits in patterns)
        return upper << 8 | lower

    rows = operand_rows(BY_NAME[name], dict.fromkeys("ab", t if t == "f32" else "bf16x2"), 128)
    check(name, reference, every(rnd=("rz", "rp"), satfinite=(0, 1)), rows)


def stochastic_code(bits: int, t: str, random: int, n_random: int, mods: dict) -> int:
    """The magnitude's units in the last place, their fraction cut to the random bits' length: up when the sum carries
    over.
    """
    fraction = {"e4m3": 3, "e5m2": 2, "e2m3": 3, "e3m2": 2, "f16": 10, "bf16": 7}[t]
    least = {"e4m3": -6, "e5m2": -14, "e2m3": 0, "e3m2": -2, "f16": -14, "bf16": -126}[t]
    half = t in FORMATS
    sign = FORMATS[t].sign if half else 1 << BITS[t] - 1
    nan, infinity = (0x7FFF, FORMATS[t].infinity) if half else (NANS[t], None)
    largest = infinity - 1 if half else LARGEST[t]
    x = decode(bits, "f32")
    if x.magnitude is NAN:
        return nan
    if x.magnitude is INF:
        code = infinity if half else largest
    else:
        exponent = least
        while Fraction(2) ** (exponent + 1) <= x.magnitude:
            exponent += 1
        units = x.magnitude / Fraction(2) ** (exponent - fraction)
        whole, rest = divmod(units, 1)
        code = int(whole) + (int(rest * 2**n_random) + random >= 2**n_random) + (exponent - least << fraction)
        code = min(code, infinity if half else largest)
    if half and mods.get("satfinite"):
        code = min(code, largest)
    return 0 if mods["relu"] and x.negative else code | (sign if x.negative else 0)


def reversed16(bits: int) -> int:
    return int(f"{bits:016b}"[::-1], 2)


@pytest.mark.parametrize("name", STOCHASTIC)
def test_stochastic_rounding(name):
    op = BY_NAME[name]
    t = op.types[0]
    specials = np.array([*FLOATS["f32"], *(value | 1 << 31 for value in FLOATS["f32"])], np.uint32)
    usual = (RNG.normal(size=LANES) * np.exp2(RNG.integers(-20, 12, LANES))).astype(np.float32).view(np.uint32)
    columns = [
        np.where(RNG.random(LANES) < 0.2, RNG.choice(specials, LANES), RNG.permutation(usual)).astype(np.uint64)
        for _ in range(4)
    ]
    random = RNG.integers(0, 1 << 32, LANES, np.uint32)
    random[:96] = np.resize([0, MASK32, 0x80008000, 0x7FFF7FFF], 96)
    if op.semantics == "cvt_stochastic":
        n_random = {"f16": 13, "bf16": 16}[t]
        rows = {"a": columns[0].astype(np.uint32), "b": columns[1].astype(np.uint32), "c": random}

        def reference(types, mods, a, b, c):
            codes = [
                stochastic_code(x, t, c >> shift & (1 << n_random) - 1, n_random, mods)
                for x, shift in ((a, 16), (b, 0))
            ]
            return codes[0] << 16 | codes[1]

        check(name, reference, every(relu=(0, 1), satfinite=(0, 1)), rows)
        return
    rows = {"a": columns[0] | columns[1] << np.uint64(32), "b": columns[2] | columns[3] << np.uint64(32), "c": random}

    def reference4(types, mods, a, b, c):
        inputs = [
            (a & MASK32, reversed16(c >> 16)),
            (a >> 32, c >> 16),
            (b & MASK32, reversed16(c & 0xFFFF)),
            (b >> 32, c & 0xFFFF),
        ]
        result = 0
        for bits, chosen in inputs:
            result = result << 8 | stochastic_code(bits, t, chosen, 16, mods)
        return result

    check(name, reference4, every(relu=(0, 1)), rows)


def test_random_bits_of_zero_cut_off_and_of_one_half_round_to_nearest_but_for_ties():
    values = RNG.uniform(-400, 400, 256).astype(np.float32)
    sources = {f"r{k}": values.view(np.uint32) for k in range(1, 5)} | {"r5": np.zeros(256, np.uint32)}
    ((cut,),) = run_lanes(["cvt.rs.satfinite.e4m3x4.f32 r0, {r1, r2, r3, r4}, r5"], sources)
    exact = cut.astype(np.uint32).view(np.uint8).reshape(-1, 4).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    assert (np.abs(exact) <= np.abs(values[:, None])).all()
    assert (exact == exact[:, :1]).all()
    ((near,),) = run_lanes(["cvt.rs.bf16x2.f32 r0, r1, r2, r5"], sources | {"r5": np.full(256, 0x80008000, np.uint32)})
    wanted = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    ties = values.view(np.uint32) & 0xFFFF == 0x8000
    assert ((near & 0xFFFF == wanted) | ties).all()


@pytest.mark.parametrize("name", PACKS)
def test_packing_integers(name):
    t = BY_NAME[name].types[0]
    n = int(t[1:])
    low, high = (-(1 << n - 1), (1 << n - 1) - 1) if t[0] == "s" else (0, (1 << n) - 1)

    def reference(types, mods, a, b, c=0):
        upper, lower = (max(low, min(high, signed(x, 32))) & (1 << n) - 1 for x in (a, b))
        return (c << 2 * n | upper << n | lower) & MASK32

    rows = operand_rows(BY_NAME[name], {})
    rows["a"][:40] = np.resize(np.arange(-20, 20).astype(np.int32).view(np.uint32), 40)
    assert set(INTEGERS_32) & set(rows["a"].tolist())
    check(name, reference, [Variant()], rows)


def test_forms_of_half_precision():
    """Scalar forms with .relu and .satfinite, against exact rounding."""
    values = operand_rows(BY_NAME["FADD"], dict.fromkeys("ab", "f32"))["a"]
    texts = [
        f"cvt.{rounding}{with_relu}{satfinite}.{t}.f32 h0, r1"
        for t in ("f16", "bf16") for rounding in ("rn", "rz") for with_relu in ("", ".relu") for satfinite in ("",
            ".satfinite")
    ]  # fmt: skip
    for text, (found,) in zip(texts, run_lanes(texts, {"r1": values}), strict=True):
        t, rounding = text.split()[0].split(".")[-2], text.split(".")[1]
        for pattern, bits in zip(values.tolist(), found.tolist(), strict=True):
            wanted = encode(decode(pattern, "f32"), t, rounding)
            if ".satfinite" in text and wanted & 0x7FFF == FORMATS[t].infinity:
                wanted -= 1
            assert bits == (relu(wanted, t) if ".relu" in text else wanted), (text, hex(pattern))


def test_small_floats_from_ptx():
    """The first operand goes to the upper part; a pair of four-bit numbers fits into a byte."""
    sources = {
        "r1": np.array([1.5], np.float32).view(np.uint32),
        "r2": np.array([-3], np.float32).view(np.uint32),
        "h1": [0x3FC4],
        "c1": [0x2D],
    }
    texts = ["cvt.rn.satfinite.e4m3x2.f32 h0, r1, "
        "r2", "cvt.rn.satfinite.e2m1x2.f32 c0, r1, r2", "cvt.rn.f16x2.e5m2x2 r0, h1", "cvt.rn.relu.f16x2.e2m1x2 r0, c1",
             "cvt.rn.bf16x2.ue8m0x2 r0, h1"]  # fmt: skip
    found = [int(row[0]) for (row,) in run_lanes(texts, sources)]
    assert found == [0x3CC4, 0x3D, 0x3F00C400, 0x3C000000, 0x1F806200]
