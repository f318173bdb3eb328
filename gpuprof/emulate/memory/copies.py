"""cp.async: copies from global to shared memory. They are done at once: only timing knows of their groups, and of
waiting.
"""

import numpy as np

from gpuprof.emulate.core.faults import fault_of_element, first_active
from gpuprof.emulate.core.lanes import Lanes, pack_masks
from gpuprof.emulate.core.operands import U32, source
from gpuprof.emulate.core.operation import Env, Op, full_row
from gpuprof.emulate.core.spaces import NO_RANGES
from gpuprof.emulate.memory.access import Site, check, make_site, touch
from gpuprof.emulate.memory.access_records import NONE, records_of
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE
from gpuprof.isa.encoding import Instruction

WORD = 4  # bytes that are moved at once where lanes take all or nothing


def build_copy(inst: Instruction, env: Env) -> Op:
    """The access that is traced and counted is the one to global memory, of the lanes that take any bytes."""
    site = make_site(inst, env, "read")
    writing = site._replace(space="shared", verb="write")
    nbytes = inst.op.nbytes
    kind, to = source(inst, "b", U32, env.pool)
    taken = source(inst, "c", U32, env.pool) if inst.op.c else None

    def op(lanes: Lanes) -> None:
        active = lanes.active if site.guard is None else site.guard(lanes)
        target = full_row(lanes, lanes.v[kind][to]).astype(np.int64)
        sizes = None
        if taken is not None:
            sizes = np.minimum(full_row(lanes, lanes.row(taken)), nbytes).astype(np.int64)
            if ((sizes == nbytes) if active is None else (sizes == nbytes) | ~active).all():
                sizes = None
        if sizes is None:
            copy_full_width(lanes, site, writing, target, active)
        else:
            copy_parts(lanes, site, writing, target, np.ones(lanes.n, np.bool_) if active is None else active, sizes)

    return op


def copy_full_width(lanes: Lanes, site: Site, writing: Site, target: np.ndarray, active: np.ndarray | None) -> None:
    """All active lanes take all their bytes: whole words."""
    space, shared = lanes.chunk.spaces["global"], lanes.chunk.spaces["shared"]
    touched = touch(lanes, site, space, site.address(lanes), active)
    if active is not None and not active.any():
        return
    check(lanes, writing, shared, target, active, None, False)
    note_banks(lanes, writing, target, lanes.masks if active is None else pack_masks(active))
    width = min(site.nbytes, 8)
    origin, destination = touched.flat // width, shared.flat(lanes, target) // width
    if active is not None:
        origin, destination = origin[active], destination[active]
    for k in range(site.nbytes // width):
        shared.views[width][destination + k] = space.views[width][origin + k]


def copy_parts(
    lanes: Lanes, site: Site, writing: Site, target: np.ndarray, where: np.ndarray, sizes: np.ndarray
) -> None:
    """Some lanes take less: words where they take all or nothing, else bytes; zeros follow."""
    nbytes = site.nbytes
    width = WORD if ((sizes == nbytes) | (sizes == 0) | ~where).all() else 1
    data = read(lanes, site, site.address(lanes), where & (sizes > 0), sizes, width)
    offsets = np.arange(0, nbytes, width)
    data[offsets >= sizes[:, None]] = 0
    if not where.any():
        return
    shared = lanes.chunk.spaces["shared"]
    check(lanes, writing, shared, target, where, None, False)
    note_banks(lanes, writing, target, pack_masks(where))
    flat = shared.flat(lanes, target)[where]
    shared.views[width][(flat[:, None] + offsets) // width] = data[where]


def note_banks(lanes: Lanes, writing: Site, target: np.ndarray, masks: np.ndarray) -> None:
    """Counts the passes through the banks of shared memory, and adds them to the access's records, as `conflicts`."""
    from gpuprof.emulate.trace_log.coalesce import Totals, inspect

    passes = np.empty(len(masks), np.uint64)
    totals = Totals(
        *inspect(target, lanes.masks, masks, writing.nbytes, 1, 0, False, False, True, NO_RANGES, passes, NONE)
    )
    records_of(lanes)["conflicts"] = passes[: totals.n_accesses].view(ACCESS_DTYPE)["wavefronts"]
    lanes.chunk.count_access(writing, lanes.chunk.spaces["shared"], totals)
    lanes.chunk.count_pattern(writing, lanes.chunk.spaces["shared"], target, masks)


def read(lanes: Lanes, site: Site, address: np.ndarray, where: np.ndarray, sizes: np.ndarray, width: int) -> np.ndarray:
    """(n, nbytes / width) elements of `width` bytes: what the lanes of `where` take from global memory, undefined past
    their sizes.

    Raises KernelFault.
    """
    space = lanes.chunk.spaces["global"]
    part = where & (sizes < site.nbytes)
    if part.any():  # what is past the size need not be there
        outside = part & ~(space.inside(lanes, address, sizes) & (address % site.nbytes == 0))
        if outside.any():
            element = first_active(lanes, outside)
            value = int(address[element])
            what = "misaligned" if value % site.nbytes else "out of bounds"
            text = (
                f"{what} read of {int(sizes[element])} bytes in global memory at 0x{value:x}; {space.describe(value)}"
            )
            raise fault_of_element(lanes, site.at, element, text, "alignment" if value % site.nbytes else "address")
    flat = touch(lanes, site, space, address, where, unchecked=part).flat
    if space.footprint is not None:
        space.footprint.read(address[where], sizes[where])
    return space.views[width].take((flat[:, None] + np.arange(0, site.nbytes, width)) // width, mode="clip")


def build_nothing(inst: Instruction, env: Env) -> Op:
    return lambda x: None


SEMANTICS = {"copy_async": build_copy, "copy_commit": build_nothing, "copy_wait": build_nothing}
