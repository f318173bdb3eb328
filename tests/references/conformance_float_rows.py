"""What rows of floating-point arithmetic and comparisons compute, scalar and packed, by semantics name."""

from gpuprof.isa.special import TESTP
from tests.references.conformance_floats import (
    FORMATS,
    TESTS,
    add,
    compare,
    divide,
    extremum,
    fused,
    kind_of,
    multiply,
    operation,
    reciprocal,
    root,
    sign_only,
)
from tests.references.conformance_integers import combine

SCALARS = {"fadd": operation(add), "fmul": operation(multiply), "ffma": operation(fused), "fdiv": operation(divide),
           "frcp": operation(reciprocal), "fsqrt": operation(root), "fmin": extremum(-1), "fmax": extremum(1),
           "fmin3": extremum(-1), "fmax3": extremum(1),
           "fneg": sign_only(lambda bits, sign: bits ^ sign), "fabs": sign_only(lambda bits,
               sign: bits & sign - 1)}  # fmt: skip


def lift(function):
    """A function of one format as a reference for scalar and packed rows."""

    def reference(types, mods, *values):
        t = types[0].removesuffix("x2")
        if t == types[0]:
            return function(t, mods, *[value & 0xFFFF if FORMATS[t].nbits == 16 else value for value in values])
        width = FORMATS[t].nbits
        low, high = (
            function(t, mods, *[value >> shift & (1 << width) - 1 for value in values]) for shift in (0, width)
        )
        return low | high << width

    return reference


def setp(types, mods, a, b, third):
    sign = FORMATS[types[0].removesuffix("x2")].sign
    sign |= sign << 16 if types[0].endswith("x2") else 0
    a, b = a ^ mods.get("neg_a", 0) * sign, b ^ mods.get("neg_b", 0) * sign
    if types[0].endswith("x2"):  # the first result compares the low halves, the second one the high halves
        return tuple(
            combine(mods["bool"], compare(types[0][:-2], mods, a >> shift & 0xFFFF, b >> shift & 0xFFFF), third)
            for shift in (0, 16)
        )
    held = compare(types[0], mods, a, b)
    return combine(mods["bool"], held, third), combine(mods["bool"], not held, third)


def copysign(types, mods, a, b):
    sign = FORMATS[types[0]].sign
    return a & sign | b & sign - 1


def is_of_class(types, mods, a):
    return int(TESTS[TESTP[mods["lut"]]](kind_of(a, types[0])))
