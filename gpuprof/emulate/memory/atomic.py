"""Atomics and reductions: lanes take their turns in ascending order, so results are exact and always the same."""

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import KIND_OF_TYPE, U64, Ref, destination, source
from gpuprof.emulate.core.operation import Env, Op, full_row
from gpuprof.emulate.memory.access import make_site
from gpuprof.emulate.memory.load_store import resolve
from gpuprof.emulate.scalar.floating import NAN32, maximum, minimum
from gpuprof.emulate.scalar.half import halves
from gpuprof.emulate.scalar.half_formats import add, narrow, widen
from gpuprof.isa.encoding import RZ, Instruction

OPERATION = {
    f"{form}_{operation}": operation
    for form in ("atom", "red")
    for operation in ("add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas")
}
NANS = {"f32": NAN32, "f64": np.float64(np.nan)}
# Global f32 additions flush subnormals, shared ones do not (PTX ISA, atom).
SMALLEST_NORMAL = np.finfo(np.float32).tiny


def apply_numbers(operation: str, type_name: str, is_global: bool, memory, index, value, other) -> np.ndarray:
    """Runs an integer, f32 or f64 operation; gives the old values."""
    from gpuprof.emulate.memory import sequential

    old = np.empty_like(value)
    if type_name in ("f32", "f64"):
        tiny = value.dtype.type(SMALLEST_NORMAL if type_name == "f32" and is_global else 0)
        sequential.add_floats(memory, index, value, tiny, NANS[type_name], old)
    else:
        sequential.integers(sequential.CODES[operation], memory, index, value, other, old)
    return old


def of_halves(operation: str, kind: str):
    """The operation on 16-bit patterns."""
    if operation == "add":
        return lambda a, b: narrow(add("rn", widen(a, kind), widen(b, kind)), kind)
    function = {"min": minimum, "max": maximum}[operation]
    return lambda a, b: narrow(function(widen(a, kind), widen(b, kind)).astype(np.float64), kind)


def apply_halves(operation: str, type_name: str, memory, index, value) -> np.ndarray:
    """Half-precision operations, address by address; `memory` has 16-bit elements, or 32-bit ones for pairs."""
    from gpuprof.emulate.memory import sequential

    total = halves(of_halves(operation, type_name.removesuffix("x2")), type_name.endswith("x2"))
    old = np.empty(len(index), np.uint32)
    for batch in sequential.rounds(index):
        before = memory[index[batch]].astype(np.uint32)
        old[batch] = before
        memory[index[batch]] = total(before, value[batch])
    return old


def apply(operation: str, type_name: str, space, is_global: bool, index, values: list) -> np.ndarray:
    """Carries out one operation on elements of a space; returns the old values."""
    if type_name in ("f16", "bf16"):
        return apply_halves(operation, type_name, space.views[2], index, values[0])
    if type_name in ("f16x2", "bf16x2"):
        return apply_halves(operation, type_name, space.views[4], index, values[0])
    if type_name == "b16":
        values = [value.astype(np.uint16) for value in values]
    view = space.views[values[0].dtype.itemsize].view(values[0].dtype)
    return apply_numbers(operation, type_name, is_global, view, index, values[0], values[-1])


def apply_wide(operation: str, memory, index, values: list) -> list[np.ndarray]:
    """128-bit exchange and compare-and-swap, as two 64-bit words: values (low, high) or (low, high, other low, other
    high).
    """
    from gpuprof.emulate.memory import sequential

    old = [np.empty(len(index), np.uint64) for _ in range(2)]
    for batch in sequential.rounds(index):
        at = index[batch], index[batch] + 1
        for word in range(2):
            old[word][batch] = memory[at[word]]
        stored = np.ones(len(batch), np.bool_)
        if operation == "cas":
            stored = (old[0][batch] == values[0][batch]) & (old[1][batch] == values[1][batch])
        for word, value in enumerate(values[-2:]):
            memory[at[word][stored]] = value[batch][stored]
    return old


def build_vector_atomic(inst: Instruction, env: Env) -> Op:
    """Several elements, each atomic by itself: one after the other; 128-bit ones as a whole."""
    operation, t = OPERATION[inst.op.semantics], inst.op.types[0]
    site = make_site(inst, env, "atomic operation")
    kind = U64 if t == "b128" else KIND_OF_TYPE[t]
    count = int(inst.op.b[1:])
    groups = [(getattr(inst, slot), slot) for slot in "bc" if getattr(inst.op, slot)]
    refs = [
        [Ref(kind, first + k) if first != RZ else source(inst, slot, kind, env.pool) for k in range(count)]
        for first, slot in groups
    ]
    results = [Ref(kind, inst.dst + k) for k in range(count)] if inst.op.dst and inst.dst != RZ else []
    shift = (inst.op.nbytes // count).bit_length() - 1
    if t == "b128":
        env.spins.add(env.at)

    def op(lanes: Lanes) -> None:
        for space, touched in resolve(lanes, site):
            active = slice(None) if touched.active is None else touched.active
            index = (touched.flat >> shift)[active]
            if not len(index):
                continue
            given = [[np.ascontiguousarray(full_row(lanes, lanes.row(ref))[active]) for ref in group] for group in refs]
            if t == "b128":
                old = apply_wide(operation, space.views[8], index, [value for group in given for value in group])
            else:
                is_global = space is lanes.chunk.spaces["global"]
                old = [
                    apply(operation, t, space, is_global, index + k, [group[k] for group in given])
                    for k in range(count)
                ]
            for ref, values in zip(results, old, strict=False):
                lanes.row(ref)[active] = values

    return op


def build_atomic(inst: Instruction, env: Env) -> Op:
    if inst.op.b[1:]:
        return build_vector_atomic(inst, env)
    operation, t = OPERATION[inst.op.semantics], inst.op.types[0]
    returns = bool(inst.op.dst) and inst.dst != RZ
    site = make_site(inst, env, "atomic operation")
    kind = KIND_OF_TYPE[t]
    refs = [source(inst, slot, kind, env.pool) for slot in "bc" if getattr(inst.op, slot)]
    kd, d = destination(inst, kind) if inst.op.dst else (kind, RZ)
    nbytes = inst.op.nbytes
    shift = nbytes.bit_length() - 1
    if operation in ("cas", "exch"):
        env.spins.add(env.at)
    if returns and inst.op.space != "shared":
        env.takes.add(env.at)

    def op(lanes: Lanes) -> None:
        for space, touched in resolve(lanes, site):
            active = slice(None) if touched.active is None else touched.active
            index = (touched.flat >> shift)[active]
            values = [np.ascontiguousarray(full_row(lanes, lanes.v[k][i])[active]) for k, i in refs]
            if not len(index):
                continue
            old = apply(operation, t, space, space is lanes.chunk.spaces["global"], index, values)
            if returns:
                lanes.v[kd][d][active] = old

    return op


def build_count(inst: Instruction, env: Env) -> Op:
    """Adds 1 for each lane."""
    site = make_site(inst, env, "atomic operation")
    t = inst.op.types[0]
    shift = inst.op.nbytes.bit_length() - 1

    def op(lanes: Lanes) -> None:
        for space, touched in resolve(lanes, site):
            active = slice(None) if touched.active is None else touched.active
            index = (touched.flat >> shift)[active]
            if len(index):
                apply("add", t, space, False, index, [np.ones(len(index), np.uint32)])

    return op


SEMANTICS = {**dict.fromkeys(OPERATION, build_atomic), "red_count": build_count}
