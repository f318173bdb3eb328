"""Groups of consecutive registers that several instructions read are made once: a fragment of A that meets four of
B.
"""

from collections import Counter

from gpuprof.assemble.ir.body import COPIES, HAS_GROUPS, READ_SLOTS, Block, Body, Inst


def share_groups(body: Body) -> None:
    """Shares groups in each block: a group of copies gives way to an earlier group made of copies of the same registers
    or constants, if those still hold the same values.
    """
    for block in body.blocks:
        if any(HAS_GROUPS[inst.op.number] and _groups(inst) for inst in block.insts):
            _share_in(block)


def _groups(inst: Inst) -> list[tuple[str, tuple[int, ...]]]:
    operands = [(slot, getattr(inst, slot)) for slot in READ_SLOTS[inst.op.number]]
    return [(slot, value) for slot, value in operands if value.__class__ is tuple]


def _share_in(block: Block) -> None:
    # A copy is the same as an earlier one only while its source has not been written again.
    version: Counter[int] = Counter()  # how often a register was written so far
    source: dict[int, tuple] = {}  # destination of a copy -> the value it copies
    # sources -> the first group of them, and its members' versions
    made: dict[tuple, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for inst in block.insts:
        for slot, group in _groups(inst):
            if not all(register in source for register in group):
                continue
            key = tuple(source[register] for register in group)
            first, versions = made.setdefault(key, (group, tuple(version[r] for r in group)))
            if first != group and versions == tuple(version[r] for r in first):
                setattr(inst, slot, first)
        for register in inst.writes():
            version[register] += 1
            source.pop(register, None)
        if inst.guard is None and inst.dst.__class__ is int and inst.op.number in COPIES:
            source[inst.dst] = _what_is_copied(inst, version)


def _what_is_copied(inst: Inst, version: Counter[int]) -> tuple:
    """The source of a copy: a register in its present version, or a constant."""
    if inst.a is None:
        return (inst.slot, inst.const, inst.imm, inst.outgoing)
    return (inst.a, version[inst.a], inst.negated)
