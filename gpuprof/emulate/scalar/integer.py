"""Integer arithmetic, comparisons, shifts and logic. Wraps around like the hardware; shifts past the width clamp.

Division by zero gives all ones for quotient and remainder, as the instruction sequences that ptxas emits do; INT_MIN /
-1 wraps.
"""

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import KIND_OF_TYPE, PRED, S64, destination, source
from gpuprof.emulate.core.operation import (
    Env,
    Op,
    by_type,
    elementwise,
    read_predicate,
    slot_kind,
    sources,
    ufunc,
)
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import COMPARE, unpack, unpack_name

BOOL = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def build_mad(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, slot_kind(inst, "dst"))
    (ka, a), (kb, b), (kc, c) = sources(inst, env)
    if (kc, c) == (kd, d):

        def op(lanes: Lanes) -> None:
            v = lanes.v
            row = v[kd][d]
            np.add(np.multiply(v[ka][a], v[kb][b]), row, row)

        return op

    def op(lanes: Lanes) -> None:
        v = lanes.v
        row = v[kd][d]
        np.multiply(v[ka][a], v[kb][b], row)
        np.add(row, v[kc][c], row)

    return op


def build_wide(inst: Instruction, env: Env) -> Op:
    """mul.wide, mad.wide: 32 x 32 bits to 64, then a 64-bit addend."""
    from gpuprof.emulate.core.row_kernels import multiply, multiply_add

    narrow = KIND_OF_TYPE[inst.op.types[0]]
    kd, d = destination(inst, S64)
    refs = [source(inst, slot, narrow, env.pool) for slot in "ab"]
    if inst.op.c:
        refs.append(source(inst, "c", S64, env.pool))
    compute = multiply_add if inst.op.c else multiply

    def op(lanes: Lanes) -> None:
        compute(*[lanes.wide(ref) for ref in refs], lanes.v[kd][d])

    return op


SUBTRACTS = {"add_carry": False, "sub_carry": True}


def build_carry(inst: Instruction, env: Env) -> Op:
    """add/sub with carry in e and out c. A subtraction adds the complement, so that its carry is no borrow, as hardware
    has it.
    """
    kind = slot_kind(inst, "dst")
    kd, d = destination(inst, kind)
    kc, c = destination(inst, PRED, "c")
    (ka, a), (kb, b) = sources(inst, env, "ab")
    carry_in = read_predicate(inst.e, env)
    subtract = SUBTRACTS[inst.op.semantics]

    def op(lanes: Lanes) -> None:
        v = lanes.v
        first, second = v[ka][a], v[kb][b]
        carry = carry_in(lanes)
        if subtract:
            borrow = ~carry
            part = first - second
            total = part - borrow
            out = ~((first < second) | (part < borrow))
        else:
            part = first + second
            total = part + carry
            out = (part < first) | (total < part)
        v[kd][d][:] = total
        v[kc][c][:] = out

    return op


def finish_setp(inst: Instruction, env: Env, compare) -> Op:
    """dst = compare(x) BOOL e, c = not compare(x) BOOL e."""
    kd, d = destination(inst, PRED)
    kc, c = destination(inst, PRED, "c")
    has_second = inst.c & 0x7F != 0x7F
    name = unpack_name(inst.mods, "bool")
    if not name:

        def op(lanes: Lanes) -> None:
            v = lanes.v
            held = compare(lanes)
            if has_second:
                np.logical_not(held, v[kc][c])
            v[kd][d][:] = held

        return op
    combine, third = BOOL[name], read_predicate(inst.e, env)

    def op(lanes: Lanes) -> None:
        v = lanes.v
        held, other = compare(lanes), third(lanes)
        first = combine(held, other)
        if has_second:
            combine(~held, other, v[kc][c])
        v[kd][d][:] = first

    return op


def build_setp(inst: Instruction, env: Env) -> Op:
    (ka, a), (kb, b) = sources(inst, env, "ab")
    function = COMPARE[unpack_name(inst.mods, "cmp")]
    if inst.c & 0x7F == 0x7F and not unpack_name(inst.mods, "bool"):
        kd, d = destination(inst, PRED)

        def op(lanes: Lanes) -> None:
            v = lanes.v
            function(v[ka][a], v[kb][b], v[kd][d])

        return op
    return finish_setp(inst, env, lambda lanes: function(lanes.v[ka][a], lanes.v[kb][b]))


def unsigned(row):
    return row.view(np.dtype(f"u{row.dtype.itemsize}"))


