"""The addresses that a memory instruction is about to access, from its registers, by the instruction's kind.

Instructions that are not here access memory that only their execution finds: see `watched_ranges`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_NBYTES
from gpuprof.emulate.core.lanes import WARP, Lanes, pack_masks, unpack_masks
from gpuprof.emulate.core.operands import U32, source
from gpuprof.emulate.core.operation import Env, full_row
from gpuprof.emulate.memory.access import address_reader
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.kinds import KINDS

MBARRIER_NBYTES = 8
MATRIX_ROWS = 8  # of a matrix: each has a lane that gives its address
MATRIX_ROW_NBYTES = 16
WINDOWS = (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("param", PARAM_WINDOW))


class Access(NamedTuple):
    """An access of n warps to one state space. addresses: int64 (n, 32), bytes from the start of the block's shared
    memory, of the thread's local memory, or of the space; they mean nothing for lanes outside of `masks`, uint32 (n,).
    `sizes`: int64 (n, 32), bytes of each lane where they are not all `nbytes`.
    """

    space: str
    operation: str
    nbytes: int
    masks: np.ndarray
    addresses: np.ndarray
    sizes: np.ndarray | None = None


Reader = Callable[[Lanes, np.ndarray], tuple[Access, ...]]  # given the lanes and the mask of those that take part


def accesses_reader(inst: Instruction, env: Env) -> Reader | None:
    """None for an instruction that accesses no memory, or whose addresses its registers do not say."""
    make = READERS.get(inst.op.kind)
    return make(inst, env) if make else None


def _plain(inst: Instruction, env: Env) -> Reader:
    address, space = address_reader(inst, env), inst.op.space
    operation, nbytes = KINDS[inst.op.kind].operation, inst.op.nbytes
    if space == "generic":
        return lambda lanes, masks: _by_window(address(lanes), operation, nbytes, masks)
    return lambda lanes, masks: (Access(space, operation, nbytes, masks, address(lanes).reshape(-1, WARP)),)


def _by_window(address: np.ndarray, operation: str, nbytes: int, masks: np.ndarray) -> tuple[Access, ...]:
    """Generic addresses: an access for each space that some lane's address lies in."""
    rest, accesses = masks, []
    for space, base in WINDOWS:
        inside = pack_masks((address >= base) & (address < base + WINDOW_NBYTES)) & rest
        if inside.any():
            accesses.append(Access(space, operation, nbytes, inside, (address - base).reshape(-1, WARP)))
            rest = rest & ~inside
    if rest.any() or not accesses:
        accesses.insert(0, Access("global", operation, nbytes, rest, address.reshape(-1, WARP)))
    return tuple(accesses)


def _copy(inst: Instruction, env: Env) -> Reader:
    """cp.async: a load from global memory of the bytes that are taken, and a store to shared memory of all of them."""
    address, nbytes = address_reader(inst, env), inst.op.nbytes
    to = source(inst, "b", U32, env.pool)
    taken = source(inst, "c", U32, env.pool) if inst.op.c else None

    def read(lanes: Lanes, masks: np.ndarray) -> tuple[Access, ...]:
        target = full_row(lanes, lanes.row(to)).astype(np.int64).reshape(-1, WARP)
        origin, sizes, loading = address(lanes).reshape(-1, WARP), None, masks
        if taken is not None:
            sizes = np.minimum(full_row(lanes, lanes.row(taken)), nbytes).astype(np.int64)
            loading, sizes = masks & pack_masks(sizes > 0), sizes.reshape(-1, WARP)
        return (
            Access("global", "load", nbytes, loading, origin, sizes),
            Access("shared", "store", nbytes, masks, target),
        )

    return read


def _matrix(inst: Instruction, env: Env) -> Reader:
    """ldmatrix and stmatrix: the rows of the matrices, by the lanes that give their addresses."""
    read, givers = _plain(inst, env), np.uint32((1 << MATRIX_ROWS * int(inst.op.types[0])) - 1)

    def rows(lanes: Lanes, masks: np.ndarray) -> tuple[Access, ...]:
        return tuple(access._replace(nbytes=MATRIX_ROW_NBYTES) for access in read(lanes, masks & givers))

    return rows


def _mbarrier(inst: Instruction, env: Env) -> Reader:
    """An object in shared memory, whose address may be generic."""
    read = _plain(inst, env)

    def place(lanes: Lanes, masks: np.ndarray) -> tuple[Access, ...]:
        (access,) = read(lanes, masks)
        generic = (access.addresses >= SHARED_WINDOW) & (access.addresses < SHARED_WINDOW + WINDOW_NBYTES)
        return (access._replace(addresses=access.addresses - generic * SHARED_WINDOW),)

    return place


def _wait(inst: Instruction, env: Env) -> Reader:
    """A wait at an object in shared memory: its row's space is another."""
    read = _mbarrier(inst, env)

    def place(lanes: Lanes, masks: np.ndarray) -> tuple[Access, ...]:
        (access,) = read(lanes, masks)
        return (access._replace(space="shared", operation="load", nbytes=MBARRIER_NBYTES),)

    return place


READERS: dict[str, Callable[[Instruction, Env], Reader]] = {
    "load": _plain,
    "store": _plain,
    "atomic": _plain,
    "reduction": _plain,
    "copy": _copy,
    "mbarrier": _mbarrier,
    "mbarrier_wait": _wait,
    "matrix_load": _matrix,
    "matrix_store": _matrix,
}


def of_warps(access: Access, rows: np.ndarray) -> Access:
    """The access of some of the warps."""
    sizes = None if access.sizes is None else access.sizes[rows]
    return access._replace(masks=access.masks[rows], addresses=access.addresses[rows], sizes=sizes)


def lanes_of(masks: np.ndarray) -> np.ndarray:
    """bool (n, 32) of masks uint32 (n,)."""
    return unpack_masks(masks).reshape(-1, WARP)
