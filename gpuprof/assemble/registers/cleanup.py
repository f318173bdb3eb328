"""After allocation: moves of a register to itself and branches to the next instruction go away."""

from gpuprof.assemble.ir.body import Body
from gpuprof.assemble.registers.allocate import Allocation


def drop_identity_moves(body: Body, allocation: Allocation) -> None:
    number = allocation.number
    for block in body.blocks:
        block.insts = [i for i in block.insts if not (i.is_copy and number.get(i.dst, -1) in (number.get(i.a), -1))]


def drop_branches_to_next(body: Body) -> None:
    for index, block in enumerate(body.blocks):
        if block.insts and block.insts[-1].op.kind == "branch":
            following = index + 1
            while (
                following < len(body.blocks)
                and body.blocks[following].label != block.insts[-1].target
                and not body.blocks[following].insts
            ):
                following += 1
            if following < len(body.blocks) and body.blocks[following].label == block.insts[-1].target:
                block.insts.pop()
