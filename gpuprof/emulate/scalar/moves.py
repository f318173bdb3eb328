"""Moves, selects, predicate logic, special registers and address conversions."""

import numpy as np

from gpuprof.device.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_NBYTES
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import PRED, U32, U64, destination, source
from gpuprof.emulate.core.operation import Env, Op, full_row, read_predicate, slot_kind, sources
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.special import SPECIAL


def build_mov(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, slot_kind(inst, "dst"))
    ((ka, a),) = sources(inst, env)

    def op(lanes: Lanes) -> None:
        v = lanes.v
        v[kd][d][:] = v[ka][a]

    return op


def build_mov_imm64(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, U64)
    value = np.uint64(inst.imm64)

    def op(lanes: Lanes) -> None:
        lanes.v[kd][d][:] = value

    return op


def build_pack(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, U64)
    ka, a = source(inst, "a", U32, env.pool)
    kb, b = source(inst, "b", U32, env.pool)

    def op(lanes: Lanes) -> None:
        v = lanes.v
        words = v[kd][d].view(np.uint32).reshape(-1, 2)
        words[:, 0] = v[ka][a]
        words[:, 1] = v[kb][b]

    return op


def build_half_of(word: int):
    def build(inst: Instruction, env: Env) -> Op:
        kd, d = destination(inst, U32)
        ka, a = source(inst, "a", U64, env.pool)

        def op(lanes: Lanes) -> None:
            v = lanes.v
            row = v[ka][a]
            v[kd][d][:] = (
                row.view(np.uint32).reshape(-1, 2)[:, word]
                if row.ndim
                else np.uint32(int(row) >> 32 * word & 0xFFFFFFFF)
            )

        return op

    return build


def build_select(inst: Instruction, env: Env) -> Op:
    from gpuprof.emulate.core.row_kernels import select

    kd, d = destination(inst, slot_kind(inst, "dst"))
    first, second = sources(inst, env, "ab")
    chooses_first = read_predicate(inst.e, env)

    def op(lanes: Lanes) -> None:
        select(full_row(lanes, chooses_first(lanes)), lanes.wide(first), lanes.wide(second), lanes.v[kd][d])

    return op


def build_special(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, U64 if inst.op.dst == "D" else U32)
    name = SPECIAL[inst.imm]

    def op(lanes: Lanes) -> None:
        np.copyto(lanes.v[kd][d], lanes.chunk.special(name, lanes), casting="unsafe")

    return op


def build_predicate(function):
    def build(inst: Instruction, env: Env) -> Op:
        kd, d = destination(inst, PRED)
        reads = [read_predicate(getattr(inst, slot), env) for slot in "ab" if getattr(inst.op, slot)]

        def op(lanes: Lanes) -> None:
            lanes.v[kd][d][:] = function(*[read(lanes) for read in reads])

        return op

    return build


WINDOW = np.uint64(WINDOW_NBYTES)


def window_base(space: str, env: Env) -> int:
    """The generic address at which a space's own addresses start; constants have a copy in global memory."""
    return {
        "shared": SHARED_WINDOW,
        "local": LOCAL_WINDOW,
        "param": PARAM_WINDOW,
        "const": env.const_base,
        "global": 0,
    }[space]


def build_window(sign: int):
    def build(inst: Instruction, env: Env) -> Op:
        kd, d = destination(inst, U64)
        ka, a = source(inst, "a", U64, env.pool)
        base = np.uint64(sign * window_base(inst.op.types[0], env) & 0xFFFFFFFFFFFFFFFF)

        def op(lanes: Lanes) -> None:
            np.add(lanes.v[ka][a], base, lanes.v[kd][d])

        return op

    return build


def build_isspacep(inst: Instruction, env: Env) -> Op:
    """shared, local, param: inside the window; const: in the copy of the constant segment; global: in none of these."""
    kd, d = destination(inst, PRED)
    ka, a = source(inst, "a", U64, env.pool)
    space = inst.op.types[0]
    const_base = np.uint64(env.const_base)
    windows = {
        name: np.uint64(base)
        for name, base in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("param", PARAM_WINDOW))
    }

    def op(lanes: Lanes) -> None:
        address = lanes.v[ka][a]
        inside = {name: address - base < WINDOW for name, base in windows.items()}
        inside["const"] = address - const_base < np.uint64(lanes.chunk.spaces["const"].nbytes)
        inside["global"] = ~np.logical_or.reduce(list(inside.values()))
        lanes.v[kd][d][:] = inside[space]

    return op


def build_nop(inst: Instruction, env: Env) -> Op:
    return lambda x: None


SEMANTICS = {
    "nop": build_nop,
    "group_commit": build_nop,
    "group_wait": build_nop,
    "grid_launch": build_nop,
    "grid_wait": build_nop,
    "membar": build_nop,
    "mov": build_mov,
    "mov_imm64": build_mov_imm64,
    "pack": build_pack,
    "low": build_half_of(0),
    "high": build_half_of(1),
    "special": build_special,
    "select": build_select,
    "pmov": build_predicate(lambda a: a),
    "pand": build_predicate(lambda a, b: a & b),
    "por": build_predicate(lambda a, b: a | b),
    "pxor": build_predicate(lambda a, b: a ^ b),
    "to_generic": build_window(1),
    "from_generic": build_window(-1),
    "isspacep": build_isspacep,
}