def divide_unsigned(a, b):
    zero = b == 0
    return np.where(zero, ~np.zeros((), a.dtype), a // np.where(zero, np.ones((), a.dtype), b))


def remainder_unsigned(a, b):
    zero = b == 0
    return np.where(zero, ~np.zeros((), a.dtype), a % np.where(zero, np.ones((), a.dtype), b))


def magnitude(a):
    return unsigned(np.asarray(np.abs(a)))  # abs(INT_MIN) wraps to itself, which read as unsigned is right


def divide_signed(a, b):
    quotient = divide_unsigned(magnitude(a), magnitude(b)).view(a.dtype)
    return np.where((b != 0) & ((a < 0) != (b < 0)), -quotient, quotient)


def remainder_signed(a, b):
    rest = remainder_unsigned(magnitude(a), magnitude(b)).view(a.dtype)
    return np.where((b != 0) & (a < 0), -rest, rest)


def multiply_high(type_name: str):
    """Upper half of the double-width product."""
    if type_name in ("s32", "u32"):
        wide = np.int64 if type_name == "s32" else np.uint64
        return lambda a, b: (np.multiply(a, b, dtype=wide) >> wide(32)).astype(a.dtype)
    if type_name == "u64":
        return multiply_high_u64

    def signed(a, b):
        ua, ub = unsigned(a), unsigned(b)
        zero = np.uint64(0)
        return (multiply_high_u64(ua, ub) - np.where(a < 0, ub, zero) - np.where(b < 0, ua, zero)).view(np.int64)

    return signed


def multiply_high_u64(a, b):
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    cross = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (cross >> half)


def multiply_add_high(type_name: str):
    high = multiply_high(type_name)
    return lambda a, b, c: high(a, b) + c


def sum_of_absolute_difference(a, b, c):
    return c + np.where(a > b, a - b, b - a)


def dot_product(type_a: str, type_b: str, first_b: int, count: int):
    """c + the sum of products of `count` narrow lanes of a (from lane 0) and of b (from lane first_b)."""
    da, db = (
        np.dtype(f"{'i' if type_a[0] == 's' else 'u'}{int(type_a[1:]) // 8}"),
        np.dtype("i1" if type_b[0] == "s" else "u1"),
    )
    bits_a, mask_a = da.itemsize * 8, np.uint32((1 << da.itemsize * 8) - 1)

    def function(a, b, c):
        total = c.view(np.uint32) if c.dtype != np.uint32 else c
        for lane in range(count):
            left = ((a >> np.uint32(lane * bits_a)) & mask_a).astype(da.str.replace("i", "u")).view(da).astype(np.int64)
            right = (
                ((b >> np.uint32((first_b + lane) * 8)) & np.uint32(0xFF)).astype(np.uint8).view(db).astype(np.int64)
            )
            total = total + (left * right).astype(np.uint32)
        return total

    return function


def read_halves(row, type_name: str) -> list[np.ndarray]:
    """The two 16-bit integers of a register, low half first."""
    return [
        (row >> np.uint32(shift)).astype(np.uint16).view("i2" if type_name[0] == "s" else "u2") for shift in (0, 16)
    ]


def join_halves(low, high):
    return low.view(np.uint16).astype(np.uint32) | high.view(np.uint16).astype(np.uint32) << np.uint32(16)


def build_halves(function: np.ufunc):
    """Two 16-bit operations side by side, with relu where the row has it."""

    def build(inst: Instruction, env: Env) -> Op:
        t = inst.op.types[0]
        relu = "relu" in inst.op.fields and unpack(inst.mods, "relu")

        def compute(a, b):
            results = [np.asarray(function(x, y)) for x, y in zip(read_halves(a, t), read_halves(b, t), strict=True)]
            return join_halves(*[np.maximum(row, row.dtype.type(0)) if relu else row for row in results])

        return elementwise(compute)(inst, env)

    return build


SEMANTICS = {
    "add_halves": build_halves(np.add),
    "min_halves": build_halves(np.minimum),
    "max_halves": build_halves(np.maximum),
    "add": ufunc(np.add),
    "sub": ufunc(np.subtract),
    "mul": ufunc(np.multiply),
    "neg": ufunc(np.negative),
    "abs": ufunc(np.abs),
    "min": ufunc(np.minimum),
    "max": ufunc(np.maximum),
    "and": ufunc(np.bitwise_and),
    "or": ufunc(np.bitwise_or),
    "xor": ufunc(np.bitwise_xor),
    "not": ufunc(np.bitwise_not),
    "mad": build_mad,
    "mul_wide": build_wide,
    "mad_wide": build_wide,
    **dict.fromkeys(SUBTRACTS, build_carry),
    "setp": build_setp,
    "div": by_type(lambda t: divide_signed if t[0] == "s" else divide_unsigned),
    "rem": by_type(lambda t: remainder_signed if t[0] == "s" else remainder_unsigned),
    "mul_high": by_type(multiply_high),
    "mad_high": by_type(multiply_add_high),
    "sad": elementwise(sum_of_absolute_difference),
    "dp4a": by_type(lambda ta, tb: dot_product(ta, tb, 0, 4)),
    "dp2a_lo": by_type(lambda ta, tb: dot_product(ta, tb, 0, 2)),
    "dp2a_hi": by_type(lambda ta, tb: dot_product(ta, tb, 2, 2)),
}
