"""Definitions and uses of virtual registers, which the optimisation passes look up, and results without a use."""

from collections import Counter

from gpuprof.assemble.ir.body import READ_SLOTS, Body, Inst
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import REDUCTION_OF, TABLE

_EFFECT_OF_ROW = [KINDS[row.kind].has_effect for row in TABLE]
_LOADS = [row.kind == "load" for row in TABLE]


def has_effect(inst: Inst) -> bool:
    """True if it must stay even when its result is never read."""
    number = inst.op.number
    return _EFFECT_OF_ROW[number] or (_LOADS[number] and bool(FIELDS["sem"].get(inst.mods)))


def single_definitions(body: Body) -> dict[int, Inst]:
    """The defining instruction of every register that is written exactly once, and always when it is reached."""
    makers: dict[int, Inst] = {}
    others: set[int] = set(body.fixed)
    for block in body.blocks:
        for inst in block.insts:
            for register in inst.writes():
                if register in makers or not (inst.guard is None or inst.fresh):
                    others.add(register)
                makers[register] = inst
    for register in others:
        makers.pop(register, None)
    return makers


def definitions(body: Body) -> dict[int, list[Inst]]:
    """The instructions that write each register, but for those that the calling convention fills."""
    makers: dict[int, list[Inst]] = {}
    for inst in body.instructions():
        for register in inst.writes():
            if register not in body.fixed:
                makers.setdefault(register, []).append(inst)
    return makers


def use_counts(body: Body) -> Counter[int]:
    read: list[int] = []
    for block in body.blocks:
        for inst in block.insts:
            read += inst.reads()
    return Counter(read)


def uses_of(body: Body) -> dict[int, list[Inst]]:
    users: dict[int, list[Inst]] = {}
    for inst in body.instructions():
        for register in inst.reads():
            if register in users:
                users[register].append(inst)
            else:
                users[register] = [inst]
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
    """Deletes instructions whose results are never read; an atomic whose old value is not used becomes a reduction."""
    count = use_counts(body)
    for block in reversed(body.blocks):
        kept = []
        for inst in reversed(block.insts):
            wanted = False
            for register in inst.writes():
                if count[register]:
                    wanted = True
                    break
            if not wanted and inst.dst is not None and inst.op.kind == "atomic":
                inst.dst = None
                inst.op = REDUCTION_OF.get(inst.op.number, inst.op)
            if wanted or inst.defs or has_effect(inst):
                kept.append(inst)
            else:
                count.subtract(inst.reads())
        block.insts = kept[::-1]


def narrow_fetches(body: Body) -> None:
    """Fetches write only the channels that are read: of `{%f1, %f2, %f3, %f4}` mostly the first. Takes the channels at
    the end of a group of four away that no instruction of the body reads, as the real assembler's write mask does.
    A register that is written and not read would still have to be waited for by its next writer.
    """
    fetches = [
        inst
        for block in body.blocks
        for inst in block.insts
        if "channels" in inst.op.fields and inst.dst.__class__ is tuple
    ]
    if not fetches:
        return
    read = {register for block in body.blocks for inst in block.insts for register in inst.reads()}
    for inst in fetches:
        # One channel stays even if it is never read: a mask of 0 stands for all four (isa.modifiers).
        wanted = max((n for n, register in enumerate(inst.dst, 1) if register in read), default=1)
        if wanted < len(inst.dst):
            inst.dst = inst.dst[:wanted]
            inst.mods |= FIELDS["channels"].put(wanted)
