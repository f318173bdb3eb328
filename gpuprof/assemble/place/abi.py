"""The calling convention: where a function's parameters and results are.

Values stand in registers from R4 on, as in CUDA's own convention, in order of declaration: of up to 32 bits in the next
word, 64-bit ones in the next aligned pair (Dn is the pair of words 2n and 2n + 1). Parameters and results each begin at
R4.
What does not fit R4 to R15 is in local memory, as are byte arrays (structs by value), at the start of the callee's
frame: parameters first, then results. An array without a size stands in the caller's frame, and its address is passed.
"""

from typing import NamedTuple

from gpuprof.assemble.ir.values import type_file, type_nbits
from gpuprof.assemble.ptx import ast

_FIRST_WORD, _END_WORD = 4, 16


class Place(NamedTuple):
    file: str  # "R", "D", or "M" for local memory
    index: int  # register number, or bytes from the start of the callee's frame
    type: str
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
        word = _FIRST_WORD
        for number, variable in enumerate(group):
            key = variable.name if variable.name != "_" else f"_{number}"
            variadic = variable.is_array and variable.nbytes == 0
            kind = "u64" if variadic else variable.type
            in_memory = (variable.is_array and not variadic) or type_nbits(variable.type) > 64
            if not in_memory:
                wide = type_file(kind) == "D"
                in_memory = not variadic and type_file(kind) != "P" and align_up(word, 1 + wide) + 1 + wide > _END_WORD
            if in_memory:
                nbytes = align_up(nbytes, variable.align)
                places[key] = Place("M", nbytes, variable.type)
                nbytes += variable.nbytes
            else:
                file = type_file(kind)
                word += word & wide
                places[key] = Place(file, word >> wide, kind, variadic)
                word += 1 + wide
        result.append(places)
    return Convention(result[0], result[1], align_up(nbytes, 16))
