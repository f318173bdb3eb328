"""Single and double precision: arithmetic, comparisons, and the special functions.

Arithmetic, division, square root and reciprocal are exact to the last bit in all rounding modes. The approximate
functions but division (MUFU) are computed in double precision and rounded once: within 0.5 ulp of the true value, where
the PTX manual allows the hardware 1 ulp (rcp), 2 (rsqrt, ex2), and absolute errors of 2^-20.5 (sin, cos), 2^-22 (lg2),
relative 2^-11 (tanh).
"""

from functools import reduce

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import F64, U64, destination, source
from gpuprof.emulate.core.operation import Env, Op, elementwise, slot_kind
from gpuprof.emulate.core.rounding import rounded
from gpuprof.emulate.scalar.integer import finish_setp
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import COMPARE, unpack, unpack_name
from gpuprof.isa.special import TESTP

NAN32 = np.uint32(0x7FFFFFFF).view(np.float32)
HUGE, TINY = np.float32(2.0**126), np.float32(2.0**-126)  # beyond them the reciprocal is subnormal, or infinite


LOW = np.uint64(0xFFFFFFFF)
UPPER = np.uint64(32)


def canonical(row, *operands):
    """Every single-precision NaN becomes the GPU's, and a double-precision one what `fused` says of the operands."""
    from gpuprof.emulate.scalar import fused

    if row.dtype == np.float32:
        values = np.ascontiguousarray(row).reshape(-1)
        result = np.empty_like(values)
        fused.canonical32(values, result)
        return result.reshape(row.shape)
    operands = operands or (row,)
    return fused.settled64(row, operands[0], operands[-1])


def flush(row):
    """Subnormals become zeros of the same sign."""
    tiny = np.finfo(row.dtype).tiny
    return np.where(np.abs(row) < tiny, np.copysign(row.dtype.type(0), row), row)


def saturate(row):
    """Clamps to [0, 1]; NaN becomes +0."""
    zero, one = row.dtype.type(0), row.dtype.type(1)
    return np.where(row > zero, np.minimum(row, one), zero)


ARITHMETIC = {"fadd": ("add32", "add64"), "fmul": ("multiply32", "multiply64"), "ffma": ("fma32", "fma64")}


def arithmetic(names: tuple[str, str], double: bool):
    """The ufunc of `fused`, one of those for 32 and for 64 bits, in round to nearest."""
    from gpuprof.emulate.scalar import fused

    return getattr(fused, names[double])


def build_to_nearest(name: str, dst, refs, negated: list[bool]) -> Op:
    """The function of `fused` on rows, whose last argument takes the result."""
    from gpuprof.emulate.scalar import fused

    function = getattr(fused, f"{name}_rows")
    kd, d = dst
    signed = list(zip(refs, negated, strict=True))

    def op(lanes: Lanes) -> None:
        rows = [np.negative(lanes.wide(ref)) if minus else lanes.wide(ref) for ref, minus in signed]
        function(*rows, lanes.v[kd][d])

    return op


def build_arithmetic(inst: Instruction, env: Env) -> Op:
    """fadd, fmul, ffma with negated sources, rounding, flush to zero and saturation."""
    kind = slot_kind(inst, "dst")
    kd, d = destination(inst, kind)
    slots = [slot for slot in "abc" if getattr(inst.op, slot)]
    refs = [source(inst, slot, kind, env.pool) for slot in slots]
    negated = [bool(unpack(inst.mods, f"neg_{slot}")) for slot in slots]
    names = ARITHMETIC[inst.op.semantics]
    mode = unpack_name(inst.mods, "rnd")
    ftz, sat = unpack(inst.mods, "ftz"), unpack(inst.mods, "sat")
    if mode == "rn" and not ftz and not sat:
        return build_to_nearest(names[kind == F64], (kd, d), refs, negated)
    directed = rounded(mode, arithmetic(names, kind == F64))

    def op(lanes: Lanes) -> None:
        rows = [lanes.wide(ref) for ref in refs]
        if ftz:
            rows = [flush(row) for row in rows]
        rows = [np.negative(row) if minus else row for row, minus in zip(rows, negated, strict=True)]
        result = directed(*rows)
        if ftz:
            result = flush(result)
        lanes.v[kd][d][:] = saturate(result) if sat else result

    return op


