"""Shifts, bit fields, counting and permuting bits."""

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import PRED, destination
from gpuprof.emulate.core.operation import Env, Op, elementwise, slot_kind, sources, ufunc
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import PRMT_SELECTORS, unpack, unpack_name

# numpy defines shifts by the width or more (0, or the sign for signed right shifts), which is what PTX asks for.


def width(row) -> int:
    return row.dtype.itemsize * 8


def build_shift(function: np.ufunc):
    def build(inst: Instruction, env: Env) -> Op:
        kd, d = destination(inst, slot_kind(inst, "dst"))
        (ka, a), (kb, b) = sources(inst, env)

        def op(lanes: Lanes) -> None:
            v = lanes.v
            row = v[kd][d]
            count = v[kb][b]
            function(v[ka][a], count if count.dtype == row.dtype else count.astype(row.dtype), row)

        return op

    return build


def extract(a, position, length):
    """bfe: `length` bits of a from `position`, sign-extended for signed types; past the top it reads the sign (or
    0).
    """
    bits = width(a)
    position = (position.view(np.uint32) & np.uint32(0xFF)).astype(a.dtype)
    length = length.view(np.uint32) & np.uint32(0xFF)
    up = np.where(length < bits, bits - length.astype(np.int64), 0).astype(a.dtype)
    field = ((a >> position) << up) >> up
    return np.where(length == 0, np.zeros((), a.dtype), field)


def insert(a, b, where):
    """bfi: the low bits of a put into b; `where` is position | length << 8."""
    position = (where & np.uint32(0xFF)).astype(a.dtype)
    length = (where >> np.uint32(8) & np.uint32(0xFF)).astype(a.dtype)
    one = np.ones((), a.dtype)
    mask = ((one << length) - one) << position
    return b & ~mask | (a << position) & mask


