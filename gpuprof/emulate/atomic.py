"""Atomics and reductions: lanes take their turns in ascending order, so results are exact and always the same."""

import numpy as np

from gpuprof.emulate.access import make_site
from gpuprof.emulate.build import Env, Op, full_row
from gpuprof.emulate.floating import NAN32
from gpuprof.emulate.half import halves
from gpuprof.emulate.lanes import Lanes
from gpuprof.emulate.memory import resolve
from gpuprof.emulate.narrow import add, narrow, widen
from gpuprof.emulate.operands import KIND_OF_TYPE, destination, source
from gpuprof.isa.encoding import RZ, Instruction

OPERATIONS = ("add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas")
NANS = {"f32": NAN32, "f64": np.float64(np.nan)}
# Global f32 additions flush subnormals, shared ones do not (PTX ISA, atom).
SMALLEST_NORMAL = np.finfo(np.float32).tiny


def apply_numbers(operation: str, t: str, is_global: bool, memory, index, value, other) -> np.ndarray:
    """Runs an integer, f32 or f64 operation; gives the old values."""
    from gpuprof.emulate import sequential

    old = np.empty_like(value)
    if t in ("f32", "f64"):
        tiny = value.dtype.type(SMALLEST_NORMAL if t == "f32" and is_global else 0)
        sequential.add_floats(memory, index, value, tiny, NANS[t], old)
    else:
        sequential.integers(sequential.CODES[operation], memory, index, value, other, old)
    return old


def apply_halves(t: str, memory, index, value) -> np.ndarray:
    """Half-precision additions, address by address; `memory` has 16-bit elements, or 32-bit ones for pairs."""
    from gpuprof.emulate import sequential

    kind = t.removesuffix("x2")
    total = halves(lambda a, b: narrow(add("rn", widen(a, kind), widen(b, kind)), kind), t.endswith("x2"))
    old = np.empty(len(index), np.uint32)
    for turn in sequential.rounds(index):
        before = memory[index[turn]].astype(np.uint32)
        old[turn] = before
        memory[index[turn]] = total(before, value[turn])
    return old


def build_atomic(inst: Instruction, env: Env) -> Op:
    operation, t = inst.op.semantics.split("_")[1], inst.op.types[0]
    returns = bool(inst.op.dst) and inst.dst != RZ
    site = make_site(inst, env, "atomic operation")
    kind = KIND_OF_TYPE[t]
    refs = [source(inst, slot, kind, env.pool) for slot in "bc" if getattr(inst.op, slot)]
    kd, d = destination(inst, kind) if inst.op.dst else (kind, RZ)
    nbytes = inst.op.nbytes
    shift = nbytes.bit_length() - 1
    if operation in ("cas", "exch"):
        env.spins.add(env.at)

    def op(x: Lanes) -> None:
        for space, touched in resolve(x, site):
            active = slice(None) if touched.active is None else touched.active
            index = (touched.flat >> shift)[active]
            values = [np.ascontiguousarray(full_row(x, x.v[k][i])[active]) for k, i in refs]
            if not len(index):
                continue
            view = space.views[nbytes]
            if t in ("f16", "bf16", "f16x2", "bf16x2"):
                old = apply_halves(t, view, index, values[0])
            elif t == "b16":
                narrow_values = [value.astype(np.uint16) for value in values]
                old = apply_numbers(operation, t, False, view, index, narrow_values[0], narrow_values[-1])
            else:
                is_global = space is x.chunk.spaces["global"]
                old = apply_numbers(operation, t, is_global, view.view(values[0].dtype), index, values[0], values[-1])
            if returns:
                x.v[kd][d][active] = old

    return op


SEMANTICS = {f"{form}_{operation}": build_atomic for form in ("atom", "red") for operation in OPERATIONS}
