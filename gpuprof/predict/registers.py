"""Words that instructions read from the two banks of the register file, from their text: even registers are in one, odd
ones in the other. A word that the same place of the instruction before named is in the reuse cache, if the same warp
issued that one right before (docs/model/instructions.md, Register file).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.isa.row import Opcode

PIPES = ("alu", "fma", "half")  # others read their operands later, or have time to
WRITTEN = {"": 0, "P": 2}  # operands in front of the sources; one for any other destination
NAME = re.compile(r"-?\|?([RD])(\d+)\b")


class Instruction(NamedTuple):
    """`registers`: words of a thread; what has a higher number is uniform, and in neither bank."""

    op: Opcode
    text: str
    registers: int


class Reads(NamedTuple):
    """Words of the even and the odd bank; `_left`: those that the reuse cache does not have behind the instruction
    before.
    """

    even: int
    odd: int
    even_left: int
    odd_left: int


def reads_of(instructions: Sequence[Instruction]) -> list[Reads]:
    """Of instructions in the order of their addresses."""
    found: list[Reads] = []
    kept: set[tuple[int, int]] = set()
    for instruction in instructions:
        if instruction.op.slots == 0:
            found.append(Reads(0, 0, 0, 0))
            continue
        words = _words(instruction) if instruction.op.pipe in PIPES and instruction.op.slots == 1 else set()
        found.append(Reads(*_by_bank(words), *_by_bank(words - kept)))
        kept = words
    return found


def _words(instruction: Instruction) -> set[tuple[int, int]]:
    """(place, register) of each word."""
    text = re.sub(r"^@\S+ ", "", instruction.text)
    _, _, operands = text.partition(" ")
    words = set()
    for place, operand in enumerate(operands.split(", ")[WRITTEN.get(instruction.op.dst, 1) :]):
        name = NAME.match(operand)
        if name is None:
            continue
        width = 2 if name[1] == "D" else 1
        first = int(name[2]) * width
        words |= {(place, each) for each in range(first, first + width) if each < instruction.registers}
    return words


def _by_bank(words: set[tuple[int, int]]) -> tuple[int, int]:
    registers = {register for _, register in words}
    odd = sum(register & 1 for register in registers)
    return len(registers) - odd, odd
