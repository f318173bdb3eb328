"""Two branches in a row to one place become one: `@p bra over; x; @q bra over` is `x; q = q or p; @q bra over`.

ptxas 13.0 does so if the code between the two is short, does nothing but compute, and leaves nothing that is read after
the branch. It does not join three, nor the exits of a loop (sm_80, found with conditions of 0 to 16 products).
"""

from collections import Counter

from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.liveness import block_liveness
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.opcodes import BY_NAME

_LONGEST = 5  # instructions before the second branch, its comparison among them
_POR = BY_NAME["POR"]
_BOOL = FIELDS["bool"]
_OR, _AND = (_BOOL.put(_BOOL.value(name)) for name in ("or", "and"))


def join_conditions(body: Body) -> None:
    blocks = body.blocks
    liveness = block_liveness(body)
    place = {block.label: index for index, block in enumerate(blocks) if block.label}
    branches = [(index, branch.target) for index, block in enumerate(blocks) if (branch := _branch_of(block))]
    targeted = Counter(target for _, target in branches)
    backward = [(index, place[target]) for index, target in branches if place[target] <= index]
    result: list[Block] = []
    index = 0
    while index < len(blocks):
        head, index = blocks[index], index + 1
        result.append(head)
        after = _both_go_to(head, blocks[index], place) if index < len(blocks) else None
        if after is None or targeted[blocks[index].label] or _leaves_loop(index, after, backward):
            continue
        if _can_join(head, blocks[index], set(liveness.members(liveness.live_in[after]))):
            _join(body, head, blocks[index])
            index += 1
    if len(result) < len(blocks):
        body.blocks = result
        cfg.connect(body)


def _branch_of(block: Block) -> Inst | None:
    """The branch at a block's end, if there is one."""
    last = block.insts[-1] if block.insts else None
    return last if last is not None and last.op.kind == "branch" else None


def _both_go_to(head: Block, second: Block, place: dict[str, int]) -> int | None:
    """The block that conditional branches of both go to."""
    one, other = _branch_of(head), _branch_of(second)
    if one is None or other is None or one.guard is None or other.guard is None or one.target != other.target:
        return None
    return place[one.target]


def _leaves_loop(second: int, after: int, backward: list[tuple[int, int]]) -> bool:
    """True if the code between `second` and the block that it jumps to goes back to where it came from; also for a jump
    backwards. `backward`: the blocks that jump back, and where to.
    """
    return after <= second or any(second <= index < after and target < second for index, target in backward)


def _can_join(head: Block, second: Block, live_after: set[int]) -> bool:
    """`live_after`: registers that are live where both branches go."""
    *insts, _ = second.insts
    guard = head.insts[-1].guard
    return len(insts) <= _LONGEST and all(
        inst.op.kind == "compute"
        and not inst.op.space
        and inst.guard is None
        and guard not in inst.writes()
        and live_after.isdisjoint(inst.writes())
        for inst in insts
    )


def _join(body: Body, head: Block, second: Block) -> None:
    """Both blocks are `head` now, and its branch is taken if one of the two is."""
    first, last = head.insts.pop(), second.insts[-1]
    head.insts += second.insts[:-1]
    maker = head.insts[-1] if second.insts[:-1] else None
    if maker is not None and maker.dst == last.guard and _has_place(maker):
        is_or = "g" not in last.negated
        maker.e, maker.mods = first.guard, maker.mods | (_OR if is_or else _AND)
        maker.negated += "e" if ("g" in first.negated) == is_or else ""
    else:
        negated = "".join(slot for slot, branch in (("a", first), ("b", last)) if "g" in branch.negated)
        either = Inst(_POR, dst=body.register("P"), a=first.guard, b=last.guard, negated=negated, line=last.line)
        either.location = last.location
        head.insts.append(either)
        last.guard, last.negated = either.dst, ""
    head.insts.append(last)


def _has_place(maker: Inst) -> bool:
    """True for a comparison that can take another predicate."""
    return maker.op.e == "P" and maker.e is None and maker.c is None and "bool" in maker.op.fields
