"""Functions that PTX approximates, as real functions of a double: with the special values of the manual's tables (PTX
ISA 9.7.3).
"""

import math

from tests.references.conformance_floats import INF, NAN, decode


def safe(function):
    """inf where a double overflows."""

    def compute(x):
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return compute


def inverse(x: float) -> float:
    return 1 / x if x else math.copysign(math.inf, x)


def sine(function):
    return lambda x: math.nan if math.isinf(x) else function(x)


def logarithm(x: float) -> float:
    return -math.inf if x == 0 else math.nan if x < 0 else math.log2(x)


def square_root(x: float) -> float:
    return x if x == 0 else math.nan if x < 0 else math.sqrt(x)


def inverse_root(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else math.nan if x < 0 else 1 / math.sqrt(x)


def to_float(bits: int, t: str) -> float:
    number = decode(bits, t)
    value = {INF: math.inf, NAN: math.nan}.get(number.magnitude)
    value = float(number.magnitude) if value is None else value
    return -value if number.negative else value
