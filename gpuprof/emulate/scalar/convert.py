"""cvt between all scalar types, packing conversions and rounding to integral values.

Out-of-range floats become the nearest integer the type has. NaN becomes 0, or only the top bit when either type is 64
bits wide (PTX ISA, cvt).
"""

import numpy as np

from gpuprof.emulate.core.operands import F32, F64, U32, U64, destination, source
from gpuprof.emulate.core.operation import Env, Op, elementwise
from gpuprof.emulate.core.rounding import rounded
from gpuprof.emulate.scalar.floating import canonical, flush, saturate
from gpuprof.emulate.scalar.half import clamp_bits, flush_bits, relu_bits
from gpuprof.emulate.scalar.half_formats import FORMATS, narrow, round_to_odd, widen
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import unpack, unpack_name
from gpuprof.isa.row import FLOAT_TYPES, type_nbits

LARGEST_TF32 = np.uint32(0x7F7FE000).view(np.float32)
INTEGRAL = {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}


def read_integer(row: np.ndarray, type_name: str) -> np.ndarray:
    """The low bits of a row as an integer of type t."""
    nbytes = type_nbits(type_name) // 8
    return row.astype(f"u{nbytes}").view(f"{'i' if type_name[0] == 's' else 'u'}{nbytes}")


def limits(type_name: str) -> tuple[int, int]:
    nbits = type_nbits(type_name)
    return (-(1 << nbits - 1), (1 << nbits - 1) - 1) if type_name[0] == "s" else (0, (1 << nbits) - 1)


def as_row(value: np.ndarray, type_name: str) -> np.ndarray:
    """An integer of the type, zero-extended to the register's width."""
    return value.view(f"u{type_nbits(type_name) // 8}")


def clamp_integer(value: np.ndarray, source_type: str, to: str) -> np.ndarray:
    """Clamps values to the range of `to`, by comparisons in the source's own type."""
    (lo, hi), (source_lo, source_hi) = limits(to), limits(source_type)
    kind = value.dtype.type
    value = np.maximum(value, kind(lo)) if lo > source_lo else value
    return np.minimum(value, kind(hi)) if hi < source_hi else value


def integer_to_integer(to: str, source_type: str, mods: int):
    sat = unpack(mods, "sat")
    dtype = f"{'i' if to[0] == 's' else 'u'}{type_nbits(to) // 8}"

    def compute(row):
        value = read_integer(row, source_type)
        if sat:
            value = clamp_integer(value, source_type, to)
        return as_row(value.astype(dtype), to)

    return compute


def read_float(row: np.ndarray, type_name: str) -> np.ndarray:
    """f32 and f64 rows as they are, half precision widened to f32."""
    return widen(row & np.uint32(0xFFFF), type_name) if type_name in FORMATS else row


def float_to_integer(to: str, source_type: str, mods: int):
    integral, ftz = INTEGRAL[unpack_name(mods, "rnd")], unpack(mods, "ftz")
    lo, hi = limits(to)
    dtype = np.dtype(f"{'i' if to[0] == 's' else 'u'}{type_nbits(to) // 8}")
    wide = source_type == "f64" or type_nbits(to) == 64
    nan = np.array(1 << type_nbits(to) - 1 if wide else 0, f"u{dtype.itemsize}").view(dtype)

    def compute(row):
        value = read_float(row, source_type)
        value = integral((flush(value) if ftz and source_type == "f32" else value).astype(np.float64))
        below, above = value <= float(lo), value >= float(hi)  # float(hi) is hi or one more
        inside = np.where(below | above | np.isnan(value), 0.0, value).astype(dtype)
        result = np.where(below, dtype.type(lo), np.where(above, dtype.type(hi), inside))
        return as_row(np.where(np.isnan(value), nan, result), to)

    return compute


def exact_double(value: np.ndarray, nbits: int) -> np.ndarray:
    """Integers as float64: exactly up to 32 bits; 64-bit ones rounded to odd, so that the next rounding is the only
    one.
    """
    if nbits <= 32:
        return value.astype(np.float64)
    low = (value & value.dtype.type(0x7FF)).astype(np.float64)
    high = (value - (value & value.dtype.type(0x7FF))).astype(np.float64)
    total = high + low
    return round_to_odd(total, low - (total - high))


def integer_to_double(value: np.ndarray, mode: str) -> np.ndarray:
    """64-bit integers in float64: the upper 53 bits and the rest are exact, and their sum is rounded once."""
    low = (value & value.dtype.type(0x7FF)).astype(np.float64)
    high = (value - (value & value.dtype.type(0x7FF))).astype(np.float64)
    return rounded(mode, np.add)(high, low)


def to_single(mode: str):
    return rounded(mode, lambda value: value.astype(np.float32))


def finish_float(value: np.ndarray, to: str, mods: int) -> np.ndarray:
    """flush and saturation of an f32 or f64 result."""
    value = canonical(value)
    if to == "f32" and unpack(mods, "ftz"):
        value = flush(value)
    return saturate(value) if unpack(mods, "sat") else value


def finish_half(bits: np.ndarray, to: str, mods: int) -> np.ndarray:
    return clamp_bits(bits, to) if unpack(mods, "sat") else bits


