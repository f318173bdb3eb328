"""Basic blocks with edges: split after jumps, drop what cannot be reached, find loops."""

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.isa.kinds import kinds_of
from gpuprof.isa.opcodes import BY_NAME

JUMPS = kinds_of("branch", "exit", "return", "trap")


def build(body: Body) -> None:
    """Gives `body.blocks` their edges and loop depths. Control that runs off the end leaves the function."""
    _split(body)
    _close(body)
    connect(body)


def connect(body: Body) -> None:
    """Edges, without the blocks that cannot be reached."""
    _edges(body.blocks)
    _drop_unreachable(body)
    _loop_depths(body.blocks)


def join(body: Body) -> None:
    """Joins a block to the one before it, where that has no other successor and the block no other predecessor."""
    joined: list[Block] = []
    for index, block in enumerate(body.blocks):
        before = joined[-1] if joined else None
        if (
            before is not None and block.predecessors == [index - 1]
            and body.blocks[index - 1].successors == [index] and not _may_leave(before)
        ):  # fmt: skip
            if before.insts and before.insts[-1].op.kind == "branch":
                before.insts.pop()
            before.insts += block.insts
        else:
            joined.append(block)
    if len(joined) < len(body.blocks):
        body.blocks = joined
        connect(body)


def _may_leave(block: Block) -> bool:
    """True if it ends with a guarded exit, return or trap: where those lanes go is no edge."""
    return bool(block.insts) and block.insts[-1].op.kind in JUMPS - {"branch"}


def _split(body: Body) -> None:
    """A block ends at its first jump; after an unconditional one the rest is dead until the next label. A label that no
    jump names begins no block: Triton has one at each change of the source's line.
    """
    named = {inst.target for inst in body.instructions() if inst.op.kind == "branch"} | body.rolled
    blocks: list[Block] = []
    for block in body.blocks:
        if not blocks or block.label in named or body.keeps_order or _leaves(blocks[-1]):
            current = Block(block.label)
            blocks.append(current)
        for inst in block.insts:
            current.insts.append(inst)
            if inst.op.kind in JUMPS:
                if inst.guard is None:
                    break
                current = Block("")
                blocks.append(current)
    body.blocks = blocks


def _leaves(block: Block) -> bool:
    """True where control does not continue with what follows the block."""
    return bool(block.insts) and block.insts[-1].op.kind in JUMPS and block.insts[-1].guard is None


def _close(body: Body) -> None:
    last = body.blocks[-1]
    if not last.insts or last.insts[-1].op.kind not in JUMPS or last.insts[-1].guard is not None:
        line = last.insts[-1].line if last.insts else 0
        last.insts.append(Inst(BY_NAME["EXIT" if body.is_kernel else "RET"], line=line))


def _edges(blocks: list[Block]) -> None:
    index_of = {block.label: index for index, block in enumerate(blocks) if block.label}
    for block in blocks:
        block.successors, block.predecessors = [], []
    for index, block in enumerate(blocks):
        last = block.insts[-1] if block.insts else None
        jumps = last is not None and last.op.kind in JUMPS
        if jumps and last.op.kind == "branch":
            block.successors.append(index_of[last.target])
        if (not jumps or last.guard is not None) and index + 1 < len(blocks) and index + 1 not in block.successors:
            block.successors.append(index + 1)
    for index, block in enumerate(blocks):
        for successor in block.successors:
            blocks[successor].predecessors.append(index)


def _drop_unreachable(body: Body) -> None:
    seen = {0}
    todo = [0]
    while todo:
        for successor in body.blocks[todo.pop()].successors:
            if successor not in seen:
                seen.add(successor)
                todo.append(successor)
    if len(seen) == len(body.blocks):
        return
    body.blocks = [block for index, block in enumerate(body.blocks) if index in seen]
    _edges(body.blocks)


def _loop_depths(blocks: list[Block]) -> None:
    """A backward edge i -> j makes blocks j to i one loop deeper; compilers lay loops out in one piece."""
    loops = sorted(
        {(target, index) for index, block in enumerate(blocks) for target in block.successors if target <= index}
    )
    heads: dict[int, int] = {}
    for head, end in loops:
        heads[head] = max(heads.get(head, head), end)
    deeper = [0] * (len(blocks) + 1)  # than the block before
    for head, end in heads.items():
        deeper[head] += 1
        deeper[end + 1] -= 1
    depth = 0
    for block, change in zip(blocks, deeper, strict=False):
        depth += change
        block.loop_depth = depth
