"""Short branches become guards: `@p bra over; x; over:` is `@!p x`, and so is `@p bra back; x; bra back`, with one `bra
back` for both.
"""

from collections import Counter

from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import has_effect
from gpuprof.assemble.ir.liveness import block_liveness
from gpuprof.isa.kinds import BETWEEN_LANES, BLOCK_BARRIERS, CALLS, kinds_of

# ptxas 13.0 (sm_80) predicates bodies of up to about this many instructions.
_LONGEST_BODY = 7
# Where lanes wait for others, those that a guard leaves out would be missing.
_NOT_GUARDED = (
    BETWEEN_LANES
    | BLOCK_BARRIERS
    | CALLS
    | kinds_of("syscall", "sleep", "fence", "warp_sync", "cluster_barrier", "mbarrier", "mbarrier_wait")
)


def guard_exits(body: Body) -> None:
    """A branch to a block that only leaves the function leaves at once."""
    leaving = {
        b.label: b.insts[0]
        for b in body.blocks
        if b.label and len(b.insts) == 1 and b.insts[0].op.kind == "exit" and b.insts[0].guard is None
    }
    for block in body.blocks:
        last = block.insts[-1] if block.insts else None
        if last is not None and last.op.kind == "branch" and last.target in leaving:
            exit_inst = leaving[last.target]
            block.insts[-1] = Inst(
                exit_inst.op, guard=last.guard, negated=last.negated, line=last.line, location=last.location
            )
    cfg.connect(body)


def convert_branches(body: Body, longest: dict[str, int] | None = None) -> None:
    """Turns short branches into guards, in one sweep: guarding a body does not change the registers that are live at
    its end, so liveness is found once.

    `longest`: by the label after a body, how many instructions it may have; the others have the usual bound.
    """
    longest = longest or {}
    blocks = body.blocks
    liveness = block_liveness(body)
    live_in = dict(zip(map(id, blocks), liveness.live_in, strict=True))
    bit_of = {register: 1 << bit for bit, register in enumerate(liveness.registers)}
    targeted = Counter(
        block.insts[-1].target for block in blocks if block.insts and block.insts[-1].op.kind == "branch"
    )
    by_label = {block.label: block for block in blocks if block.label}
    result: list[Block] = []
    index = 0
    while index < len(blocks):
        head = blocks[index]
        index += 1
        while index < len(blocks) and (after := _goes_to(head, by_label)):
            short, behind = blocks[index], blocks[index + 1] if index + 1 < len(blocks) else None
            if not _convertible(head, short, after, behind is after, targeted, longest):
                break
            index += 1
            both = short.insts[-1:]
            live_after = live_in[id(after)]
            _convert(head, short, after, targeted, lambda register, live=live_after: live & bit_of.get(register, 0))
            if behind is not after:
                head.insts += both
                targeted[after.label] += 1
                break
            if targeted[after.label]:
                break
            head.insts += after.insts
            index += 1
        result.append(head)
    if len(result) < len(blocks):
        body.blocks = result
        cfg.connect(body)


def _goes_to(head: Block, by_label: dict[str, Block]) -> Block | None:
    last = head.insts[-1] if head.insts else None
    return by_label[last.target] if last is not None and last.op.kind == "branch" and last.guard is not None else None


def _convertible(
    head: Block, short: Block, after: Block, falls_into: bool, targeted: Counter, longest: dict[str, int]
) -> bool:
    """True if `short`, after the branch of `head` to `after`, goes there too and has no other entry. `falls_into`:
    it is before `after`.
    """
    if short.label and targeted[short.label]:
        return False
    end = short.insts[-1] if short.insts else None
    jumps = end is not None and end.op.kind in cfg.JUMPS
    if jumps and (end.op.kind != "branch" or end.target != after.label):
        return False
    if not falls_into and (not jumps or end.guard is not None):
        return False
    insts = _without_branch(short)
    guard = head.insts[-1].guard
    return len(insts) <= longest.get(after.label, _LONGEST_BODY) and all(_can_guard(inst, guard) for inst in insts)


def _without_branch(block: Block) -> list[Inst]:
    return block.insts[:-1] if block.insts and block.insts[-1].op.kind == "branch" else block.insts


def _can_guard(inst: Inst, predicate: int) -> bool:
    # A guard holds for a whole body, so no instruction in it may write the predicate.
    return (
        inst.guard is None
        and predicate not in inst.writes()
        and inst.op.kind not in _NOT_GUARDED
        and inst.op.pipe != "cbu"
    )


def _convert(head: Block, short: Block, after: Block, targeted: Counter, is_live_after) -> None:
    branch = head.insts.pop()
    insts = _without_branch(short)
    targeted[after.label] -= 1 + (len(insts) < len(short.insts))
    negated = "" if "g" in branch.negated else "g"
    for inst in insts:
        lives_on = any(is_live_after(register) for register in inst.writes())
        # A result that dies in the body needs no guard: all lanes may compute it. An access to memory does, since the
        # address may be invalid in the other lanes.
        if lives_on or has_effect(inst) or inst.op.space:
            inst.guard = branch.guard
            inst.negated += negated
            inst.fresh = not lives_on
        head.insts.append(inst)
