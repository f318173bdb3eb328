"""sin, cos, exp2, log2 and tanh of rows, in double precision and the same on every machine.

numpy's and the C library's own differ in their last bits between processors, and numpy's between the middle and the end
of a row.
Here all is integer arithmetic and + - * /, whose results IEEE 754 fixes to the last bit; LLVM does not contract them.
Relative errors stay below 2^-48, so that rounding to single precision is off by 2^-24 of a unit in the last place.
Imported when first needed.
"""

from math import factorial

import numpy as np

from gpuprof.jit.cached import cached_ufunc
from gpuprof.jit.internal import internal_njit

HALF_PI = 1.5707963267948966
LN2 = 0.6931471805599453
LN2_HIGH, LN2_LOW = 0.6931471805601177, -1.7239444525614835e-13  # 40 bits of ln 2, and the rest
PER_LN2 = 1.4426950408889634
ROOT_HALF = 0.7071067811865476
FRACTION, HALF = np.uint64((1 << 52) - 1), np.uint64(1022 << 52)

TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561  # its first 256 bits
LEAST, MOST = -24, 104  # exponents e of m * 2^e, m of 24 bits: single-precision numbers from 1/2 on
# For each e the 128 bits of 2/pi of which the first one, times 2^e, is 2: those above it only add whole turns (Payne
# and Hanek 1983).
_FIRST = [TWO_OVER_PI >> 130 - e & (1 << 128) - 1 for e in range(LEAST, MOST + 1)]
WINDOWS = np.array([[bits >> shift & 0xFFFFFFFF for shift in (96, 64, 32, 0)] for bits in _FIRST], np.uint64)

# Taylor series; the first term left out is below 2^-54 of the sum within the reduced ranges.
SINES = tuple((-1.0) ** k / factorial(2 * k + 1) for k in range(8, 0, -1))  # of (sin(r) - r) / r^3, |r| <= pi/4
COSINES = tuple((-1.0) ** k / factorial(2 * k) for k in range(9, 0, -1))  # of (cos(r) - 1) / r^2
POWERS = tuple(1.0 / factorial(k) for k in range(14, 0, -1))  # of (e^t - 1) / t, |t| <= ln(2)/2
LOGARITHMS = tuple(2.0 / (2 * k + 1) for k in range(11, -1, -1))  # of ln((1 + s)/(1 - s)) / s in s^2, |s| <= 0.172


@internal_njit
def horner(coefficients, x):
    total = 0.0
    for coefficient in coefficients:
        total = total * x + coefficient
    return total


@internal_njit
def reduced(x):
    """x = n * pi/2 + r for x >= 0 of single precision: n modulo 4, and r between -pi/4 and pi/4."""
    bits = np.uint64(np.float32(x).view(np.uint32))
    exponent = np.int64(bits >> np.uint64(23)) - 150
    if exponent < LEAST:
        return np.uint64(0), np.float64(x)
    m = bits & np.uint64(0x7FFFFF) | np.uint64(0x800000)
    low, word = np.uint64(0xFFFFFFFF), np.uint64(32)
    window = WINDOWS[min(exponent, MOST) - LEAST]
    p3 = m * window[3]
    p2 = m * window[2] + (p3 >> word)
    p1 = m * window[1] + (p2 >> word)
    p0 = m * window[0] + (p1 >> word)
    upper = (p0 & low) << word | p1 & low
    lower = (p2 & low) << word | p3 & low
    n = (upper + np.uint64(1 << 61)) >> np.uint64(62)
    rest = np.int64(upper - (n << np.uint64(62)))
    return n, (np.float64(rest) + np.float64(lower) * 2.0**-64) * 2.0**-62 * HALF_PI


@internal_njit
def circular(quarters, rest):
    """sin(quarters * pi/2 + rest)."""
    square = rest * rest
    value = (
        1.0 + square * horner(COSINES, square)
        if quarters & np.uint64(1)
        else rest + rest * square * horner(SINES, square)
    )
    return -value if quarters & np.uint64(2) else value


@cached_ufunc("float64(float32)")
def sin(x):
    if not abs(x) < np.inf:
        return np.nan
    n, r = reduced(abs(x))
    value = circular(n, r)
    return -value if x < 0 else np.copysign(value, np.float64(x)) if x == 0 else value


@cached_ufunc("float64(float32)")
def cos(x):
    if not abs(x) < np.inf:
        return np.nan
    n, r = reduced(abs(x))
    return circular(n + np.uint64(1), r)


@internal_njit
def power_of_two(exponent):
    """2^exponent for an exponent between -1022 and 1023."""
    return np.uint64(np.int64(exponent) + 1023 << 52).view(np.float64)


@internal_njit
def less_one(exponent):
    """Computes e^exponent - 1."""
    return exponent * horner(POWERS, exponent)


@cached_ufunc("float64(float32)")
def exp2(x):
    if not x < 1023:
        return np.float64(x) * np.inf
    if x < -1022:
        return 0.0
    n = np.rint(np.float64(x))
    return (1.0 + less_one((np.float64(x) - n) * LN2)) * power_of_two(n)


@cached_ufunc("float64(float32)")
def tanh(x):
    if not abs(x) < 32:  # 1 - tanh(32) is 2^-91
        return np.copysign(1.0, np.float64(x)) if x == x else np.nan
    twice = 2.0 * abs(np.float64(x))
    n = np.rint(twice * PER_LN2)
    scale = power_of_two(n)
    grown = less_one(twice - n * LN2_HIGH - n * LN2_LOW) * scale + (scale - 1.0)
    return np.copysign(grown / (grown + 2.0), np.float64(x))


@cached_ufunc("float64(float64)")
def log2(x):
    if not x > 0:
        return -np.inf if x == 0 else np.nan
    if x == np.inf:
        return x
    tiny = x < 2.0**-1022
    bits = np.float64(x * 2.0**54 if tiny else x).view(np.uint64)
    n = np.float64(np.int64(bits >> np.uint64(52)) - (1022 + 54 if tiny else 1022))
    m = np.uint64(bits & FRACTION | HALF).view(np.float64)
    if m < ROOT_HALF:
        m, n = m * 2.0, n - 1.0
    s = (m - 1.0) / (m + 1.0)
    return n + s * horner(LOGARITHMS, s * s) * PER_LN2
