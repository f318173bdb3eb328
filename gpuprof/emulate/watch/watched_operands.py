"""The registers that an instruction reads and writes, and their contents, as plain bits."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.operands import F64, KINDS_OF_FILE, PRED, U32, U64, Ref, predicate, source
from gpuprof.emulate.core.operation import Env
from gpuprof.isa.encoding import PT, RZ, Instruction, writes
from gpuprof.isa.modifiers import unpack

BITS = {4: np.uint32, 8: np.uint64, 1: np.bool_}  # by bytes of a register


class Place(NamedTuple):
    """The location of one value of an instruction. `name`: the register, "" of an immediate or constant."""

    slot: str
    name: str
    ref: Ref
    negated: bool = False


class Value(NamedTuple):
    """The values of one register, or one constant, in the lanes of n warps. bits: (n, 32), uint32, uint64 or bool;
    those of lanes that are not active mean nothing.
    """

    slot: str
    name: str
    bits: np.ndarray


def sources_of(inst: Instruction, env: Env) -> tuple[Place, ...]:
    """The locations of the registers and constants that an instruction reads, without the guard."""
    return tuple(location for slot in "abce" for location in _source(inst, slot, env))


def _source(inst: Instruction, slot: str, env: Env) -> Iterator[Place]:
    spec, index = getattr(inst.op, slot), getattr(inst, slot)
    if not spec or spec.startswith(">"):
        return
    if spec[0] == "P":
        ref, negated = predicate(index, env.pool)
        yield Place(slot, "" if index & PT == PT else f"P{index & PT}", ref, negated)
        return
    kind = _kind(inst, spec)
    if inst.imm_slot == slot or index == RZ:
        yield Place(slot, "", source(inst, slot, kind, env.pool))
        return
    file = "D" if kind in KINDS_OF_FILE[1] else "R"
    for k in range(int(spec[1:] or 1)):
        yield Place(slot, f"{file}{index + k}", Ref(kind, index + k))


def _kind(inst: Instruction, spec: str) -> int:
    """How a source is read: as bits. An immediate in a 64-bit slot means another number in f64 rows."""
    if spec[0] == "A":
        return U64 if unpack(inst.mods, "addr64") else U32
    if spec[0] == "R":
        return U32
    return F64 if inst.op.types[:1] == ("f64",) else U64


def results_of(inst: Instruction) -> tuple[Place, ...]:
    """The locations of the registers that an instruction writes."""
    return tuple(
        Place("dst", f"{operand.file}{operand.index + k}", Ref(_kind_of(operand.file), operand.index + k))
        for operand in writes(inst)
        for k in range(operand.count)
    )


def _kind_of(file: str) -> int:
    return PRED if file == "P" else KINDS_OF_FILE["RD".index(file)][0]


def values_at(lanes: Lanes, locations: tuple[Place, ...], rows: np.ndarray | None) -> tuple[Value, ...]:
    """Views of the rows where that is possible; `rows`: the warps that are wanted, None for all."""
    return tuple(Value(location.slot, location.name, _bits(lanes, location, rows)) for location in locations)


def _bits(lanes: Lanes, location: Place, rows: np.ndarray | None) -> np.ndarray:
    row = lanes.row(location.ref)
    bits = row.view(BITS[row.dtype.itemsize])
    if not bits.ndim:
        bits = np.broadcast_to(bits, lanes.n)
    bits = bits.reshape(-1, WARP)
    bits = bits if rows is None else bits[rows]
    return ~bits if location.negated else bits
