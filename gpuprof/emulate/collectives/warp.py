"""Operations between the lanes of a warp: shuffles, votes, matches, reductions. Rows are viewed as (warps, 32).

Only lanes that are active and named by a lane's own member mask take part in what that lane sees; `rendezvous` and
`warp_sync` see to it that all of them are there. A shuffle gives 0 from a lane that is not active, where PTX leaves the
value open.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gpuprof.emulate.collectives.rendezvous import BIT, members_of
from gpuprof.emulate.core.lanes import WARP, Lanes, pack_masks
from gpuprof.emulate.core.operands import PRED, U32, destination, source
from gpuprof.emulate.core.operation import Env, Op, full_row, read_predicate, slot_kind
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import unpack, unpack_name

LANE = np.arange(WARP, dtype=np.int64)
# (the numbers of some rows, int64 (n,); the lanes that take part, bool (n, 32)) -> a value for each of these rows
Reduce: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]


def member_reader(inst: Instruction):
    """lanes -> uint32 (warps, 32) or broadcastable: the lanes that take part, as each lane sees it."""
    members = members_of(inst)
    return lambda x: members.rows(x) & x.masks[:, None]


def spread(lanes: Lanes, values: np.ndarray) -> np.ndarray:
    """(warps, 1) or (warps, 32) to a row."""
    return np.broadcast_to(values, (len(lanes.masks), WARP)).reshape(-1)


# Shuffles


def shuffle_source(inst: Instruction, env: Env):
    """lanes -> (source lane of each lane, whether it is in range), int64 and bool (warps, 32) or (32,). Pseudocode of
    the PTX manual.
    """
    mode = unpack_name(inst.mods, "shfl")
    fixed_lane = unpack(inst.mods, "lane") if unpack(inst.mods, "has_lane") else None
    fixed_clamp = unpack(inst.mods, "clamp") if unpack(inst.mods, "has_clamp") else None
    kb, b = source(inst, "b", U32, env.pool)
    kc, c = source(inst, "c", U32, env.pool)

    def rows(lanes: Lanes, fixed, kind, index):
        return (
            np.int64(fixed)
            if fixed is not None
            else full_row(lanes, lanes.v[kind][index]).reshape(-1, WARP).astype(np.int64)
        )

    def compute(lanes: Lanes):
        b_value, c_value = rows(lanes, fixed_lane, kb, b) & 31, rows(lanes, fixed_clamp, kc, c)
        segment = c_value >> 8 & 31
        clamp = c_value & 31
        most = LANE & segment | clamp & ~segment
        if mode == "up":
            source = LANE - b_value
            valid = source >= most
        else:
            source = {"down": LANE + b_value, "bfly": LANE ^ b_value, "idx": LANE & segment | b_value & ~segment}[mode]
            valid = source <= most
        return np.where(valid, source, LANE), valid

    return compute


def build_shuffle(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, U32)
    ka, a = source(inst, "a", U32, env.pool)
    where = shuffle_source(inst, env)

    def op(lanes: Lanes) -> None:
        lane, _ = where(lanes)
        values = lanes.of_active(full_row(lanes, lanes.v[ka][a])).reshape(-1, WARP)
        picked = values[:, lane] if lane.ndim == 1 else np.take_along_axis(values, lane, axis=1)
        lanes.v[kd][d][:] = picked.reshape(-1)

    return op


def build_shuffle_valid(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, PRED)
    where = shuffle_source(inst, env)

    def op(lanes: Lanes) -> None:
        lanes.v[kd][d][:] = spread(lanes, where(lanes)[1])

    return op


# Votes


def ballot(lanes: Lanes, held: np.ndarray) -> np.ndarray:
    """uint32 (warps, 1): the active lanes for which `held`."""
    row = full_row(lanes, held)
    return (pack_masks(row) & lanes.masks)[:, None]


VOTES = {
    "vote_all": lambda yes, members: yes & members == members,
    "vote_any": lambda yes, members: yes & members != 0,
    "vote_uni": lambda yes, members: (yes & members == members) | (yes & members == 0),
    "vote_ballot": lambda yes, members: yes & members,
}


def build_vote(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, slot_kind(inst, "dst"))
    held, members = read_predicate(inst.a, env), member_reader(inst)
    function = VOTES[inst.op.semantics]

    def op(lanes: Lanes) -> None:
        lanes.v[kd][d][:] = spread(lanes, function(ballot(lanes, held(lanes)), members(lanes)))

    return op


def build_activemask(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, U32)

    def op(lanes: Lanes) -> None:
        lanes.v[kd][d][:] = np.repeat(lanes.masks, WARP)

    return op


def build_elect(inst: Instruction, env: Env) -> Op:
    """dst: the lowest member lane; c: whether this lane is the one."""
    kd, d = destination(inst, U32)
    kc, c = destination(inst, PRED, "c")
    members = member_reader(inst)

    def op(lanes: Lanes) -> None:
        present = members(lanes)
        leader = np.bitwise_count((present & -present.astype(np.int64)) - 1).astype(np.uint32)
        lanes.v[kd][d][:] = spread(lanes, leader)
        lanes.v[kc][c][:] = spread(lanes, leader == LANE)

    return op


# Matches and reductions


def build_match(inst: Instruction, env: Env) -> Op:
    """any: the members with the same value; all: all members when they agree, else 0, and predicate c is set when they
    do.
    """
    kind = slot_kind(inst, "a")
    kd, d = destination(inst, U32)
    ka, a = source(inst, "a", kind, env.pool)
    kc, c = destination(inst, PRED, "c") if inst.op.c else (None, 0)
    members = member_reader(inst)

    def op(lanes: Lanes) -> None:
        values = full_row(lanes, lanes.v[ka][a]).reshape(-1, WARP)
        equal = np.zeros(values.shape, np.uint32)
        for lane in range(WARP):
            equal |= np.where(values == values[:, lane : lane + 1], BIT[lane], np.uint32(0))
        present = members(lanes)
        same = equal & present
        if kc is None:
            lanes.v[kd][d][:] = spread(lanes, same)
            return
        agree = same == present
        lanes.v[kd][d][:] = spread(lanes, np.where(agree, same, np.uint32(0)))
        lanes.v[kc][c][:] = spread(lanes, agree)

    return op


def reduced(active: np.ndarray, members: np.ndarray, reduce: Reduce, dtype: np.dtype) -> np.ndarray:
    """(warps, 32): what `reduce` makes of each active lane's members; 0 for the others.

    active: uint32 (warps,); members: uint32 (warps, 32) or what broadcasts to it. Each call of `reduce` takes a mask of
    every warp that has one left, so there are as many calls as the warp of the most masks has, 32 at the most, however
    many masks there are in all.
    """
    shape = (len(active), WARP)
    members, out, left = np.broadcast_to(members, shape), np.zeros(shape, dtype), active.copy()
    while len(rows := np.flatnonzero(left)):
        lowest = left[rows] & (~left[rows] + np.uint32(1))
        mask = members[rows, np.bitwise_count(lowest - np.uint32(1))][:, None]
        mine = (members[rows] == mask) & (left[rows, None] & BIT != 0)
        values = out[rows]
        np.copyto(values, reduce(rows, mask & BIT != 0)[:, None], where=mine)
        out[rows] = values
        left[rows] &= ~pack_masks(mine.reshape(-1))
    return out


REDUCTIONS = {
    "redux_add": (np.add, 0),
    "redux_min": (np.minimum, None),
    "redux_max": (np.maximum, None),
    "redux_and": (np.bitwise_and, 0xFFFFFFFF),
    "redux_or": (np.bitwise_or, 0),
    "redux_xor": (np.bitwise_xor, 0),
}


def build_redux(inst: Instruction, env: Env) -> Op:
    kind = slot_kind(inst, "a")
    kd, d = destination(inst, kind)
    ka, a = source(inst, "a", kind, env.pool)
    members = member_reader(inst)
    function, neutral = REDUCTIONS[inst.op.semantics]

    def op(lanes: Lanes) -> None:
        values = full_row(lanes, lanes.v[ka][a]).reshape(-1, WARP)
        if neutral is None:
            info = np.iinfo(values.dtype)
            idle = values.dtype.type(info.max if function is np.minimum else info.min)
        else:
            idle = values.dtype.type(neutral)

        def reduce(rows: np.ndarray, taking_part: np.ndarray) -> np.ndarray:
            return function.reduce(np.where(taking_part, values[rows], idle), axis=1, dtype=values.dtype)

        lanes.v[kd][d][:] = reduced(lanes.masks, members(lanes), reduce, values.dtype).reshape(-1)

    return op


SIGN, NAN32 = np.uint32(0x80000000), np.uint32(0x7FFFFFFF)


def in_order(bits: np.ndarray) -> np.ndarray:
    """Single-precision patterns as unsigned numbers in the same order, -0 below +0; its own inverse is `from_order`."""
    return np.where(bits & SIGN != 0, ~bits, bits | SIGN)


def from_order(keys: np.ndarray) -> np.ndarray:
    return np.where(keys & SIGN != 0, keys & ~SIGN, ~keys)


FLOAT_REDUCTIONS = {"redux_min_float": (np.minimum, ~np.uint32(0)), "redux_max_float": (np.maximum, np.uint32(0))}


def build_redux_float(inst: Instruction, env: Env) -> Op:
    """redux.f32: NaNs give way to numbers, or with .NaN take over; .abs compares magnitudes."""
    kd, d = destination(inst, U32)
    ka, a = source(inst, "a", U32, env.pool)
    members = member_reader(inst)
    keeps_nan, magnitudes = unpack(inst.mods, "nan"), unpack(inst.mods, "abs")
    function, idle = FLOAT_REDUCTIONS[inst.op.semantics]

    def op(lanes: Lanes) -> None:
        values = full_row(lanes, lanes.v[ka][a]).reshape(-1, WARP)
        values = values & ~SIGN if magnitudes else values
        is_nan = values & ~SIGN > np.uint32(0x7F800000)
        keys = in_order(values)

        def reduce(rows: np.ndarray, taking_part: np.ndarray) -> np.ndarray:
            numbers = taking_part & ~is_nan[rows]
            best = from_order(function.reduce(np.where(numbers, keys[rows], idle), axis=1))
            nan_wins = (taking_part & is_nan[rows]).any(axis=1) if keeps_nan else ~numbers.any(axis=1)
            return np.where(nan_wins, NAN32, best)

        lanes.v[kd][d][:] = reduced(lanes.masks, members(lanes), reduce, np.uint32).reshape(-1)

    return op


SEMANTICS = {
    **dict.fromkeys(FLOAT_REDUCTIONS, build_redux_float),
    "shuffle": build_shuffle,
    "shuffle_valid": build_shuffle_valid,
    **dict.fromkeys(VOTES, build_vote),
    "activemask": build_activemask,
    "elect": build_elect,
    "match_any": build_match,
    "match_all": build_match,
    **dict.fromkeys(REDUCTIONS, build_redux),
}
