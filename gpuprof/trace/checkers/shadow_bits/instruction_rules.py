"""Undefined bits of a result, from operands and their undefined bits: a formula for each rule of isa.flow.definedness.

All arrays are uint64 (n, 32), with a set bit for each undefined one; for 32-bit registers and predicates (one bit) the
upper bits are zero. The formulas of bits are those of Memcheck (Seward and Nethercote, "Using Valgrind to detect
undefined value errors with bit-precision", USENIX 2005).
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from gpuprof.isa.encoding import Instruction
from gpuprof.isa.flow.definedness import element_bits, is_packed, rule_of
from gpuprof.isa.modifiers import PRMT_SELECTORS, unpack, unpack_name

U64 = np.uint64
ZERO, ONE = U64(0), U64(1)


class Operands(NamedTuple):
    """By slot: `value`, the values that lanes read; `undefined`, their undefined bits. `bits`: of the result."""

    inst: Instruction
    value: dict[str, np.ndarray]
    undefined: dict[str, np.ndarray]
    bits: int

    @property
    def all_bits(self) -> U64:
        return ones(self.bits)

    @property
    def joined(self) -> np.ndarray:
        """Bits that are undefined in some operand."""
        return np.bitwise_or.reduce(list(self.undefined.values()))

    @property
    def of_source(self) -> int:
        """Number of bits of source a."""
        return BITS[self.inst.op.a[0]]


BITS = {"R": 32, "D": 64, "P": 1, "A": 64}
Rule: TypeAlias = Callable[[Operands], np.ndarray | tuple[np.ndarray, ...]]


def results_of(operands: Operands) -> tuple[np.ndarray, ...]:
    """Undefined bits of each result of an instruction of the kind "compute": of dst, then of a second one."""
    results = RULES[rule_of(operands.inst.op)](operands)
    return results if isinstance(results, tuple) else (results,)


def ones(bits: int) -> U64:
    return U64((1 << bits) - 1)


def spread(any_bit: np.ndarray, mask: U64) -> np.ndarray:
    """`mask` where any bit is set, otherwise 0."""
    return np.where(any_bit != 0, mask, ZERO)


def upwards(bit: np.ndarray) -> np.ndarray:
    """The lowest set bit, and all bits above it."""
    return ZERO - lowest(bit)


def lowest(bits: np.ndarray) -> np.ndarray:
    return bits & (ZERO - bits)


def and_(u: np.ndarray, v: np.ndarray, other_u: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (u & other_u) | (u & other) | (other_u & v)


def _and(x: Operands) -> np.ndarray:
    return and_(x.undefined["a"], x.value["a"], x.undefined["b"], x.value["b"])


def _or(x: Operands) -> np.ndarray:
    return and_(x.undefined["a"], ~x.value["a"], x.undefined["b"], ~x.value["b"])


def _lop3(x: Operands) -> np.ndarray:
    """A bit is undefined when some values of undefined inputs give 0, and some 1."""
    lut = unpack(x.inst.mods, "lut")
    gives = [np.zeros_like(x.undefined["a"]), np.zeros_like(x.undefined["a"])]
    for row in range(8):
        possible = x.all_bits
        for slot, bit in (("a", 4), ("b", 2), ("c", 1)):
            equal = x.value[slot] if row & bit else ~x.value[slot]
            possible = possible & (equal | x.undefined[slot])
        gives[lut >> row & 1] |= possible
    return gives[0] & gives[1]


def keeps_bits(x: Operands) -> np.ndarray:
    """bool (n, 32): lanes in which the undefined bits of lop3's result are those of its inputs, selected or joined: 0
    if all undefined ones are 0, and 1 if all of them are 1.
    """
    lut = unpack(x.inst.mods, "lut")
    of_zeros = _looked_up(lut, *(x.value[slot] & ~x.undefined[slot] for slot in "abc"))
    of_ones = _looked_up(lut, *(x.value[slot] | x.undefined[slot] for slot in "abc"))
    return _lop3(x) & (of_zeros | ~of_ones) == 0


def _looked_up(lut: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    rows = [(a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c) for row in range(8)]
    return np.bitwise_or.reduce([np.zeros_like(a), *(bits for row, bits in enumerate(rows) if lut >> row & 1)])


def _product(x: Operands) -> np.ndarray:
    """All bits from the lowest one on that depends on an undefined bit of one factor and a bit of the other one."""
    (va, ua), (vb, ub) = ((x.value[slot], x.undefined[slot]) for slot in "ab")
    first, second = lowest(ua) * lowest(vb | ub), lowest(ub) * lowest(va | ua)
    return (upwards(first) | upwards(second)) & x.all_bits


def _product_and_sum(x: Operands) -> np.ndarray:
    return upwards(_product(x) | x.undefined["c"]) & x.all_bits


def _carry(x: Operands) -> np.ndarray:
    return upwards(x.joined) & x.all_bits


def _carry_in_and_out(x: Operands) -> tuple[np.ndarray, np.ndarray]:
    return _carry(x), spread(x.joined, ONE)


def _shift_add(x: Operands) -> np.ndarray:
    by = U64(unpack(x.inst.mods, "by"))
    return upwards(x.undefined["a"] << by | x.undefined["b"]) & x.all_bits


def _compare(x: Operands) -> tuple[np.ndarray, np.ndarray]:
    """Integers are compared as the smallest and largest numbers that they may be."""
    bits, is_signed = x.of_source, x.inst.op.types[0][0] == "s"
    flip = U64(1 << bits - 1) if is_signed else ZERO
    (va, ua), (vb, ub) = ((x.value[slot] ^ flip, x.undefined[slot]) for slot in "ab")
    least_a, most_a, least_b, most_b = va & ~ua, va | ua, vb & ~ub, vb | ub
    any_bit, differ = (ua | ub) != 0, ((va ^ vb) & ~(ua | ub)) != 0
    compared = unpack_name(x.inst.mods, "cmp")
    held, unknown = {
        "eq": lambda: (va == vb, any_bit & ~differ),
        "ne": lambda: (va != vb, any_bit & ~differ),
        "lt": lambda: (va < vb, (most_a >= least_b) & (least_a < most_b) & any_bit),
        "ge": lambda: (va >= vb, (most_a >= least_b) & (least_a < most_b) & any_bit),
        "le": lambda: (va <= vb, (most_a > least_b) & (least_a <= most_b) & any_bit),
        "gt": lambda: (va > vb, (most_a > least_b) & (least_a <= most_b) & any_bit),
    }[compared]()
    held, unknown = held.astype(U64), unknown.astype(U64)
    return _combined(x, held, unknown), _combined(x, held ^ ONE, unknown)


def _combined(x: Operands, held: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """A comparison combined with the predicate e."""
    logic = unpack_name(x.inst.mods, "bool")
    if not logic:
        return unknown
    other, other_u = x.value["e"], x.undefined["e"]
    if logic == "xor":
        return unknown | other_u
    if logic == "or":
        held, other = held ^ ONE, other ^ ONE
    return and_(unknown, held, other_u, other) & ONE


def _compare_floats(x: Operands) -> tuple[np.ndarray, np.ndarray]:
    """The result of the comparison is not computed: with an undefined predicate, the result is undefined."""
    unknown = spread(x.undefined["a"] | x.undefined["b"], ONE)
    held, failed = (_combined(x, np.full_like(unknown, value), unknown) for value in (ONE, ZERO))
    return (held | failed,) * 2


def _test(x: Operands) -> tuple[np.ndarray, np.ndarray]:
    both = _and(x)
    is_one = (x.value["a"] & x.value["b"] & ~both) != 0
    unknown = np.where(is_one, ZERO, spread(both, ONE))
    return unknown, unknown


def _select(x: Operands) -> np.ndarray:
    (va, ua), (vb, ub) = ((x.value[slot], x.undefined[slot]) for slot in "ab")
    chosen = np.where(x.value["e"] != 0, ua, ub)
    return np.where(x.undefined["e"] != 0, ua | ub | (va ^ vb), chosen)


def _shifted(x: Operands, shift: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Undefined bits are shifted like the others; the shift count must be defined."""
    moved = shift(x.undefined["a"], x.value["b"]) & x.all_bits
    return np.where(x.undefined["b"] != 0, x.all_bits, moved)


