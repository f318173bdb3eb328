"""Loads at the beginning of a compare-and-swap loop: their value is a guess, which the atomic checks (CUDA C++
Programming Guide, atomics).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from gpuprof.isa.encoding import Instruction as Encoded, Operand, sources_of, writes
from gpuprof.isa.opcodes import numbers
from gpuprof.trace.kernel import Code, Instruction

WORDS = {"R": 1, "D": 2}  # of the register file that a register is
ADDS, COPIES = numbers("IADD", "IADD.64"), numbers("MOV", "MOV.64")
OF_VARIABLES = ("local", "generic")  # spaces where unoptimised code stores pointers
Value = tuple[object, int]  # the origin of a pointer, and the bytes that were added


def first_guesses(code: Code) -> frozenset[int]:
    """Numbers of the loads that a compare-and-swap at their address follows, also in a called function: with nvcc's -G
    each atomic of CUDA's headers is one.
    """
    functions = [code.instructions[each.first : each.first + each.count] for each in code.functions]
    called = _Called({instructions[0].number: instructions for instructions in functions if instructions}, code)
    return frozenset(number for instructions in functions for number in called.guesses(instructions))


class Effect(NamedTuple):
    """The effect of a function for its caller. `swaps`: addresses of compare-and-swaps, relative to registers at the
    function's begin; `written`: words of registers.
    """

    swaps: frozenset[tuple[str, Value]]
    written: frozenset[int]


class _Called:
    """The functions of a module, by the number of their first instruction."""

    def __init__(self, functions: dict[int, Sequence[Instruction]], code: Code):
        self._functions, self._blocks = functions, code.basic_blocks
        self._effects: dict[int, Effect] = {}
        for number in self._callees_first():
            self._effects[number] = self._effect(number)

    def _callees_first(self) -> list[int]:
        """Called functions, by their first instruction, each after those that it calls."""
        calls = {first: [*chain(*map(self._entries, code))] for first, code in self._functions.items()}
        order: dict[int, None] = {}
        begun: set[int] = set()
        left = [*chain(*calls.values())]
        while left:
            number = left[-1]
            inner = [] if number in begun else [each for each in calls.get(number, ()) if each not in begun]
            begun.add(number)
            left += inner
            if not inner:
                order[left.pop()] = None
        return [*order]

    def guesses(self, instructions: Sequence[Instruction]) -> set[int]:
        loads: dict[tuple[str, Value], list[int]] = defaultdict(list)
        guesses: set[int] = set()
        for instruction, addresses in self._followed(instructions, _Values()):
            if instruction.kind == "load":
                loads[addresses[0]].append(instruction.number)
            else:
                guesses.update(number for address in addresses for number in loads.get(address, ()))
        return guesses

    def _followed(self, instructions: Sequence[Instruction], values: "_Values") -> Iterator[tuple[Instruction, list]]:
        """Loads and compare-and-swaps with their address, and calls with the addresses of the function's
        compare-and-swaps.
        """
        for instruction in instructions:
            effects = [self._effects.get(number, NO_EFFECT) for number in self._entries(instruction)]
            if instruction.kind == "load" or (instruction.kind == "atomic" and instruction.op.c):
                yield instruction, [values.place(instruction.encoded)]
            elif effects:
                yield instruction, [values.handed(swap) for effect in effects for swap in effect.swaps]
            values.step(instruction)
            for effect in effects:
                values.forget(effect.written, instruction.number)

    def _entries(self, instruction: Instruction) -> list[int]:
        if instruction.kind != "call":
            return []
        callees = self._blocks[instruction.basic_block].callees
        return [self._blocks[callee].instructions[0].number for callee in callees]

    def _effect(self, number: int) -> Effect:
        """The effect of the function that begins at an instruction. Recursive calls are ignored."""
        values = _Values()
        swaps = {
            place
            for instruction, places in self._followed(self._functions.get(number, ()), values)
            for place in places
            if instruction.kind != "load" and is_handed(place)
        }
        return Effect(frozenset(swaps), frozenset(values.written))


NO_EFFECT = Effect(frozenset(), frozenset())
UNSET = "unset"


def is_handed(place: tuple[str, Value]) -> bool:
    """True if it is an address relative to a register of the caller."""
    _, (root, _) = place
    return isinstance(root, tuple) and root[0] == UNSET


class _Values:
    """The values of registers in a function, in the order of its code. Equal values are equal pointers. `written`:
    words of registers so far.
    """

    def __init__(self) -> None:
        self.written: set[int] = set()
        self._held: dict[int, Value] = {}  # by the first of a register's words
        self._variables: dict[Value, Value] = {}  # by address

    def place(self, encoded: Encoded) -> tuple[str, Value]:
        """The address that an instruction accesses. Global addresses are treated as generic ones."""
        space = encoded.op.space
        return "global" if space == "generic" else space, self._address(encoded)

    def handed(self, place: tuple[str, Value]) -> tuple[str, Value]:
        """An address relative to a register of a called function (`is_handed`), as its caller sees it."""
        space, ((_, word), ahead) = place
        root, nbytes = self._value(word)
        return space, (root, nbytes + ahead)

    def forget(self, written: Collection[int], number: int) -> None:
        """Invalidates the words that the call at instruction `number` has written."""
        self.written.update(written)
        for word in written:
            self._held[word] = ("of", number, word), 0

    def step(self, instruction: Instruction) -> None:
        """Updates the values after an instruction."""
        encoded = instruction.encoded
        value = self._result(instruction)
        if instruction.kind == "store" and encoded.op.space in OF_VARIABLES:
            self._variables[self._address(encoded)] = self._source(encoded, "b") or (instruction.number, 0)
        for operand in writes(encoded):
            words = _words(operand)
            self.written.update(words)
            for word in words:  # an odd one is the upper half of the previous one
                self._held[word] = self._held[word & ~1] = ("of", instruction.number, word), 0
            if words and value:
                self._held[words[0]], value = value, None

    def _result(self, instruction: Instruction) -> Value | None:
        """The value of the result; None if it is not a tracked pointer."""
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
        """The value of a slot's register; None without a register."""
        operand = next((operand for name, operand in sources_of(encoded) if name == slot), None)
        words = _words(operand) if operand else range(0)
        return self._value(words[0]) if words else None

    def _value(self, word: int) -> Value:
        return self._held.get(word, ((UNSET, word), 0))


def _words(operand: Operand) -> range:
    size = WORDS.get(operand.file, 0)
    return range(operand.index * size, (operand.index + operand.count) * size)
