"""Moves that only one way out of a block needs are done there: `mov r, n; @p bra LOOP` leaves the loop's turns without
the move.
"""

from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.liveness import block_liveness
from gpuprof.isa.opcodes import numbers

_MOVES = numbers("MOV", "MOV.64")


def sink_moves(body: Body) -> None:
    """Moves a `mov` whose result is not live at a branch's target after the branch, unless that place is deeper in a
    loop.
    """
    blocks = body.blocks
    if not any(inst.op.number in _MOVES for inst in blocks_with_branches(blocks)):
        return
    liveness = block_liveness(body)
    bit_of = {register: 1 << bit for bit, register in enumerate(liveness.registers)}
    index_of = {block.label: index for index, block in enumerate(blocks) if block.label}
    live_in = liveness.live_in
    result: list[Block] = []
    for index, block in enumerate(blocks):
        result.append(block)
        last = block.insts[-1] if block.insts else None
        if last is None or last.op.kind != "branch" or last.guard is None or index + 1 == len(blocks):
            continue
        after = blocks[index + 1]
        target = index_of[last.target]
        if target == index + 1 or after.loop_depth > block.loop_depth:
            continue
        moved = _take_out(
            block,
            body.fixed,
            lambda r, t=target, a=index + 1: not live_in[t] & bit_of.get(r, 0) and live_in[a] & bit_of.get(r, 0),
        )
        # With other ways into the next block, the moves get a block of their own, past which those ways lead.
        if moved and len(after.predecessors) == 1:
            after.insts = moved + after.insts
        elif moved:
            result.append(Block("", moved, loop_depth=after.loop_depth))
    if len(result) > len(blocks):
        body.blocks = result
        cfg.connect(body)


def blocks_with_branches(blocks: list[Block]):
    """The instructions of blocks that end in a conditional branch."""
    for block in blocks:
        if block.insts and block.insts[-1].op.kind == "branch" and block.insts[-1].guard is not None:
            yield from block.insts


def _take_out(block: Block, fixed: dict[int, int], is_wanted) -> list[Inst]:
    """Removes the moves at the end of a block that `is_wanted` (register) and that nothing after them in the block
    touches. What a call leaves in a fixed register is fetched right after it: the next call leaves something else.
    """
    read: set[int] = set()
    written: set[int] = set()
    kept, moved = [], []
    for inst in reversed(block.insts):
        if (
            inst.op.number in _MOVES and inst.guard is None and inst.dst.__class__ is int and is_wanted(inst.dst)
            and inst.dst not in read and inst.dst not in written
            and (inst.a is None or (inst.a not in written and inst.a not in fixed))
        ):  # fmt: skip
            moved.append(inst)
        else:
            kept.append(inst)
        read.update(inst.reads())
        written.update(inst.writes())
    if moved:
        block.insts = kept[::-1]
    return moved[::-1]
