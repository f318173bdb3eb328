"""Checks that an operand has the type its instruction requires (PTX ISA 9.0, 9.4 "Type information for instructions and
operands").

Sizes are equal. Signed and unsigned integers agree with each other, `.b` types with everything of their size,
floating-point types only with themselves. Loads, stores and conversions take wider registers too. ptxas 13.0 refuses
the rest, which would compute with bits that mean something else.
"""

from functools import cache

from gpuprof.assemble.ir.values import type_nbits
from gpuprof.assemble.ptx import ast

WIDER = frozenset(["ld", "ldu", "st", "suld", "sust", "cvt"])


@cache
def register_agrees(declared: str, nbits: int, kind: str, opcode: str) -> bool:
    """True if a register of a declared type and size can be an operand of type `kind`."""
    if nbits != type_nbits(kind) and not (opcode in WIDER and nbits > type_nbits(kind)):
        return False
    there, here = _meaning(declared), _meaning(kind)
    return there == here or "bits" in (there, here)


def number_agrees(number: ast.Number, kind: str) -> bool:
    """True if a constant can be: integers are no floating-point numbers, nor the other way round."""
    meaning = _meaning(kind)
    if number.kind == "int":
        return meaning in ("bits", "integer")
    return meaning != "integer"


def _meaning(kind: str) -> str:
    """ "bits", "integer", or the name of a floating-point type."""
    if kind[0] in "us" and kind[1:].isdigit():
        return "integer"
    return "bits" if kind == "pred" or (kind[0] == "b" and kind[1:].isdigit()) else kind
