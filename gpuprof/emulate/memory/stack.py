"""alloca, stacksave, stackrestore: local memory that a function takes while it runs, above its frame."""

import numpy as np

from gpuprof.emulate.core.faults import fault_of_element, first_active
from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.operands import U64, destination, source
from gpuprof.emulate.core.operation import Env, Op, full_row, read_predicate
from gpuprof.isa.encoding import PT, Instruction

STACK_ALIGNMENT = 16  # where frames of callees begin


def build_stack(inst: Instruction, env: Env) -> Op:
    """`mods` is the function's frame. The lanes' tops of the stack are in the chunk's CallStack."""
    act, frame_nbytes, at = ACTS[inst.op.semantics], inst.mods, env.at
    align = max(inst.imm, 1)
    held = read_predicate(inst.guard, env) if inst.guard != PT else None
    result = destination(inst, U64) if inst.op.dst else None
    given = source(inst, "a", U64, env.pool) if inst.op.a else None

    def op(lanes: Lanes) -> None:
        stack = lanes.chunk.calls
        top = stack.base[lanes.warps].reshape(-1) + frame_nbytes + stack.grown[lanes.warps].reshape(-1)
        value = full_row(lanes, lanes.row(given)).astype(np.int64) if given else None
        active = np.ones(lanes.n, np.bool_) if lanes.active is None else lanes.active
        active = active if held is None else active & held(lanes)
        answer, new_top = act(lanes, at, active, top, value, align)
        if result:
            lanes.row(result)[:] = answer
        if new_top is not None:
            set_top(lanes, active, new_top, frame_nbytes)

    return op


def allocate(lanes: Lanes, at: int, active: np.ndarray, top: np.ndarray, nbytes: np.ndarray, align: int):
    """(where the new memory begins, the new top of the stack)"""
    start = -(-top // align) * align
    check_size(lanes, at, active, start, nbytes)
    return start, -(-(start + nbytes) // STACK_ALIGNMENT) * STACK_ALIGNMENT


ACTS = {
    "alloca": allocate,
    "stack_save": lambda lanes, at, active, top, value, align: (top, None),
    "stack_restore": lambda lanes, at, active, top, value, align: (None, value),
}


def set_top(group: Lanes, active: np.ndarray, top: np.ndarray, frame_nbytes: int) -> None:
    stack = group.chunk.calls
    at = np.flatnonzero(active)
    warps, lanes = group.warps[at // WARP], at % WARP
    stack.grown[warps, lanes] = top[at] - frame_nbytes - stack.base[warps, lanes]


def check_size(lanes: Lanes, at: int, active: np.ndarray, start: np.ndarray, nbytes: np.ndarray) -> None:
    """Raises KernelFault for the first lane whose local memory cannot hold so much."""
    limit = lanes.chunk.spaces["local"].limit_nbytes
    bad = active & ((nbytes < 0) | (start + nbytes > limit))
    if bad.any():
        element = first_active(lanes, bad)
        text = (
            f"alloca of {int(nbytes[element]) & 0xFFFFFFFFFFFFFFFF} bytes; the thread has {limit} bytes of local memory"
        )
        raise fault_of_element(lanes, at, element, text)


SEMANTICS = dict.fromkeys(ACTS, build_stack)