def _shl(x: Operands) -> np.ndarray:
    return _shifted(x, lambda bits, by: np.where(by < x.bits, bits << np.minimum(by, U64(63)), ZERO))


def _shr(x: Operands) -> np.ndarray:
    if x.inst.op.types[0][0] == "s":
        return _shifted(x, lambda bits, by: arithmetic(bits, by, x.bits))
    return _shifted(x, lambda bits, by: np.where(by < x.bits, bits >> np.minimum(by, U64(63)), ZERO))


def arithmetic(bits: np.ndarray, by: np.ndarray, width: int) -> np.ndarray:
    """A right shift that repeats the highest of `width` bits."""
    return (signed(bits, width).view(np.int64) >> np.minimum(by, U64(63)).astype(np.int64)).view(U64)


def signed(bits: np.ndarray, width: int) -> np.ndarray:
    """The value with the highest of `width` bits copied to all bits above it."""
    top = U64(64 - width)
    return ((bits << top).view(np.int64) >> np.int64(64 - width)).view(U64)


def _funnel(is_left: bool) -> Rule:
    def rule(x: Operands) -> np.ndarray:
        by = x.value["c"] & U64(31)
        if unpack_name(x.inst.mods, "wrap") != "wrap":
            by = np.minimum(x.value["c"], U64(32))
        both = x.undefined["a"] | x.undefined["b"] << U64(32)
        moved = (both << by) >> U64(32) if is_left else both >> by
        return np.where(x.undefined["c"] != 0, x.all_bits, moved & x.all_bits)

    return rule


