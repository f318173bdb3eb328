"""Definitions and uses of virtual registers: what the optimisation passes look things up in."""

from collections import Counter

from gpuprof.assemble.ir import READ_SLOTS, Body, Inst
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME

# Instructions without a result anybody reads that must stay.
_EFFECTS = frozenset(
    ["exit", "branch", "branch_indirect", "call", "call_indirect", "return", "syscall", "trap", "breakpoint", "nanosleep", "bar_sync",
     "bar_arrive", "bar_red", "warpsync", "membar", "store", "store_matrix", "nop", "copy_async", "copy_commit", "copy_wait", "alloca", "stack_restore",
     "surface_store", "surface_put"]
)  # fmt: skip


def has_effect(inst: Inst) -> bool:
    semantics = inst.op.semantics
    return semantics in _EFFECTS or semantics.startswith(("atom_", "red_", "mbar_", "cluster_", "bulk_")) or _ordered_load(inst)


def _ordered_load(inst: Inst) -> bool:
    return inst.op.semantics == "load" and bool(FIELDS["sem"].get(inst.mods))


def single_definitions(body: Body) -> dict[int, Inst]:
    """The defining instruction of every register that is written exactly once, and always when it is reached."""
    count: Counter[int] = Counter()
    found: dict[int, Inst] = {}
    for inst in body.instructions():
        for register in inst.writes():
            count[register] += 1
            found[register] = inst
    return {r: i for r, i in found.items() if count[r] == 1 and i.kills and r not in body.fixed}


def use_counts(body: Body) -> Counter[int]:
    count: Counter[int] = Counter()
    for inst in body.instructions():
        count.update(inst.reads())
    return count


def uses_of(body: Body) -> dict[int, list[Inst]]:
    users: dict[int, list[Inst]] = {}
    for inst in body.instructions():
        for register in inst.reads():
            users.setdefault(register, []).append(inst)
    return users


def replace_reads(inst: Inst, new: dict[int, int]) -> None:
    """Renames the registers an instruction reads. Tuples keep theirs: each member belongs to one tuple only."""
    if inst.guard in new:
        inst.guard = new[inst.guard]
    for slot in READ_SLOTS[inst.op.number]:
        value = getattr(inst, slot)
        if value.__class__ is int and value in new:
            setattr(inst, slot, new[value])
    if inst.uses:
        inst.uses = tuple(new.get(r, r) for r in inst.uses)


def remove_dead(body: Body) -> None:
    """Deletes instructions whose results nobody reads; an atomic whose old value nobody wants becomes a reduction."""
    count = use_counts(body)
    for block in reversed(body.blocks):
        kept = []
        for inst in reversed(block.insts):
            if inst.op.semantics.startswith("atom_") and inst.dst is not None and not any(count[r] for r in inst.writes()):
                reduction = BY_NAME.get("RED" + inst.op.name.removeprefix("ATOM"))
                inst.dst = None
                inst.op = reduction or inst.op
            if has_effect(inst) or inst.defs or any(count[r] for r in inst.writes()):
                kept.append(inst)
            else:
                count.subtract(inst.reads())
        block.insts = kept[::-1]
