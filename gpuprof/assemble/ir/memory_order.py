"""Which memory instructions may not change places."""

from gpuprof.assemble.ir.body import Inst
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.special import SPECIAL_INDEX

_CLOCKS = frozenset(
    SPECIAL_INDEX[name] for name in ("clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi")
)
_FENCES = frozenset(
    ["bar_sync", "bar_arrive", "bar_red", "warpsync", "membar", "syscall", "call", "call_indirect", "nanosleep", "trap",
        "breakpoint",
     "exit", "return", "branch", "branch_indirect", "copy_commit", "copy_wait", "alloca", "stack_save", "stack_restore",
     "mma_group", "group_commit",
     "group_wait"]
)  # fmt: skip
_ALIASES = {
    "generic": ("generic", "global", "shared", "local"), "global": ("generic", "global"),
    "shared": ("generic", "shared"),
    "local": ("generic", "local"), "const": (), "param": (), "surface": ("surface",),
}  # fmt: skip
_STORES = frozenset(["store", "copy_async", "surface_store", "surface_put", "store_matrix"])
_OF_OTHER_LANES = ("load_matrix", "store_matrix")  # a lane has what is at another's address
_NC = FIELDS["cache"].names.index("nc")


def is_fence(inst: Inst) -> bool:
    """Nothing that touches memory moves over it."""
    if (
        inst.op.semantics in _FENCES
        or inst.op.semantics.startswith(("mbar_", "cluster_", "bulk_"))
        or reads_clock(inst)
    ):
        return True
    return inst.op.semantics in ("load", "store") and bool(FIELDS["sem"].get(inst.mods))


def reads_clock(inst: Inst) -> bool:
    """What stands between two of them is what they measure."""
    return inst.op.name.startswith("S2R") and inst.imm in _CLOCKS


def is_write(inst: Inst) -> bool:
    return inst.op.semantics in _STORES or inst.op.semantics.startswith(("atom_", "red_"))


def is_access(inst: Inst) -> bool:
    return inst.op.space in _ALIASES


def is_read_only(inst: Inst) -> bool:
    """A load that no store of the kernel can change."""
    return inst.op.space in ("const", "param") or (
        inst.op.semantics == "load" and FIELDS["cache"].get(inst.mods) == _NC
    )


def conflict(first: Inst, second: Inst) -> bool:
    """Whether two accesses, at least one of them a write, may touch the same bytes."""
    copies = (first.op.semantics == "copy_async") + (second.op.semantics == "copy_async")
    if copies:
        other = second if first.op.semantics == "copy_async" else first
        if copies == 2 or other.op.space in ("shared", "generic"):  # it writes shared memory, wherever
            return True
        if not is_write(other):
            return False
    if second.op.space not in _ALIASES[first.op.space]:
        return False
    if not {first.op.semantics, second.op.semantics}.isdisjoint(_OF_OTHER_LANES):
        return True
    same_base = first.op.space == second.op.space and first.a == second.a and not first.outgoing and not second.outgoing
    if not same_base:
        return True
    start, other = ((inst.imm ^ 0x80000000) - 0x80000000 for inst in (first, second))
    return start < other + second.op.nbytes and other < start + first.op.nbytes
