"""The words that an instruction reads from the two banks of the register file, and those that the reuse cache saves.

Even registers are in one bank, odd ones in the other, uniform ones in neither. An operand slot of a partition caches
the word that it read last, until the next instruction is issued: an instruction that follows in the same warp and names
the same register in the same slot does not read it again. From: Huerta et al., MICRO 2025, and the order and the reuse
flags of ptxas' code.
"""

from typing import NamedTuple

from gpuprof.isa.encoding import Instruction, reads

# Memory reads its operands later, and so does an fp64 unit that partitions share; longer operations have time to read
# theirs.
PIPES = frozenset(("alu", "fma", "half", "fp64"))
SLOTS = ("a", "b", "c", "e")


class Reads(NamedTuple):
    even: int
    odd: int
    even_left: int
    odd_left: int


NONE = Reads(0, 0, 0, 0)


def register_reads(
    decoded: list[Instruction], starts: frozenset[int], first_uniform: list[int], fp64_is_shared: bool
) -> list[Reads]:
    """The register reads of each instruction of a program, whose basic blocks begin at `starts`. first_uniform: the
    number from which on the registers of each instruction are uniform ones.
    """
    pipes = PIPES - {"fp64"} if fp64_is_shared else PIPES
    all_reads: list[Reads] = []
    cached: set[tuple[str, int]] = set()
    for index, instruction in enumerate(decoded):
        if index in starts:
            cached = set()
        if instruction.op.slots == 0:
            all_reads.append(NONE)
            continue
        # An operation that ptxas expands reads in each of its slots; which registers is unknown.
        reads_now = instruction.op.pipe in pipes and instruction.op.slots == 1
        words = _words(instruction, first_uniform[index]) if reads_now else set()
        left = words - cached
        all_reads.append(Reads(*_by_bank(words), *_by_bank(left)))
        cached = words
    return all_reads


def _words(instruction: Instruction, first_uniform: int) -> set[tuple[str, int]]:
    """(place, register) of each word below `first_uniform` that it reads."""
    words = set()
    for operand in reads(instruction):
        if operand.file == "P":
            continue
        width = 2 if operand.file == "D" else 1  # Dn is the pair of R2n and R2n+1
        first = operand.index * width
        for slot in SLOTS:
            if getattr(instruction, slot) == operand.index:
                words |= {(slot, register) for register in range(first, first + operand.count * width)}
    return {(slot, register) for slot, register in words if register < first_uniform}


def _by_bank(words: set[tuple[str, int]]) -> tuple[int, int]:
    registers = {register for _, register in words}
    odd = sum(register & 1 for register in registers)
    return len(registers) - odd, odd
