"""Undefined bits that atomics leave in memory. Lanes that change the same bytes do so in some order: the result of one
of them may be the input of another.
"""

import numpy as np

from gpuprof.isa.encoding import Instruction
from gpuprof.isa.flow.definedness import atomic_rule_of
from gpuprof.trace.checkers.shadow_bits.instruction_rules import and_, any_bit_of_elements, ones, upwards


def bits_after(inst: Instruction, memory: list, given: list, other: list, values: list, bits: int) -> list[np.ndarray]:
    """One array for each element of `bits` bits. All uint64 (n, 32): undefined bits of memory, of operand b and of c,
    and the values of b, one for each element, empty if the instruction has none.
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
    """The content of memory is not known here: a bit of it may be 0 or 1."""
    if rule == "and":
        return and_(memory, ones(bits), given, value)
    if rule == "or":
        return and_(memory, ones(bits), given, ~value)
    if rule == "exclusive_or":
        return memory | given
    if rule == "carry":
        return upwards(memory | given) & ones(bits)
    return any_bit_of_elements(memory | given, type_name, bits)


def joined(undefined: np.ndarray, addresses: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """Bytes (n, 32, k) of lanes, each joined with those of all lanes at its address, int64 (n, 32)."""
    numbers = np.unique(addresses[lanes], return_inverse=True)[1].reshape(-1)
    by_address = np.zeros((int(numbers.max(initial=0)) + 1, undefined.shape[2]), np.uint8)
    np.bitwise_or.at(by_address, numbers, undefined[lanes])
    result = undefined.copy()
    result[lanes] = by_address[numbers]
    return result


def are_shared(addresses: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """bool (n, 32): lanes whose address is that of another lane, too."""
    _, numbers, counts = np.unique(addresses[lanes], return_inverse=True, return_counts=True)
    shared = np.zeros(lanes.shape, np.bool_)
    shared[lanes] = counts[numbers.reshape(-1)] > 1
    return shared
