"""Exact binary floating point in Fractions: every operation is computed without error and rounded once (IEEE 754, PTX
ISA 9.7.3, 9.7.4).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import NamedTuple

ANY_NAN = "any NaN"  # a reference's result where the manual leaves the payload open
INF, NAN = "infinity", "NaN"


class Format(NamedTuple):
    nbits: int
    fraction: int  # bits
    least_exponent: int  # of normal numbers

    @property
    def infinity(self) -> int:
        return (1 << self.nbits - 1) - (1 << self.fraction)

    @property
    def sign(self) -> int:
        return 1 << self.nbits - 1


FORMATS = {
    "f16": Format(16, 10, -14),
    "bf16": Format(16, 7, -126),
    "f32": Format(32, 23, -126),
    "f64": Format(64, 52, -1022),
}
# PTX ISA 9.7.3: single precision has one NaN here; double precision keeps payloads, and which is not said. 9.7.4: half
# precision gives 0x7fff.
NAN_BITS = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": ANY_NAN}


class Number(NamedTuple):
    negative: bool
    magnitude: Fraction | str  # INF, NAN

    @property
    def exact(self) -> Fraction:
        return -self.magnitude if self.negative else self.magnitude


@cache
def decode(bits: int, t: str) -> Number:
    form = FORMATS[t]
    negative, rest = bool(bits & form.sign), bits & form.sign - 1
    if rest >= form.infinity:
        return Number(negative, INF if rest == form.infinity else NAN)
    exponent, fraction = rest >> form.fraction, rest & (1 << form.fraction) - 1
    whole = fraction | (1 << form.fraction if exponent else 0)
    return Number(negative, whole * Fraction(2) ** (max(exponent, 1) - 1 + form.least_exponent - form.fraction))


def rounded_up(mode: str, negative: bool, quotient: int, rest: int, divisor: int) -> bool:
    """Whether quotient + rest / divisor, a magnitude, goes up to quotient + 1."""
    if mode == "rn":
        return 2 * rest > divisor or (2 * rest == divisor and quotient & 1 == 1)
    return {"rz": False, "rm": negative and rest > 0, "rp": not negative and rest > 0, "rna": 2 * rest >= divisor}[mode]


def encode(number: Number, t: str, mode: str = "rn") -> int | str:
    form = FORMATS[t]
    negative, magnitude = number
    sign = form.sign if negative else 0
    if magnitude is NAN:
        return NAN_BITS[t]
    if magnitude is INF:
        return sign | form.infinity
    if magnitude == 0:
        return sign
    numerator, divisor = magnitude.numerator, magnitude.denominator
    exponent = numerator.bit_length() - divisor.bit_length()
    exponent -= numerator < divisor << exponent if exponent >= 0 else numerator << -exponent < divisor
    exponent = max(exponent, form.least_exponent)
    quantum = exponent - form.fraction
    quotient, rest = divmod(numerator << max(-quantum, 0), divisor << max(quantum, 0))
    quotient += rounded_up(mode, negative, quotient, rest, divisor << max(quantum, 0))
    bits = (exponent - form.least_exponent << form.fraction) + quotient
    if bits >= form.infinity:
        away = {"rn": True, "rna": True, "rz": False, "rm": negative, "rp": not negative}[mode]
        bits = form.infinity - (not away)
    return sign | bits


def negate(x: Number) -> Number:
    return Number(not x.negative, x.magnitude)


def _signed(value: Fraction, zero_is_negative: bool) -> Number:
    return Number(value < 0 or (value == 0 and zero_is_negative), abs(value))


def add(mode: str, x: Number, y: Number) -> Number:
    if NAN in (x.magnitude, y.magnitude):
        return Number(False, NAN)
    if INF in (x.magnitude, y.magnitude):
        if x.magnitude == y.magnitude and x.negative != y.negative:
            return Number(False, NAN)
        return x if x.magnitude is INF else y
    both_zeros_negative = x.negative and y.negative and x.magnitude == 0 == y.magnitude
    cancels = mode == "rm" and (x.negative != y.negative or x.magnitude != 0)
    return _signed(x.exact + y.exact, both_zeros_negative or cancels)


def multiply(mode: str, x: Number, y: Number) -> Number:
    negative = x.negative != y.negative
    if NAN in (x.magnitude, y.magnitude) or {INF, 0} <= {x.magnitude, y.magnitude}:
        return Number(False, NAN)
    return Number(negative, INF if INF in (x.magnitude, y.magnitude) else x.magnitude * y.magnitude)


def fused(mode: str, x: Number, y: Number, z: Number) -> Number:
    return add(mode, multiply(mode, x, y), z)


def divide(mode: str, x: Number, y: Number) -> Number:
    negative = x.negative != y.negative
    if NAN in (x.magnitude, y.magnitude) or (x.magnitude == y.magnitude and x.magnitude in (0, INF)):
        return Number(False, NAN)
    if x.magnitude is INF or y.magnitude == 0:
        return Number(negative, INF)
    return Number(negative, Fraction(0) if y.magnitude is INF else x.magnitude / y.magnitude)


def reciprocal(mode: str, x: Number) -> Number:
    return divide(mode, Number(False, Fraction(1)), x)


def root(mode: str, x: Number) -> Number:
    """A number that rounds like the square root: exact, or 128 bits of it and a last bit that says there are more."""
    if x.magnitude is NAN or x.magnitude == 0 or (x.magnitude is INF and not x.negative):
        return x
    if x.negative:
        return Number(False, NAN)
    scale = 256 + 2 * max(0, x.magnitude.denominator.bit_length())
    scaled = (x.magnitude.numerator << scale) // x.magnitude.denominator
    whole = math.isqrt(scaled)
    exact = whole * whole * x.magnitude.denominator == x.magnitude.numerator << scale
    return Number(False, Fraction(2 * whole + (not exact), 2 << scale // 2))


def flush(bits: int, t: str) -> int:
    """Subnormals to zero of the same sign."""
    form = FORMATS[t]
    return bits & form.sign if bits & form.infinity == 0 else bits


def saturate(bits: int | str, t: str) -> int:
    """PTX ISA, .sat: to [0, 1]; NaN becomes +0."""
    if bits is ANY_NAN:
        return 0
    x = decode(bits, t)
    if x.magnitude is NAN or x.negative:
        return 0
    one = encode(Number(False, Fraction(1)), t)
    return min(bits, one)


def relu(bits: int, t: str) -> int:
    x = decode(bits, t)
    return 0 if x.negative and x.magnitude is not NAN else bits


def operation(compute: Callable[..., Number]):
    """A bit-level function of one type with the modifiers rnd, ftz, sat, nan (relu) and neg_*."""

    def function(t: str, mods: dict, *patterns: int) -> int | str:
        mode, ftz = mods.get("rnd", "rn"), mods.get("ftz", 0)
        patterns = [flush(bits, t) if ftz else bits for bits in patterns]
        numbers = [
            negate(decode(bits, t)) if mods.get(f"neg_{slot}") else decode(bits, t)
            for bits, slot in zip(patterns, "abc", strict=False)
        ]
        bits = encode(compute(mode, *numbers), t, mode)
        if bits is not ANY_NAN and ftz:
            bits = flush(bits, t)
        if mods.get("sat"):
            bits = saturate(bits, t)
        return relu(bits, t) if mods.get("nan") else bits

    return function


def order(x: Number, y: Number) -> int:
    """-1, 0, 1 for two numbers that are not NaN; zeros are equal."""
    big = Fraction(2) ** 5000
    a, b = (n._replace(magnitude=big).exact if n.magnitude is INF else n.exact for n in (x, y))
    return (a > b) - (a < b)


def extremum(sign: int):
    """min (-1) and max (1): a NaN gives way to a number unless .NaN; -0 is below +0; .abs and .xorsign as in the
    manual's pseudocode.
    """

    def function(t: str, mods: dict, *values: int) -> int | str:
        sign = FORMATS[t].sign
        negative = (values[0] ^ values[1]) & sign
        if mods.get("ftz"):
            values = [flush(value, t) for value in values]
        if mods.get("abs"):
            values = [value & sign - 1 for value in values]
        result = values[0]
        for value in values[1:]:
            result = better(t, mods, result, value)
        return result ^ negative if mods.get("xorsign") and result != NAN_BITS[t] else result

    def better(t: str, mods: dict, a: int, b: int) -> int | str:
        x, y = decode(a, t), decode(b, t)
        if NAN in (x.magnitude, y.magnitude):
            if mods.get("nan") or x.magnitude == y.magnitude:
                return NAN_BITS[t]
            return b if x.magnitude is NAN else a
        key = order(x, y) or (y.negative - x.negative)
        return a if key * sign >= 0 else b

    return function


ORDERED = {
    "eq": lambda k: k == 0, "ne": lambda k: k != 0, "lt": lambda k: k < 0, "le": lambda k: k <= 0,
    "gt": lambda k: k > 0, "ge": lambda k: k >= 0,
}  # fmt: skip
COMPARISONS = (*ORDERED, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def compare(t: str, mods: dict, a: int, b: int) -> bool:
    if mods.get("ftz"):
        a, b = flush(a, t), flush(b, t)
    x, y = decode(a, t), decode(b, t)
    unordered = NAN in (x.magnitude, y.magnitude)
    name = mods["cmp"]
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    return name.endswith("u") if unordered else ORDERED[name.removesuffix("u")](order(x, y))


TESTS = {
    "finite": lambda kind: kind in ("zero", "subnormal", "normal"), "infinite": lambda kind: kind == "infinite",
    "number": lambda kind: kind != "nan", "notanumber": lambda kind: kind == "nan",
    "normal": lambda kind: kind in ("zero", "normal"),  # testp: zeros count as normal
    "subnormal": lambda kind: kind == "subnormal",
}  # fmt: skip


def kind_of(bits: int, t: str) -> str:
    magnitude = decode(bits, t).magnitude
    if magnitude in (INF, NAN):
        return "nan" if magnitude is NAN else "infinite"
    return "zero" if magnitude == 0 else "normal" if bits & FORMATS[t].infinity else "subnormal"


def sign_only(change: Callable[[int, int], int]):
    """neg, abs: the sign of a NaN is left open for single precision; here it is changed like any other."""

    def function(t: str, mods: dict, a: int) -> int:
        return change(flush(a, t) if mods.get("ftz") else a, FORMATS[t].sign)

    return function


def integral(x: Number, mode: str) -> Number:
    """Rounded to an integer; the sign stays."""
    if x.magnitude in (INF, NAN):
        return x
    whole, rest = divmod(x.magnitude.numerator, x.magnitude.denominator)
    return Number(x.negative, Fraction(whole + rounded_up(mode, x.negative, whole, rest, x.magnitude.denominator)))
