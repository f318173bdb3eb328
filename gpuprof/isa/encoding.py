"""The 16 bytes of an instruction, and what it reads and writes.

    byte 0..1   opcode: row of the table
    byte 2      guard: bits 0..6 predicate register (127 = PT, always), bit 7 = negated
    byte 3      dst
    byte 4,5,6  sources a, b, c
    byte 7      e: a fourth operand (predicate source or destination, member mask)
    byte 8..11  imm: immediate, constant-bank offset, address offset or branch distance (signed bytes)
    byte 12..15 mods: see `modifiers`

Little-endian. R255 and D255 read as zero and discard writes; P127 reads as true. A predicate source
has its negation in bit 7. MOVI.64 uses imm and mods together as one 64-bit immediate.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.isa.modifiers import FIELDS, IMM_SLOT_OF
from gpuprof.isa.opcodes import BY_NAME, TABLE
from gpuprof.isa.row import Opcode

INSTRUCTION_NBYTES = 16
PC_END = 1 << 40  # code addresses are below
INSTRUCTION_DTYPE = np.dtype(
    [
        ("opcode", "<u2"),
        ("guard", "u1"),
        ("dst", "u1"),
        ("a", "u1"),
        ("b", "u1"),
        ("c", "u1"),
        ("e", "u1"),
        ("imm", "<u4"),
        ("mods", "<u4"),
    ]
)
FIELD_NAMES = INSTRUCTION_DTYPE.names or ()
assert INSTRUCTION_DTYPE.itemsize == INSTRUCTION_NBYTES

RZ = 255  # also DZ
PT = 127
NEGATED = 0x80
SLOTS = ("dst", "a", "b", "c", "e")


class Instruction(NamedTuple):
    """One decoded instruction; the fields are the encoded numbers."""

    op: Opcode
    guard: int = PT
    dst: int = RZ
    a: int = RZ
    b: int = RZ
    c: int = RZ
    e: int = RZ
    imm: int = 0  # unsigned 32 bits
    mods: int = 0

    @property
    def offset(self) -> int:
        """imm as a signed number."""
        return self.imm - (1 << 32) if self.imm & 0x80000000 else self.imm

    @property
    def imm_slot(self) -> str:
        """The source that imm replaces: "a", "b", "c", or ""."""
        if self.op.name == "MOVI.64" or "A" in (self.op.a,):
            return ""
        return ("", "a", "b", "c")[FIELDS["imm_slot"].get(self.mods)]

    @property
    def reads_constant_bank(self) -> bool:
        return self.op.name != "MOVI.64" and bool(FIELDS["const"].get(self.mods))

    @property
    def imm64(self) -> int:
        return self.imm | self.mods << 32


def make(  # noqa: PLR0913  # a row of a table
    name: str,
    *,
    guard: int = PT,
    dst: int = -1,
    a: int = -1,
    b: int = -1,
    c: int = -1,
    e: int = -1,
    imm: int = 0,
    slot: str = "",
    const: bool = False,
    mods: int = 0,
) -> Instruction:
    """An instruction by opcode name. Slots left out read as zero, true, or nothing. `slot` names the source that imm
    replaces.
    """
    op = BY_NAME[name]
    given = {"dst": dst, "a": a, "b": b, "c": c, "e": e}
    for key, value in given.items():
        if value < 0:
            given[key] = PT if getattr(op, key).endswith("P") else RZ
    if slot:
        mods |= FIELDS["imm_slot"].put(IMM_SLOT_OF[slot])
    if const:
        mods |= FIELDS["const"].put(1)
    return Instruction(op, guard, imm=imm & 0xFFFFFFFF, mods=mods, **given)


def encode(instructions: list[Instruction]) -> np.ndarray:
    """An array of INSTRUCTION_DTYPE, shape (n,); `.tobytes()` is the machine code."""
    rows = [(i.op.number, i.guard, i.dst, i.a, i.b, i.c, i.e, i.imm, i.mods) for i in instructions]
    return np.array(rows, dtype=INSTRUCTION_DTYPE)


def decode(row: np.void) -> Instruction:
    """The instruction of one encoded row; raises ValueError when the opcode number is not in the table."""
    number = int(row["opcode"])
    if number >= len(TABLE):
        raise ValueError(f"opcode number {number} is not in the table of {len(TABLE)}")
    return Instruction(TABLE[number], *(int(row[name]) for name in FIELD_NAMES[1:]))


class Operand(NamedTuple):
    """Consecutive registers of one file: `file` is "R", "D" or "P"."""

    file: str
    index: int
    count: int


def _operand(inst: Instruction, slot: str, spec: str) -> Operand | None:
    index = getattr(inst, slot)
    file, count = spec[0], int(spec[1:] or 1)
    if file == "A":
        file = "D" if FIELDS["addr64"].get(inst.mods) else "R"
    if slot == "dst" and "channels" in inst.op.fields:
        count = FIELDS["channels"].get(inst.mods) or count
    if file == "P":
        index &= 0x7F
    if index == (PT if file == "P" else RZ):
        return None
    return Operand(file, index, count)


def reads(inst: Instruction) -> Iterator[Operand]:
    """The registers an instruction reads, guard included; zero registers and immediates left out."""
    if inst.guard & 0x7F != PT:
        yield Operand("P", inst.guard & 0x7F, 1)
    for _, operand in sources_of(inst):
        yield operand


def sources_of(inst: Instruction) -> Iterator[tuple[str, Operand]]:
    """The operands that it reads, by slot, without the guard."""
    for slot in ("a", "b", "c", "e"):
        spec = getattr(inst.op, slot)
        if spec and not spec.startswith(">") and slot != inst.imm_slot:
            operand = _operand(inst, slot, spec)
            if operand:
                yield slot, operand


def writes(inst: Instruction) -> Iterator[Operand]:
    """The registers an instruction writes; zero registers left out."""
    for _, operand in results_of(inst):
        yield operand


def results_of(inst: Instruction) -> Iterator[tuple[str, Operand]]:
    """The operands that it writes, by slot."""
    for slot in SLOTS:
        spec = inst.op.dst if slot == "dst" else getattr(inst.op, slot)
        if spec and (slot == "dst" or spec.startswith(">")):
            operand = _operand(inst, slot, spec.lstrip(">"))
            if operand:
                yield slot, operand
