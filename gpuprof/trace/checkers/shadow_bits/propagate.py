"""Undefined bits of registers in one pass, compiled by Numba: through instructions whose undefined bits depend only on
those of their operands, whatever the values, like `instruction_rules` and `Step.put`; and given ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.isa.flow.definedness import element_bits, is_packed, rule_of
from gpuprof.isa.row import Opcode
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit
from gpuprof.trace.checkers.shadow_bits.instruction_rules import BITS

UNCHANGED, UPWARDS, BY_ELEMENTS, AS_A_WHOLE = range(4)
TRANSFORMS = {
    "defined": UNCHANGED,  # without operands
    "same_bits": UNCHANGED,
    "exclusive_or": UNCHANGED,
    "carry": UPWARDS,
    "any_bit": BY_ELEMENTS,
    "any_bit_of_all": AS_A_WHOLE,
}


class Simple(NamedTuple):
    """`guard`: the row of the predicate, or -1; `sources` int64 (k, 2), `result` int64 (2,): rows of the lower and the
    upper word, -1 for none; `transform`: of the bits that are undefined in some operand; `is_move`: the result is the
    operand; `whole`: all bits of the result; `element`, `width`, `count`: bits of an element, their number, and the
    number of elements.
    """

    guard: int
    sources: np.ndarray
    result: np.ndarray
    transform: int
    is_move: bool
    whole: np.uint64
    element: np.uint64
    width: int
    count: int


def simple_of(
    op: Opcode, guard: Sequence[int], sources: Sequence[Sequence[int]], results: Sequence[Sequence[int]]
) -> Simple | None:
    """The rule of a row of the kind "compute", with the rows of its registers in the shadow. None if values matter."""
    rule = rule_of(op)
    if rule not in TRANSFORMS or len(results) != 1:
        return None
    bits = BITS[op.dst[0]]
    width, count = bits, 1
    if rule == "any_bit":
        width, count = element_bits(op.types[0], bits), 2 if is_packed(op.types[0]) else 1
    return Simple(
        guard[0] if guard else -1,
        np.array([words_of_register(each) for each in sources], np.int64).reshape(-1, 2),
        np.array(words_of_register(results[0]), np.int64),
        TRANSFORMS[rule],
        rule == "same_bits",
        np.uint64((1 << bits) - 1),
        np.uint64((1 << width) - 1),
        width,
        count,
    )


def words_of_register(register: Sequence[int]) -> tuple[int, int]:
    """The rows of the lower and the upper word, -1 for none."""
    low, high, *_ = (*register, -1, -1)
    return low, high


NONE = np.uint64(0)
LOW = np.uint64(0xFFFFFFFF)
NO_LANES, ALL_LANES = np.uint32(0), np.uint32(0xFFFFFFFF)
NO_ORIGIN = -1  # of bits that no instruction has loaded


class Words(NamedTuple):
    """State of registers, by slot, warp and row: `bits` uint32 (slots, warps, rows, 32), the undefined ones; `is_hot`:
    true if there are some; `origin` int32: the instruction from which they come; `padding` uint32: lanes in which all
    of them are padding that was copied unchanged.
    """

    bits: np.ndarray
    is_hot: np.ndarray
    origin: np.ndarray
    padding: np.ndarray


@cached_njit
def follow(words, slots, warps, active, held, guard, sources, result, transform, is_move, whole, element, width, count,  # noqa: C901, PLR0913  # compiled: arrays, and a loop without calls
           changes):  # fmt: skip
    """slots, warps: int64 (n,); active, held: uint32 (n,), lanes that execute it, and lanes whose guard holds. changes:
    int64 (2,), the change in the number of warps with an undefined bit in each row of the result.
    """
    bits, is_hot, origin = words.bits, words.is_hot, words.origin
    joined, made_word = np.empty(32, np.uint64), np.empty(32, np.uint32)
    for row in range(len(slots)):
        slot, warp, start = slots[row], warps[row], NO_ORIGIN
        is_any, padding = False, ALL_LANES if is_move else NO_LANES
        joined[:] = NONE
        for k in range(len(sources)):
            for word in range(2):
                at = sources[k, word]
                if at >= 0 and is_hot[slot, warp, at]:
                    start = start if is_any else origin[slot, warp, at]
                    is_any = True
                    padding &= words.padding[slot, warp, at]
                    given, shift = bits[slot, warp, at], np.uint64(32 * word)
                    for lane in range(32):
                        joined[lane] |= np.uint64(given[lane]) << shift
        is_doubtful = guard >= 0 and is_hot[slot, warp, guard]
        if is_doubtful and not is_any:
            start = origin[slot, warp, guard]
        was_hot = is_hot[slot, warp, result[0]] or (result[1] >= 0 and is_hot[slot, warp, result[1]])
        if not (is_any or is_doubtful or was_hot):
            continue
        if is_any and transform == UPWARDS:
            for lane in range(32):
                joined[lane] = NONE - (joined[lane] & (NONE - joined[lane]))
        elif is_any and transform == AS_A_WHOLE:
            for lane in range(32):
                joined[lane] = whole if joined[lane] != NONE else NONE
        elif is_any and transform == BY_ELEMENTS:
            for lane in range(32):
                made = NONE
                for k in range(count):
                    if joined[lane] >> np.uint64(k * width) & element != NONE:
                        made |= element << np.uint64(k * width)
                joined[lane] = made
        lanes = held[row]
        if is_doubtful:
            for lane in range(32):
                if bits[slot, warp, guard, lane] != 0 and active[row] >> np.uint32(lane) & np.uint32(1):
                    joined[lane] = whole
                    lanes |= np.uint32(1) << np.uint32(lane)
                    padding &= ~(np.uint32(1) << np.uint32(lane))
        for word in range(2):
            at = result[word]
            if at >= 0:
                for lane in range(32):
                    made_word[lane] = np.uint32((joined[lane] & whole) >> np.uint64(32 * word) & LOW)
                changes[word] += leave(words, slot, warp, at, made_word, lanes, padding, start)


@internal_njit
def leave(words, slot, warp, row, given, lanes, padding, start):
    """Sets the undefined bits of `lanes`, a mask, of one warp in a row to `given`, uint32 (32,), only padding in those
    of `padding`. Gives 1 if the warp has an undefined bit there only now, -1 if it no longer has one, otherwise 0.
    """
    written, any_bits, now = np.uint32(0), np.uint32(0), words.bits[slot, warp, row]
    for lane in range(32):
        if lanes >> np.uint32(lane) & np.uint32(1):
            now[lane] = given[lane]
            written |= given[lane]
            padding |= np.uint32(given[lane] == 0) << np.uint32(lane)
        any_bits |= now[lane]
    change = np.int64(any_bits != 0) - np.int64(words.is_hot[slot, warp, row])
    words.is_hot[slot, warp, row] = any_bits != 0
    words.padding[slot, warp, row] = (words.padding[slot, warp, row] & ~lanes) | (padding & lanes)
    if written != 0:
        words.origin[slot, warp, row] = start
    return change


@cached_njit
def put(words, slots, warps, row, given, masks, padding, start):
    """Sets the undefined bits of lanes in `masks`, uint32 (n,), in a row to `given`, uint32 (n, 32), only padding in
    those of `padding`, uint32 (n,), with the origin `start`, int32 (n,). Gives the change in the number of warps with
    an undefined bit in it.
    """
    change = 0
    for n in range(len(slots)):
        change += leave(words, slots[n], warps[n], row, given[n], masks[n], padding[n], start[n])
    return change


@cached_njit
def take(words, slots, warps, masks, loaded, padding, rows, is_signed, start, changes):
    """Lanes in `masks`, uint32 (n,), load bytes with undefined bits `loaded`, uint8 (n, 32, k), to words `rows`, int64
    (m,); narrow signed ones are extended. `padding`: like `loaded`, padding bits, or of length 0 for none. changes:
    int64 (m,), as in `follow`.
    """
    nbytes, given = loaded.shape[2], np.empty(32, np.uint32)
    for n in range(len(slots)):
        for word in range(len(rows)):
            only_padding = NO_LANES
            for lane in range(32):
                made, missed = np.uint32(0), np.uint32(0)
                for k in range(4 * word, min(4 * word + 4, nbytes)):
                    made |= np.uint32(loaded[n, lane, k]) << np.uint32(8 * (k & 3))
                    if len(padding) > 0:
                        missed |= np.uint32(loaded[n, lane, k] & ~padding[n, lane, k])
                if is_signed and loaded[n, lane, nbytes - 1] >> np.uint8(7):
                    made |= np.uint32(0xFFFFFFFF) << np.uint32(8 * nbytes)
                if len(padding) > 0 and missed == 0:
                    only_padding |= np.uint32(1) << np.uint32(lane)
                given[lane] = made
            changes[word] += leave(words, slots[n], warps[n], rows[word], given, masks[n], only_padding, start)
