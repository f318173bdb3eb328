"""Short forward branches become guards: `@p bra over; x; over:` is `@!p x`."""

from collections import Counter

from gpuprof.assemble import cfg
from gpuprof.assemble.defs import has_effect
from gpuprof.assemble.ir import Block, Body, Inst
from gpuprof.assemble.liveness import block_liveness

# ptxas 13.0 (sm_80) predicates bodies of up to about this many instructions.
_LONGEST_BODY = 7
_NOT_GUARDED = ("bar_", "warpsync", "shuffle", "vote_", "match_", "redux_", "call", "syscall", "elect", "activemask", "nanosleep", "membar",
               "mbar_", "cluster_", "mma", "load_matrix", "store_matrix", "transpose_matrix")  # fmt: skip


def guard_exits(body: Body) -> None:
    """A branch to a block that only leaves the function leaves at once."""
    leaving = {
        b.label: b.insts[0]
        for b in body.blocks
        if b.label and len(b.insts) == 1 and b.insts[0].op.name == "EXIT" and b.insts[0].guard is None
    }
    for block in body.blocks:
        last = block.insts[-1] if block.insts else None
        if last is not None and last.op.name == "BRA" and last.target in leaving:
            exit_inst = leaving[last.target]
            block.insts[-1] = Inst(exit_inst.op, guard=last.guard, negated=last.negated, line=last.line, location=last.location)
    cfg.connect(body)


def convert_branches(body: Body, longest: dict[str, int] | None = None) -> None:
    """In one sweep: what is live where a body ends stays as it is when the body is guarded, so liveness is found once.

    `longest`: by the label behind a body, how many instructions it may have; the others have the usual bound.
    """
    longest = longest or {}
    blocks = body.blocks
    liveness = block_liveness(body)
    live_in = dict(zip(map(id, blocks), liveness.live_in, strict=True))
    bit_of = {register: 1 << bit for bit, register in enumerate(liveness.registers)}
    targeted = Counter(block.insts[-1].target for block in blocks if block.insts and block.insts[-1].op.name == "BRA")
    result: list[Block] = []
    index = 0
    while index < len(blocks):
        head = blocks[index]
        index += 1
        while index + 1 < len(blocks) and _convertible(head, blocks[index], blocks[index + 1], targeted, longest):
            short, after = blocks[index : index + 2]
            index += 1
            live_after = live_in[id(after)]
            _convert(head, short, after, targeted, lambda register, live=live_after: live & bit_of.get(register, 0))
            if targeted[after.label]:
                break
            head.insts += after.insts
            index += 1
        result.append(head)
    if len(result) < len(blocks):
        body.blocks = result
        cfg.connect(body)


def _convertible(head: Block, short: Block, after: Block, targeted: Counter, longest: dict[str, int]) -> bool:
    """Whether `head` jumps over `short`, which nobody else enters, to `after`, where `short` goes too."""
    last = head.insts[-1] if head.insts else None
    if last is None or last.op.name != "BRA" or last.guard is None or not after.label or last.target != after.label:
        return False
    if short.label and targeted[short.label]:
        return False
    end = short.insts[-1] if short.insts else None
    if end is not None and end.op.name in cfg.JUMPS and (end.op.name != "BRA" or end.target != after.label):
        return False
    insts = _without_branch(short)
    return len(insts) <= longest.get(after.label, _LONGEST_BODY) and all(_can_guard(inst, last.guard) for inst in insts)


def _without_branch(block: Block) -> list[Inst]:
    return block.insts[:-1] if block.insts and block.insts[-1].op.name == "BRA" else block.insts


def _can_guard(inst: Inst, predicate: int) -> bool:
    return (
        inst.guard is None and predicate not in inst.writes() and not inst.op.semantics.startswith(_NOT_GUARDED) and inst.op.pipe != "cbu"
    )


def _convert(head: Block, short: Block, after: Block, targeted: Counter, is_live_after) -> None:
    branch = head.insts.pop()
    insts = _without_branch(short)
    targeted[after.label] -= 1 + (len(insts) < len(short.insts))
    negated = "" if "g" in branch.negated else "g"
    for inst in insts:
        lives_on = any(is_live_after(register) for register in inst.writes())
        if lives_on or has_effect(inst) or inst.op.space:
            inst.guard = branch.guard
            inst.negated += negated
            inst.fresh = not lives_on
        head.insts.append(inst)
