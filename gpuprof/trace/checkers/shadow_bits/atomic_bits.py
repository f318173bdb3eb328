"""Undefined bits that atomics leave in memory. Lanes that change the same bytes do it in some order: what one of them
leaves is what another may find.
"""

import numpy as np

from gpuprof.isa.encoding import Instruction
from gpuprof.isa.flow.definedness import atomic_rule_of
from gpuprof.trace.checkers.shadow_bits.instruction_rules import and_, any_bit_of_elements, ones, upwards


def left_behind(inst: Instruction, memory: list, given: list, other: list, values: list, bits: int) -> list[np.ndarray]:
    """One array for each element of `bits` bits. All uint64 (n, 32): undefined bits of memory, of operand b and of c,
    and the values of b, one for each element, empty where the instruction has none.
    """
    rule = atomic_rule_of(inst.op)
    if rule == "replace":
        return given
    if rule == "compare_and_swap":
        doubt = np.bitwise_or.reduce([*memory, *given]) != 0
        return [np.where(doubt, ones(bits), found | new) for found, new in zip(memory, other, strict=True)]
    if not given:
        return [any_bit_of_elements(found, inst.op.types[0], bits) for found in memory]
    return [
        _changed(rule, inst.op.types[0], *of_element, bits) for of_element in zip(memory, given, values, strict=True)
    ]


def _changed(rule: str, type_name: str, memory, given, value, bits: int) -> np.ndarray:
    """What memory holds is not known here: a bit of it may be 0 or 1."""
    if rule == "and":
        return and_(memory, ones(bits), given, value)
    if rule == "or":
        return and_(memory, ones(bits), given, ~value)
    if rule == "exclusive_or":
        return memory | given
    if rule == "carry":
        return upwards(memory | given) & ones(bits)
    return any_bit_of_elements(memory | given, type_name, bits)


def joined(undefined: np.ndarray, places: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """Bytes (n, 32, k) of lanes, each with those of all lanes at its place, int64 (n, 32)."""
    numbers = np.unique(places[lanes], return_inverse=True)[1].reshape(-1)
    whole = np.zeros((int(numbers.max(initial=0)) + 1, undefined.shape[2]), np.uint8)
    np.bitwise_or.at(whole, numbers, undefined[lanes])
    found = undefined.copy()
    found[lanes] = whole[numbers]
    return found


def are_shared(places: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """bool (n, 32): lanes whose place is that of another lane, too."""
    _, numbers, counts = np.unique(places[lanes], return_inverse=True, return_counts=True)
    found = np.zeros(lanes.shape, np.bool_)
    found[lanes] = counts[numbers.reshape(-1)] > 1
    return found
