"""Matrix instructions on all warps of a set at once: operands out of the rows, the arithmetic of `matrix`, results into
the rows.

A warp's lanes come together for them (see `rendezvous`), so a whole warp is always there but for lanes that have
exited, whose registers read as zeros: PTX leaves that case undefined.
"""

from collections.abc import Callable

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operands import F64, U32, U64
from gpuprof.emulate.core.operation import Env, Op, guard_reader, read_predicate
from gpuprof.emulate.core.rounding import rounded
from gpuprof.emulate.matrices.descriptor import Operand, read_fragment
from gpuprof.emulate.matrices.volta import multiply_quads
from gpuprof.isa.encoding import RZ, Instruction
from gpuprof.isa.families.tensor import NBITS, TYPES_OF_UNIT, Form, form_of
from gpuprof.isa.modifiers import ELEMENT_TYPES, unpack, unpack_name

NONE = np.empty(0, np.uint32)  # metadata of a dense matrix
SIGN = {"f16": 0x80008000, "tf32": 0x80000000, "f8": 0x80808080}  # of all elements of a register


def group_reader(inst: Instruction, slot: str, kind: int = U32) -> Callable[[Lanes], np.ndarray]:
    """lanes -> the slot's registers as one array (registers, n); RZ reads as zeros."""
    spec = getattr(inst.op, slot)
    count, first = int(spec[1:] or 1), getattr(inst, slot)
    dtype = {U32: np.uint32, F64: np.float64}[kind]
    if first == RZ:
        return lambda lanes: np.zeros((count, lanes.n), dtype)
    return lambda lanes: lanes.of_active(np.stack([lanes.v[kind][first + i] for i in range(count)]))


def group_writer(inst: Instruction, env: Env, kind: int = U32) -> Callable[[Lanes, np.ndarray], None]:
    """Puts an array (registers, n) into dst's registers, on the lanes for which the guard holds."""
    count, first = int(inst.op.dst[1:] or 1), inst.dst
    guard = guard_reader(inst, env)

    def write(lanes: Lanes, values: np.ndarray) -> None:
        held = True if guard is None else guard(lanes)
        for i in range(count if first != RZ else 0):
            np.copyto(lanes.v[kind][first + i], values[i], where=held)

    return write


def multiplier(inst: Instruction, form: Form) -> Callable[..., np.ndarray]:
    """(a, b, c, metadata) -> d, fragments as arrays (registers, n)."""
    from gpuprof.emulate.matrices import matrix

    n_d = int(inst.op.dst[1:] or 1)
    k, selector = form.a_elements, inst.imm if form.sparse else 0
    ta, tb = element_types(inst, form)

    def empty(a: np.ndarray) -> np.ndarray:
        return np.empty((n_d, a.shape[1]), a.dtype)

    def floats(a, b, c, metadata=NONE):
        d = empty(a)
        matrix.multiply_floats(a, b, c, d, ta, tb, form.c == "f16", form.d == "f16", k, metadata, selector)
        return d

    def integers(a, b, c, metadata=NONE):
        d = empty(a)
        matrix.multiply_integers(a, b, c, d, ta, tb, bool(unpack(inst.mods, "satfinite")), k, metadata, selector)
        return d

    def bits(a, b, c, metadata=NONE):
        d = empty(a)
        matrix.multiply_bits(a, b, c, d, unpack_name(inst.mods, "logic") == "and")
        return d

    def quads(a, b, c, metadata=NONE):
        layouts = unpack_name(inst.mods, "layout_a"), unpack_name(inst.mods, "layout_b")
        return multiply_quads(a, b, c, layouts, (form.c, form.d))

    if form.is_volta:
        return quads
    return {"f16": floats, "tf32": floats, "f8": floats, "s8": integers, "s4": integers, "b1": bits}[form.unit]


def element_types(inst: Instruction, form: Form) -> tuple[int, int]:
    """Numbers of ELEMENT_TYPES for A and B."""
    if "ta" in inst.op.fields:
        return unpack(inst.mods, "ta"), unpack(inst.mods, "tb")
    t = TYPES_OF_UNIT[form.unit][0]
    return (ELEMENT_TYPES.index(t),) * 2 if t in ELEMENT_TYPES else (-1, -1)


def build_multiply(inst: Instruction, env: Env) -> Op:
    """mma: dst = a * b + c. mma_sparse: e has the metadata."""
    form = form_of(inst.op)
    if form.unit == "f64":
        return build_doubles(inst, env)
    a, b, c = (group_reader(inst, slot) for slot in "abc")
    metadata = group_reader(inst, "e") if form.sparse else None
    run, write = multiplier(inst, form), group_writer(inst, env)

    def op(lanes: Lanes) -> None:
        extra = (metadata(lanes)[0],) if metadata else ()
        write(lanes, run(a(lanes), b(lanes), c(lanes), *extra))

    return op


def build_doubles(inst: Instruction, env: Env) -> Op:
    from gpuprof.emulate.matrices.matrix import multiply_doubles

    a, b, c = (group_reader(inst, slot, F64) for slot in "abc")
    n_d = int(inst.op.dst[1:])
    run = rounded(unpack_name(inst.mods, "rnd"), multiply_doubles)
    write = group_writer(inst, env, F64)

    def op(lanes: Lanes) -> None:
        d = np.empty((n_d, lanes.n))
        run(a(lanes), b(lanes), c(lanes), d)
        write(lanes, d)

    return op


# -- warp groups -----------------------------------------------------------------------------------


def build_group_multiply(inst: Instruction, env: Env) -> Op:
    """8 columns of a warp group's multiplication: dst = a * b + (e ? c : 0); b is always a descriptor, a is one in SS
    rows.
    """
    form = form_of(inst.op)
    nbits = NBITS[form.unit]
    b = descriptor_reader(
        inst, "b", Operand(False, form.k, nbits, bool(unpack(inst.mods, "trans_b")), 8 * inst.imm), env.at
    )
    if form.wgmma == "SS":
        a = descriptor_reader(inst, "a", Operand(True, form.k, nbits, bool(unpack(inst.mods, "trans_a"))), env.at)
    else:
        a = group_reader(inst, "a")
    minus = [
        np.uint32(SIGN[form.unit] if form.unit in SIGN and unpack(inst.mods, name) else 0)
        for name in ("minus_a", "minus_b")
    ]
    c, accumulates = group_reader(inst, "c"), read_predicate(inst.e, env)
    run, write = multiplier(inst, form), group_writer(inst, env)

    def op(lanes: Lanes) -> None:
        sums = c(lanes)
        sums *= accumulates(lanes)
        write(lanes, run(a(lanes) ^ minus[0], b(lanes) ^ minus[1], sums))

    return op


def descriptor_reader(inst: Instruction, slot: str, operand: Operand, at: int) -> Callable[[Lanes], np.ndarray]:
    """lanes -> the fragment (registers, n) of the matrix in shared memory that the slot's descriptors describe."""
    index = getattr(inst, slot)

    def read(lanes: Lanes) -> np.ndarray:
        return read_fragment(lanes, np.zeros(lanes.n, np.uint64) if index == RZ else lanes.v[U64][index], operand, at)

    return read


SEMANTICS = {"mma": build_multiply, "mma_sparse": build_multiply, "mma_group": build_group_multiply}
