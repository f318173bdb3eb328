"""Definitions and uses of virtual registers, which the optimisation passes look up, and results without a use."""

from collections import Counter
from collections.abc import Container

from gpuprof.assemble.ir.body import READ_SLOTS, Body, Inst, Operand
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import REDUCTION_OF, TABLE

_EFFECT_OF_ROW = [KINDS[row.kind].has_effect for row in TABLE]
_ATOMICS = [row.kind == "atomic" for row in TABLE]
_LOADS = [row.kind == "load" for row in TABLE]


def has_effect(inst: Inst) -> bool:
    """True if it must stay even when its result is never read."""
    number = inst.op.number
    return _EFFECT_OF_ROW[number] or (_LOADS[number] and bool(FIELDS["sem"].get(inst.mods)))


def single_definitions(body: Body) -> dict[int, Inst]:
    """The defining instruction of every register that is written exactly once, and always when it is reached. It is
    not the caller's to change.
    """
    if body.found is not None and "single" in body.found:
        return body.found["single"]
    makers: dict[int, Inst] = {}
    others: set[int] = set(body.fixed)
    for block in body.blocks:
        for inst in block.insts:
            is_sure = inst.guard is None or inst.fresh
            for register in inst.writes():
                if register in makers or not is_sure:
                    others.add(register)
                makers[register] = inst
    for register in others:
        makers.pop(register, None)
    if body.found is not None:
        body.found["single"] = makers
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
    """How often each register is read."""
    read: list[int] = []
    for block in body.blocks:
        for inst in block.insts:
            read += inst.reads()
    return Counter(read)


def uses_of(body: Body, registers: Container[int] | None = None) -> dict[int, list[Inst]]:
    """The instructions that read each register, or each of these."""
    users: dict[int, list[Inst]] = {}
    for block in body.blocks:
        for inst in block.insts:
            for register in inst.reads():
                if register in users:
                    users[register].append(inst)
                elif registers is None or register in registers:
                    users[register] = [inst]
    return users


def reads_any(inst: Inst, registers: Container[Operand]) -> bool:
    """True if it may read one of some registers; it may also only write it, or read it in a group."""
    return (
        inst.a in registers or inst.b in registers or inst.c in registers or inst.guard in registers
        or inst.e in registers or bool(inst.uses)
    )  # fmt: skip


def replace_reads(inst: Inst, new: dict[int, int]) -> None:
    """Renames the registers an instruction reads. Tuples keep theirs: each member belongs to one tuple only."""
    if not reads_any(inst, new):
        return
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
            number = inst.op.number
            # What has an effect stays, whatever becomes of its results; an atomic may lose them.
            if _EFFECT_OF_ROW[number] and not _ATOMICS[number]:
                kept.append(inst)
                continue
            wanted = False
            for register in inst.writes():
                if count.get(register):
                    wanted = True
                    break
            if not wanted and inst.dst is not None and _ATOMICS[number]:
                inst.dst = None
                inst.op = REDUCTION_OF.get(number, inst.op)
            if wanted or inst.defs or has_effect(inst):
                kept.append(inst)
            else:
                count.subtract(inst.reads())
        if len(kept) < len(block.insts):
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
