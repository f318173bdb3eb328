"""ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16-bit elements between shared memory and the registers of a warp.

Lane 8 * i + j has the address of row j of matrix i. Of a matrix in registers, lane 4 * r + p has elements 2 p and 2 p +
1 of row r;
.trans exchanges rows and columns on the way.
"""

import numpy as np

from gpuprof.emulate.core.lanes import WARP, Lanes, pack_masks, unpack_masks
from gpuprof.emulate.core.operands import U32, destination, source
from gpuprof.emulate.core.operation import Env, Op
from gpuprof.emulate.memory.access import Site, check, is_allowed, make_site, observe
from gpuprof.emulate.memory.load_store import resolve
from gpuprof.isa.encoding import PT, RZ, Instruction
from gpuprof.isa.modifiers import unpack


def transposed(words: np.ndarray) -> np.ndarray:
    """Words (..., 32) of a matrix in registers, with its rows and columns exchanged."""
    elements = np.ascontiguousarray(words).view(np.uint16).reshape(*words.shape[:-1], 8, 8)
    return np.ascontiguousarray(elements.swapaxes(-1, -2)).reshape(*words.shape[:-1], 64).view(np.uint32)


def givers(count: int) -> np.uint32:
    """The lanes that give the addresses of `count` matrices."""
    return np.uint32((1 << 8 * count) - 1)


def make_matrix_site(inst: Instruction, env: Env, verb: str) -> Site:
    """The access of the lanes that give addresses: 8 for each matrix."""
    site = make_site(inst, env, verb)
    those, guard = givers(int(inst.op.types[0])), site.guard

    def giving(group: Lanes) -> np.ndarray:
        lanes = unpack_masks(group.masks & those)
        return lanes if guard is None else lanes & guard(group)

    return site._replace(guard=giving)


def warps_of(active: np.ndarray) -> np.ndarray:
    """bool (warps,): those with a lane that gives an address."""
    return active.reshape(-1, WARP).any(axis=1)


def clear_warps(group: Lanes, first: int, count: int) -> None:
    """Registers are 0 in warps with a lane whose address the listener has refused."""
    lanes = np.repeat(warps_of(group.chunk.executing.refused), WARP)
    for row in range(first, first + count):
        group.v[U32][row][lanes] = 0


def register_rows(lanes: Lanes, first: int, count: int) -> np.ndarray:
    """int64 (count,): the addresses of the rows of registers; 0 for RZ."""
    rows = lanes.v[U32]
    return np.array([0 if first == RZ else rows[first + i].ctypes.data for i in range(count)], np.int64)


def build_load(inst: Instruction, env: Env) -> Op:
    count, trans = int(inst.op.types[0]), bool(unpack(inst.mods, "trans"))
    site = make_matrix_site(inst, env, "read")
    is_plain = inst.guard == PT and site.space == "shared" and not env.refuses

    def op(group: Lanes) -> None:
        if is_plain:
            return load_shared(group, site, inst.dst, count, trans)
        parts = resolve(group, site)
        if inst.dst == RZ:
            return
        if env.refuses:
            clear_warps(group, inst.dst, count)
        masked = inst.guard != PT or len(parts) > 1
        for space, touched in parts:
            given = pack_masks(touched.active)
            written = given if masked else np.ones_like(given)
            base = np.zeros(len(given), np.int64)
            load_rows(group, space, touched.flat, base, given, written, trans, env.refuses, inst.dst, count)
        return None

    return op


def load_shared(lanes: Lanes, site: Site, first: int, count: int, trans: bool) -> None:
    """Loads matrices of shared memory, by all lanes that give addresses. Raises KernelFault."""
    space, address, given = lanes.chunk.spaces["shared"], site.address(lanes), lanes.masks & givers(count)
    totals, same = observe(lanes, site, space, address, given, needs_records=False)
    if same and is_allowed(site, space, totals.lo, totals.hi, totals.low_bits):
        base = lanes.warps.astype(np.int64) // space.warps_per_block * space.stride
    else:
        check(lanes, site, space, address, unpack_masks(given), totals, same)
        address, base = space.flat(lanes, address), np.zeros(len(given), np.int64)
    if first != RZ:
        load_rows(lanes, space, address, base, given, np.ones_like(given), trans, False, first, count)


def load_rows(lanes: Lanes, space, address, base, given, written, trans: bool, clears: bool, first: int, count: int):
    from gpuprof.emulate.matrices.matrix_rows import load

    rows, scratch = register_rows(lanes, first, count), np.zeros(WARP, np.uint32)
    load(space.views[1].ctypes.data, address, base, given, written, trans, clears, rows, scratch)


def build_store(inst: Instruction, env: Env) -> Op:
    count, trans = int(inst.op.types[0]), bool(unpack(inst.mods, "trans"))
    site = make_matrix_site(inst, env, "write")

    def op(lanes: Lanes) -> None:
        from gpuprof.emulate.matrices.matrix_rows import store

        for space, touched in resolve(lanes, site):
            rows, scratch = register_rows(lanes, inst.b, count), np.zeros(2 * WARP, np.uint32)
            masks, base = np.ascontiguousarray(lanes.masks), np.zeros(len(lanes.masks), np.int64)
            memory = space.views[1].ctypes.data
            store(memory, touched.flat, base, pack_masks(touched.active), masks, trans, rows, scratch)

    return op


def build_transpose(inst: Instruction, env: Env) -> Op:
    (kd, d), (ka, a) = destination(inst, U32), source(inst, "a", U32, env.pool)

    def op(lanes: Lanes) -> None:
        row = lanes.of_active(np.broadcast_to(lanes.v[ka][a], lanes.n)).reshape(-1, WARP)
        lanes.v[kd][d][:] = transposed(row).reshape(-1)

    return op


SEMANTICS = {"load_matrix": build_load, "store_matrix": build_store, "transpose_matrix": build_transpose}
