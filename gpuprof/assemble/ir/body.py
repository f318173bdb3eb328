"""The assembler's inner form: rows of the instruction table over virtual registers, in basic blocks.

A virtual register is a number; its file ("R", "D" or "P") is in `Body.files`. An operand is such a number, None (reads
zero or true, discards what is written), or a tuple of numbers for consecutive registers. Passes change instructions in
place.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter, is_not
from typing import NamedTuple

from gpuprof.isa.kinds import CALLS, COLLECTIVE, kinds_of
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import TABLE, numbers
from gpuprof.isa.program import Location
from gpuprof.isa.row import Opcode

Operand = int | tuple[int, ...] | None
SOURCES = ("a", "b", "c", "e")


WORDS = {"R": 1, "D": 2, "P": 0}  # 32-bit registers that a value of a file takes


class Clobbers(NamedTuple):
    """The registers that a call may overwrite: the first 32-bit registers and the first predicates."""

    words: int
    p: int


@dataclass(slots=True)
class Inst:
    """One instruction. `negated` holds the letters of the slots whose predicate is negated ("g" is the guard)."""

    op: Opcode
    dst: Operand = None
    a: Operand = None
    b: Operand = None
    c: Operand = None
    e: Operand = None
    guard: int | None = None
    negated: str = ""
    slot: str = ""  # which source `imm` replaces
    const: bool = False  # imm is an offset into the parameter block
    imm: int = 0
    mods: int = 0
    target: str = ""  # label of a branch, symbol of a called function
    symbol: str = ""  # relocation: imm is added to this symbol's address
    outgoing: bool = False  # imm is an offset in the frame of the function about to be called
    fresh: bool = False  # guarded, but the old value of dst is never read: the write ends its live range all the same
    contracts: bool = False  # a product or sum of floats without a rounding of its own
    uses: tuple[int, ...] = ()  # call, return: registers read besides the slots
    defs: tuple[int, ...] = ()  # call: registers written besides the slots
    clobbers: Clobbers | None = None
    line: int = 0
    location: Location | None = None
    read: Sequence[int] = ()  # `reads()` and `writes()`, as `liveness.block_liveness` found them
    written: Sequence[int] = ()

    def reads(self) -> tuple[int, ...] | list[int]:
        """Virtual registers read, guard included; one that is read twice is there twice."""
        sources = _SOURCES[self.op.number]
        if sources is not None:
            values = sources(self)
            if self.guard is not None:
                values = (self.guard, *values)
            return tuple(filter(_is_there, values)) if None in values else values
        registers = []
        for value in _READ[self.op.number](self):
            if value.__class__ is int:
                registers.append(value)
            elif value is not None:
                registers += value
        return registers

    def writes(self) -> tuple[int, ...] | list[int]:
        if _WRITES_DST_ONLY[self.op.number]:
            value = self.dst
            return (value,) if value.__class__ is int else value or ()
        registers = []
        for value in _WRITTEN[self.op.number](self):
            if value.__class__ is int:
                registers.append(value)
            elif value is not None:
                registers += value
        return registers

    @property
    def kills(self) -> bool:
        """True if what it writes ends the old value's life (a guarded write may leave it)."""
        return self.guard is None or self.fresh

    @property
    def is_copy(self) -> bool:
        return self.op.number in COPIES and self.a is not None and not self.slot and not self.negated


COPIES = numbers("MOV", "MOV.64", "PMOV")
READ_SLOTS = [tuple(s for s in SOURCES if getattr(row, s) and not getattr(row, s).startswith(">")) for row in TABLE]
WRITE_SLOTS = [
    (("dst",) if row.dst else ()) + tuple(s for s in SOURCES if getattr(row, s).startswith(">")) for row in TABLE
]  # fmt: skip

# What an instruction reads and writes, fetched in one go: every pass needs it for every instruction.
_CONVENTION = CALLS | kinds_of("return")  # rows with `uses` and `defs`
_READ = [
    attrgetter("guard", *slots, *(["uses"] if row.kind in _CONVENTION or not slots else []))
    for row, slots in zip(TABLE, READ_SLOTS, strict=True)
]
# The same without the guard, as one tuple, of rows that read no groups.
_SOURCES = [
    None if row.kind in _CONVENTION or len(slots) < 2 or any(getattr(row, slot)[1:] for slot in slots)
    else attrgetter(*slots)
    for row, slots in zip(TABLE, READ_SLOTS, strict=True)
]  # fmt: skip
# Rows of which an operand may be a group of registers.
HAS_GROUPS = [any(spec.lstrip(">")[1:] for spec in (row.dst, row.a, row.b, row.c, row.e)) for row in TABLE]
_is_there = partial(is_not, None)
_WRITTEN = [attrgetter("defs", *slots) if slots else (lambda inst: (inst.defs,)) for slots in WRITE_SLOTS]
_WRITES_DST_ONLY = [
    slots == ("dst",) and row.kind not in _CONVENTION for row, slots in zip(TABLE, WRITE_SLOTS, strict=True)
]


