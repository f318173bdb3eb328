"""Short forward branches become guards: `@p bra over; x; over:` is `@!p x`."""

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


def convert_branches(body: Body) -> None:
    index = 0
    while index + 2 < len(body.blocks):
        if _convertible(body, index):
            _convert(body, index)
        else:
            index += 1


def _convertible(body: Body, index: int) -> bool:
    head, short, after = body.blocks[index : index + 3]
    last = head.insts[-1] if head.insts else None
    if last is None or last.op.name != "BRA" or last.guard is None or not after.label or last.target != after.label:
        return False
    if short.predecessors != [index] or short.successors != [index + 2]:
        return False
    insts = _without_branch(short)
    return len(insts) <= _LONGEST_BODY and all(_can_guard(inst, last.guard) for inst in insts)


def _without_branch(block: Block) -> list[Inst]:
    return block.insts[:-1] if block.insts and block.insts[-1].op.name == "BRA" else block.insts


def _can_guard(inst: Inst, predicate: int) -> bool:
    return (
        inst.guard is None and predicate not in inst.writes() and not inst.op.semantics.startswith(_NOT_GUARDED) and inst.op.pipe != "cbu"
    )


def _convert(body: Body, index: int):
    head, short = body.blocks[index : index + 2]
    branch = head.insts.pop()
    negated = "" if "g" in branch.negated else "g"
    live_after = block_liveness(body)[0][index + 2]
    for inst in _without_branch(short):
        lives_on = any(live_after >> register & 1 for register in inst.writes())
        if lives_on or has_effect(inst) or inst.op.space:
            inst.guard = branch.guard
            inst.negated += negated
            inst.fresh = not lives_on
        head.insts.append(inst)
    del body.blocks[index + 1]
    if len(body.blocks[index + 1].predecessors) <= 2 and not _targeted(body, index + 1):
        following = body.blocks.pop(index + 1)
        head.insts += following.insts
    cfg.connect(body)


def _targeted(body: Body, index: int) -> bool:
    label = body.blocks[index].label
    return any(inst.op.name == "BRA" and inst.target == label for block in body.blocks for inst in block.insts[-1:])
