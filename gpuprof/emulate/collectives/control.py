"""How a basic block ends: the next block of each lane. One builder per semantics name, giving `end(lanes)`, which hands
the lanes back to the chunk's scheduler with their next block.
"""

from collections.abc import Callable

import numpy as np

from gpuprof.emulate.core.faults import fault_of_element, first_active
from gpuprof.emulate.core.lanes import SCRATCH, WARP, Lanes, pack_masks
from gpuprof.emulate.core.operands import U32, U64, code_of, source
from gpuprof.emulate.core.operation import Env, guard_reader
from gpuprof.isa.encoding import INSTRUCTION_NBYTES, RZ, reads, writes
from gpuprof.isa.flow.graph import BasicBlock, branch_target

End = Callable[[Lanes], None]


def fall_through(block: BasicBlock, env: Env) -> int:
    """Index of the block that follows, or -1 where the code ends."""
    return env.graph.block_at.get(block.after, -1)


def build_fall(block: BasicBlock, env: Env) -> End:
    after = fall_through(block, env)
    return lambda lanes: lanes.chunk.push(lanes, after)


def split_by_guard(block: BasicBlock, env: Env, act: Callable[[Lanes], None]) -> End:
    """`act` for the lanes whose guard holds; the others fall through."""
    guard = guard_reader(block.last, env)
    if guard is None:
        return act
    after = fall_through(block, env)
    at = block.after - 1
    written = [code for operand in writes(block.last) for code in code_of(operand)]
    held = tuple(dict.fromkeys([*(code for operand in reads(block.last) for code in code_of(operand)), *written]))

    def end(lanes: Lanes) -> None:
        masks = pack_masks(guard(lanes))
        if not masks.any():
            lanes.chunk.push(lanes, after)
            return
        if not (masks == lanes.masks).all():
            rest = lanes.masks & ~masks
            lanes.chunk.count_divergence(at, masks, rest)
            lanes.chunk.push(lanes.split_off(rest), after)
            # Those that stay may have given back all rows.
            lanes.prepare(held, SCRATCH, frozenset(written))
        act(lanes)

    return end


def build_branch(block: BasicBlock, env: Env) -> End:
    target = env.graph.block_at[branch_target(block)]
    guard = guard_reader(block.last, env)
    if guard is None:
        return lambda lanes: lanes.chunk.push(lanes, target)
    after = fall_through(block, env)
    at = block.after - 1

    def end(lanes: Lanes) -> None:
        chunk = lanes.chunk
        masks = pack_masks(guard(lanes))
        if not masks.any():
            chunk.push(lanes, after)
        elif (masks == lanes.masks).all():
            chunk.push(lanes, target)
        else:
            rest = lanes.masks & ~masks
            chunk.count_divergence(at, masks, rest)
            # The side that runs next keeps the registers that are at hand.
            if chunk.rank(target) < chunk.rank(after):
                chunk.push(lanes.split_off(rest), after)
                chunk.push(lanes, target)
            else:
                chunk.push(lanes.split_off(masks), target)
                chunk.push(lanes, after)

    return end


def build_exit(block: BasicBlock, env: Env) -> End:
    guard = guard_reader(block.last, env)
    if guard is None:
        return lambda lanes: lanes.chunk.leave(lanes)
    after = fall_through(block, env)
    at = block.after - 1

    def end(lanes: Lanes) -> None:
        chunk = lanes.chunk
        masks = pack_masks(guard(lanes))
        if not masks.any():
            chunk.push(lanes, after)
        elif (masks == lanes.masks).all():
            chunk.leave(lanes)
        else:
            chunk.count_divergence(at, masks, lanes.masks & ~masks)
            warps = lanes.warps
            lanes.drop(masks)
            chunk.push(lanes, after)
            chunk.exited(warps, masks)

    return end