def reverse(a):
    bits = width(a)
    swapped = np.ascontiguousarray(a).byteswap()
    for shift, mask in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        mask = a.dtype.type(int.from_bytes(bytes([mask]) * (bits // 8), "little"))
        shift = a.dtype.type(shift)
        swapped = (swapped >> shift & mask) | (swapped & mask) << shift
    return swapped


def bit_length(a):
    """Position of the highest set bit plus one, of unsigned rows; int64."""
    if width(a) == 32:
        return np.frexp(a.astype(np.float64))[1].astype(np.int64)
    high = bit_length((a >> np.uint64(32)).astype(np.uint32))
    low = bit_length(a.astype(np.uint32))
    return np.where(high > 0, high + 32, low)


def leading_zeros(a):
    return width(a) - bit_length(a)


def find_highest(a):
    """bfind: position of the highest bit that differs from the sign; all ones when there is none."""
    raw = np.where(a < 0, ~a, a).astype(f"u{a.dtype.itemsize}") if a.dtype.kind == "i" else a
    return (bit_length(raw) - 1).astype(np.uint32)


def find_highest_shift(a):
    """bfind.shiftamt: how far to shift left to bring that bit to the top."""
    at = find_highest(a)
    none = np.uint32(0xFFFFFFFF)
    return np.where(at == none, none, np.uint32(width(a) - 1) - at)


TWO_INPUT = (
    lambda b, c: np.zeros_like(b & c),
    lambda b, c: ~(b | c),
    lambda b, c: ~b & c,
    lambda b, c: ~b,
    lambda b, c: b & ~c,
    lambda b, c: ~c,
    lambda b, c: b ^ c,
    lambda b, c: ~(b & c),
    lambda b, c: b & c,
    lambda b, c: ~(b ^ c),
    lambda b, c: c,
    lambda b, c: ~b | c,
    lambda b, c: b,
    lambda b, c: b | ~c,
    lambda b, c: b | c,
    lambda b, c: ~np.zeros_like(b & c),
)  # index bit 2*b + c of the nibble is the output


def build_lop3(inst: Instruction, env: Env) -> Op:
    lut = unpack(inst.mods, "lut")
    low, high = TWO_INPUT[lut & 15], TWO_INPUT[lut >> 4]
    same = lut & 15 == lut >> 4

    def function(a, b, c):
        return low(b, c) if same else (a & high(b, c)) | (~a & low(b, c))

    return elementwise(function)(inst, env)


def build_test(inst: Instruction, env: Env) -> Op:
    """dst = a & b is not zero, c = it is."""
    kd, d = destination(inst, PRED)
    kc, c = destination(inst, PRED, "c")
    (ka, a), (kb, b) = sources(inst, env, "ab")

    def op(lanes: Lanes) -> None:
        v = lanes.v
        held = np.bitwise_and(v[ka][a], v[kb][b]) != 0
        v[kd][d][:] = held
        v[kc][c][:] = ~held

    return op


def build_shift_add(inst: Instruction, env: Env) -> Op:
    by = np.uint32(unpack(inst.mods, "by"))
    return elementwise(lambda a, b: (a << by) + b)(inst, env)


def build_permute(inst: Instruction, env: Env) -> Op:
    table = PRMT_SELECTORS.get(unpack_name(inst.mods, "prmt"))

    def function(a, b, c):
        selector = c if table is None else np.array(table, np.uint32)[c & np.uint32(3)]
        both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
        out = np.zeros((), np.uint32)
        for byte in range(4):
            nibble = selector >> np.uint32(4 * byte)
            picked = (both >> ((nibble & np.uint32(7)).astype(np.uint64) * np.uint64(8))).astype(np.uint32) & np.uint32(
                0xFF
            )
            sign = np.where(picked & np.uint32(0x80), np.uint32(0xFF), np.uint32(0))
            out = out | np.where(nibble & np.uint32(8), sign, picked) << np.uint32(8 * byte)
        return out

    return elementwise(function)(inst, env)


SHIFTS_LEFT = {"shf_left": True, "shf_right": False}


def build_funnel(inst: Instruction, env: Env) -> Op:
    """shf: a is the low word, b the high word; .l gives the upper word of the shifted pair, .r the lower."""
    wrap = unpack_name(inst.mods, "wrap") == "wrap"
    left = SHIFTS_LEFT[inst.op.semantics]

    def function(a, b, c):
        count = (c & np.uint32(31) if wrap else np.minimum(c, np.uint32(32))).astype(np.uint64)
        both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
        return (both << count) >> np.uint64(32) if left else both >> count

    return elementwise(function)(inst, env)


def build_mask(inst: Instruction, env: Env) -> Op:
    """bmsk: ones from bit a on, b of them (pseudocode of the PTX manual)."""
    clamp = unpack_name(inst.mods, "wrap") == "clamp"

    def function(a, b):
        a, b = a.view(np.uint32), b.view(np.uint32)
        ones = np.uint64(0xFFFFFFFF)
        first, count = (a & np.uint32(31)).astype(np.uint64), (b & np.uint32(31)).astype(np.uint64)
        lower = ones << first & ones
        upper = np.where(count == 0, ones, np.where(first + count >= 32, np.uint64(0), ones << (first + count) & ones))
        if clamp:
            lower = np.where(a >= 32, np.uint64(0), lower)
            upper = np.where((a >= 32) | (b >= 32), np.uint64(0), upper)
        return (lower & ~upper).astype(np.uint32)

    return elementwise(function)(inst, env)


def build_extend(inst: Instruction, env: Env) -> Op:
    """szext: the low b bits of a, extended by zeros or by their sign (pseudocode of the PTX manual)."""
    clamp, signed = unpack_name(inst.mods, "wrap") == "clamp", inst.op.types[0][0] == "s"

    def function(a, b):
        a, b = a.view(np.uint32), b.view(np.uint32)
        count = b & np.uint32(31)
        above = ~np.uint32(0) << count
        sign = signed & (count != 0) & (a >> (count - np.uint32(1) & np.uint32(31)) & np.uint32(1) != 0)
        result = np.where(sign, a | above, a & ~above)
        return np.where(b >= 32, a, result) if clamp else result

    return elementwise(function)(inst, env)


def nth_set(mask, base, offset):
    """fns: the place of the |offset|-th set bit of mask from bit base on, upwards or downwards; all ones when there is
    none.

    A base past 31 is undefined in PTX; here it is taken modulo 32.
    """
    base, offset = (base & np.uint32(31)).astype(np.int64), offset.view(np.int32).astype(np.int64)
    positions = np.full(np.broadcast_shapes(mask.shape, base.shape, offset.shape), 0xFFFFFFFF, np.uint32)
    seen = np.zeros(positions.shape, np.int64)
    step = np.where(offset < 0, -1, 1)
    for distance in range(32):
        at = base + step * distance
        held = (at >= 0) & (at < 32) & (mask >> (at & 31).astype(np.uint32) & np.uint32(1) != 0)
        seen = seen + held
        is_nth = held & np.where(offset == 0, distance == 0, seen == np.abs(offset))
        positions = np.where(is_nth, at, positions).astype(np.uint32)
    return positions


SEMANTICS = {
    "szext": build_extend,
    "fns": elementwise(nth_set),
    "shl": build_shift(np.left_shift),
    "shr": build_shift(np.right_shift),
    "bfe": elementwise(extract),
    "bfi": elementwise(insert),
    "brev": elementwise(reverse),
    "popc": ufunc(np.bitwise_count),
    "clz": elementwise(leading_zeros),
    "bfind": elementwise(find_highest),
    "bfind_shift": elementwise(find_highest_shift),
    "cnot": elementwise(lambda a: a == 0),
    "lop3": build_lop3,
    "test": build_test,
    "add3": elementwise(lambda a, b, c: a + b + c),
    "shift_add": build_shift_add,
    "prmt": build_permute,
    **dict.fromkeys(SHIFTS_LEFT, build_funnel),
    "bmsk": build_mask,
}
