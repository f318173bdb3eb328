"""The `.param` variables that a block declares for its calls, and where they are.

Arguments are passed by value, at the call. A variable therefore has a home of its own: a register, or room in the
frame of the function that calls. What the convention passes in memory may be in the callee's frame from the start,
which saves copying it, as long as nothing else is put into that frame between the first and the last use of the
variable. That is seen here, for the usual shape of a call: stores, one call, loads, in one piece of straight code.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuprof.assemble.abi.calling_convention import Convention, of_each
from gpuprof.assemble.abi.layout import names_of
from gpuprof.assemble.lower.scope import Use
from gpuprof.assemble.ptx import ast

_LEAVES = frozenset(["call", "bra", "brx", "ret", "exit", "alloca", "stackrestore"])  # or move the callee's frame


class CallParts(NamedTuple):
    """`call (results), callee, (arguments), prototype`."""

    results: tuple
    callee: object
    arguments: tuple
    prototype: object


def split_call(inst: ast.Instruction) -> CallParts:
    operands = list(inst.operands)
    results = operands.pop(0).elements if operands and isinstance(operands[0], ast.Arguments) else ()
    callee = operands.pop(0) if operands else None
    arguments = operands.pop(0).elements if operands and isinstance(operands[0], ast.Arguments) else ()
    return CallParts(results, callee, arguments, operands[0] if operands else None)


def uses_of(block: ast.Block, convention_of: Callable[[CallParts], Convention | None]) -> dict[str, Use]:
    """How calls use each `.param` variable that the block declares."""
    names = {each.name for each in block.statements if isinstance(each, ast.Variable) and each.space == "param"}
    if not names:
        return {}
    results = {name for call in _calls(block) for operand in call.results for name in names_of(operand)}
    offsets = _offsets(block, names, convention_of)
    return {name: Use(name in results, offsets.get(name)) for name in names}


def _calls(block: ast.Block) -> Iterator[CallParts]:
    for statement in block.statements:
        if isinstance(statement, ast.Block):
            yield from _calls(statement)
        elif isinstance(statement, ast.Instruction) and statement.opcode == "call":
            yield split_call(statement)


class _Touch(NamedTuple):
    """A statement that names a variable: its place, and "argument", "result", "load", "store" or "other"."""

    index: int
    how: str


def _offsets(block: ast.Block, names: set[str], convention_of) -> dict[str, int]:
    """Offsets in the callee's frame of the variables that can be there all the time."""
    touches: dict[str, list[_Touch]] = defaultdict(list)
    places: dict[str, int] = {}
    leaves: list[int] = []  # statements after which something else may be in the callee's frame
    stores: list[int] = []
    for index, statement in enumerate(block.statements):
        if isinstance(statement, ast.Instruction):
            if statement.opcode == "call":
                places |= _places_in_memory(split_call(statement), convention_of)
            if statement.opcode in _LEAVES:
                leaves.append(index)
            how = _access(statement)
            if how == "store":
                stores.append(index)
            for name, kind in _touched(statement, how):
                if name in names:
                    touches[name].append(_Touch(index, kind))
        elif isinstance(statement, ast.Label):
            leaves.append(index)
        elif isinstance(statement, ast.Block):
            leaves.append(index)
            for name in names & set(_names_in(statement)):
                touches[name].append(_Touch(index, "other"))
    return {name: places[name] for name, own in touches.items() if name in places and _stays(own, leaves, stores)}


def _stays(touches: list[_Touch], leaves: list[int], stores: list[int]) -> bool:
    """True if nothing but the variable's one call comes between its uses: stores and then the call, or the call and
    then loads. No argument of another call may be stored while a result is still to be read.
    """
    kinds = [touch.how for touch in touches]
    first, last = touches[0].index, touches[-1].index
    if kinds[-1] == "argument" and set(kinds[:-1]) <= {"store"}:
        return not _between(leaves, first, last)
    if kinds[0] == "result" and set(kinds[1:]) <= {"load"}:
        return not _between(leaves, first, last) and not _between(stores, first, last)
    return False


def _between(indices: list[int], first: int, last: int) -> bool:
    at = bisect_left(indices, first + 1)
    return at < len(indices) and indices[at] < last


def _places_in_memory(call: CallParts, convention_of) -> dict[str, int]:
    places = convention_of(call)
    if places is None:
        return {}
    return {
        name.text: first.index
        for given, group in ((call.arguments, places.params), (call.results, places.returns))
        for name, (first, *_) in zip(given, of_each(group), strict=False)
        if first.file == "M" and isinstance(name, ast.Name)
    }


def _access(inst: ast.Instruction) -> str:
    if inst.guard or "param" not in "".join(inst.modifiers):
        return "other"
    return {"ld": "load", "st": "store"}.get(inst.opcode, "other")


def _touched(inst: ast.Instruction, how: str) -> Iterator[tuple[str, str]]:
    """(name, how it is used) of what an instruction names."""
    if inst.opcode == "call" and not inst.guard:
        call = split_call(inst)
        for kind, operands in (("argument", call.arguments), ("result", call.results)):
            yield from ((name, kind) for operand in operands for name in names_of(operand))
        return
    yield from ((name, how) for operand in inst.operands for name in names_of(operand))


def _names_in(block: ast.Block) -> Iterator[str]:
    for statement in block.statements:
        if isinstance(statement, ast.Block):
            yield from _names_in(statement)
        elif isinstance(statement, ast.Instruction):
            for operand in statement.operands:
                yield from names_of(operand)