def build_pairs(inst: Instruction, env: Env) -> Op:
    """fadd, fmul, ffma of two f32 side by side in 64 bits."""
    directed = rounded(unpack_name(inst.mods, "rnd"), arithmetic(ARITHMETIC[inst.op.semantics], False))
    ftz = unpack(inst.mods, "ftz")
    negated = [bool(unpack(inst.mods, f"neg_{slot}")) for slot in "abc" if getattr(inst.op, slot)]

    def half(rows, shift):
        rows = [(row >> shift & LOW).astype(np.uint32).view(np.float32) for row in rows]
        rows = [flush(row) for row in rows] if ftz else rows
        result = np.asarray(
            directed(*[np.negative(row) if minus else row for row, minus in zip(rows, negated, strict=True)])
        )
        return np.asarray(flush(result) if ftz else result, np.float32).view(np.uint32).astype(np.uint64)

    def compute(*rows):
        return half(rows, np.uint64(0)) | half(rows, UPPER) << UPPER

    return elementwise(compute, U64, U64)(inst, env)


def build_unary(function, finish=canonical):
    """A function of one to three rows, with ftz and rnd where the row has them; finish(result, *rows) settles its
    NaNs.
    """

    def build(inst: Instruction, env: Env) -> Op:
        kind = slot_kind(inst, "dst")
        mode = unpack_name(inst.mods, "rnd") if "rnd" in inst.op.fields else "rn"
        directed = rounded(mode, function)
        ftz = "ftz" in inst.op.fields and unpack(inst.mods, "ftz")
        negated = [bool(unpack(inst.mods, f"neg_{slot}")) for slot in "abc" if getattr(inst.op, slot)]

        def compute(*rows):
            rows = [flush(row) for row in rows] if ftz else rows
            rows = [np.negative(row) if minus else row for row, minus in zip(rows, negated, strict=True)]
            result = finish(directed(*rows), *rows)
            return flush(result) if ftz else result

        return elementwise(compute, kind, kind)(inst, env)

    return build


def bits_of(row):
    return np.asarray(row).view(np.dtype(f"u{row.dtype.itemsize}"))


def minimum(a, b):
    """The smaller; -0 below +0; a number is preferred to a NaN, signalling or not. np.fmin distinguishes signalling
    ones, on some hosts and rows.
    """
    return np.where(a == b, (bits_of(a) | bits_of(b)).view(a.dtype), np.where((b < a) | np.isnan(a), b, a))


def maximum(a, b):
    return np.where(a == b, (bits_of(a) & bits_of(b)).view(a.dtype), np.where((b > a) | np.isnan(a), b, a))


def extremum(function, mods: int, fields: tuple[str, ...]):
    """min or max of two or three rows with .NaN, .abs and .xorsign (pseudocode of the PTX manual, min)."""
    keeps_nan, magnitudes, xorsign = (name in fields and unpack(mods, name) for name in ("nan", "abs", "xorsign"))
    if not keeps_nan and not magnitudes and not xorsign:
        return lambda *rows: reduce(function, rows)

    def compute(*rows):
        negative = np.signbit(rows[0]) != np.signbit(rows[1]) if xorsign else None
        rows = [np.abs(row) for row in rows] if magnitudes else rows
        result = reduce(function, rows)
        if keeps_nan:
            result = np.where(reduce(np.logical_or, [np.isnan(row) for row in rows]), result.dtype.type(np.nan), result)
        if xorsign:
            result = np.where(negative & ~np.isnan(result), -result, result)
        return result

    return compute


def build_extremum(function):
    """Minimum or maximum. Of two double-precision NaNs the second remains, made quiet, as from the instructions that
    ptxas writes for min.f64.
    """

    def build(inst: Instruction, env: Env) -> Op:
        return build_unary(extremum(function, inst.mods, inst.op.fields), lambda result, *rows: canonical(result))(
            inst, env
        )

    return build


COMPARE_FLOATS = COMPARE | {
    "ne": lambda a, b: (a < b) | (a > b),  # false for NaN
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),
    "nan": lambda a, b: (a != a) | (b != b),
}


def build_setp(inst: Instruction, env: Env) -> Op:
    kind = slot_kind(inst, "a")
    refs = [source(inst, slot, kind, env.pool) for slot in "ab"]
    negated = [bool(unpack(inst.mods, f"neg_{slot}")) for slot in "ab"]
    function = COMPARE_FLOATS[unpack_name(inst.mods, "cmp")]
    ftz = unpack(inst.mods, "ftz")

    def compare(lanes: Lanes):
        rows = [lanes.row(ref) for ref in refs]
        rows = [flush(row) for row in rows] if ftz else rows
        rows = [np.negative(row) if minus else row for row, minus in zip(rows, negated, strict=True)]
        return function(*rows)

    return finish_setp(inst, env, compare)


