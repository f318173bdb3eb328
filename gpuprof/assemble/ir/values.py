"""Operand values while lowering, besides plain virtual register numbers."""

import struct
from typing import NamedTuple

from gpuprof.assemble.ptx.ast import TYPE_NBYTES, Number
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.row import Opcode


class NoVariant(Exception):
    """There is no lowering for this combination of modifiers and types. Caught per instruction, so that all are
    reported at once.
    """


_NBITS = {kind: 8 * nbytes for kind, nbytes in TYPE_NBYTES.items()} | {"pred": 1}


def type_nbits(kind: str) -> int:
    """Bits of a PTX type. Raises NoVariant when there is no such type."""
    return pick(_NBITS, kind)


def type_file(kind: str) -> str:
    """The register file a value of a type lives in."""
    nbits = type_nbits(kind)
    if nbits > 64:
        raise NoVariant(f"type .{kind} of")
    return "P" if nbits == 1 else "D" if nbits == 64 else "R"


VECTOR_PARTS = (".x", ".y", ".z", ".w")


def register_parts(kind: str, vector: int) -> tuple[str, tuple[str, ...]]:
    """The type of the registers that a declared one is made of, and what is added to its name for each."""
    if kind == "b128":
        return "b64", ("#0", "#1")
    return kind, VECTOR_PARTS[:vector] if vector > 1 else ("",)


def row(name: str) -> Opcode:
    """A row of the instruction table. Raises NoVariant when there is none of that name."""
    if name not in BY_NAME:
        raise NoVariant(f"variant {name} of")
    return BY_NAME[name]


def pick(table: dict, key):
    """table[key]. Raises NoVariant when the key is missing."""
    if key not in table:
        raise NoVariant(f"variant {key} of")
    return table[key]


class Imm(NamedTuple):
    """A constant, as unsigned bits of the operand's width."""

    bits: int


class Not(NamedTuple):
    """A negated predicate register."""

    register: int


_FORMATS = {"f32": ("<f", "<I"), "f64": ("<d", "<Q")}


def float_bits(number: Number, kind: str) -> int:
    """Bits of a floating literal in another floating type ("f32" or "f64")."""
    packed_float, packed_int = _FORMATS[number.kind]
    value = struct.unpack(packed_float, struct.pack(packed_int, number.value))[0]
    packed_float, packed_int = _FORMATS[kind]
    try:
        return struct.unpack(packed_int, struct.pack(packed_float, value))[0]
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000
