"""Registers that wgmma.mma_async takes from instructions with no wgmma.fence between, and those that are written while
one may still read them (PTX ISA, wgmma.fence and wgmma.wait_group).

This is decided on the PTX itself, before any pass: machine code has another order, of the assembler's own. What a
compiler moves where it likes is no write: copies, constants, and loads of a function that has variables in memory.
"""

from collections.abc import Callable, Iterator

from gpuprof.assemble.debug_registers import starts
from gpuprof.assemble.ir.body import COPIES, Body, Inst, Operand
from gpuprof.isa.facts import NEVER_FENCED, OVERWRITTEN, SOMETIMES_FENCED, UNFENCED, RegisterHazard
from gpuprof.isa.kinds import CALLS, kinds_of
from gpuprof.isa.opcodes import numbers

_FENCES = numbers("WARPGROUP.ARRIVE")
_MULTIPLIES, _COMMITS, _WAITS = kinds_of("matrix_async"), kinds_of("matrix_commit"), kinds_of("matrix_wait")
_LOADS = kinds_of("load")
_MOST_GROUPS = 8  # wgmma.wait_group leaves 7 at most: of older ones nothing is asked
_IN_MEMORY = ("local", "generic")  # where a compiler keeps variables
# Keys of a state: ("written", register) with the lines that have written it since the last fence; ("read", register)
# with lines of multiplications and the groups that were ended since; ("fenced",) with whether there was a fence, both
# where ways differ.
_WRITTEN, _READ, _FENCED = "written", "read", ("fenced",)
_State = dict[tuple, frozenset]


def hazards_of(body: Body) -> list[RegisterHazard]:
    """The hazards of a function after the lowering, with its edges; ascending."""
    if not any(inst.op.kind in _MULTIPLIES for inst in body.instructions()):
        return []
    return sorted(set(_Function(body).hazards()))


class _Function:
    def __init__(self, body: Body):
        self._body = body
        self._names = {register: name for name, register in body.names.items()}
        self._has_variables = body.frame_nbytes > 0
        gathered = (each for each in body.instructions() if each.is_copy and each.dst not in self._names)
        self._source = {(each.dst, each.line): each.a for each in gathered}
        self._fragments = _fragments(body)

    def hazards(self) -> Iterator[RegisterHazard]:
        blocks = [block.insts for block in self._body.blocks]
        first: _State = {_FENCED: frozenset([False] if self._body.is_kernel else [False, True])}
        for block, start in zip(
            blocks, starts(blocks, [block.successors for block in self._body.blocks], first, self._step), strict=True
        ):
            state = dict(start)
            for inst in block:
                yield from self._met(inst, state)
                self._step(inst, state)

    def _met(self, inst: Inst, state: _State) -> Iterator[RegisterHazard]:
        if inst.op.kind in _MULTIPLIES:
            if False in state[_FENCED]:
                yield RegisterHazard(SOMETIMES_FENCED if True in state[_FENCED] else NEVER_FENCED, inst.line)
            for register in (*_fragment(inst.c), *_fragment(inst.a)):
                for line in state.get((_WRITTEN, register), ()):
                    yield RegisterHazard(UNFENCED, inst.line, line, self._name(register, inst.line))
        elif self._is_write(inst):
            for register in inst.writes():
                for line, _ in state.get((_READ, register), ()):
                    yield RegisterHazard(OVERWRITTEN, inst.line, line, self._name(register, inst.line))

    def _step(self, inst: Inst, state: _State) -> None:
        kind = inst.op.kind
        if kind in CALLS:
            state[_FENCED] |= {True}
        if inst.op.number in _FENCES:
            state[_FENCED] = frozenset([True])
            _drop(state, _WRITTEN)
        elif kind in _COMMITS:
            _change_groups(state, lambda ended: min(ended + 1, _MOST_GROUPS))
        elif kind in _WAITS:
            _change_groups(state, lambda ended: ended if ended <= inst.imm else None)
        elif kind in _MULTIPLIES:
            for register in inst.writes():
                state.pop((_WRITTEN, register), None)
            for register in _fragment(inst.a):
                key = _READ, self._source.get((register, inst.line), register)
                state[key] = state.get(key, frozenset()) | {(inst.line, 0)}
        else:
            self._write(inst, state)

    def _write(self, inst: Inst, state: _State) -> None:
        value: frozenset = frozenset()
        if inst.is_copy:
            value = state.get((_WRITTEN, inst.a), value)
        elif self._is_write(inst):
            value = frozenset([inst.line])
        for register in self._fragments.intersection(inst.writes()):
            key = _WRITTEN, register
            state[key] = value if inst.guard is None else value | state.get(key, frozenset())

    def _is_write(self, inst: Inst) -> bool:
        is_of_variable = self._has_variables and inst.op.kind in _LOADS and inst.op.space in _IN_MEMORY
        return inst.op.number not in COPIES and not is_of_variable

    def _name(self, register: int, line: int) -> str:
        register = self._source.get((register, line), register)
        return self._names.get(register, "a register")


def _fragments(body: Body) -> set[int]:
    """Registers with elements of a matrix, and those that copies take these from."""
    multiplied = (inst for inst in body.instructions() if inst.op.kind in _MULTIPLIES)
    registers = {register for inst in multiplied for register in (*_fragment(inst.c), *_fragment(inst.a))}
    copies = [inst for inst in body.instructions() if inst.is_copy]
    n = 0
    while len(registers) > n:
        n = len(registers)
        registers |= {inst.a for inst in copies if inst.dst in registers}
    return registers


def _fragment(operand: Operand) -> tuple[int, ...]:
    """Registers of an operand with elements of a matrix; none of a descriptor, which is read at once."""
    return operand if isinstance(operand, tuple) else ()


def _drop(state: _State, what: str) -> None:
    for key in [key for key in state if key[0] == what]:
        del state[key]


def _change_groups(state: _State, change: Callable[[int], int | None]) -> None:
    """`change`: the groups that were ended since, changed; None where the multiplication has been waited for."""
    for key in [key for key in state if key[0] == _READ]:
        changed = ((line, change(ended)) for line, ended in state[key])
        state[key] = frozenset((line, ended) for line, ended in changed if ended is not None)
