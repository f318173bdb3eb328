"""Loads and stores that are not observed: no trace, no counts. All lanes are checked and moved in one pass, and noted
in the footprint, if there is one.

All other cases (several state spaces or allocations, other blocks' shared memory, a fault) are left to `load_store`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.lanes import Lanes, pack_masks
from gpuprof.emulate.core.operands import U32, U64, Ref, source
from gpuprof.emulate.core.operation import Env
from gpuprof.emulate.memory.access import Site
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import unpack


class Address(NamedTuple):
    """`read`: lanes -> int64 (n,), to which `offset` is added, and `wrap` says which bits of the sum count."""

    read: Callable[[Lanes], np.ndarray]
    offset: int
    wrap: int


def address_of(inst: Instruction, env: Env) -> Address:
    """Source a plus the signed offset, as `access.address_reader` has it."""
    wide = unpack(inst.mods, "addr64")
    ref = source(inst, "a", U64 if wide else U32, env.pool)

    def read(lanes: Lanes) -> np.ndarray:
        row = lanes.wide(ref)
        return row.view(np.int64) if wide else row.astype(np.int64)

    return Address(read, inst.offset, -1 if wide else 0xFFFFFFFF)


def space_of(lanes: Lanes, site: Site):
    """The instruction's space, for a generic address the most frequent one; None where accesses are observed."""
    chunk = lanes.chunk
    space = chunk.spaces["global" if site.space == "generic" else site.space]
    return None if chunk.log.is_wanted or chunk.tally.is_wanted else space


def moved(
    move, lanes: Lanes, site: Site, space, address: Address, view: np.ndarray, shift: int, rows: list[Ref]
) -> bool:
    """Moves one element of an access after the other by `rows.load` or `rows.store`. False when it could not be done
    here.
    """
    masks = lanes.masks if site.guard is None else pack_masks(site.guard(lanes))
    layout, starts, ends = space.layout
    at = address.read(lanes)
    if len(rows) > 1:  # the first element may be loaded over the address
        at = at.copy()
    return all(
        move(
            view, at, address.offset, address.wrap, masks, lanes.warps, layout, starts, ends, space.marks, site.nbytes,
            shift, k, lanes.wide(ref),
        )
        for k, ref in enumerate(rows)
    )  # fmt: skip
