"""What instructions compute from the registers of one thread: semantics name -> function(types, modifiers, operands).

The references of the conformance tests, each written from the PTX ISA manual.
"""

import ctypes
import math

from tests.one_thread.decoded import Decoded
from tests.references import conformance_conversions as conversions, conformance_float_rows as floats
from tests.references.approximate import inverse, inverse_root, logarithm, safe, sine, square_root, to_float
from tests.references.conformance_floats import ANY_NAN, FORMATS, NAN_BITS, decode, encode, flush
from tests.references.conformance_integers import REFERENCES
from tests.references.conformance_video import reference_of

INFINITY, QUIET, NEGATIVE_NAN = 0x7FF0 << 48, 1 << 51, 0xFFF8 << 48  # of f64


def approximate(function):
    """A function of a double, rounded once to the row's type; rows of two elements compute it on both."""

    def single(t: str, mods: dict, bits: int) -> int:
        x = to_float(flush(bits, t) if mods["ftz"] else bits, t)
        y = x if math.isnan(x) else function(x)
        if math.isnan(y):
            return NAN_BITS[t]
        result = rounded(y, t)
        return flush(result, t) if mods["ftz"] else result

    return floats.lift(single)


def rounded(y: float, t: str) -> int:
    if t == "f32":
        return int.from_bytes(bytes(ctypes.c_float(y)), "little")
    return encode(decode(int.from_bytes(bytes(ctypes.c_double(y)), "little"), "f64"), t)


def sine_of(x: float) -> float:
    """A subnormal gives a zero of its sign, without .ftz too (PTX ISA 9.7.3, the table of sin)."""
    return math.copysign(0.0, x) if abs(x) < 2.0**-126 else sine(math.sin)(x)


_APPROXIMATE = {
    "approx_rcp": inverse, "approx_sqrt": square_root, "approx_rsqrt": inverse_root, "approx_sin": sine_of,
    "approx_cos": sine(math.cos), "approx_ex2": safe(lambda x: 2.0**x), "approx_lg2": logarithm,
    "approx_tanh": math.tanh,
}  # fmt: skip

APPROXIMATE = {name: approximate(function) for name, function in _APPROXIMATE.items()}

FUNCTIONS = {
    **REFERENCES,
    **{name: floats.lift(function) for name, function in floats.SCALARS.items()},
    **APPROXIMATE,
    "fsetp": floats.setp, "copysign": floats.copysign, "testp": floats.is_of_class,
    "cvt": lambda types, mods, a: (conversions.tensor_float if types[0] == "tf32" else conversions.convert)(
        types, mods, a
    ),
    "round_integral": conversions.round_integral, "cvt_pack": conversions.pack,
}  # fmt: skip


def computed(inst: Decoded, operands: list[int]) -> tuple[int, ...]:
    """The results, slot by slot. Raises KeyError for an instruction that no reference is known of."""
    op = inst.op
    if op.semantics == "mov_imm64":
        return (inst.inst.imm64,)
    if op.semantics.startswith("v") and op.types[:1] == ("u32",):
        function = reference_of(op)
    else:
        if op.semantics in APPROXIMATE and "f64" in op.types:
            raise KeyError(op.name)  # of the upper words alone
        function = FUNCTIONS[op.semantics]
    found = function(inst.types, inst.mods, *operands)
    if found is ANY_NAN:
        return (first_nan(inst, operands),)
    return found if isinstance(found, tuple) else (found,)


def first_nan(inst: Decoded, operands: list[int]) -> int:
    """docs/ptx.md: an f64 result is the first NaN among the operands, of a minimum or maximum the last one, made quiet;
    without one the negative NaN.

    A subtraction adds the negated operand, also where that is a NaN, and a NaN that a conversion widens keeps its sign
    and fraction: ptxas 13.0 does both with constant operands.
    """
    t = inst.types[-1]
    form = FORMATS[t]
    given = list(zip("abc", operands, strict=False))
    for slot, bits in reversed(given) if inst.op.semantics in ("fmin", "fmax") else given:
        if bits & form.sign - 1 > form.infinity:
            is_negative = bool(bits & form.sign) ^ bool(inst.mods.get(f"neg_{slot}"))
            fraction = (bits & (1 << form.fraction) - 1) << 52 - form.fraction
            return is_negative << 63 | INFINITY | QUIET | fraction
    return NEGATIVE_NAN
