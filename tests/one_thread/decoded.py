"""Instructions with what their bits mean, looked up once: modifiers by name, and where operands come from."""

from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import Instruction, decode
from gpuprof.isa.modifiers import FIELDS, unpack, unpack_name
from gpuprof.isa.row import Opcode


class Place(NamedTuple):
    """An operand: `file` is "R", "D" or "P", or "" for an immediate or constant, whose bytes are `literal`."""

    slot: str
    file: str
    index: int
    count: int = 1
    literal: int = 0
    negated: bool = False  # a predicate that is read


class Decoded(NamedTuple):
    inst: Instruction
    op: Opcode
    types: tuple[str, ...]
    mods: dict[str, int | str]
    sources: tuple[Place, ...]
    targets: tuple[Place, ...]
    is_wide: bool  # its address has 64 bits


def decoded(code: np.ndarray, bank: bytes) -> list[Decoded]:
    """`bank` is what constant operands read."""
    return [_decoded(decode(row), bank) for row in code]


def _decoded(inst: Instruction, bank: bytes) -> Decoded:
    op = inst.op
    sources = [_source(inst, slot, getattr(op, slot), bank) for slot in "abce" if _is_read(getattr(op, slot))]
    targets = [_target(inst, slot, getattr(op, slot)) for slot in ("dst", "c", "e") if _is_written(op, slot)]
    is_wide = op.a == "A" and bool(unpack(inst.mods, "addr64"))
    return Decoded(inst, op, op.types, _modifiers(inst), tuple(sources), tuple(targets), is_wide)


def _is_read(spec: str) -> bool:
    return bool(spec) and not spec.startswith(">")


def _is_written(op: Opcode, slot: str) -> bool:
    spec = getattr(op, slot)
    return bool(spec) and (slot == "dst" or spec.startswith(">"))


def _modifiers(inst: Instruction) -> dict[str, int | str]:
    if inst.op.name == "MOVI.64":  # mods are the upper word
        return {}
    found = {name: _value(inst.mods, name) for name in (*inst.op.fields, "neg_a", "neg_b", "neg_c")}
    return {name: value for name, value in found.items() if value or not name.startswith("neg_")}


def _value(mods: int, name: str) -> int | str:
    """A flag is 0 or 1."""
    names = FIELDS[name].names
    return unpack(mods, name) if names in ((), ("", name)) else unpack_name(mods, name)


def _source(inst: Instruction, slot: str, spec: str, bank: bytes) -> Place:
    index = getattr(inst, slot)
    if slot == inst.imm_slot:
        return Place(slot, "", index, literal=_literal(inst, spec, bank))
    if spec == "A":
        spec = "D" if unpack(inst.mods, "addr64") else "R"
    if spec == "P":
        return Place(slot, "P", index & 0x7F, negated=bool(index & 0x80))
    return Place(slot, spec[0], index, int(spec[1:] or 1))


def _literal(inst: Instruction, spec: str, bank: bytes) -> int:
    """PTX has no immediates for the halves of a pair, so D means one number: an integer's sign is extended, a double is
    its upper word.
    """
    if inst.reads_constant_bank:
        return int.from_bytes(bank[inst.imm : inst.imm + (4 if spec == "R" else 8)], "little")
    if spec == "R":
        return inst.imm
    return inst.imm << 32 if inst.op.types[-1] == "f64" else inst.offset & (1 << 64) - 1


def _target(inst: Instruction, slot: str, spec: str) -> Place:
    spec = spec.lstrip(">")
    return Place(slot, spec[0], getattr(inst, slot) & (0x7F if spec == "P" else 0xFF), int(spec[1:] or 1))
