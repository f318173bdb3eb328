"""Loads that a compare-and-swap loop begins with: what they read is a guess, which the atomic checks (CUDA C++
Programming Guide, atomics).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from gpuprof.isa.encoding import Operand, reads, writes
from gpuprof.trace.kernel import Instruction

WORDS = {"R": 1, "D": 2}  # of the register file that a register is


def first_guesses(instructions: Sequence[Instruction]) -> frozenset[int]:
    """Numbers of the loads that have a compare-and-swap at their address behind them, with nothing between that writes
    the address's register.
    """
    loads: dict[tuple, list[int]] = defaultdict(list)
    kept_by: dict[int, set[tuple]] = defaultdict(set)  # addresses, by the words that they need
    found: set[int] = set()
    for instruction in instructions:
        if instruction.kind == "load":
            address = _address(instruction)
            loads[address].append(instruction.number)
            for word in address[-1]:
                kept_by[word].add(address)
        elif instruction.kind == "atomic" and instruction.op.c:
            found.update(loads.get(_address(instruction), ()))
        for word in _words(writes(instruction.encoded)):
            for address in kept_by.pop(word, ()):
                loads.pop(address, None)
    return frozenset(found)


def _address(instruction: Instruction) -> tuple:
    """Function, space, offset, and the words of the register file that have the address."""
    encoded = instruction.encoded
    operands = [operand for operand in reads(encoded) if operand.file in WORDS and operand.index == encoded.a][:1]
    return instruction.function, encoded.op.space, encoded.offset, tuple(_words(operands))


def _words(operands: Iterable[Operand]) -> Iterator[int]:
    for file, index, count in operands:
        size = WORDS.get(file, 0)
        yield from range(index * size, (index + count) * size)
