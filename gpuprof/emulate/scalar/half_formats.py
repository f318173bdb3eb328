"""Half-precision formats (f16, bf16) as rows of 16-bit patterns: to and from wider floats, in every rounding mode,
rounded once.
"""

from typing import NamedTuple

import numpy as np


class Format(NamedTuple):
    nan: int  # canonical
    infinity: int
    one: int
    fraction: int  # bits
    least_exponent: int  # of normal numbers


FORMATS = {"f16": Format(0x7FFF, 0x7C00, 0x3C00, 10, -14), "bf16": Format(0x7FFF, 0x7F80, 0x3F80, 7, -126)}
SIGN = 0x8000


def widen(bits: np.ndarray, type_name: str) -> np.ndarray:
    """16-bit patterns (in uint32 or uint16) to float32, exactly."""
    if type_name == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float64 sum and its rounding error, exact (Knuth); the error is NaN where the sum is not finite."""
    total = a + b
    second = total - a
    return total, (a - (total - second)) + (b - second)


def round_to_odd(value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """float64 value + error, where |error| < ulp: the neighbour with an odd last bit when error is not 0, so that a
    later rounding to fewer bits comes out as if from the exact sum (Boldo and Melquiond 2008)."""
    odd = (value.view(np.uint64) & np.uint64(1)).astype(np.bool_)
    toward = np.nextafter(value, np.where(error > 0, np.inf, -np.inf))
    return np.where((error != 0) & ~odd & np.isfinite(value), toward, value)


def nearest(value: np.ndarray, fraction: int, least_exponent: int, most: int, nan: int, sign: int) -> np.ndarray:
    """Codes of float64 values, uint32, to nearest even; `small_rows.codes` has the numbers of a format."""
    from gpuprof.emulate.scalar.small_rows import codes

    values = np.ascontiguousarray(value).reshape(-1)
    rounded = np.empty(len(values), np.uint32)
    codes(values, fraction, least_exponent, most, nan, sign, rounded)
    return rounded.reshape(value.shape)


def narrow(value: np.ndarray, type_name: str, mode: str = "rn") -> np.ndarray:
    """float64 to 16-bit patterns, uint32, in rounding mode rn, rz, rm or rp; NaNs become the canonical one."""
    form = FORMATS[type_name]
    bits = nearest(value, form.fraction, form.least_exponent, form.infinity, form.nan, SIGN)
    if mode != "rn":
        back = widen(bits, type_name).astype(np.float64)
        negative = np.signbit(value)
        too_high, too_low = back > value, back < value
        away = np.where(negative, too_low, too_high)  # the magnitude was rounded up
        toward = np.where(negative, too_high, too_low)
        down = {"rz": away, "rm": away & ~negative, "rp": away & negative}[mode]
        up = {"rz": np.zeros_like(away), "rm": toward & negative, "rp": toward & ~negative}[mode]
        bits = bits - down.astype(np.uint32) + up.astype(np.uint32)
    return np.where(np.isnan(value), np.uint32(form.nan), bits)


def exact_sum(a: np.ndarray, b: np.ndarray, mode: str) -> np.ndarray:
    """a + b as a float64 that rounds to half precision, in `mode`, like the exact result. a, b: float64."""
    total, error = two_sum(a, b)
    if mode == "rm":  # a sum that cancels is -0 when rounding down (IEEE 754, 6.3)
        total = np.where(total == 0, np.where(np.signbit(a) | np.signbit(b), -0.0, 0.0), total)
    return round_to_odd(total, error)


def add(mode: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b of widened half-precision values; this and the next two give float64 for `narrow` to round in the same
    mode.
    """
    return exact_sum(a.astype(np.float64), b.astype(np.float64), mode)


def multiply(mode: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) * b  # exact: at most 22 bits


def fused(mode: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return exact_sum(multiply(mode, a, b), c.astype(np.float64), mode)
