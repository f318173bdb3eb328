"""Floats of 4, 6 and 8 bits (PTX ISA, "Alternate Floating-Point Data Formats"; OCP Microscaling Formats 1.0), and
stochastic rounding.

Values are float64 rows, which hold all of these formats and f32 exactly; codes are uint32 rows. A NaN becomes the
canonical one, without a sign, or the largest number where a format has no NaN. No hardware was at hand to see the sign
that a NaN keeps.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.operands import F32, S32, U32, U64, destination, source
from gpuprof.emulate.core.operation import Env, Op, elementwise
from gpuprof.emulate.scalar.bits import reverse
from gpuprof.emulate.scalar.half import relu_bits
from gpuprof.emulate.scalar.half_formats import FORMATS, nearest, widen
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import unpack, unpack_name

MASK16 = np.uint32(0xFFFF)


class Small(NamedTuple):
    nbits: int
    fraction: int  # bits
    least_exponent: int  # of normal numbers
    largest: int  # code
    nan: int  # canonical; the largest number where there is none
    infinity: int = 0  # code; 0 where there is none

    @property
    def sign(self) -> int:
        return 1 << self.nbits - 1

    @property
    def slot(self) -> int:
        """Bits that a number takes in a packed pair: six-bit formats are padded with two zeros."""
        return 8 if self.nbits == 6 else self.nbits


SMALL = {
    "e4m3": Small(8, 3, -6, 0x7E, 0x7F),
    "e5m2": Small(8, 2, -14, 0x7B, 0x7F, 0x7C),
    "e2m3": Small(6, 3, 0, 0x1F, 0x1F),
    "e3m2": Small(6, 2, -2, 0x1F, 0x1F),
    "e2m1": Small(4, 1, 0, 0x7, 0x7),
    **{
        name: Small(
            16,
            half_format.fraction,
            half_format.least_exponent,
            half_format.infinity - 1,
            half_format.nan,
            half_format.infinity,
        )
        for name, half_format in FORMATS.items()
    },
}


def encode(value: np.ndarray, form: Small) -> np.ndarray:
    """Codes of float64 values, to nearest even."""
    most = form.infinity or form.largest
    return nearest(value, form.fraction, form.least_exponent, most, form.nan, form.sign)


def encode_by(value: np.ndarray, form: Small, integral) -> np.ndarray:
    """Codes of float64 values. `integral` rounds magnitudes in units of the last place to whole numbers."""
    magnitude = np.where(np.isfinite(value), np.abs(value), 0.0)
    exponent = np.where(
        magnitude == 0,
        form.least_exponent,
        np.maximum(np.frexp(magnitude)[1].astype(np.int64) - 1, form.least_exponent),
    )
    units = integral(np.ldexp(magnitude, (form.fraction - exponent).astype(np.int32)))
    code = units.astype(np.int64) + (exponent - form.least_exponent << form.fraction)
    code = np.where(np.isinf(value), 1 << 30, code)
    sign = np.where(np.signbit(value), form.sign, 0)
    return np.where(np.isnan(value), form.nan, np.minimum(code, form.infinity or form.largest) | sign).astype(np.uint32)


def finish(code: np.ndarray, form: Small, relu: int, satfinite: int) -> np.ndarray:
    """.satfinite: infinity becomes the largest number. .relu: a negative code becomes zero."""
    sign = np.uint32(form.sign)
    magnitude = code & (sign - np.uint32(1))
    if satfinite and form.infinity:
        code = np.where(magnitude == form.infinity, code & sign | np.uint32(form.largest), code)
    return np.where(code & sign != 0, np.uint32(0), code) if relu else code  # a NaN has no sign here


def decode(code: np.ndarray, form: Small) -> np.ndarray:
    """Decodes codes to float64 values."""
    magnitude = (code & np.uint32(form.sign - 1)).astype(np.int64)
    exponent = magnitude >> form.fraction
    significand = magnitude & (1 << form.fraction) - 1 | np.where(exponent > 0, 1 << form.fraction, 0)
    value = np.ldexp(
        significand.astype(np.float64),
        (np.maximum(exponent, 1) - 1 + form.least_exponent - form.fraction).astype(np.int32),
    )
    if form.nan != form.largest:
        value = np.where(magnitude > (form.infinity or form.largest), np.nan, value)
    value = np.where((magnitude == form.infinity) & (form.infinity > 0), np.inf, value)
    return np.where(code & np.uint32(form.sign) != 0, -value, value)


def pairs_of(inst: Instruction, env: Env):
    """v -> the two float64 rows of a conversion's source, the one for the upper part first."""
    if inst.op.types[1] == "f32":
        refs = [source(inst, slot, F32, env.pool) for slot in "ab"]
        return lambda v: [v[kind][index].astype(np.float64) for kind, index in refs]
    t = inst.op.types[1].removesuffix("x2")
    kind, index = source(inst, "a", U32, env.pool)
    return lambda v: [widen(v[kind][index] >> np.uint32(shift) & MASK16, t).astype(np.float64) for shift in (16, 0)]


def build_narrow(inst: Instruction, env: Env) -> Op:
    form, relu, read = SMALL[inst.op.types[0]], unpack(inst.mods, "relu"), pairs_of(inst, env)
    kd, d = destination(inst, U32)

    def op(lanes) -> None:
        upper, lower = (finish(encode(value, form), form, relu, 1) for value in read(lanes.v))
        lanes.v[kd][d][:] = upper << np.uint32(form.slot) | lower

    return op


