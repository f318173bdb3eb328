"""The registers of the PTX that still hold, in the final code, the PTX's values.

The passes keep no account of values: what they have done is judged by its result. The PTX's register %r5 is where the
allocation has put it, in front of a final instruction that stands for line L of the PTX, if

* what can have written its place last are the instructions that can have written %r5 last in front of L, by the PTX
  itself, and they are in no loop of which a pass has made copies;
* in the instruction's own block such writes come before it, or after, as their lines do.

A value that was moved past the instruction, spilled, or that made room for another is reported as not held.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import single_definitions
from gpuprof.assemble.registers.allocate import Allocation

UNSET = -1  # as a line of the PTX: nothing has written it yet, or a call has
Place = tuple[str, int]  # file and number of a physical register
Last = frozenset[tuple[int, int]]  # the writes that may have been the last: virtual register, line of the PTX


class Line(NamedTuple):
    """The registers that a line of the PTX writes. `is_sure`: the write has no guard."""

    line: int
    writes: tuple[int, ...]
    is_sure: bool


@dataclass
class Shape:
    """A function after the lowering: its blocks in the order of the text, with the labels that begin them."""

    names: Mapping[str, int]  # registers by their names in the PTX, without %
    files: tuple[str, ...]
    labels: list[str]
    blocks: list[list[Line]]
    successors: list[list[int]]
    copies: Mapping[int, int]  # register -> that of which it is a copy, where both are written once

    def chain(self, register: int) -> list[int]:
        """A register and those that have its value once it is written."""
        copies = [register]
        # Registers that are never set may be copied in a circle.
        while (more := self.copies.get(copies[-1])) is not None and more not in copies:
            copies.append(more)
        return copies


@dataclass
class DebugRegisters:
    """`wanted`: names of the PTX's registers, by function. What `assemble_program` leaves here, by function: its shape,
    of each final instruction the places of those that are held there, by their names, and where variables lie in shared
    memory.
    """

    wanted: Mapping[str, Iterable[str]]
    shapes: dict[str, Shape] = field(default_factory=dict)
    places: dict[str, list[dict[str, Place]]] = field(default_factory=dict)
    shared: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    _found: dict[int, dict[str, Place]] = field(default_factory=dict)  # by id of instructions, which their body keeps

    def lowered(self, body: Body) -> None:
        """Before any pass has changed it."""
        self.shapes[body.name] = Shape(
            {name.removeprefix("%"): register for name, register in body.names.items()},
            tuple(body.files),
            [block.label for block in body.blocks],
            [[Line(i.line, tuple(i.writes()), i.guard is None) for i in block.insts] for block in body.blocks],
            [list(block.successors) for block in body.blocks],
            _copies(body),
        )

    def allocated(self, body: Body, allocation: Allocation) -> None:
        """When each value has its place, and copies to the same place are still there."""
        shape = self.shapes[body.name]
        wanted = {name: shape.names[name] for name in self.wanted.get(body.name, ()) if name in shape.names}
        final = _Final(body, allocation, shape, wanted)
        for block, start in zip(body.blocks, final.starts, strict=True):
            self._found |= final.places(block, start)

    def laid_out(self, body: Body) -> None:
        """When no instruction of it changes any more."""
        self.places[body.name] = [self._found.get(id(inst), {}) for inst in body.instructions()]


def _copies(body: Body) -> dict[int, int]:
    single = single_definitions(body)
    copies = {register: inst for register, inst in single.items() if inst.is_copy and inst.guard is None}
    return {register: inst.a for register, inst in copies.items() if inst.a in single}


def starts(blocks: list, successors: list[list[int]], first: dict, step: Callable[[Any, dict], None]) -> list[dict]:
    """The state at the beginning of each block: sets by key, which are united where paths meet. `step(item, state)`
    changes the state by an item of a block; {} for a block that is not reached.
    """
    states: list[dict] = [first] + [{} for _ in blocks[1:]]
    todo = [0]
    while todo:
        number = todo.pop()
        state = dict(states[number])
        for item in blocks[number]:
            step(item, state)
        for successor in successors[number]:
            known = states[successor]
            met = {key: value | known.get(key, frozenset()) for key, value in state.items()}
            if met != known:
                states[successor] = met
                todo.append(successor)
    return states


def _last_writers(shape: Shape, registers: set[int]) -> dict[int, dict[int, Last]]:
    """Before each line of the PTX: the writes of each of some registers that may have been the last."""

    def step(item: Line, state: dict[int, Last]) -> None:
        for register in registers.intersection(item.writes):
            _write(state, register, register, item.line, item.is_sure)

    first = {register: frozenset({(register, UNSET)}) for register in registers}
    writers: dict[int, dict[int, Last]] = {}
    for block, start in zip(shape.blocks, starts(shape.blocks, shape.successors, first, step), strict=True):
        state = dict(start)
        for item in block:
            writers.setdefault(item.line, dict(state))
            step(item, state)
    return writers


def _write(state: dict, key, register: int, line: int, is_sure: bool) -> None:
    last = frozenset({(register, line)})
    state[key] = last if is_sure else last | state.get(key, frozenset())


class _Final:
    """A function with its allocation. `starts`: the last writes of each word at the beginning of its blocks."""

    def __init__(self, body: Body, allocation: Allocation, shape: Shape, wanted: Mapping[str, int]):
        self.body, self.allocation = body, allocation
        self.wanted = {name: shape.chain(register) for name, register in wanted.items()}
        known = {register for chain in self.wanted.values() for register in chain}
        self.writers = _last_writers(shape, known)
        placed = {each for each in known if each in allocation.number and body.files[each] == shape.files[each]}
        self.words = {register: self._words(register) for register in placed}
        self.watched = {word for words in self.words.values() for word in words}
        first = {word: frozenset({(UNSET, UNSET)}) for word in self.watched}
        blocks = [block.insts for block in body.blocks]
        self.starts = starts(blocks, [block.successors for block in body.blocks], first, self._step)

    def _words(self, register: int) -> tuple[Place, ...]:
        """The 32-bit words, or the predicate, that a virtual register takes."""
        file, number = self.body.files[register], self.allocation.number[register]
        return ((file, number),) if file != "D" else (("R", 2 * number), ("R", 2 * number + 1))

    def _step(self, inst: Inst, state: dict[Place, Last]) -> None:
        if inst.clobbers:
            for file, number in state:
                if number < (inst.clobbers.p if file == "P" else inst.clobbers.words):
                    state[file, number] = frozenset({(UNSET, UNSET)})
        for register in inst.writes():
            for word in self._words(register) if register in self.allocation.number else ():
                if word in self.watched:
                    _write(state, word, register, inst.line, inst.guard is None)

    def places(self, block: Block, start: dict[Place, Last]) -> dict[int, dict[str, Place]]:
        """The places of registers at the instructions of a block, by their ids."""
        places, state = {}, dict(start)
        writes = [(at, inst.line, set(inst.writes())) for at, inst in enumerate(block.insts)]
        for at, inst in enumerate(block.insts):
            if state and inst.line in self.writers:
                places[id(inst)] = dict(self._kept(at, inst.line, state, writes))
            self._step(inst, state)
        return places

    def _kept(self, at: int, line: int, state: dict[Place, Last], writes: list) -> Iterator[tuple[str, Place]]:
        for name, chain in self.wanted.items():
            if self._is_set(chain[0], line):
                place = next((each for each in chain if self._is_kept(each, at, line, state, writes)), None)
                if place is not None:
                    yield name, (self.body.files[place], self.allocation.number[place])

    def _is_set(self, register: int, line: int) -> bool:
        last = self.writers[line].get(register, frozenset())
        return bool(last) and not any(each == UNSET or each in self.body.copied for _, each in last)

    def _is_kept(self, register: int, at: int, line: int, state: dict[Place, Last], writes: list) -> bool:
        """In front of the instruction at a place of its block. `writes`: place, line and registers of all in it."""
        if register not in self.words or not self._is_set(register, line):
            return False
        if any(state[word] != self.writers[line][register] for word in self.words[register]):
            return False
        return all((place < at) == (each < line) for place, each, done in writes if register in done and place != at)
