"""Groups of consecutive registers that several instructions read are made once: a fragment of A that meets four of B."""

from collections import Counter

from gpuprof.assemble.ir import READ_SLOTS, Block, Body, Inst


def share_groups(body: Body) -> None:
    """In a block, a group made of copies of the same registers as an earlier one, which still hold the same, gives way to that one."""
    for block in body.blocks:
        if any(_groups(inst) for inst in block.insts):
            _share_in(block)


def _groups(inst: Inst) -> list[tuple[str, tuple[int, ...]]]:
    found = [(slot, getattr(inst, slot)) for slot in READ_SLOTS[inst.op.number]]
    return [(slot, value) for slot, value in found if value.__class__ is tuple]


def _share_in(block: Block) -> None:
    version: Counter[int] = Counter()  # how often a register was written so far
    source: dict[int, tuple[int, int]] = {}  # of a copy: what it copies, in which version
    made: dict[tuple, tuple[tuple[int, ...], tuple[int, ...]]] = {}  # sources -> the first group of them, and its members' versions
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
        if inst.is_copy and inst.guard is None and inst.dst is not None:
            source[inst.dst] = (inst.a, version[inst.a])
