"""cvt between every pair of types in every rounding mode, with and without .sat and .ftz, against exact fractions (PTX
ISA 9.7.9, cvt).
"""

from fractions import Fraction

import numpy as np
import pytest

from gpuprof.isa.opcodes import BY_NAME, TABLE
from gpuprof.isa.types import FLOAT_TYPES, INTEGER_TYPES
from tests.references.conformance import FLOATS, INTEGERS_32, INTEGERS_64, Variant, check, every
from tests.references.conformance_floats import (
    ANY_NAN,
    FORMATS,
    INF,
    NAN,
    Number,
    decode,
    encode,
    flush,
    integral,
    relu,
    saturate,
)
from tests.references.conformance_integers import nbits, signed, typed

MODES = ("rn", "rz", "rm", "rp")
RNG = np.random.default_rng(11)


def limits(t: str) -> tuple[int, int]:
    n = nbits(t)
    return (-(1 << n - 1), (1 << n - 1) - 1) if t[0] == "s" else (0, (1 << n) - 1)


def clamp(value: int, t: str) -> int:
    lo, hi = limits(t)
    return max(lo, min(hi, value))


def read_integer(bits: int, t: str) -> int:
    return typed(bits & (1 << nbits(t)) - 1, t)


def read_float(bits: int, t: str, mods: dict) -> Number:
    bits &= (1 << FORMATS[t].nbits) - 1
    return decode(flush(bits, t) if mods.get("ftz") and t == "f32" else bits, t)


def to_integer(to: str, source: str, mods: dict, x: Number) -> int:
    """Out of range goes to the nearest end; NaN is 0, or the top bit alone when either type has 64 bits."""
    lo, hi = limits(to)
    if x.magnitude is NAN:
        return 1 << nbits(to) - 1 if source == "f64" or nbits(to) == 64 else 0
    if x.magnitude is INF:
        value = lo if x.negative else hi
    else:
        value = clamp(int(integral(x, mods["rnd"]).exact), to)
    return value & (1 << nbits(to)) - 1


def to_float(to: str, mods: dict, x: Number):
    bits = encode(x, to, mods["rnd"])
    if mods.get("ftz") and to == "f32" and bits is not ANY_NAN:
        bits = flush(bits, to)
    return saturate(bits, to) if mods.get("sat") else bits


def convert(types, mods, a):
    to, source = types
    if source in INTEGER_TYPES:
        value = read_integer(a, source)
        if to in INTEGER_TYPES:
            return (clamp(value, to) if mods.get("sat") else value) & (1 << nbits(to)) - 1
        return to_float(to, mods, Number(value < 0, Fraction(abs(value))))
    x = read_float(a, source, mods)
    return to_integer(to, source, mods, x) if to in INTEGER_TYPES else to_float(to, mods, x)


def variants(to: str, source: str) -> list[Variant]:
    if to in INTEGER_TYPES and source in INTEGER_TYPES:
        return every(sat=(0, 1))
    choices = {"rnd": MODES}
    if "f32" in (to, source):
        choices["ftz"] = (0, 1)
    if to in FLOAT_TYPES:
        choices["sat"] = (0, 1)
    return every(**choices)


def halfway(to: str, source: str) -> list[int]:
    """Patterns of `source` at and around halfway points of `to`, at the ends of its range, and of small numbers with a
    fraction.
    """
    if source in INTEGER_TYPES:
        ones = [(1 << k) + d for k in (8, 11, 12, 24, 25, 31, 33, 53, 54, 62) for d in (-1, 0, 1)]
        return [value & (1 << nbits(source)) - 1 for value in ones]
    values = [Fraction(n, 4) for n in range(12)]
    if to in INTEGER_TYPES:
        values += [
            abs(Fraction(end) + d)
            for end in limits(to)
            for d in (Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1))
        ]
    else:
        form = FORMATS[to]
        step = Fraction(1, 2 << form.fraction)
        values += [1 + k * step for k in range(4)] + [
            (k + d) * Fraction(2) ** (form.least_exponent - form.fraction - 1)
            for k in range(4)
            for d in (0, Fraction(1, 64))
        ]
        largest = decode(form.infinity - 1, to).magnitude
        values += [largest, largest * (1 + step / 2), largest * (1 + step), largest * (1 + 2 * step)]
    return [encode(Number(negative, value), source) for value in values for negative in (False, True)]


