"""Rules of `instruction_rules` that depend on values, those that are frequent, for one lane; and a pass over the shadow
of registers with them. Compiled by Numba.

`v`, `u`: four uint64 each, of the slots a, b, c and e: values, and undefined bits. A formula gives those of both
results.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import Instruction
from gpuprof.isa.flow.definedness import rule_of
from gpuprof.isa.modifiers import unpack, unpack_name
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit
from gpuprof.trace.checkers.shadow_bits.instruction_rules import BITS, is_plain_conversion, number_bits
from gpuprof.trace.checkers.shadow_bits.propagate import (
    ALL_LANES,
    LOW,
    NO_LANES,
    NO_ORIGIN,
    NONE,
    leave,
    words_of_register,
)

CODES = ("and", "or", "select", "pack", "low", "high", "shl", "shr", "cvt", "product", "product_and_sum", "shift_add",
         "compare", "compare_floats")  # fmt: skip
AND, OR, SELECT, PACK, LOWER, UPPER, SHL, SHR, CVT, PRODUCT, PRODUCT_AND_SUM, SHIFT_ADD, COMPARE, COMPARE_FLOATS = (
    range(len(CODES))
)
MOVES = CVT  # codes up to this one move bits: padding remains padding
COMPARED = ("eq", "ne", "lt", "ge", "le", "gt")
EQ, NE, LT, GE, LE, GT = range(len(COMPARED))
JOINED = ("", "and", "or", "xor")
ALONE, WITH_AND, WITH_OR, WITH_XOR = range(len(JOINED))
ONE, SIGN = np.uint64(1), np.uint64(1 << 63)
SHIFTS = np.uint64(63)
SLOTS = "abce"


class Formula(NamedTuple):
    """`bits` of the result, `of_source` of source a; `shift` of shift_add; `compared`, `joined`: of a comparison."""

    code: int
    bits: np.uint64
    of_source: np.uint64
    is_signed: bool
    is_plain: bool
    shift: np.uint64
    compared: int
    joined: int


class ByValue(NamedTuple):
    """A formula, with the rows of its registers: `guard` as in Simple; `sources` int64 (4, 2), of each slot; `results`
    int64 (2, 2); `whole` uint64 (2,), all bits of each result.
    """

    guard: int
    sources: np.ndarray
    results: np.ndarray
    whole: np.ndarray
    formula: Formula


def by_value_of(
    inst: Instruction, guard: Sequence[int], sources: dict[str, tuple], results: dict[str, tuple]
) -> ByValue | None:
    """The rule of an instruction of the kind "compute"; None for one that is not here."""
    op, rule = inst.op, rule_of(inst.op)
    if rule not in CODES:
        return None
    start, (to, *_) = op.types[-1] if op.types else "", (*op.types, "")
    is_conversion = rule == "cvt"
    formula = Formula(
        CODES.index(rule),
        np.uint64(number_bits(to) if is_conversion else BITS[op.dst[0]]),
        np.uint64(number_bits(start) if is_conversion else BITS[op.a[0]]),
        (start if is_conversion else to)[:1] == "s",
        is_conversion and is_plain_conversion(inst),
        np.uint64(unpack(inst.mods, "by") if rule == "shift_add" else 0),
        COMPARED.index(unpack_name(inst.mods, "cmp")) if rule == "compare" else 0,
        JOINED.index(unpack_name(inst.mods, "bool")) if rule in ("compare", "compare_floats") else 0,
    )
    of_slots = [sources[slot][0] if sources.get(slot) else () for slot in SLOTS]
    of_results = [results[slot][0] if results.get(slot) else () for slot in ("dst", "c")]
    whole = [(1 << BITS[getattr(op, slot).lstrip(">")[0]]) - 1 if rows else 0
             for slot, rows in zip(("dst", "c"), of_results, strict=True)]  # fmt: skip
    return ByValue(
        guard[0] if guard else -1,
        np.array([words_of_register(each) for each in of_slots], np.int64),
        np.array([words_of_register(each) for each in of_results], np.int64),
        np.array(whole, np.uint64),
        formula,
    )


@internal_njit
def _ones(bits):
    return (ONE << bits) - ONE if bits < np.uint64(64) else ~NONE


@internal_njit
def _lowest(bits):
    return bits & (NONE - bits)


@internal_njit
def _upwards(bits):
    return NONE - _lowest(bits)


@internal_njit
def _signed(bits, width):
    top = np.uint64(64) - width
    return np.uint64(np.int64(bits << top) >> np.int64(top))


@internal_njit
def _and(u, v, other_u, other):
    return (u & other_u) | (u & other) | (other_u & v)


@internal_njit
def _select(v, u):
    if u[3] != NONE:
        return u[0] | u[1] | (v[0] ^ v[1])
    return u[0] if v[3] != NONE else u[1]


@internal_njit
def _of_bits(formula, v, u):
    if formula.code == AND:
        return _and(u[0], v[0], u[1], v[1])
    if formula.code == OR:
        return _and(u[0], ~v[0], u[1], ~v[1])
    if formula.code == SELECT:
        return _select(v, u)
    if formula.code == PACK:
        return u[0] | u[1] << np.uint64(32)
    return u[0] & LOW if formula.code == LOWER else u[0] >> np.uint64(32)


@internal_njit
def _shifted(formula, v, u):
    bits, by, whole = u[0], v[1], _ones(formula.bits)
    if u[1] != NONE:
        return whole
    if formula.code == SHR and formula.is_signed:
        return np.uint64(np.int64(_signed(bits, formula.bits)) >> np.int64(min(by, SHIFTS))) & whole
    if by >= formula.bits:
        return NONE
    return (bits << by if formula.code == SHL else bits >> by) & whole


@internal_njit
def _converted(formula, u):
    bits, wide = u[0] & _ones(formula.of_source), _ones(formula.bits)
    if not formula.is_plain:
        return wide if bits != NONE else NONE
    return (_signed(bits, formula.of_source) if formula.is_signed else bits) & wide


@internal_njit
def _calculated(formula, v, u):
    if formula.code == SHIFT_ADD:
        return _upwards(u[0] << formula.shift | u[1]) & _ones(formula.bits)
    first, second = _lowest(u[0]) * _lowest(v[1] | u[1]), _lowest(u[1]) * _lowest(v[0] | u[0])
    product = (_upwards(first) | _upwards(second)) & _ones(formula.bits)
    return product if formula.code == PRODUCT else _upwards(product | u[2]) & _ones(formula.bits)


@internal_njit
def _with_predicate(formula, v, u, held, unknown):
    """A comparison, whose result is `held` where it is not unknown, combined with the predicate e."""
    if formula.joined == ALONE:
        return unknown
    if formula.joined == WITH_XOR:
        return unknown | u[3]
    flip = ONE if formula.joined == WITH_OR else NONE
    return _and(unknown, held ^ flip, u[3], v[3] ^ flip) & ONE


@internal_njit
def _holds(compared, a, b):
    if compared == EQ:
        return a == b
    if compared == NE:
        return a != b
    if compared == LT:
        return a < b
    if compared == GE:
        return a >= b
    return a <= b if compared == LE else a > b


@internal_njit
def _compared(formula, v, u):
    """The undefined bits of a comparison of integers, and of its opposite."""
    flip = ONE << formula.of_source - ONE if formula.is_signed else NONE
    a, b, is_any = v[0] ^ flip, v[1] ^ flip, u[0] | u[1] != NONE
    least_a, most_a, least_b, most_b = a & ~u[0], a | u[0], b & ~u[1], b | u[1]
    if formula.compared <= NE:
        unknown = is_any and (a ^ b) & ~(u[0] | u[1]) == NONE
    elif formula.compared <= GE:
        unknown = is_any and most_a >= least_b and least_a < most_b
    else:
        unknown = is_any and most_a > least_b and least_a <= most_b
    held = ONE if _holds(formula.compared, a, b) else NONE
    bit = ONE if unknown else NONE
    return _with_predicate(formula, v, u, held, bit), _with_predicate(formula, v, u, held ^ ONE, bit)


@internal_njit
def _compared_floats(formula, v, u):
    unknown = ONE if u[0] | u[1] != NONE else NONE
    either = _with_predicate(formula, v, u, ONE, unknown) | _with_predicate(formula, v, u, NONE, unknown)
    return either, either


@internal_njit
def results_of_lane(formula, v, u):
    if formula.code <= UPPER:
        return _of_bits(formula, v, u), NONE
    if formula.code <= SHR:
        return _shifted(formula, v, u), NONE
    if formula.code == CVT:
        return _converted(formula, u), NONE
    if formula.code == COMPARE:
        return _compared(formula, v, u)
    if formula.code == COMPARE_FLOATS:
        return _compared_floats(formula, v, u)
    return _calculated(formula, v, u), NONE


@internal_njit
def _of_slot(words, slot, warp, rows, lane):
    """The undefined bits of a register; `rows` int64 (2,)."""
    bits = NONE
    for word in range(2):
        if rows[word] >= 0 and words.is_hot[slot, warp, rows[word]]:
            bits |= np.uint64(words.bits[slot, warp, rows[word], lane]) << np.uint64(32 * word)
    return bits


@internal_njit
def _of_slots(words, slot, warp, sources, lane):
    return (
        _of_slot(words, slot, warp, sources[0], lane),
        _of_slot(words, slot, warp, sources[1], lane),
        _of_slot(words, slot, warp, sources[2], lane),
        _of_slot(words, slot, warp, sources[3], lane),
    )


@internal_njit
def _is_any_hot(words, slot, warp, table):
    for k in range(len(table)):
        for word in range(2):
            row = table[k, word]
            if row >= 0 and words.is_hot[slot, warp, row]:
                return True
    return False


@internal_njit
def _start(words, slot, warp, sources, guard):
    """The origin of the undefined bits of the first register that has some, and the lanes with only padding."""
    start, is_found, padding = np.int32(NO_ORIGIN), False, ALL_LANES
    for k in range(len(sources)):
        for word in range(2):
            row = sources[k, word]
            if row >= 0 and words.is_hot[slot, warp, row]:
                start = start if is_found else words.origin[slot, warp, row]
                is_found = True
                padding &= words.padding[slot, warp, row]
    if not is_found and guard >= 0 and words.is_hot[slot, warp, guard]:
        start = words.origin[slot, warp, guard]
    return start, padding


@internal_njit
def _doubtful(words, slot, warp, guard, active):
    """Active lanes with an undefined guard."""
    lanes = NO_LANES
    if guard >= 0 and words.is_hot[slot, warp, guard]:
        for lane in range(32):
            lanes |= np.uint32(words.bits[slot, warp, guard, lane] != 0) << np.uint32(lane)
    return lanes & active


@internal_njit
def _leave_result(words, slot, warp, rows, whole, made, held, doubtful, padding, start, changes):  # noqa: PLR0913  # compiled: arrays
    given = np.empty(32, np.uint32)
    for word in range(2):
        if rows[word] < 0:
            continue
        for lane in range(32):
            is_doubtful = doubtful >> np.uint32(lane) & np.uint32(1) != 0
            given[lane] = np.uint32((whole if is_doubtful else made[lane]) >> np.uint64(32 * word) & LOW)
        changes[word] += leave(words, slot, warp, rows[word], given, held | doubtful, padding & ~doubtful, start)


@cached_njit
def follow_values(words, slots, warps, active, held, values, guard, sources, results, whole, formula, changes):  # noqa: PLR0913  # compiled: arrays
    """Like `propagate.follow`. values: uint64 (4, n, 32), of the slots; changes: int64 (2, 2), of each result."""
    made = np.empty((2, 32), np.uint64)
    for row in range(len(slots)):
        slot, warp = slots[row], warps[row]
        is_any = _is_any_hot(words, slot, warp, sources)
        is_doubtful = guard >= 0 and words.is_hot[slot, warp, guard]
        if not is_any and not is_doubtful and not _is_any_hot(words, slot, warp, results):
            continue
        start, padding = _start(words, slot, warp, sources, guard)
        padding = padding if formula.code <= MOVES else NO_LANES
        for lane in range(32):
            v = values[0, row, lane], values[1, row, lane], values[2, row, lane], values[3, row, lane]
            u = _of_slots(words, slot, warp, sources, lane)
            made[0, lane], made[1, lane] = results_of_lane(formula, v, u)
        for k in range(2):
            # The first result may be the guard.
            doubtful = _doubtful(words, slot, warp, guard, active[row])
            _leave_result(words, slot, warp, results[k], whole[k], made[k], held[row], doubtful, padding, start,
                          changes[k])  # fmt: skip
