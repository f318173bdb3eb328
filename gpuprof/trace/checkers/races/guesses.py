"""Loads that a compare-and-swap loop begins with: what they read is a guess, which the atomic checks (CUDA C++
Programming Guide, atomics).
"""

from collections import defaultdict
from collections.abc import Sequence

from gpuprof.isa.encoding import Instruction as Encoded, Operand, sources_of, writes
from gpuprof.isa.opcodes import numbers
from gpuprof.trace.kernel import Instruction

WORDS = {"R": 1, "D": 2}  # of the register file that a register is
ADDS, COPIES = numbers("IADD", "IADD.64"), numbers("MOV", "MOV.64")
OF_VARIABLES = ("local", "generic")  # spaces where code that is not optimised keeps pointers
Value = tuple[object, int]  # what it is made from, and the bytes that were added


def first_guesses(instructions: Sequence[Instruction]) -> frozenset[int]:
    """Numbers of the loads that have a compare-and-swap at their address behind them."""
    loads: dict[tuple, list[int]] = defaultdict(list)
    found: set[int] = set()
    values = _Values("")
    for instruction in instructions:
        if instruction.function != values.function:
            values = _Values(instruction.function)
        if instruction.kind == "load":
            loads[values.place(instruction.encoded)].append(instruction.number)
        elif instruction.kind == "atomic" and instruction.op.c:
            found.update(loads.get(values.place(instruction.encoded), ()))
        values.step(instruction)
    return frozenset(found)


class _Values:
    """What registers hold in a function, in the order of its code. Equal values are equal pointers."""

    def __init__(self, function: str):
        self.function = function
        self._held: dict[int, Value] = {}  # by the first of a register's words
        self._variables: dict[Value, Value] = {}  # by address

    def place(self, encoded: Encoded) -> tuple:
        """Where an instruction accesses memory."""
        return self.function, encoded.op.space, self._address(encoded)

    def step(self, instruction: Instruction) -> None:
        """The instruction has been executed."""
        encoded = instruction.encoded
        value = self._result(instruction)
        if instruction.kind == "store" and encoded.op.space in OF_VARIABLES:
            self._variables[self._address(encoded)] = self._source(encoded, "b") or (instruction.number, 0)
        for operand in writes(encoded):
            words = _words(operand)
            for word in words:  # an odd one is the upper half of the one before it
                self._held[word] = self._held[word & ~1] = ("of", instruction.number, word), 0
            if words and value:
                self._held[words[0]], value = value, None

    def _result(self, instruction: Instruction) -> Value | None:
        """None for one that says nothing of pointers."""
        encoded = instruction.encoded
        if instruction.kind == "load" and encoded.op.space in OF_VARIABLES:
            return self._variables.setdefault(self._address(encoded), (instruction.number, 0))
        source = self._source(encoded, "a")
        if source and encoded.op.number in COPIES:
            return source
        if source and encoded.op.number in ADDS and encoded.imm_slot == "b" and not encoded.reads_constant_bank:
            return source[0], source[1] + encoded.offset
        return None

    def _address(self, encoded: Encoded) -> Value:
        root, nbytes = self._source(encoded, "a") or (None, 0)
        return root, nbytes + encoded.offset

    def _source(self, encoded: Encoded, slot: str) -> Value | None:
        """What a slot's register holds; None where it has none."""
        operand = next((operand for name, operand in sources_of(encoded) if name == slot), None)
        words = _words(operand) if operand else range(0)
        return self._held.get(words[0], (("unset", words[0]), 0)) if words else None


def _words(operand: Operand) -> range:
    size = WORDS.get(operand.file, 0)
    return range(operand.index * size, (operand.index + operand.count) * size)