def groups_of(inst: Inst) -> list[tuple[int, ...]]:
    """The neighbouring registers that an instruction reads or writes together."""
    if not HAS_GROUPS[inst.op.number]:
        return []
    operands = (getattr(inst, slot) for slot in (*READ_SLOTS[inst.op.number], *WRITE_SLOTS[inst.op.number]))
    return [operand for operand in operands if operand.__class__ is tuple]


def whole_groups(registers: set[int], insts: Iterable[Inst]) -> set[int]:
    """Takes those registers away that are in a group of which another one is not in the set; gives the set."""
    groups = [group for inst in insts for group in groups_of(inst)]
    size = None
    while len(registers) != size:
        size = len(registers)
        for group in groups:
            if not registers.issuperset(group):
                registers.difference_update(group)
    return registers


# Rows whose imm means something of its own, so that no source can be an immediate.
_IMM_TAKEN = numbers("MOVI.64", "FRAME", "FRAME.64")
_IMM_TAKEN_KINDS = COLLECTIVE | kinds_of(
    "special", "shuffle", "branch", "branch_indirect", "call", "call_indirect", "syscall", "stack_save",
    "stack_change", "copy_wait",
)  # fmt: skip


def _immediate_slots(row: Opcode) -> tuple[str, ...]:
    if row.space or row.kind in _IMM_TAKEN_KINDS or row.number in _IMM_TAKEN:
        return ()
    return tuple(slot for slot in ("a", "b", "c") if getattr(row, slot) in ("R", "D"))


_IMMEDIATE_SLOTS = [_immediate_slots(row) for row in TABLE]


def immediate_slots(op: Opcode) -> tuple[str, ...]:
    """The sources of a row that imm can replace."""
    return _IMMEDIATE_SLOTS[op.number]


def encode_immediate(op: Opcode, slot: str, bits: int) -> int | None:
    """imm for a source whose value is `bits` (unsigned, the width of its register), or None when it cannot be written
    so.
    """
    if getattr(op, slot) == "R":
        return bits & 0xFFFFFFFF
    if op.types and op.types[-1] == "f64":
        return bits >> 32 if bits & 0xFFFFFFFF == 0 else None
    return bits & 0xFFFFFFFF if (bits + (1 << 31)) & 0xFFFFFFFFFFFFFFFF < 1 << 32 else None


@dataclass(slots=True)
class Block:
    label: str
    insts: list[Inst] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    loop_depth: int = 0


@dataclass
class Body:
    """A function while it is assembled. `fixed` pins virtual registers to physical ones (calling convention)."""

    name: str
    is_kernel: bool
    free_registers: int  # of a thread, with which the SM holds all its warps
    files: list[str] = field(default_factory=list)
    fixed: dict[int, int] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    frame_nbytes: int = 0  # local memory of its own: parameters passed in memory, variables, spills
    spill_nbytes: int = 0
    raised_registers: int = 0  # the most that a setmaxnreg.inc asks for
    callees: set[str] = field(default_factory=set)
    indirect_calls: bool = False
    barriers: int = 0
    grows_stack: bool = False  # takes local memory while it runs
    rolled: set[str] = field(default_factory=set)  # labels of loops that stay as they are: `.pragma "nounroll"`
    keeps_loops: bool = False  # all of them do
    keeps_order: bool = False  # instructions stay as in the PTX, for a debugger
    literals: dict[int, int] = field(default_factory=dict)  # the program's, by value: offset in the constant bank
    constants_nbytes: int = 0  # of the program's variables in constant memory
    names: dict[str, int] = field(default_factory=dict)  # of the PTX's registers, those that the function declares
    copied: set[int] = field(default_factory=set)  # lines of the PTX in loops of which passes have made copies
    # What passes have found out, by its name, as long as it holds; None outside of `optimize.pipeline`.
    found: dict[str, dict] | None = None
    uniform: set[int] = field(default_factory=set)  # what uniform registers hold: `registers.uniform`

    def register(self, file: str) -> int:
        self.files.append(file)
        return len(self.files) - 1

    def instructions(self) -> Iterator[Inst]:
        for block in self.blocks:
            yield from block.insts

    @property
    def symbols(self) -> set[str]:
        """Functions and variables whose addresses it takes."""
        return {inst.symbol for inst in self.instructions() if inst.symbol}


def words_of(body: Body) -> list[int]:
    """The 32-bit registers of a thread that each virtual register takes."""
    return [0 if register in body.uniform else WORDS[file] for register, file in enumerate(body.files)]


# `mods` without the imm_slot and const fields, which the encoder sets from the instruction.
WITHOUT_OPERANDS = ~(FIELDS["imm_slot"].put(3) | FIELDS["const"].put(1))
