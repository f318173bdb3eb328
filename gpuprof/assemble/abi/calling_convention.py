"""The calling convention: where a function's parameters and results are.

Values are in registers from R4 on, as in CUDA's own convention, in order of declaration: of up to 32 bits in the next
word, 64-bit ones in the next aligned pair (Dn is the pair of words 2n and 2n + 1). Parameters and results each begin at
R4, predicates at P0. A `.reg` vector is as many values as it has elements.
What does not fit R4 to R15 is in local memory, as are byte arrays (structs by value), at the start of the callee's
frame: parameters first, then results. An array without a size is in the caller's frame, and its address is passed.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.values import register_parts, type_file, type_nbits
from gpuprof.assemble.ptx import ast
from gpuprof.isa.opcodes import BY_NAME

_FIRST_WORD, _END_WORD = 4, 16
_END_PREDICATE = 7  # P7 is always true


class Place(NamedTuple):
    file: str  # "R", "D", or "M" for local memory
    index: int  # register number, or bytes from the start of the callee's frame
    type: str
    variable: ast.Variable  # the parameter as declared
    variadic: bool = False  # an array of unknown size: the register holds its address in local memory


class Convention(NamedTuple):
    params: dict[str, Place]
    returns: dict[str, Place]
    memory_nbytes: int


def align_up(value: int, align: int) -> int:
    return (value + align - 1) & -align


def convention(params: tuple[ast.Variable, ...], returns: tuple[ast.Variable, ...]) -> Convention:
    """Places of parameters and results, in order, by name."""
    nbytes = 0
    result = []
    for group in (params, returns):
        places: dict[str, Place] = {}
        word, n_predicates = _FIRST_WORD, 0
        for name, variable, kind in _values(group):
            variadic = variable.is_array and variable.nbytes == 0
            kind = "u64" if variadic else kind
            in_memory = not variadic and (variable.is_array or type_nbits(kind) > 64)
            file = "M" if in_memory else type_file(kind)
            wide = file == "D"
            if file in ("R", "D") and not variadic and align_up(word, 1 + wide) + 1 + wide > _END_WORD:
                file = "M"
            if file == "P":
                file, n_predicates = "M" if n_predicates == _END_PREDICATE else "P", n_predicates + 1
            if file == "M":
                nbytes = align_up(nbytes, variable.align)
                places[name] = Place("M", nbytes, kind, variable)
                nbytes += variable.nbytes
            elif file == "P":
                places[name] = Place(file, n_predicates - 1, kind, variable)
            else:
                word += word & wide
                places[name] = Place(file, word >> wide, kind, variable, variadic)
                word += 1 + wide
        result.append(places)
    return Convention(result[0], result[1], align_up(nbytes, 16))


def of_each(places: dict[str, Place]) -> list[list[Place]]:
    """The places of a convention's parameters or results, a list for each."""
    return [list(group) for _, group in groupby(places.values(), key=lambda place: id(place.variable))]


def _values(group: tuple[ast.Variable, ...]) -> Iterator[tuple[str, ast.Variable, str]]:
    """(name, parameter, type) of each value that is passed: one a parameter, or one for each part of a register."""
    for number, variable in enumerate(group):
        name = variable.name if variable.name != "_" else f"_{number}"
        kind, parts = variable.type, ("",)
        if variable.space == "reg":
            kind, parts = register_parts(variable.type, variable.vector)
        for part in parts:
            yield name + part, variable, kind


_GLOBAL = ("global", "generic")  # spaces that need the descriptor of global memory


def begin_kernel(body: Body) -> None:
    """Adds the two instructions that begin every kernel of the real assembler: it loads the stack pointer, and the
    descriptor of global memory before its first use. Both take an issue slot and nothing of ours reads what they load
    (ptxas 13.0 for sm_80: `MOV R1, c[0x0][0x28]` and `ULDC.64 UR4, c[0x0][0x118]`).
    """
    if not body.is_kernel:
        return
    first = body.blocks[0]
    if any(inst.op.space in _GLOBAL for inst in body.instructions()):
        leaves = first.insts and first.insts[-1].op.kind == "exit" and first.insts[-1].guard is not None
        needed = any(inst.op.space in _GLOBAL for inst in first.insts)
        _put(body, body.blocks[1] if leaves and not needed and len(body.blocks) > 1 else first, "LOAD.DESC")
    _put(body, first, "LOAD.SP")


def _put(body: Body, block: Block, name: str) -> None:
    """Inserts an instruction in front of the block, as part of the line that the block begins with."""
    beside = block.insts[0] if block.insts else next(body.instructions())
    block.insts.insert(0, Inst(BY_NAME[name], line=beside.line, location=beside.location))
