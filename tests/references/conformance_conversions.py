"""What conversions compute, in exact fractions (PTX ISA 9.7.9, cvt)."""

from fractions import Fraction

from gpuprof.isa.row import INTEGER_TYPES
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
from tests.references.conformance_integers import nbits, typed


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


def round_integral(types, mods, a):
    t = types[0]
    bits = a & (1 << FORMATS[t].nbits) - 1
    bits = encode(integral(decode(flush(bits, t) if mods.get("ftz") else bits, t), mods["rnd"]), t)
    return saturate(bits, t) if mods.get("sat") else bits


def half(t: str, mods, a: int) -> int:
    bits = encode(decode(a, "f32"), t, mods["rnd"])
    largest = FORMATS[t].infinity - 1
    if mods["satfinite"] and bits & FORMATS[t].sign - 1 == FORMATS[t].infinity:
        bits = bits & FORMATS[t].sign | largest
    return relu(bits, t) if mods["relu"] else bits


def pack(types, mods, a, b):
    """Two f32 in the halves of a word, a in the upper one."""
    t = types[0].removesuffix("x2")
    return half(t, mods, a) << 16 | half(t, mods, b)


def tensor_float(types, mods, a):
    """f32 with 10 bits of fraction: rounded as if the last 13 bits were below the point; .satfinite stops at the
    largest tf32.
    """
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