def build_call(block: BasicBlock, env: Env) -> End:
    target = env.graph.block_at[branch_target(block)]
    after, frame_nbytes = fall_through(block, env), block.last.mods

    def act(lanes: Lanes) -> None:
        lanes.chunk.calls.enter(lanes, after, frame_nbytes)
        lanes.chunk.push(lanes, target)

    return split_by_guard(block, env, act)


def build_return(block: BasicBlock, env: Env) -> End:
    def act(lanes: Lanes) -> None:
        if lanes.depth == 0:
            lanes.chunk.leave(lanes)
            return
        go_to_each(lanes, lanes.chunk.calls.leave(lanes))

    return split_by_guard(block, env, act)


def go_to_each(lanes: Lanes, blocks: np.ndarray) -> None:
    """Active lane i goes to block blocks[i]."""
    active = np.ones(lanes.n, np.bool_) if lanes.active is None else lanes.active
    first, *others = np.unique(blocks[active]).tolist()
    # A warp may leave entirely, which moves the rows of the warps after it.
    masks = np.zeros((len(others), lanes.chunk.n_warps), np.uint32)
    for target, row in zip(others, masks, strict=True):
        row[lanes.warps] = pack_masks(active & (blocks == target))
    for target, row in zip(others, masks, strict=True):
        lanes.chunk.push(lanes.split_off(row[lanes.warps]), target)
    lanes.chunk.push(lanes, first)


def code_blocks(group: Lanes, block: BasicBlock, env: Env, address: np.ndarray) -> np.ndarray:
    """Block index of each lane's code address; raises KernelFault when one is not the start of a block."""
    blocks = np.full(group.n, -1, np.int64)
    for value in np.unique(address if group.active is None else address[group.active]):
        index, rest = divmod(int(value) - env.load_base, INSTRUCTION_NBYTES)
        target = env.graph.block_at.get(index, -1) if rest == 0 else -1
        lanes = address == value
        if target < 0:
            element = first_active(group, lanes if group.active is None else lanes & group.active)
            raise fault_of_element(
                group,
                block.after - 1,
                element,
                f"jump to 0x{int(value):x}, which is not the start of a function or label",
            )
        blocks[lanes] = target
    return blocks


def build_indirect(block: BasicBlock, env: Env) -> End:
    """brx and indirect calls: the code address is in source a."""
    kind, index = source(block.last, "a", U64, env.pool)
    after, frame_nbytes = fall_through(block, env), block.last.mods
    is_call = block.last.op.kind == "call_indirect"

    def act(lanes: Lanes) -> None:
        row = lanes.v[kind][index]
        blocks = code_blocks(lanes, block, env, row if row.ndim else np.full(lanes.n, row))
        if is_call:
            lanes.chunk.calls.enter(lanes, after, frame_nbytes)
        go_to_each(lanes, blocks)

    return split_by_guard(block, env, act)


STOPS = {"trap": "trap executed", "breakpoint": "breakpoint executed; there is no debugger"}


def build_trap(block: BasicBlock, env: Env) -> End:
    text = STOPS[block.last.op.kind]

    def act(lanes: Lanes) -> None:
        element = 0 if lanes.active is None else first_active(lanes, lanes.active)
        raise fault_of_element(lanes, block.after - 1, element, text)

    return split_by_guard(block, env, act)


def build_warpsync(block: BasicBlock, env: Env) -> End:
    """Lanes wait until all live lanes of the member mask are there."""
    inst = block.last
    after, at = fall_through(block, env), block.after - 1
    kind, index = source(inst, "b", U32, env.pool)
    has_register = inst.b != RZ

    def act(lanes: Lanes) -> None:
        members = lanes.v[kind][index].reshape(-1, WARP) if has_register else np.uint32(inst.imm)
        lanes.chunk.barriers.sync_warp(lanes, after, at, members)

    return split_by_guard(block, env, act)


ENDS = {
    "branch": build_branch,
    "branch_indirect": build_indirect,
    "exit": build_exit,
    "call": build_call,
    "call_indirect": build_indirect,
    "return": build_return,
    "trap": build_trap,
    "breakpoint": build_trap,
    "warpsync": build_warpsync,
}
