"""A row of the instruction table, and how a family of rows writes it; scalar types.

Rule: outside this package no code depends on an instruction's name.

* What an instruction is, its row says: `kind` (see `kinds`), `space`, `pipe`, `fields`, `types`.
* Code that matches exact opcodes writes them as `opcodes.numbers("IADD", "IADD.64")` or `opcodes.by_number({...})`, or
  holds one row as a constant, `MOV = BY_NAME["MOV"]`, and compares with `is`. A name that the table
  lacks stops the import.
* `semantics` is only an index into the emulator's tables of what instructions compute.
* `name` is only shown, or a part of a key.

A test walks the code for what breaks it.
"""

from typing import NamedTuple

from gpuprof.isa.kinds import KINDS

PIPES = ("alu", "fma", "fp64", "half", "xu", "lsu", "tex", "tensor", "uniform", "cbu", "none")
FLOAT = ("rnd", "ftz", "sat")

# Latency classes of rows without a latency: chip files have no number for them, and what uses a result of such a row
# can issue in the next cycle. What else there is to wait for, the instruction's kind says.
NO_LATENCY = {
    "store": "memory takes it; no register has to be waited for",
    "branch": "the next issue waits for the place it goes to, not for a register",
    "barrier": "the warp waits at the barrier",
    "membar": "the warp waits for its stores",
}


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
    space: str  # memory instructions: the state space; "barrier" where other threads are waited for
    nbytes: int  # memory instructions: bytes per lane
    kind: str  # of kinds.KINDS


def row(name, kind, form, pipe, latency, semantics, types="", fields=(), slots=1, space="", nbytes=0) -> Opcode:  # noqa: PLR0913  # a row of a table
    """A row without its number. `form` is "dst=a,b,c,e"; missing slots are empty; `types` are separated by spaces."""
    assert kind in KINDS, f"{name}: unknown kind {kind!r}"
    assert pipe in PIPES, f"{name}: unknown pipe {pipe!r}"
    touches_memory = space not in ("", "barrier")
    assert touches_memory == bool(KINDS[kind].operation), f"{name}: kind {kind!r} does not go with space {space!r}"
    dst, _, sources = form.partition("=")
    a, b, c, e = ([*sources.split(","), "", "", "", ""])[:4]
    return Opcode(
        number=-1,
        name=name,
        dst=dst,
        a=a,
        b=b,
        c=c,
        e=e,
        fields=tuple(fields),
        pipe=pipe,
        slots=slots,
        latency=latency,
        semantics=semantics,
        types=tuple(types.split()),
        space=space,
        nbytes=nbytes,
        kind=kind,
    )


INTEGER_TYPES = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOAT_TYPES = ("f16", "bf16", "f32", "f64")


def type_nbits(type_name: str) -> int:
    """Bits of a scalar type name: type_nbits("u16") == 16."""
    return int(type_name.lstrip("bfsu"))


def type_file(type_name: str) -> str:
    """The register file that holds a value of a scalar type."""
    return "P" if type_name == "pred" else "D" if type_nbits(type_name) == 64 else "R"
