"""Half precision: f16, bf16 and their packed pairs. Values are widened, computed exactly enough, and rounded once."""

from functools import partial

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import PRED, U32, destination, source
from gpuprof.emulate.core.operation import Env, Op, elementwise, read_predicate
from gpuprof.emulate.scalar import half_formats
from gpuprof.emulate.scalar.floating import COMPARE_FLOATS, extremum, maximum, minimum
from gpuprof.emulate.scalar.half_formats import FORMATS, add, fused, multiply, narrow, widen
from gpuprof.emulate.scalar.integer import BOOL, finish_setp
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import unpack, unpack_name

SIGN = np.uint32(half_formats.SIGN)
LOW = np.uint32(0xFFFF)
UPPER = np.uint32(16)


def scalar_type(type_name: str) -> str:
    return type_name.removesuffix("x2")


def halves(function, packed: bool):
    """A function of 16-bit patterns, on the low halves, or on both halves when packed."""
    if not packed:
        return lambda *rows: function(*[row & LOW for row in rows])
    return lambda *rows: function(*[row & LOW for row in rows]) | function(*[row >> UPPER for row in rows]) << UPPER


def flush_bits(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Subnormal patterns become zeros of the same sign."""
    exponent = np.uint32(FORMATS[type_name].infinity)
    return np.where(bits & exponent == 0, bits & SIGN, bits)


def clamp_bits(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Patterns to [0, 1]; NaN becomes +0."""
    one, infinity = np.uint32(FORMATS[type_name].one), np.uint32(FORMATS[type_name].infinity)
    magnitude = bits & np.uint32(0x7FFF)
    return np.where((bits & SIGN != 0) | (magnitude > infinity), np.uint32(0), np.minimum(magnitude, one))


def relu_bits(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Negative patterns become +0; NaN stays."""
    return np.where((bits & SIGN != 0) & (bits & np.uint32(0x7FFF) <= FORMATS[type_name].infinity), np.uint32(0), bits)


def approximation(name: str):
    from gpuprof.emulate.scalar import elementary

    function = getattr(elementary, name)
    return lambda mode, a: function(a)


# () -> the function of a rounding mode and numbers; compiled ones are imported on first use
ARITHMETIC = {
    "fadd": lambda: add,
    "fmul": lambda: multiply,
    "ffma": lambda: fused,
    "approx_ex2": lambda: approximation("exp2"),
    "approx_tanh": lambda: approximation("tanh"),
}


# by semantics: the name of an operation that `small_rows.arithmetic` does to nearest even
OF_ROWS = {"fadd": "ADD", "fmul": "MULTIPLY", "ffma": "FUSED"}


def build_arithmetic(inst: Instruction, env: Env, operation: str) -> Op:
    """fadd, fmul, ffma. `operation`: of OF_ROWS."""
    fields = {
        name: unpack_name(inst.mods, name) if name == "rnd" else unpack(inst.mods, name) for name in inst.op.fields
    }
    is_plain = fields.get("rnd", "rn") == "rn" and not any(fields.get(name) for name in ("ftz", "sat", "nan"))
    return build_rows(inst, env, operation) if is_plain else build_modified(inst, env)


def build_rows(inst: Instruction, env: Env, operation: str) -> Op:
    """fadd, fmul, ffma to nearest even, with negated sources at most."""
    from gpuprof.emulate.scalar import small_rows

    t, is_packed = scalar_type(inst.op.types[0]), inst.op.types[0].endswith("x2")
    form, sign = FORMATS[t], SIGN | SIGN << UPPER if is_packed else SIGN
    fixed = (
        getattr(small_rows, operation), t == "f16", is_packed,
        form.fraction, form.least_exponent, form.infinity, form.nan,
    )  # fmt: skip
    kd, d = destination(inst, U32)
    slots = [slot for slot in "abc" if getattr(inst.op, slot)]
    refs = [source(inst, slot, U32, env.pool) for slot in slots]
    signs = np.array([sign * bool(unpack(inst.mods, f"neg_{slot}")) for slot in slots] + [0], np.uint32)[:3]

    def op(lanes: Lanes) -> None:
        rows = [lanes.wide(ref) for ref in refs]
        small_rows.arithmetic(*fixed, *rows, *rows[: 3 - len(rows)], signs, lanes.v[kd][d])

    return op


def build_modified(inst: Instruction, env: Env) -> Op:
    """In any rounding mode, with flush to zero, saturation and relu; and the approximate functions."""
    t = scalar_type(inst.op.types[0])
    function = ARITHMETIC[inst.op.semantics]()
    mode = unpack_name(inst.mods, "rnd") if "rnd" in inst.op.fields else "rn"
    ftz = unpack(inst.mods, "ftz")
    sat = "sat" in inst.op.fields and unpack(inst.mods, "sat")
    relu = "nan" in inst.op.fields and unpack(inst.mods, "nan")
    signs = [SIGN if unpack(inst.mods, f"neg_{slot}") else np.uint32(0) for slot in "abc"]

    def compute(*patterns):
        patterns = [flush_bits(bits, t) if ftz else bits for bits in patterns]
        bits = narrow(
            function(mode, *[widen(row ^ sign, t) for row, sign in zip(patterns, signs, strict=False)]), t, mode
        )
        bits = flush_bits(bits, t) if ftz else bits
        bits = clamp_bits(bits, t) if sat else bits
        return relu_bits(bits, t) if relu else bits

    return elementwise(halves(compute, inst.op.types[0].endswith("x2")), U32, U32)(inst, env)


def build_extremum(function):
    def build(inst: Instruction, env: Env) -> Op:
        t = scalar_type(inst.op.types[0])
        ftz = unpack(inst.mods, "ftz")
        select = extremum(function, inst.mods, inst.op.fields)

        def compute(*patterns):
            result = select(*[widen(flush_bits(bits, t) if ftz else bits, t) for bits in patterns])
            return narrow(result.astype(np.float64), t)

        return elementwise(halves(compute, inst.op.types[0].endswith("x2")), U32, U32)(inst, env)

    return build


def build_sign(function):
    def build(inst: Instruction, env: Env) -> Op:
        t, ftz = scalar_type(inst.op.types[0]), unpack(inst.mods, "ftz")
        compute = halves(lambda bits: function(flush_bits(bits, t) if ftz else bits), inst.op.types[0].endswith("x2"))
        return elementwise(compute, U32, U32)(inst, env)

    return build


def build_setp(inst: Instruction, env: Env) -> Op:
    """f16: dst = a cmp b and c its opposite. f16x2: dst compares the low halves and c the high ones."""
    t, packed = scalar_type(inst.op.types[0]), inst.op.types[0].endswith("x2")
    refs = [source(inst, slot, U32, env.pool) for slot in "ab"]
    compare = COMPARE_FLOATS[unpack_name(inst.mods, "cmp")]
    ftz = unpack(inst.mods, "ftz")
    signs = [SIGN if unpack(inst.mods, f"neg_{slot}") else np.uint32(0) for slot in "ab"]

    def half(lanes: Lanes, shift: int):
        rows = [(lanes.row(ref) >> np.uint32(shift) & LOW) ^ sign for ref, sign in zip(refs, signs, strict=True)]
        return compare(*[widen(flush_bits(row, t) if ftz else row, t) for row in rows])

    if not packed:
        return finish_setp(inst, env, lambda x: half(x, 0))
    return build_packed_setp(inst, env, half)


def build_packed_setp(inst: Instruction, env: Env, half) -> Op:
    (kd, d), (kc, c) = destination(inst, PRED), destination(inst, PRED, "c")
    name = unpack_name(inst.mods, "bool")
    third = read_predicate(inst.e, env)

    def op(lanes: Lanes) -> None:
        low, high = half(lanes, 0), half(lanes, 16)
        if name:
            other = third(lanes)
            low, high = BOOL[name](low, other), BOOL[name](high, other)
        lanes.v[kc][c][:] = high
        lanes.v[kd][d][:] = low

    return op


BUILDERS = {
    **dict.fromkeys(ARITHMETIC, build_modified),
    **{name: partial(build_arithmetic, operation=operation) for name, operation in OF_ROWS.items()},
    "fmin": build_extremum(minimum),
    "fmax": build_extremum(maximum),
    "fneg": build_sign(lambda bits: bits ^ SIGN),
    "fabs": build_sign(lambda bits: bits & ~SIGN),
    "fsetp": build_setp,
}
SEMANTICS = {(name, t): builder for name, builder in BUILDERS.items() for t in ("f16", "f16x2", "bf16", "bf16x2")}