def is_subnormal(a):
    return (a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny)


TESTS = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    "normal": lambda a: np.isfinite(a) & ~is_subnormal(a),  # zeros count as normal (PTX ISA, testp)
    "subnormal": is_subnormal,
}


def build_testp(inst: Instruction, env: Env) -> Op:
    return elementwise(TESTS[TESTP[unpack(inst.mods, "lut")]])(inst, env)


def build_sign(function):
    """fneg, fabs: only the sign bit changes, so NaNs keep their bits."""

    def build(inst: Instruction, env: Env) -> Op:
        ftz = unpack(inst.mods, "ftz")
        return elementwise(lambda a: function(flush(a) if ftz else a))(inst, env)

    return build


def in_double(function):
    """Computes in double precision and rounds once to single."""
    return lambda *rows: function(*[row.astype(np.float64) for row in rows]).astype(np.float32)


def high_word(function):
    """MUFU.*64H: the upper half of the double result, or the canonical single-precision NaN; the lower half is zero."""

    def compute(a):
        result = function(a)
        upper = np.where(
            np.isnan(result), np.uint64(0x7FFFFFFF << 32), result.view(np.uint64) & np.uint64(0xFFFFFFFF << 32)
        )
        return upper.view(np.float64)

    return compute


def reciprocal(a):
    return np.divide(a.dtype.type(1), a)


def reciprocal_root(a):
    return np.divide(a.dtype.type(1), np.sqrt(a))


def divide_by_reciprocal(a, b):
    """div.approx: a * (1 / b), both rounded, where a divisor beyond 2^126 has the reciprocal 0 (PTX ISA, div)."""
    scale = np.where(np.abs(b) < TINY, np.float32(2.0**24), np.float32(1))
    inverse = np.where(np.abs(b) > HUGE, np.copysign(np.float32(0), b), reciprocal(b * scale))
    return np.multiply(a * scale, inverse)


def divide_in_range(a, b):
    """div.full: the same, but both operands are made smaller where the divisor is beyond 2^126."""
    scale = np.where(np.abs(b) > HUGE, np.float32(0.25), np.float32(1))
    return divide_by_reciprocal(a * scale, b * scale)


def build_elementary(name: str, prepared=lambda a: a):
    """sin, cos, exp2, log2, tanh."""

    def build(inst: Instruction, env: Env) -> Op:
        from gpuprof.emulate.scalar import elementary

        function = getattr(elementary, name)
        return build_unary(lambda a: function(prepared(a)).astype(np.float32))(inst, env)

    return build


def build_approximate(function):
    def build(inst: Instruction, env: Env) -> Op:
        wide = inst.op.types[0] == "f64"
        if wide:
            return build_unary(high_word(function), lambda result, a: result)(inst, env)
        return build_unary(in_double(function))(inst, env)

    return build


SEMANTICS = {
    **dict.fromkeys(ARITHMETIC, build_arithmetic),
    "fmin": build_extremum(minimum),
    "fmax": build_extremum(maximum),
    "fmin3": build_extremum(minimum),
    "fmax3": build_extremum(maximum),
    **{(name, "f32x2"): build_pairs for name in ARITHMETIC},
    "fneg": build_sign(np.negative),
    "fabs": build_sign(np.abs),
    "fsetp": build_setp,
    "copysign": elementwise(lambda a, b: np.copysign(b, a)),
    "testp": build_testp,
    "fdiv": build_unary(np.divide),
    "frcp": build_unary(reciprocal),
    "fsqrt": build_unary(np.sqrt),
    "fdiv_full": build_unary(divide_in_range),
    "fdiv_approx": build_unary(divide_by_reciprocal),
    "approx_rcp": build_approximate(reciprocal),
    "approx_sqrt": build_approximate(np.sqrt),
    "approx_rsqrt": build_approximate(reciprocal_root),
    "approx_rsqrt64": build_unary(reciprocal_root),
    # also without .ftz: ptxas 13.0 folds the sine of a subnormal constant to zero
    "approx_sin": build_elementary("sin", flush),
    "approx_cos": build_elementary("cos"),
    "approx_ex2": build_elementary("exp2"),
    "approx_lg2": build_elementary("log2"),
    "approx_tanh": build_elementary("tanh"),
}
