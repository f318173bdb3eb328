"""Rows of floats of at most 16 bits, compiled by Numba: rounding to them, to nearest even, and half-precision
arithmetic in that mode.

A format is three numbers: bits of its fraction, its least normal exponent, and its infinity, or its largest code where
it has none. Imported when first needed.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

ADD, MULTIPLY, FUSED = range(3)
# Of a float64, as bits. Numba makes a float of what uint64 and int64 give together, so all numbers here are unsigned.
FRACTION_BITS, BIAS, MAGNITUDE = np.uint64(52), np.uint64(1023), np.uint64((1 << 63) - 1)
INFINITY, ONE, SIGN_AT = np.uint64(0x7FF << 52), np.uint64(1), np.uint64(63)
NO_FRACTION = 2.0**52  # numbers from here on have no fraction, so adding it rounds
HALF_SIGN, HALF_MAGNITUDE = np.uint32(0x8000), np.uint32(0x7FFF)
F16_INFINITY, F16_FRACTION = np.uint32(0x7C00), np.uint32(0x3FF)
LOW, UPPER = np.uint32(0xFFFF), np.uint32(16)


@internal_njit
def _code(value, fraction, least_exponent, most, nan, sign):
    """The code of a float64."""
    bits = np.float64(value).view(np.uint64)
    magnitude = bits & MAGNITUDE
    if magnitude > INFINITY:
        return np.uint32(nan)
    least = np.uint64(np.int64(BIAS) + least_exponent) << FRACTION_BITS
    if magnitude < least:
        units = abs(value) * 2.0 ** (fraction - least_exponent)
        code = np.uint64(units + NO_FRACTION - NO_FRACTION)
    else:
        dropped = FRACTION_BITS - np.uint64(fraction)
        rest = magnitude - least + (ONE << FRACTION_BITS)
        code = rest + (ONE << dropped - ONE) - ONE + (rest >> dropped & ONE) >> dropped
    return np.uint32(min(code, np.uint64(most))) | (np.uint32(sign) if bits >> SIGN_AT else np.uint32(0))


@cached_njit
def codes(values, fraction, least_exponent, most, nan, sign, out):
    """Codes, uint32 (n,), of float64 values; values that are too large become `most`. `sign`: the bit of the code."""
    for k in range(len(values)):
        out[k] = _code(values[k], fraction, least_exponent, most, nan, sign)


@internal_njit
def _widened(code, is_f16):
    """The float64 of a pattern of f16 or bf16."""
    if not is_f16:
        return np.float64(np.uint32(code << UPPER).view(np.float32))
    # The pattern at the place that a float64 has it; the exponents' biases, 15 and 1023, are made up for.
    magnitude = (np.uint64(code & HALF_MAGNITUDE) << np.uint64(42)).view(np.float64) * 2.0**1008
    if code & F16_INFINITY == F16_INFINITY:
        magnitude = np.nan if code & F16_FRACTION else np.inf
    return -magnitude if code & HALF_SIGN else magnitude


@internal_njit
def _to_odd(value, error):
    """value + error, where |error| is below a unit in the last place: the neighbour with an odd last bit, unless the
    error is 0 (Boldo and Melquiond 2008).
    """
    bits = np.float64(value).view(np.uint64)
    if error == 0 or not np.isfinite(value) or bits & ONE:
        return value
    return (bits + ONE if (error > 0) == (value > 0) else bits - ONE).view(np.float64)


@internal_njit
def _result(operation, is_f16, a, b, c):
    """The float64 that rounds like the exact a + b, a * b or a * b + c of patterns."""
    x, y = _widened(a, is_f16), _widened(b, is_f16)
    if operation != ADD:
        x = x * y  # exact: at most 22 bits
        if operation == MULTIPLY:
            return x
        y = _widened(c, is_f16)
    total = x + y
    second = total - x
    return _to_odd(total, (x - (total - second)) + (y - second))


@cached_njit
def arithmetic(operation, is_f16, is_packed, fraction, least_exponent, infinity, nan, a, b, c, signs, out):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """out = a + b, a * b or a * b + c, uint32 (n,) each: patterns in the lower halves, or in both when packed.

    `signs`: uint32 (3,), with which the operands are exclusive-or'ed first.
    """
    for k in range(len(out)):
        x, y, z = a[k] ^ signs[0], b[k] ^ signs[1], c[k] ^ signs[2]
        low = _result(operation, is_f16, x & LOW, y & LOW, z & LOW)
        out[k] = _code(low, fraction, least_exponent, infinity, nan, HALF_SIGN)
        if is_packed:
            high = _result(operation, is_f16, x >> UPPER, y >> UPPER, z >> UPPER)
            out[k] |= _code(high, fraction, least_exponent, infinity, nan, HALF_SIGN) << UPPER
