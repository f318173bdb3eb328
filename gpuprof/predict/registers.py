"""Words that instructions read from the two banks of the register file, parsed from their text: even registers are in
one, odd ones in the other. A word that the previous instruction named in the same operand position is in the reuse
cache, if the same warp issued that one immediately before (docs/model/instructions.md, Register file).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.isa.row import Opcode

# Other pipes read their operands later, or have the time. Those of fp64 count where a partition has a unit of its own.
PIPES = ("alu", "fma", "half", "fp64")
WRITTEN = {"": 0, "P": 2}  # operands before the sources; one for any other destination
NAME = re.compile(r"-?\|?([RD])(\d+)\b")


class Instruction(NamedTuple):
    """`registers`: words of a thread; registers with a higher number are uniform, and in neither bank."""

    op: Opcode
    text: str
    registers: int


class Reads(NamedTuple):
    """Words read from the even and the odd bank; `_left`: those that are not in the reuse cache after the previous
    instruction.
    """

    even: int
    odd: int
    even_left: int
    odd_left: int


def reads_of(instructions: Sequence[Instruction]) -> list[Reads]:
    """The reads of each instruction; instructions come in the order of their addresses."""
    reads: list[Reads] = []
    cached: set[tuple[int, int]] = set()
    for instruction in instructions:
        if instruction.op.slots == 0:
            reads.append(Reads(0, 0, 0, 0))
            continue
        words = _words(instruction) if instruction.op.pipe in PIPES and instruction.op.slots == 1 else set()
        reads.append(Reads(*_by_bank(words), *_by_bank(words - cached)))
        cached = words
    return reads


def _words(instruction: Instruction) -> set[tuple[int, int]]:
    """(operand position, register) of each word that an instruction reads."""
    text = re.sub(r"^@\S+ ", "", instruction.text)
    _, _, operands = text.partition(" ")
    words = set()
    for position, operand in enumerate(operands.split(", ")[WRITTEN.get(instruction.op.dst, 1) :]):
        name = NAME.match(operand)
        if name is None:
            continue
        width = 2 if name[1] == "D" else 1
        first = int(name[2]) * width
        words |= {(position, register) for register in range(first, first + width) if register < instruction.registers}
    return words


def _by_bank(words: set[tuple[int, int]]) -> tuple[int, int]:
    registers = {register for _, register in words}
    odd = sum(register & 1 for register in registers)
    return len(registers) - odd, odd
