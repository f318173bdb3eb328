"""Turns one decoded instruction into a callable on `Lanes`, bound to its operands once and for all.

A builder takes (instruction, Env) and gives `op(lanes)`. `elementwise` makes builders out of pure functions on rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gpuprof.emulate.core.convergence_order import OrderedGraph
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import (
    FILE_OF_KIND,
    KIND_OF_TYPE,
    PRED,
    U32,
    U64,
    Pool,
    Ref,
    destination,
    predicate,
    source,
)
from gpuprof.isa.encoding import PT, Instruction

Op = Callable[[Lanes], None]
Builder = Callable[[Instruction, "Env"], Op]


@dataclass
class Env:
    """The surroundings that builders may ask for: the pool of constants, and `at`, the index of the instruction being
    built.
    """

    graph: OrderedGraph
    pool: Pool
    load_base: int
    const_base: int = 0  # generic address of the constant segment
    at: int = 0
    spins: set[int] = field(default_factory=set)  # instructions a waiting loop is made of
    # atomic operations of memory that all blocks see, whose results are wanted
    takes: set[int] = field(default_factory=set)
    # the loads of loops that wait for other warps, and those of them whose values are used later (isa/spin_loops)
    polls: frozenset[int] = frozenset()
    observed: frozenset[int] = frozenset()
    # Accesses to memory leave out the lanes that a listener refuses.
    refuses: bool = False


def slot_kind(inst: Instruction, slot: str) -> int:
    """The kind of a slot: the row's type where it has the type's width, else plain bits (a shift count)."""
    spec = getattr(inst.op, slot).lstrip(">")
    if spec[0] == "P":
        return PRED
    kind = KIND_OF_TYPE[inst.op.types[0]] if inst.op.types else U32
    is_wide = spec[0] == "D"
    if FILE_OF_KIND[kind] != (1 if is_wide else 0):
        return U64 if is_wide else U32
    return kind


def sources(inst: Instruction, env: Env, slots: str = "abc") -> list[Ref]:
    return [source(inst, slot, slot_kind(inst, slot), env.pool) for slot in slots if getattr(inst.op, slot)]


def ufunc(function: np.ufunc) -> Builder:
    """dst = function(a[, b]), straight into the destination's row."""

    def build(inst: Instruction, env: Env) -> Op:
        kd, d = destination(inst, slot_kind(inst, "dst"))
        refs = sources(inst, env)
        if len(refs) == 1:
            ((ka, a),) = refs

            def op(lanes: Lanes) -> None:
                v = lanes.v
                function(v[ka][a], out=v[kd][d])

            return op
        (ka, a), (kb, b) = refs

        def op(lanes: Lanes) -> None:
            v = lanes.v
            function(v[ka][a], v[kb][b], out=v[kd][d])

        return op

    return build


def elementwise(function: Callable[..., np.ndarray], kind: int | None = None, dst_kind: int | None = None) -> Builder:
    """dst = function(sources...), converted bit for bit or by truncation to the destination's type.

    `kind` and `dst_kind` read 32- and 64-bit operands as that type whatever the row says.
    """

    def build(inst: Instruction, env: Env) -> Op:
        kd, d = destination(inst, slot_kind(inst, "dst") if dst_kind is None else dst_kind)
        refs = [
            source(inst, slot, slot_kind(inst, slot) if kind is None else kind, env.pool)
            for slot in "abc"
            if getattr(inst.op, slot)
        ]

        def op(lanes: Lanes) -> None:
            v = lanes.v
            np.copyto(v[kd][d], function(*[v[k][i] for k, i in refs]), casting="unsafe")

        return op

    return build


def by_type(function: Callable[..., Callable[..., np.ndarray]]) -> Builder:
    """A builder like `elementwise`, for functions that have to know the row's types: function(*types)(sources...)."""

    def build(inst: Instruction, env: Env) -> Op:
        return elementwise(function(*inst.op.types))(inst, env)

    return build


def read_predicate(number: int, env: Env) -> Callable[[Lanes], np.ndarray]:
    """lanes -> bool row of an encoded predicate source."""
    (kind, index), negated = predicate(number, env.pool)
    if negated:
        return lambda lanes: ~lanes.v[kind][index]
    return lambda lanes: lanes.v[kind][index]


def guard_reader(inst: Instruction, env: Env) -> Callable[[Lanes], np.ndarray] | None:
    """lanes -> bool row of the lanes that are active and whose guard holds, which are counted; None when there is no
    guard.
    """
    if env.refuses and inst.op.space:
        return _unrefused(inst, env)
    if inst.guard == PT:
        return None
    return _held_reader(inst, env)


def _unrefused(inst: Instruction, env: Env) -> Callable[[Lanes], np.ndarray]:
    """Like `guard_reader`, without the lanes that a listener has refused."""
    held = _held_reader(inst, env) if inst.guard != PT else _all_active
    return lambda lanes: held(lanes) & ~lanes.chunk.executing.refused


def _all_active(lanes: Lanes) -> np.ndarray:
    return np.ones(lanes.n, np.bool_) if lanes.active is None else lanes.active


def _held_reader(inst: Instruction, env: Env) -> Callable[[Lanes], np.ndarray]:
    read = read_predicate(inst.guard, env)
    at = env.at

    def guard(lanes: Lanes) -> np.ndarray:
        held = read(lanes)
        held = held & lanes.active if lanes.active is not None else np.broadcast_to(held, lanes.n)
        lanes.chunk.count_guarded(at, held)
        return held

    return guard


def full_row(lanes: Lanes, row: np.ndarray) -> np.ndarray:
    """A row of n elements also where the operand is a constant."""
    return row if row.ndim else np.broadcast_to(row, lanes.n)
