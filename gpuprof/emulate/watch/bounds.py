"""Checks that the lanes of an access may access their bytes, by the spaces themselves, like `memory.access`."""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.watch.watched_accesses import Access, lanes_of
from gpuprof.jit.cached import cached_njit

READS = ("load",)


class Wrong(NamedTuple):
    """Lanes that must not: bool (n, 32) each, and none of them in two. `read_only`: would write kernel parameters."""

    misaligned: np.ndarray
    outside: np.ndarray
    null: np.ndarray
    freed: np.ndarray
    read_only: np.ndarray


@cached_njit
def extent(addresses, masks):
    """Gives the lowest and the highest address, int64 (n, 32), of lanes in masks, uint32 (n,), and all bits that are
    set in one of these. The first is larger than the second if there is no lane.
    """
    low, high, bits = np.int64(0x7FFFFFFFFFFFFFFF), np.int64(-0x8000000000000000), np.int64(0)
    for row in range(len(masks)):
        for lane in range(32):
            if masks[row] >> np.uint32(lane) & np.uint32(1):
                address = addresses[row, lane]
                low, high, bits = min(low, address), max(high, address), bits | address
    return low, high, bits


def wrong_lanes(lanes: Lanes, access: Access) -> Wrong | None:
    """None where all may, which is quickly found out."""
    low, last, bits = extent(access.addresses, access.masks)
    if low > last:
        return None
    space, nbytes = lanes.chunk.spaces[access.space], access.nbytes
    read_only = access.space == "param" and access.operation not in READS
    if not bits & (nbytes - 1) and not read_only and space.holds(low, last + nbytes):
        return None
    where = lanes_of(access.masks)
    used = access.addresses[where]
    sizes = nbytes if access.sizes is None else access.sizes[where]
    misaligned = used & (nbytes - 1) != 0
    outside = ~space.inside(lanes, used, sizes) & ~misaligned
    if not (misaligned.any() or outside.any() or read_only):
        return None
    null = freed = np.zeros(len(used), np.bool_)
    if access.space == "global":
        null = outside & space.memory.are_null(used)
        freed = outside & ~null
        freed[freed] = space.memory.were_freed(used[freed])
    lanes_by_kind = misaligned, outside & ~null & ~freed, null, freed, read_only & ~misaligned & ~outside
    return Wrong(*(_placed(where, lanes) for lanes in lanes_by_kind))


def _placed(where: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """bool (n, 32), of the values of those in `where`."""
    placed = np.zeros(where.shape, np.bool_)
    placed[where] = lanes
    return placed
