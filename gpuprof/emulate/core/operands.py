"""The locations of an instruction's operands: (kind, index) pairs into the row lists of a `Lanes` object.

Each kind is one typed view of a register file. A list holds the registers first (0..254), a scratch row at TRASH that
takes writes to RZ, DZ and PT, and from POOL on the constants of the program (zeros, immediates, words of the constant
bank) as 0-d arrays, which numpy broadcasts. So an operation never asks whether a source is a register.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import NEGATED, PT, RZ, Instruction, Operand

U32, S32, F32, U64, S64, F64, PRED = range(7)
N_KINDS = 7
DTYPES = (np.uint32, np.int32, np.float32, np.uint64, np.int64, np.float64, np.bool_)
FILES = "RDP"
FILE_OF_KIND = (0, 0, 0, 1, 1, 1, 2)
KINDS_OF_FILE = ((U32, S32, F32), (U64, S64, F64), (PRED,))
KIND_OF_TYPE = {
    "b32": U32, "u32": U32, "s32": S32, "f32": F32, "b64": U64, "u64": U64, "s64": S64, "f64": F64, "pred": PRED,
    "b16": U32, "u16": U32, "s16": U32, "u8": U32, "s8": U32, "b8": U32, "f16": U32, "bf16": U32, "f16x2": U32,
    "bf16x2": U32, "tf32": U32,
    "f32x2": U64, "u16x2": U32, "s16x2": U32,
}  # fmt: skip

TRASH = 255
TRASH_P2 = 254  # second scratch row of the P file, for instructions that write two predicates
POOL = 256
# as a destination: TRASH_P2. No encoded destination is negated, so P126 itself stays a register
SCRATCH_P2 = NEGATED | 126


class Ref(NamedTuple):
    """Row `index` of the list of `kind`."""

    kind: int
    index: int


class Pool:
    """The constants of one program, by register file. `rows` makes the 0-d arrays of one launch."""

    def __init__(self):
        self.entries: tuple[list, list, list] = ([], [], [])
        self.index: dict[tuple, int] = {}
        self.value(PRED, 0)
        self.value(PRED, 1)

    def _intern(self, file: int, entry: tuple[str, int]) -> int:
        key = (file, *entry)
        if key not in self.index:
            self.index[key] = POOL + len(self.entries[file])
            self.entries[file].append(entry)
        return self.index[key]

    def value(self, kind: int, bits: int) -> Ref:
        return Ref(kind, self._intern(FILE_OF_KIND[kind], ("bits", bits)))

    def param(self, kind: int, offset: int) -> Ref:
        return Ref(kind, self._intern(FILE_OF_KIND[kind], ("param", offset)))

    def rows(self, params: bytes) -> tuple[list, ...]:
        """Returns one list of 0-d arrays per kind. The pool belongs to the complete module: parameters that only
        another kernel has are zero.
        """
        lists = []
        for kind in range(N_KINDS):
            file = FILE_OF_KIND[kind]
            base = np.dtype((np.uint32, np.uint64, np.bool_)[file])
            row = []
            for how, number in self.entries[file]:
                if how == "param":
                    raw = params[number : number + base.itemsize]
                    number = int.from_bytes(raw, "little")
                row.append(np.array(number, dtype=base).view(DTYPES[kind]))
            lists.append(row)
        return tuple(lists)


def code_of(operand: Operand) -> list[int]:
    """The registers of an operand, each numbered file * 256 + index."""
    base = FILES.index(operand.file) * 256
    return [base + operand.index + k for k in range(operand.count)]


def immediate_bits(inst: Instruction, kind: int) -> int:
    """The bits of `imm` in a source of this kind."""
    if kind in (U64, S64):
        return inst.offset & 0xFFFFFFFFFFFFFFFF
    return inst.imm << 32 if kind == F64 else inst.imm


def source(inst: Instruction, slot: str, kind: int, pool: Pool) -> Ref:
    """The place of source `slot`, read as `kind` (not for predicates)."""
    if inst.imm_slot == slot:
        return pool.param(kind, inst.imm) if inst.reads_constant_bank else pool.value(kind, immediate_bits(inst, kind))
    index = getattr(inst, slot)
    return pool.value(kind, 0) if index == RZ else Ref(kind, index)


def destination(inst: Instruction, kind: int, slot: str = "dst") -> Ref:
    index = getattr(inst, slot)
    if kind == PRED:
        return Ref(PRED, TRASH if index & PT == PT else TRASH_P2 if index == SCRATCH_P2 else index & PT)
    return Ref(kind, index)  # RZ is TRASH


def predicate(number: int, pool: Pool) -> tuple[Ref, bool]:
    """The place of an encoded predicate source and whether it is to be negated; PT becomes the constant it means."""
    negated = bool(number & NEGATED)
    if number & PT == PT:
        return pool.value(PRED, 0 if negated else 1), False
    return Ref(PRED, number & PT), negated
