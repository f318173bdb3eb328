"""The memory instructions that may not change places."""

from gpuprof.assemble.ir.body import Inst
from gpuprof.isa.kinds import ATOMICS, KINDS, kinds_of
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.special import SPECIAL_INDEX

_CLOCKS = frozenset(
    SPECIAL_INDEX[name] for name in ("clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi")
)
_ALIASES = {
    "generic": ("generic", "global", "shared", "local"), "global": ("generic", "global"),
    "shared": ("generic", "shared"),
    "local": ("generic", "local"), "const": (), "param": (), "surface": ("surface",),
}  # fmt: skip
_WRITES = ATOMICS | kinds_of("store", "copy", "surface_store", "matrix_store")
_OF_OTHER_LANES = kinds_of("matrix_load", "matrix_store")  # a lane has what is at another's address
# Rows that may be a fence or an access, by number.
MAY_TOUCH_MEMORY = [
    KINDS[row.kind].is_fence or row.kind in ("special", "load", "store") or row.space in _ALIASES for row in TABLE
]
_NC = FIELDS["cache"].names.index("nc")


def is_fence(inst: Inst) -> bool:
    """Nothing that touches memory moves over it."""
    if KINDS[inst.op.kind].is_fence or reads_clock(inst):
        return True
    return inst.op.kind in ("load", "store") and bool(FIELDS["sem"].get(inst.mods))


def reads_clock(inst: Inst) -> bool:
    """True if an instruction reads a clock. Two readings measure the instructions between them, which must not move
    past either.
    """
    return inst.op.kind == "special" and inst.imm in _CLOCKS


def is_write(inst: Inst) -> bool:
    return inst.op.kind in _WRITES


def is_access(inst: Inst) -> bool:
    return inst.op.space in _ALIASES


def is_read_only(inst: Inst) -> bool:
    """A load that no store of the kernel can change."""
    return inst.op.space in ("const", "param") or (inst.op.kind == "load" and FIELDS["cache"].get(inst.mods) == _NC)


def conflict(first: Inst, second: Inst) -> bool:
    """True if two accesses, at least one of them a write, may touch the same bytes."""
    copies = (first.op.kind == "copy") + (second.op.kind == "copy")
    if copies:
        other = second if first.op.kind == "copy" else first
        if copies == 2 or other.op.space in ("shared", "generic"):  # it writes shared memory, wherever
            return True
        if not is_write(other):
            return False
    if second.op.space not in _ALIASES[first.op.space]:
        return False
    if not {first.op.kind, second.op.kind}.isdisjoint(_OF_OTHER_LANES):
        return True
    same_base = first.op.space == second.op.space and first.a == second.a and not first.outgoing and not second.outgoing
    if not same_base:
        return True
    start, other = ((inst.imm ^ 0x80000000) - 0x80000000 for inst in (first, second))
    return start < other + second.op.nbytes and other < start + first.op.nbytes
