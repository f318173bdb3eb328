"""Undefined bits through instructions whose result follows from those of their operands alone, whatever the values: in
one pass, compiled by Numba. What it does is that of `rules` and of `Step.put`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.isa.flow.definedness import element_bits, is_packed, rule_of
from gpuprof.isa.row import Opcode
from gpuprof.trace.checkers.definedness.rules import BITS

AS_IT_IS, UPWARDS, BY_ELEMENTS, AS_A_WHOLE = range(4)
TRANSFORMS = {
    "defined": AS_IT_IS,  # of no operands
    "same_bits": AS_IT_IS,
    "exclusive_or": AS_IT_IS,
    "carry": UPWARDS,
    "any_bit": BY_ELEMENTS,
    "any_bit_of_all": AS_A_WHOLE,
}


class Simple(NamedTuple):
    """`guard`: the row of the predicate, or -1; `sources` int64 (k, 2), `result` int64 (2,): rows of the lower and the
    upper word, -1 for none; `transform`: of the bits that are undefined in some operand; `whole`: all bits of the
    result; `element`, `width`, `count`: bits of an element, how many these are, and elements.
    """

    guard: int
    sources: np.ndarray
    result: np.ndarray
    transform: int
    whole: np.uint64
    element: np.uint64
    width: int
    count: int


def simple_of(
    op: Opcode, guard: Sequence[int], sources: Sequence[Sequence[int]], results: Sequence[Sequence[int]]
) -> Simple | None:
    """Of a row of the kind "compute" and the rows of its registers in the shadow. None where values decide."""
    rule = rule_of(op)
    if rule not in TRANSFORMS or len(results) != 1:
        return None
    bits = BITS[op.dst[0]]
    width, count = bits, 1
    if rule == "any_bit":
        width, count = element_bits(op.types[0], bits), 2 if is_packed(op.types[0]) else 1
    return Simple(
        guard[0] if guard else -1,
        np.array([_words(each) for each in sources], np.int64).reshape(-1, 2),
        np.array(_words(results[0]), np.int64),
        TRANSFORMS[rule],
        np.uint64((1 << bits) - 1),
        np.uint64((1 << width) - 1),
        width,
        count,
    )


def _words(register: Sequence[int]) -> tuple[int, int]:
    return register[0], register[1] if len(register) > 1 else -1


NONE = np.uint64(0)
LOW = np.uint64(0xFFFFFFFF)
WORD = np.uint64(32)
NO_ORIGIN = -1  # of a bit that no instruction has loaded


@kept
def follow(bits, is_hot, origin, slots, warps, active, held, guard, sources, result, transform, whole, element, width,
           count, changes):  # fmt: skip
    """bits: uint32 (slots, warps, rows, 32), is_hot: bool, origin: int32, of the same rows. slots, warps: int64 (n,);
    active, held: uint32 (n,), lanes that execute it, and whose guard holds. changes: int64 (2,), by how many warps more
    have an undefined bit in each row of the result.
    """
    for row in range(len(slots)):
        slot, warp, start = slots[row], warps[row], NO_ORIGIN
        is_any = False
        for k in range(len(sources)):
            for word in range(2):
                at = sources[k, word]
                if at >= 0 and not is_any and is_hot[slot, warp, at]:
                    is_any, start = True, origin[slot, warp, at]
        is_doubtful = guard >= 0 and is_hot[slot, warp, guard]
        if is_doubtful and not is_any:
            start = origin[slot, warp, guard]
        was_hot = is_hot[slot, warp, result[0]] or (result[1] >= 0 and is_hot[slot, warp, result[1]])
        if not (is_any or is_doubtful or was_hot):
            continue
        written = NONE
        for lane in range(32):
            doubt = is_doubtful and bits[slot, warp, guard, lane] != 0 and active[row] >> np.uint32(lane) & np.uint32(1)
            if not doubt and not held[row] >> np.uint32(lane) & np.uint32(1):
                continue
            made = whole
            if not doubt:
                joined = NONE
                for k in range(len(sources)):
                    joined |= np.uint64(bits[slot, warp, sources[k, 0], lane])
                    if sources[k, 1] >= 0:
                        joined |= np.uint64(bits[slot, warp, sources[k, 1], lane]) << WORD
                made = joined
                if transform == UPWARDS:
                    made = NONE - (joined & (NONE - joined))
                elif transform == AS_A_WHOLE:
                    made = whole if joined != NONE else NONE
                elif transform == BY_ELEMENTS:
                    made = NONE
                    for k in range(count):
                        if joined >> np.uint64(k * width) & element != NONE:
                            made |= element << np.uint64(k * width)
                made &= whole
            written |= made
            bits[slot, warp, result[0], lane] = np.uint32(made & LOW)
            if result[1] >= 0:
                bits[slot, warp, result[1], lane] = np.uint32(made >> WORD)
        for word in range(2):
            at = result[word]
            if at < 0:
                continue
            found = np.uint32(0)
            for lane in range(32):
                found |= bits[slot, warp, at, lane]
            changes[word] += np.int64(found != 0) - np.int64(is_hot[slot, warp, at])
            is_hot[slot, warp, at] = found != 0
            if (written >> np.uint64(32 * word)) & LOW != NONE:
                origin[slot, warp, at] = start