@cache
def widened(to: str, t: str, relu: int) -> np.ndarray:
    """The f16 or bf16 pattern of each code of a small float, uint32. Every small number is an f16, every power of two
    from 2^-127 on a bf16.
    """
    if t == "ue8m0":
        code = np.arange(1 << 8)
        value = np.where(code == 0xFF, np.nan, np.ldexp(1.0, code - 127))
    else:
        value = decode(np.arange(1 << SMALL[t].nbits, dtype=np.uint32), SMALL[t])
    bits = encode(value, SMALL[to])
    return relu_bits(bits, to) if relu else bits


def build_widen(inst: Instruction, env: Env) -> Op:
    to, t = inst.op.types[0].removesuffix("x2"), inst.op.types[1]
    relu = "relu" in inst.op.fields and unpack(inst.mods, "relu")
    slot = np.uint32(8 if t == "ue8m0" else SMALL[t].slot)
    patterns = widened(to, t, relu)
    mask = np.uint32(len(patterns) - 1)  # six-bit formats are padded

    def compute(row):
        return patterns[row >> slot & mask] << np.uint32(16) | patterns[row & mask]

    return elementwise(compute, U32, U32)(inst, env)


def build_scale(inst: Instruction, env: Env) -> Op:
    """Rounds the magnitude to a power of two: rz takes the one below, rp the one above. Codes 0 to 254 are 2^-127 to
    2^127, 255 is NaN.
    """
    up, satfinite, read = unpack_name(inst.mods, "rnd") == "rp", unpack(inst.mods, "satfinite"), pairs_of(inst, env)
    kd, d = destination(inst, U32)

    def code(value):
        fraction, exponent = np.frexp(np.where(np.isfinite(value), np.abs(value), 1.0))
        power = exponent.astype(np.int64) - 1 + (up & (fraction > 0.5))
        power = np.where(np.isinf(value), 128, np.where(value == 0, -127, power))
        limited = np.clip(power + 127, 0, 254 if satfinite else 255)
        return np.where(np.isnan(value), 255, limited).astype(np.uint32)

    def op(lanes) -> None:
        upper, lower = (code(value) for value in read(lanes.v))
        lanes.v[kd][d][:] = upper << np.uint32(8) | lower

    return op


def stochastic(random: np.ndarray, nbits: int):
    """Rounds up where the random bits, put below the binary point, carry over it; the bits that they do not reach are
    cut off.
    """
    step = 2.0**nbits

    def integral(units):
        floor = np.floor(units)
        return floor + (np.floor((units - floor) * step) + random >= step)

    return integral


def build_stochastic(inst: Instruction, env: Env) -> Op:
    """Two halves: 13 random bits for an f16, 16 for a bf16, from the upper and the lower half of the last source."""
    t = inst.op.types[0]
    form, nbits = SMALL[t], {"f16": 13, "bf16": 16}[t]
    relu, satfinite = unpack(inst.mods, "relu"), unpack(inst.mods, "satfinite")
    read = pairs_of(inst, env)
    kd, d = destination(inst, U32)
    kc, c = source(inst, "c", U32, env.pool)

    def op(lanes) -> None:
        codes = []
        for value, shift in zip(read(lanes.v), (16, 0), strict=True):
            random = lanes.v[kc][c] >> np.uint32(shift) & np.uint32((1 << nbits) - 1)
            codes.append(finish(encode_by(value, form, stochastic(random, nbits)), form, relu, satfinite))
        lanes.v[kd][d][:] = codes[0] << np.uint32(16) | codes[1]

    return op


def build_stochastic4(inst: Instruction, env: Env) -> Op:
    """Four bytes. The upper half of the random bits is for the first pair, the lower one for the second; the first of a
    pair takes them reversed.

    The halves are in the manual; the reversal was measured on sm_100a by others (FlashInfer's software twin of
    cvt.rs.satfinite.e4m3x4.f32).
    """
    form, relu = SMALL[inst.op.types[0]], unpack(inst.mods, "relu")
    kd, d = destination(inst, U32)
    refs = [source(inst, slot, U64, env.pool) for slot in "ab"]
    kc, c = source(inst, "c", U32, env.pool)

    def op(lanes) -> None:
        total = np.uint32(0)
        for (kind, index), half in zip(refs, (16, 0), strict=True):
            straight = lanes.v[kc][c] >> np.uint32(half) & MASK16
            pair = lanes.v[kind][index]
            for position, random in ((0, reverse(straight) >> np.uint32(16)), (32, straight)):
                value = (pair >> np.uint64(position)).astype(np.uint32).view(np.float32).astype(np.float64)
                code = finish(encode_by(value, form, stochastic(random, 16)), form, relu, 1)
                total = total << np.uint32(8) | code
        lanes.v[kd][d][:] = total

    return op


def build_pack_integers(inst: Instruction, env: Env) -> Op:
    """cvt.pack.sat: a above b in the lowest bits, c above both."""
    t = inst.op.types[0]
    nbits = int(t[1:])
    low, high = (-(1 << nbits - 1), (1 << nbits - 1) - 1) if t[0] == "s" else (0, (1 << nbits) - 1)
    mask = np.uint32((1 << nbits) - 1)
    refs = [source(inst, slot, S32, env.pool) for slot in "ab"]
    rest = source(inst, "c", U32, env.pool) if inst.op.c else None
    kd, d = destination(inst, U32)

    def op(lanes) -> None:
        v = lanes.v
        upper, lower = (
            np.clip(v[kind][index], low, high).astype(np.int32).view(np.uint32) & mask for kind, index in refs
        )
        packed = upper << np.uint32(nbits) | lower
        v[kd][d][:] = packed | v[rest.kind][rest.index] << np.uint32(2 * nbits) if rest else packed

    return op


SEMANTICS = {
    "cvt_small": build_narrow,
    "cvt_widen": build_widen,
    "cvt_scale": build_scale,
    "cvt_stochastic": build_stochastic,
    "cvt_stochastic4": build_stochastic4,
    "cvt_pack_integers": build_pack_integers,
}