def integer_to_float(to: str, source_type: str, mods: int):
    mode, nbits = unpack_name(mods, "rnd"), type_nbits(source_type)

    def compute(row):
        value = read_integer(row, source_type)
        if to == "f64":
            result = value.astype(np.float64) if nbits <= 32 else integer_to_double(value, mode)
            return finish_float(result, to, mods)
        double = exact_double(value, nbits)
        if to == "f32":
            return finish_float(to_single(mode)(double), to, mods)
        return finish_half(narrow(double, to, mode), to, mods)

    return compute


def float_to_float(to: str, source_type: str, mods: int):
    mode, ftz = unpack_name(mods, "rnd"), unpack(mods, "ftz")

    def compute(row):
        value = read_float(row, source_type)
        value = flush(value) if ftz and source_type == "f32" else value
        if to == "f64":
            return finish_float(value.astype(np.float64), to, mods)
        if to == "f32":
            return finish_float(to_single(mode)(value) if source_type == "f64" else value.astype(np.float32), to, mods)
        return finish_half(narrow(value.astype(np.float64), to, mode), to, mods)

    return compute


def float_kind(type_name: str) -> int:
    return {"f32": F32, "f64": F64, "f16": U32, "bf16": U32}[type_name]


def integer_kind(type_name: str) -> int:
    return U64 if type_nbits(type_name) == 64 else U32


def build_convert(inst: Instruction, env: Env) -> Op:
    to, source_type = inst.op.types
    if to == "tf32":
        return build_tf32(inst, env)
    to_float, from_float = to in FLOAT_TYPES, source_type in FLOAT_TYPES
    maker = ((integer_to_integer, float_to_integer), (integer_to_float, float_to_float))[to_float][from_float]
    compute = maker(to, source_type, inst.mods)
    kd, d = destination(inst, float_kind(to) if to_float else integer_kind(to))
    ka, a = source(inst, "a", float_kind(source_type) if from_float else integer_kind(source_type), env.pool)

    def op(lanes) -> None:
        lanes.v[kd][d][:] = compute(lanes.v[ka][a])

    return op


def build_tf32(inst: Instruction, env: Env) -> Op:
    """f32 with 10 bits of fraction; rna rounds halves away from zero, rn to even, rz cuts off; satfinite stops at the
    largest one.
    """
    mode, sat, relu = unpack_name(inst.mods, "rnd"), unpack(inst.mods, "satfinite"), unpack(inst.mods, "relu")
    mask = np.uint32(0xFFFFE000)

    def compute(row):
        bits = row.view(np.uint32)
        last = bits >> np.uint32(13) & np.uint32(1)
        add = {"rna": np.uint32(0x1000), "rn": np.uint32(0xFFF) + last, "rz": np.uint32(0)}[mode]
        result = np.where(np.isfinite(row), bits + add & mask, bits).view(np.float32)
        result = np.clip(result, -LARGEST_TF32, LARGEST_TF32) if sat else result
        return canonical(np.where(np.signbit(result) & ~np.isnan(result), np.float32(0), result) if relu else result)

    return elementwise(compute, F32, F32)(inst, env)


def build_pack(inst: Instruction, env: Env) -> Op:
    """Two f32: a to the upper half, b to the lower."""
    t = inst.op.types[0].removesuffix("x2")
    mode = unpack_name(inst.mods, "rnd")
    satfinite, relu = (unpack(inst.mods, name) for name in ("satfinite", "relu"))
    infinity = np.uint32(FORMATS[t].infinity)

    def half(row):
        bits = narrow(row.astype(np.float64), t, mode)
        if satfinite:  # the largest number is the pattern below infinity
            bits = np.where(bits & np.uint32(0x7FFF) == infinity, bits - np.uint32(1), bits)
        return relu_bits(bits, t) if relu else bits

    kd, d = destination(inst, U32)
    (ka, a), (kb, b) = (source(inst, slot, F32, env.pool) for slot in "ab")

    def op(lanes) -> None:
        lanes.v[kd][d][:] = half(lanes.v[ka][a]) << np.uint32(16) | half(lanes.v[kb][b])

    return op


def build_round(inst: Instruction, env: Env) -> Op:
    """Rounds to an integral value of the same type."""
    t = inst.op.types[0]
    integral, ftz, sat = INTEGRAL[unpack_name(inst.mods, "rnd")], unpack(inst.mods, "ftz"), unpack(inst.mods, "sat")
    if t not in FORMATS:

        def compute(row):
            return finish_float(integral(flush(row) if ftz and t == "f32" else row), t, inst.mods)

        return elementwise(compute, float_kind(t), float_kind(t))(inst, env)

    def compute_half(row):
        bits = row & np.uint32(0xFFFF)
        bits = narrow(integral(widen(flush_bits(bits, t) if ftz else bits, t)).astype(np.float64), t)
        return clamp_bits(bits, t) if sat else bits

    return elementwise(compute_half, U32, U32)(inst, env)


SEMANTICS = {"cvt": build_convert, "cvt_pack": build_pack, "round_integral": build_round}
