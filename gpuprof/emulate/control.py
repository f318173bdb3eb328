"""How a basic block ends: who goes where. One builder per semantics name, giving `end(lanes)`, which hands the lanes
back to the chunk's scheduler with their next block."""

from collections.abc import Callable

import numpy as np

from gpuprof.emulate.build import Env, guard_reader
from gpuprof.emulate.cfg import BasicBlock, branch_target
from gpuprof.emulate.faults import fault_of_element, first_active
from gpuprof.emulate.lanes import WARP, Lanes, pack_masks
from gpuprof.emulate.operands import U32, U64, source
from gpuprof.isa.encoding import INSTRUCTION_NBYTES, RZ

End = Callable[[Lanes], None]


def fall_through(block: BasicBlock, env: Env) -> int:
    """Index of the block that follows, or -1 where the code ends."""
    return env.graph.block_at.get(block.after, -1)


def build_fall(block: BasicBlock, env: Env) -> End:
    after = fall_through(block, env)
    return lambda x: x.chunk.push(x, after)


def split_by_guard(block: BasicBlock, env: Env, act: Callable[[Lanes], None]) -> End:
    """`act` for the lanes whose guard holds; the others fall through."""
    guard = guard_reader(block.last, env)
    if guard is None:
        return act
    after = fall_through(block, env)
    at = block.after - 1

    def end(x: Lanes) -> None:
        masks = pack_masks(guard(x))
        if not masks.any():
            x.chunk.push(x, after)
            return
        if not (masks == x.masks).all():
            rest = x.masks & ~masks
            x.chunk.count_divergence(at, masks, rest)
            x.chunk.push(x.split_off(rest), after)
        act(x)

    return end


def build_branch(block: BasicBlock, env: Env) -> End:
    target = env.graph.block_at[branch_target(block)]
    guard = guard_reader(block.last, env)
    if guard is None:
        return lambda x: x.chunk.push(x, target)
    after = fall_through(block, env)
    at = block.after - 1

    def end(x: Lanes) -> None:
        chunk = x.chunk
        masks = pack_masks(guard(x))
        if not masks.any():
            chunk.push(x, after)
        elif (masks == x.masks).all():
            chunk.push(x, target)
        else:
            rest = x.masks & ~masks
            chunk.count_divergence(at, masks, rest)
            # The side that runs next keeps the registers that are at hand.
            if chunk.rank(target) < chunk.rank(after):
                chunk.push(x.split_off(rest), after)
                chunk.push(x, target)
            else:
                chunk.push(x.split_off(masks), target)
                chunk.push(x, after)

    return end


def build_exit(block: BasicBlock, env: Env) -> End:
    guard = guard_reader(block.last, env)
    if guard is None:
        return lambda x: x.chunk.leave(x)
    after = fall_through(block, env)
    at = block.after - 1

    def end(x: Lanes) -> None:
        chunk = x.chunk
        masks = pack_masks(guard(x))
        if not masks.any():
            chunk.push(x, after)
        elif (masks == x.masks).all():
            chunk.leave(x)
        else:
            chunk.count_divergence(at, masks, x.masks & ~masks)
            warps = x.warps
            x.drop(masks)
            chunk.push(x, after)
            chunk.exited(warps, masks)

    return end


def build_call(block: BasicBlock, env: Env) -> End:
    target = env.graph.block_at[branch_target(block)]
    after, frame_nbytes = fall_through(block, env), block.last.mods

    def act(x: Lanes) -> None:
        x.chunk.calls.enter(x, after, frame_nbytes)
        x.chunk.push(x, target)

    return split_by_guard(block, env, act)


def build_return(block: BasicBlock, env: Env) -> End:
    def act(x: Lanes) -> None:
        if x.depth == 0:
            x.chunk.leave(x)
            return
        go_to_each(x, x.chunk.calls.leave(x))

    return split_by_guard(block, env, act)


def go_to_each(x: Lanes, blocks: np.ndarray) -> None:
    """Active lane i goes to block blocks[i]."""
    active = np.ones(x.n, np.bool_) if x.active is None else x.active
    targets = np.unique(blocks[active])
    for target in targets[1:]:
        x.chunk.push(x.split_off(pack_masks(active & (blocks == target))), int(target))
    x.chunk.push(x, int(targets[0]))


def code_blocks(x: Lanes, block: BasicBlock, env: Env, address: np.ndarray) -> np.ndarray:
    """Block index of each lane's code address; raises KernelFault when one is not the start of a block."""
    blocks = np.full(x.n, -1, np.int64)
    for value in np.unique(address if x.active is None else address[x.active]):
        index, rest = divmod(int(value) - env.load_base, INSTRUCTION_NBYTES)
        found = env.graph.block_at.get(index, -1) if rest == 0 else -1
        lanes = address == value
        if found < 0:
            element = first_active(x, lanes if x.active is None else lanes & x.active)
            raise fault_of_element(
                x, block.after - 1, element, f"jump to 0x{int(value):x}, which is not the start of a function or label"
            )
        blocks[lanes] = found
    return blocks


def build_indirect(block: BasicBlock, env: Env) -> End:
    """brx and indirect calls: the code address is in source a."""
    kind, index = source(block.last, "a", U64, env.pool)
    after, frame_nbytes = fall_through(block, env), block.last.mods
    is_call = block.last.op.semantics == "call_indirect"

    def act(x: Lanes) -> None:
        row = x.v[kind][index]
        blocks = code_blocks(x, block, env, row if row.ndim else np.full(x.n, row))
        if is_call:
            x.chunk.calls.enter(x, after, frame_nbytes)
        go_to_each(x, blocks)

    return split_by_guard(block, env, act)


def build_trap(block: BasicBlock, env: Env) -> End:
    text = {"trap": "trap executed", "breakpoint": "breakpoint executed; there is no debugger"}[block.last.op.semantics]

    def act(x: Lanes) -> None:
        element = 0 if x.active is None else first_active(x, x.active)
        raise fault_of_element(x, block.after - 1, element, text)

    return split_by_guard(block, env, act)


def build_warpsync(block: BasicBlock, env: Env) -> End:
    """Lanes wait until all live lanes of the member mask are there."""
    inst = block.last
    after, at = fall_through(block, env), block.after - 1
    kind, index = source(inst, "b", U32, env.pool)
    has_register = inst.b != RZ

    def act(x: Lanes) -> None:
        if has_register:  # those that have just parted from others fetch it anew
            x.prepare((index,), (), frozenset())
        members = x.v[kind][index].reshape(-1, WARP) if has_register else np.uint32(inst.imm)
        x.chunk.barriers.sync_warp(x, after, at, members)

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
