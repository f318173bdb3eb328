"""ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16-bit elements between shared memory and the registers of a warp.

Lane 8 * i + j has the address of row j of matrix i. Of a matrix in registers, lane 4 * r + p has elements 2 p and 2 p +
1 of row r;
.trans exchanges rows and columns on the way.
"""

import numpy as np

from gpuprof.emulate.core.lanes import WARP, Lanes, unpack_masks
from gpuprof.emulate.core.operands import U32, destination, source
from gpuprof.emulate.core.operation import Env, Op
from gpuprof.emulate.memory.access import Site, make_site
from gpuprof.emulate.memory.load_store import resolve
from gpuprof.isa.encoding import PT, RZ, Instruction
from gpuprof.isa.modifiers import unpack


def transposed(words: np.ndarray) -> np.ndarray:
    """Words (..., 32) of a matrix in registers, with its rows and columns exchanged."""
    elements = np.ascontiguousarray(words).view(np.uint16).reshape(*words.shape[:-1], 8, 8)
    return np.ascontiguousarray(elements.swapaxes(-1, -2)).reshape(*words.shape[:-1], 64).view(np.uint32)


def make_matrix_site(inst: Instruction, env: Env, verb: str) -> Site:
    """The access of the lanes that give addresses: 8 for each matrix."""
    site = make_site(inst, env, verb)
    givers = np.uint32((1 << 8 * int(inst.op.types[0])) - 1)
    guard = site.guard

    def giving(group: Lanes) -> np.ndarray:
        lanes = unpack_masks(group.masks & givers)
        return lanes if guard is None else lanes & guard(group)

    return site._replace(guard=giving)


def warps_of(active: np.ndarray) -> np.ndarray:
    """bool (warps,): those with a lane that gives an address."""
    return active.reshape(-1, WARP).any(axis=1)


def row_words(flat: np.ndarray, count: int) -> np.ndarray:
    """Index of each 4-byte word of the matrices' rows: int64 (warps, count, 32), as lanes have them."""
    rows = flat.reshape(-1, WARP)[:, : 8 * count].reshape(-1, count, 8, 1) >> 2
    return (rows + np.arange(4)).reshape(len(rows), count, WARP)


def given_rows(active: np.ndarray, count: int) -> np.ndarray:
    """bool (warps, count, 32): words of rows with an address, as `row_words` has them."""
    return np.repeat(active.reshape(-1, WARP)[:, : 8 * count].reshape(-1, count, 8), 4, axis=2)


def clear_warps(group: Lanes, first: int, count: int) -> None:
    """Registers are 0 in warps with a lane whose address the listener has refused."""
    lanes = np.repeat(warps_of(group.chunk.executing.refused), WARP)
    for row in range(first, first + count):
        group.v[U32][row][lanes] = 0


def build_load(inst: Instruction, env: Env) -> Op:
    count, trans = int(inst.op.types[0]), unpack(inst.mods, "trans")
    site = make_matrix_site(inst, env, "read")

    def op(group: Lanes) -> None:
        parts = resolve(group, site)
        if env.refuses and inst.dst != RZ:
            clear_warps(group, inst.dst, count)
        masked = inst.guard != PT or len(parts) > 1
        for space, touched in parts:
            words = space.views[4].take(row_words(np.where(touched.active, touched.flat, 0), count), mode="clip")
            words = np.where(given_rows(touched.active, count), words, 0) if env.refuses else words
            words = transposed(words) if trans else words
            lanes = np.repeat(warps_of(touched.active), WARP) if masked else True
            for i in range(count if inst.dst != RZ else 0):
                np.copyto(group.v[U32][inst.dst + i], words[:, i].reshape(-1), where=lanes)

    return op


def build_store(inst: Instruction, env: Env) -> Op:
    count, trans = int(inst.op.types[0]), unpack(inst.mods, "trans")
    site = make_matrix_site(inst, env, "write")

    def op(lanes: Lanes) -> None:
        for space, touched in resolve(lanes, site):
            warps = warps_of(touched.active)
            index = row_words(touched.flat, count)[warps]
            given = given_rows(touched.active, count)[warps]
            for i in range(count):
                row = np.zeros(lanes.n, np.uint32) if inst.b == RZ else lanes.of_active(lanes.v[U32][inst.b + i])
                words = row.reshape(-1, WARP)[warps]
                words = transposed(words) if trans else words
                space.views[4][index[:, i][given[:, i]]] = words[given[:, i]]

    return op


def build_transpose(inst: Instruction, env: Env) -> Op:
    (kd, d), (ka, a) = destination(inst, U32), source(inst, "a", U32, env.pool)

    def op(lanes: Lanes) -> None:
        row = lanes.of_active(np.broadcast_to(lanes.v[ka][a], lanes.n)).reshape(-1, WARP)
        lanes.v[kd][d][:] = transposed(row).reshape(-1)

    return op


SEMANTICS = {"load_matrix": build_load, "store_matrix": build_store, "transpose_matrix": build_transpose}
