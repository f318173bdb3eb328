"""The calling convention: where a function's parameters and results are.

Values of up to 32 bits stand in R0, R1, ... and 64-bit ones in D0, D1, ..., in order of declaration, parameters and results
each counted from 0. Byte arrays (structs by value) are in local memory, at the start of the callee's frame: parameters
first, then results. An array without a size stands in the caller's frame, and its address is passed.
"""

from typing import NamedTuple

from gpuprof.assemble import ast
from gpuprof.assemble.values import type_file


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
        used = {"R": 0, "D": 0}
        for number, variable in enumerate(group):
            key = variable.name if variable.name != "_" else f"_{number}"
            if variable.is_array and variable.nbytes == 0:
                places[key] = Place("D", used["D"], "u64", True)
                used["D"] += 1
            elif variable.is_array:
                nbytes = align_up(nbytes, variable.align)
                places[key] = Place("M", nbytes, variable.type)
                nbytes += variable.nbytes
            else:
                file = type_file(variable.type)
                places[key] = Place(file, used[file], variable.type)
                used[file] += 1
        result.append(places)
    return Convention(result[0], result[1], align_up(nbytes, 16))
