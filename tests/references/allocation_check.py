"""An independent check of register allocation, after regalloc2's: which virtual register does each physical one hold?

It walks the control flow graph with sets, knows nothing of live ranges, and finds every read that would get another
value. R and D registers share the words of one file: Dn is the words 2n and 2n + 1, so that a write to one ends what
the others held.
"""

from gpuprof.assemble.ir.body import Body, Inst
from gpuprof.assemble.registers.allocate import Allocation

Held = dict[tuple[str, int], frozenset[int]]


def check(body: Body, allocation: Allocation) -> list[str]:
    """What is wrong, in words; empty when every read finds its own value."""
    blocks = body.blocks
    entry: Held = {(body.files[r], n): frozenset([r]) for r, n in body.fixed.items()}
    incoming: list[Held | None] = [entry] + [None] * (len(blocks) - 1)
    todo = [0]
    while todo:
        index = todo.pop()
        held = dict(incoming[index])
        for inst in blocks[index].insts:
            _step(body, allocation, inst, held)
        for successor in blocks[index].successors:
            merged = held if incoming[successor] is None else _meet(incoming[successor], held)
            if merged != incoming[successor]:
                incoming[successor] = dict(merged)
                todo.append(successor)
    wrong = [
        f"v{register} is the stack pointer"
        for register, number in allocation.number.items()
        if (body.files[register], number) == ("R", 1)
    ]
    for index, block in enumerate(blocks):
        held = dict(incoming[index] or {})
        for inst in block.insts:
            wrong += _bad_reads(body, allocation, inst, held)
            _step(body, allocation, inst, held)
    return wrong


def _meet(a: Held, b: Held) -> Held:
    return {place: both for place in a.keys() & b.keys() if (both := a[place] & b[place])}


def _place(body: Body, allocation: Allocation, register: int) -> tuple[str, int]:
    return body.files[register], allocation.number[register]


def _sharing(place: tuple[str, int]) -> tuple[tuple[str, int], ...]:
    """The registers of the other file in the same words."""
    file, number = place
    return {"R": (("D", number // 2),), "D": (("R", 2 * number), ("R", 2 * number + 1)), "P": ()}[file]


def _bad_reads(body: Body, allocation: Allocation, inst: Inst, held: Held) -> list[str]:
    bad = []
    for slot in ("dst", "a", "b", "c", "e"):
        group = getattr(inst, slot)
        if isinstance(group, tuple) and any(r in allocation.number for r in group):
            numbers = [allocation.number.get(r) for r in group]
            base = next(n - i for i, n in enumerate(numbers) if n is not None)
            words = {"R": 1, "D": 2, "P": 1}[body.files[group[0]]]
            loose = inst.op.pipe == "tex" and slot == "dst"
            align = 1 if loose else min(1 << (len(group) * words - 1).bit_length(), 4)
            if base * words % align or any(n not in (None, base + i) for i, n in enumerate(numbers)):
                bad.append(f"line {inst.line}: {inst.op.name} {slot} in {numbers}")
    defined_somewhere = {r for other in body.instructions() for r in other.writes()} if inst.guard is None else ()
    for register in inst.reads():
        place = _place(body, allocation, register)
        if register not in held.get(place, ()) and register in defined_somewhere:
            bad.append(
                f"line {inst.line}: {inst.op.name} reads v{register} from {place}, which holds "
                f"{sorted(held.get(place, ()))}"
            )
    return bad


def _step(body: Body, allocation: Allocation, inst: Inst, held: Held):
    copied = held.get(_place(body, allocation, inst.a), frozenset()) if inst.is_copy else frozenset()
    if inst.clobbers:
        for place in list(held):
            file, number = place
            if number < {"R": inst.clobbers.words, "D": (inst.clobbers.words + 1) // 2, "P": inst.clobbers.p}[file]:
                del held[place]
    for register in inst.writes():
        if register not in allocation.number:
            continue
        place = _place(body, allocation, register)
        before = held.get(place, frozenset())
        for other in _sharing(place):
            held.pop(other, None)
        for other in [p for p, names in held.items() if register in names]:
            held[other] = held[other] - {register}
        if inst.is_copy and inst.guard is None:
            held[place] = copied | {register}
        elif inst.guard is not None and not inst.fresh:
            held[place] = frozenset([register]) if register in before or not before else frozenset([register]) & before
        else:
            held[place] = frozenset([register])