def _prmt(x: Operands) -> np.ndarray:
    mode = unpack_name(x.inst.mods, "prmt")
    selector = np.array(PRMT_SELECTORS[mode], U64)[x.value["c"] & U64(3)] if mode else x.value["c"]
    both, moved = x.undefined["a"] | x.undefined["b"] << U64(32), np.zeros_like(x.undefined["a"])
    for byte in range(4):
        nibble = selector >> U64(4 * byte)
        picked = both >> ((nibble & U64(7)) * U64(8)) & U64(0xFF)
        repeated = np.where(picked & U64(0x80), U64(0xFF), ZERO)
        moved |= np.where(nibble & U64(8), repeated, picked) << U64(8 * byte)
    return np.where(x.undefined["c"] & U64(0xFFFF), x.all_bits, moved)


def _bfe(x: Operands) -> np.ndarray:
    position, length = (np.minimum(x.value[slot] & U64(0xFF), U64(x.bits)) for slot in "bc")
    is_signed = x.inst.op.types[0][0] == "s"
    moved = arithmetic(x.undefined["a"], position, x.bits) if is_signed else x.undefined["a"] >> (position & U64(63))
    moved = np.where(position >= U64(64), ZERO, moved) if not is_signed else moved
    up = U64(64) - np.maximum(length, ONE)
    field = moved << up
    field = (field.view(np.int64) >> up.astype(np.int64)).view(U64) if is_signed else field >> up
    field = np.where(length == 0, ZERO, field) & x.all_bits
    return np.where((x.undefined["b"] | x.undefined["c"]) & U64(0xFF), x.all_bits, field)


def _bfi(x: Operands) -> np.ndarray:
    where = x.value["c"]
    position, length = where & U64(0xFF), where >> U64(8) & U64(0xFF)
    field = np.where(length >= U64(x.bits), x.all_bits, (ONE << np.minimum(length, U64(63))) - ONE)
    inside = position < x.bits
    position = np.minimum(position, U64(63))
    mask = np.where(inside, field << position, ZERO) & x.all_bits
    moved = x.undefined["b"] & ~mask | np.where(inside, x.undefined["a"] << position, ZERO) & mask
    return np.where(x.undefined["c"] & U64(0xFFFF), x.all_bits, moved)


def _brev(x: Operands) -> np.ndarray:
    bits = np.unpackbits(x.undefined["a"].view(np.uint8).reshape(*x.undefined["a"].shape, 8), axis=-1, bitorder="big")
    packed = np.packbits(bits, axis=-1, bitorder="little")
    return packed[..., ::-1].copy().view(U64)[..., 0] >> U64(64 - x.bits)


def _clz(x: Operands) -> np.ndarray:
    """The result is defined if a bit that is one is above all undefined ones."""
    value, unknown = x.value["a"] & ~x.undefined["a"], x.undefined["a"]
    return np.where(value > unknown, ZERO, spread(unknown, U64(0x7F)))


