"""What one row of the instruction table says, and how a family of rows writes it."""

from typing import NamedTuple

PIPES = ("alu", "fma", "fp64", "half", "xu", "lsu", "tex", "tensor", "uniform", "cbu", "none")
FLOAT = ("rnd", "ftz", "sat")


class Opcode(NamedTuple):
    number: int
    name: str
    dst: str
    a: str
    b: str
    c: str
    e: str
    fields: tuple[str, ...]
    pipe: str
    slots: int
    latency: str
    semantics: str
    types: tuple[str, ...]
    space: str = ""  # memory instructions: the state space
    nbytes: int = 0  # memory instructions: bytes per lane


def row(name, form, pipe, latency, semantics, types="", fields=(), slots=1, space="", nbytes=0) -> Opcode:
    """A row without its number. `form` is "dst=a,b,c,e"; missing slots are empty; `types` are separated by spaces."""
    assert pipe in PIPES, pipe
    dst, _, sources = form.partition("=")
    a, b, c, e = ([*sources.split(","), "", "", "", ""])[:4]
    return Opcode(
        -1, name, dst, a, b, c, e, tuple(fields), pipe, slots, latency, semantics, tuple(types.split()), space, nbytes
    )