def rows_of(to: str, source: str) -> dict[str, np.ndarray]:
    wide = source in ("s64", "u64", "f64")
    dtype = np.uint64 if wide else np.uint32
    if source in INTEGER_TYPES:
        specials = INTEGERS_64 if wide else INTEGERS_32
    else:
        specials = [value | sign for value in FLOATS[source] for sign in (0, FORMATS[source].sign)]
    values = np.array([*specials, *halfway(to, source)], dtype)
    noise = RNG.integers(0, np.iinfo(dtype).max, 256, dtype)  # upper bits of narrow sources too, which must not matter
    return {"a": np.concatenate([values, noise])[:256] if len(values) <= 224 else values[:256]}


PAIRS = [op.name for op in TABLE if op.semantics == "cvt" and op.types[0] != "tf32"]


@pytest.mark.parametrize("to", INTEGER_TYPES + FLOAT_TYPES)
def test_conversions_to(to):
    for source in INTEGER_TYPES + FLOAT_TYPES:
        check(f"CVT.{to}.{source}".upper(), convert, variants(to, source), rows_of(to, source))


ROUNDINGS = [op.name for op in TABLE if op.semantics == "round_integral"]


@pytest.mark.parametrize("name", ROUNDINGS)
def test_rounding_to_integral(name):
    t = BY_NAME[name].types[0]

    def reference(types, mods, a):
        bits = a & (1 << FORMATS[t].nbits) - 1
        bits = encode(integral(decode(flush(bits, t) if mods.get("ftz") else bits, t), mods["rnd"]), t)
        return saturate(bits, t) if mods.get("sat") else bits

    choices = {"rnd": MODES} | ({"ftz": (0, 1), "sat": (0, 1)} if t == "f32" else {})
    check(name, reference, every(**choices), rows_of("s32", t))


PACKS = [op.name for op in TABLE if op.semantics == "cvt_pack"]


@pytest.mark.parametrize("name", PACKS)
def test_packing(name):
    t = BY_NAME[name].types[0].removesuffix("x2")

    def half(mods, a):
        bits = encode(decode(a, "f32"), t, mods["rnd"])
        largest = FORMATS[t].infinity - 1
        if mods["satfinite"] and bits & FORMATS[t].sign - 1 == FORMATS[t].infinity:
            bits = bits & FORMATS[t].sign | largest
        return relu(bits, t) if mods["relu"] else bits

    rows = {"a": rows_of(t, "f32")["a"], "b": rows_of(t, "f32")["a"][::-1].copy()}
    choices = every(rnd=("rn", "rz"), satfinite=(0, 1), relu=(0, 1))
    check(name, lambda types, mods, a, b: half(mods, a) << 16 | half(mods, b), choices, rows)


TF32 = "CVT.TF32.F32"


def test_tensor_float():
    """f32 with 10 bits of fraction: rounded as if the last 13 bits were below the point; .satfinite stops at the
    largest tf32.
    """

    def reference(types, mods, a):
        x = decode(a, "f32")
        if x.magnitude in (NAN, INF):
            bits = encode(x, "f32") if x.magnitude is NAN or not mods["satfinite"] else a & 0x80000000 | 0x7F7FE000
            return relu(bits, "f32") if mods["relu"] else bits
        whole, rest = divmod(a & 0x7FFFFFFF, 1 << 13)
        up = {"rz": False, "rn": 2 * rest > 1 << 13 or (2 * rest == 1 << 13 and whole & 1), "rna": 2 * rest >= 1 << 13}[
            mods["rnd"]
        ]
        bits = whole + up << 13
        bits = a & 0x80000000 | (min(bits, 0x7F7FE000) if mods["satfinite"] else bits)
        return relu(bits, "f32") if mods["relu"] else bits

    check(TF32, reference, every(rnd=("rn", "rz", "rna"), satfinite=(0, 1), relu=(0, 1)), rows_of("bf16", "f32"))


def test_references_agree_with_numpy():
    """The exact rounding itself, against numpy's float16 and float32."""
    values = RNG.integers(0, 1 << 64, 2000, np.uint64).view(np.float64)
    values = np.concatenate([values, RNG.uniform(-70000, 70000, 500), RNG.uniform(-1e-5, 1e-5, 500)])
    with np.errstate(all="ignore"):
        singles, halves = values.astype(np.float32), values.astype(np.float16)
    for value, single, half in zip(values.view(np.uint64).tolist(), singles, halves, strict=True):
        x = decode(value, "f64")
        if x.magnitude is not NAN:
            assert encode(x, "f32") == int(single.view(np.uint32))
            assert encode(x, "f16") == int(half.view(np.uint16))
    assert signed(0xFF, 8) == -1