def _cvt(x: Operands) -> np.ndarray:
    to, start = x.inst.op.types
    wide, narrow = ones(number_bits(to)), number_bits(start)
    if not is_plain_conversion(x.inst):
        return spread(x.undefined["a"] & ones(narrow), wide)
    bits = x.undefined["a"] & ones(narrow)
    return (signed(bits, narrow) if start[0] == "s" else bits) & wide


def is_plain_conversion(inst: Instruction) -> bool:
    """True if a conversion only extends or cuts an integer."""
    to, start = inst.op.types
    return to[0] in "us" and start[0] in "us" and not unpack(inst.mods, "sat")


def number_bits(type_name: str) -> int:
    """Bits of a number of a type."""
    return 32 if type_name == "tf32" else int("".join(filter(str.isdigit, type_name)))


def _convert_elements(x: Operands) -> np.ndarray:
    """Two numbers are converted to the halves of a word, the first to the upper one; for other widths all bits are
    affected.
    """
    if x.inst.op.types[0].endswith("x2") and "b" in x.undefined:
        return spread(x.undefined["a"], U64(0xFFFF0000)) | spread(x.undefined["b"], U64(0xFFFF))
    return _any_bit_of_all(x)


def _any_bit_of_all(x: Operands) -> np.ndarray:
    return spread(x.joined, x.all_bits)


def any_bit_of_elements(undefined: np.ndarray, type_name: str, bits: int) -> np.ndarray:
    width = element_bits(type_name, bits)
    mask, result = ones(width), np.zeros_like(undefined)
    for index in range(2 if is_packed(type_name) else 1):
        shift = U64(index * width)
        result |= spread(undefined >> shift & mask, mask << shift)
    return result


def _any_bit(x: Operands) -> np.ndarray:
    return any_bit_of_elements(x.joined, x.inst.op.types[0], x.bits)


def _fabs(x: Operands) -> np.ndarray:
    """The sign bits are defined afterwards."""
    signs = {16: 0x80008000, 32: 0x80000000, 64: 1 << 63}[element_bits(x.inst.op.types[0], x.bits)]
    return x.undefined["a"] & ~U64(signs)


def _copysign(x: Operands) -> np.ndarray:
    sign = U64(1 << x.bits - 1)
    return x.undefined["a"] & sign | x.undefined["b"] & ~sign


def of_bytes(undefined: np.ndarray, type_name: str, nbytes: int) -> list[np.ndarray]:
    """Loaded bytes, uint8 (n, 32, k), as registers of `nbytes` bytes; narrow signed ones are extended."""
    size = undefined.shape[2]
    words = np.ascontiguousarray(undefined).view(f"<u{min(size, nbytes)}").astype(U64)
    if size < nbytes and type_name[0] == "s":
        words = signed(words, 8 * size) & ones(32)
    return [words[:, :, number] for number in range(words.shape[2])]


def to_bytes(words: list[np.ndarray], nbytes: int) -> np.ndarray:
    """Registers as bytes: uint8 (n, 32, k)."""
    return np.stack([word.astype(f"<u{nbytes}") for word in words], axis=2).view(np.uint8)


RULES: dict[str, Rule] = {
    "defined": lambda x: np.zeros((1, 32), U64),
    "same_bits": lambda x: x.undefined["a"],
    "exclusive_or": lambda x: x.joined,
    "and": _and,
    "or": _or,
    "lop3": _lop3,
    "carry": _carry,
    "carry_in_and_out": _carry_in_and_out,
    "shift_add": _shift_add,
    "product": _product,
    "product_and_sum": _product_and_sum,
    "compare": _compare,
    "compare_floats": _compare_floats,
    "test": _test,
    "select": _select,
    "pack": lambda x: x.undefined["a"] | x.undefined["b"] << U64(32),
    "low": lambda x: x.undefined["a"] & ones(32),
    "high": lambda x: x.undefined["a"] >> U64(32),
    "shl": _shl,
    "shr": _shr,
    "shf_left": _funnel(True),
    "shf_right": _funnel(False),
    "prmt": _prmt,
    "bfe": _bfe,
    "bfi": _bfi,
    "brev": _brev,
    "clz": _clz,
    "cvt": _cvt,
    "convert_elements": _convert_elements,
    "fabs": _fabs,
    "copysign": _copysign,
    "any_bit": _any_bit,
    "any_bit_of_all": _any_bit_of_all,
}
