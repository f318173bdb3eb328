"""The state spaces as flat arrays of bytes: the position of a lane's address in them, and their contents.

Each has `views` (typed views of the bytes, by element size), `flat(x, address)` (byte index of each lane's address),
`traced(x, address)` (the addresses that caches see), `inside(x, address, nbytes)` (bool per lane),
`nbytes_from(address)` (to the end of what is there), `describe(address)`, `footprint` (records accesses; None for no
recording) with its `marks`, `on_chip` (ranges of which caches see nothing) and `layout` (where plain accesses go).
All addresses are int64 rows of x.n elements.
"""

from typing import Any, NamedTuple

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE, AddressSpace
from gpuprof.emulate.core.lanes import WARP, Lanes, unpack_masks
from gpuprof.emulate.core.marks import NO_MARKS
from gpuprof.isa.families.cluster import OFFSET_MASK, RANK_SHIFT

LOCAL_TRACE_BASE = 1 << 45  # sectors from 1 << 40 on
CONST_TRACE_BASE = 1 << 46
SYSTEM_NBYTES = (
    # that the system keeps of a block's shared memory from sm_80 on (CUDA C++ programming guide; chips'
    # shared_reserved_nbytes)
    1024
)


class Layout(NamedTuple):
    """The bytes of plain accesses: `address - origin + warp // group * stride + lane * lane_stride`, of addresses in
    one of the ranges [start, end).

    place: int64 (4,): origin, group, stride, lane_stride; starts, ends: int64, ascending. Warps are numbered in the
    chunk.
    """

    place: tuple[int, int, int, int]
    starts: np.ndarray
    ends: np.ndarray


ZERO = np.zeros(1, np.int64)
NO_RANGES = np.zeros((0, 2), np.int64)


def typed_views(data: np.ndarray) -> dict[int, np.ndarray]:
    return {1: data, 2: data.view(np.uint16), 4: data.view(np.uint32), 8: data.view(np.uint64)}


def padded(nbytes: int, to: int = 16) -> int:
    return -(-nbytes // to) * to


class GlobalSpace:
    has_sectors = True

    def __init__(self, memory: AddressSpace, footprint: Any = None):
        """`footprint`: an emulate.watch.footprint.Footprint, which records accesses; None for no recording."""
        self.memory, self.footprint = memory, footprint
        self.refresh()

    def note_in(self, footprint: Any) -> None:
        """From here on accesses are recorded in another footprint; None: in none."""
        self.footprint = footprint
        self.refresh()

    def refresh(self) -> None:
        """Takes the arena and the allocations as they are now."""
        self.views = self.memory.views
        self.starts, self.ends, self.on_chip = self.memory.starts, self.memory.ends, self.memory.on_chip
        self.layout = Layout((GLOBAL_BASE, 1, 0, 0), self.starts, self.ends)
        self.marks = NO_MARKS
        if self.footprint is not None:  # not the whole arena: a program's may be 80 GiB
            self.footprint.cover(int(self.ends[-1]) - GLOBAL_BASE if len(self.ends) else 0)
            self.marks = self.footprint.marks

    def flat(self, lanes: Lanes, address: np.ndarray) -> np.ndarray:
        return address - GLOBAL_BASE

    def traced(self, lanes: Lanes, address: np.ndarray) -> np.ndarray:
        return address

    def pieces(self, nbytes: int) -> tuple[int, int]:
        return 1, 0

    def holds(self, low: int, high: int) -> bool:
        """True when one allocation holds [`low`, `high`)."""
        index = int(np.searchsorted(self.starts, low, "right")) - 1
        return index >= 0 and high <= self.ends[index]

    def inside(self, lanes: Lanes, address: np.ndarray, nbytes: int) -> np.ndarray:
        if not len(self.starts):
            return np.zeros(len(address), np.bool_)
        index = np.searchsorted(self.starts, address, "right") - 1
        # the sum may be too large for an int64
        return (index >= 0) & (address <= self.ends[np.maximum(index, 0)] - nbytes)

    def nbytes_from(self, address: int) -> int:
        """Bytes from the address to the end of its allocation."""
        index = int(np.searchsorted(self.starts, address, "right")) - 1
        return int(self.ends[index]) - address if index >= 0 else 0

    def describe(self, address: int) -> str:
        return self.memory.describe(address)


def system_shared(nbytes: int) -> range:
    """The system's part of the shared memory of a block with `nbytes` of its own. Programs find it through
    %reserved_smem_offset_*; a gap before it makes an access past the end of the block's own memory a fault.
    """
    start = padded(nbytes, SYSTEM_NBYTES) + SYSTEM_NBYTES
    return range(start, start + SYSTEM_NBYTES)


class BlockSpace:
    """Shared memory: `nbytes` for each block of the chunk, and the system's part for programs that ask where it is.

    An address may name another block of the cluster (see `cluster`).
    """

    has_sectors, footprint, marks, on_chip = False, None, NO_MARKS, NO_RANGES

    def __init__(self, n_blocks: int, nbytes: int, warps_per_block: int, cluster: int = 1, has_system: bool = False):
        self.nbytes = nbytes
        self.cluster = cluster
        self.system = system_shared(nbytes) if has_system else range(0)
        self.stride = padded(self.system.stop or nbytes)
        self.views = typed_views(np.zeros(max(self.stride * n_blocks, 16), np.uint8))
        self.warps_per_block = warps_per_block
        self.layout = Layout((0, warps_per_block, self.stride, 0), ZERO, np.array([nbytes], np.int64))

    def flat(self, lanes: Lanes, address: np.ndarray) -> np.ndarray:
        own = lanes.warps // self.warps_per_block
        if int(address.max(initial=0)) <= OFFSET_MASK:
            return (address.reshape(-1, WARP) + (own * self.stride)[:, None]).reshape(-1)
        return self.places(np.repeat(own, WARP), address)

    def places(self, own: np.ndarray, address: np.ndarray) -> np.ndarray:
        """Byte index of each address, seen from its own block of the chunk."""
        rank = address >> RANK_SHIFT
        block = np.where(rank > 0, own - own % self.cluster + np.minimum(rank, self.cluster) - 1, own)
        return block * self.stride + (address & OFFSET_MASK)

    def mark_remote(self, lanes: Lanes, address: np.ndarray, masks: np.ndarray, records: np.ndarray) -> None:
        """Writes to the records (ACCESS_DTYPE, one a warp that runs) how many of the lanes in `masks` access another
        block's memory.
        """
        if int(address.max(initial=0)) <= OFFSET_MASK:
            return
        rank = (address >> RANK_SHIFT).reshape(-1, WARP)
        own = lanes.warps // self.warps_per_block % self.cluster + 1
        remote = unpack_masks(masks).reshape(-1, WARP) & (rank > 0) & (rank != own[:, None])
        records["n_lookups"] = np.count_nonzero(remote, axis=1)[lanes.masks != 0]

    def traced(self, lanes: Lanes, address: np.ndarray) -> np.ndarray:
        return address

    def pieces(self, nbytes: int) -> tuple[int, int]:
        return 1, 0

    def holds(self, low: int, high: int) -> bool:
        return low >= 0 and high <= self.nbytes

    def inside(self, lanes: Lanes, address: np.ndarray, nbytes: int) -> np.ndarray:
        offset = address & OFFSET_MASK
        own = offset + nbytes <= self.nbytes
        if self.system:
            own |= (offset >= self.system.start) & (offset + nbytes <= self.system.stop)
        return (address >= 0) & (address >> RANK_SHIFT <= self.cluster) & own

    def nbytes_from(self, address: int) -> int:
        return self.nbytes - (address & OFFSET_MASK)

    def describe(self, address: int) -> str:
        return f"the block has {self.nbytes} bytes of shared memory"


class LaneSpace:
    """Local memory: `nbytes` for each lane, grown on demand up to `limit_nbytes`.

    Caches see it as the hardware lays it out: 4-byte words of a warp's lanes side by side.
    """

    has_sectors, footprint, marks, on_chip = True, None, NO_MARKS, NO_RANGES

    def __init__(self, n_lanes: int, nbytes: int, limit_nbytes: int, first_warp: int):
        self.n_lanes = n_lanes
        self.nbytes = nbytes
        self.limit_nbytes = limit_nbytes
        self.stride = padded(nbytes)
        self.views = typed_views(np.zeros(max(self.stride * n_lanes, 16), np.uint8))
        self.first_warp = first_warp

    @property
    def layout(self) -> Layout:
        return Layout((0, 1, WARP * self.stride, self.stride), ZERO, np.array([self.nbytes], np.int64))

    def grow(self, nbytes: int) -> None:
        old, stride = self.views[1][: self.stride * self.n_lanes].reshape(self.n_lanes, -1), self.stride
        self.nbytes, self.stride = nbytes, padded(nbytes)
        data = np.zeros((self.n_lanes, self.stride), np.uint8)
        data[:, :stride] = old
        self.views = typed_views(data.reshape(-1))

    def flat(self, lanes: Lanes, address: np.ndarray) -> np.ndarray:
        return lanes.lane_ids() * self.stride + address

    def traced(self, lanes: Lanes, address: np.ndarray) -> np.ndarray:
        warp = (lanes.warps.astype(np.int64) + self.first_warp) * (WARP * padded(self.limit_nbytes)) + LOCAL_TRACE_BASE
        words = (address >> 2 << 7) + (address & 3)
        return (words.reshape(-1, WARP) + (warp[:, None] + np.arange(0, 4 * WARP, 4))).reshape(-1)

    def pieces(self, nbytes: int) -> tuple[int, int]:
        return max(1, nbytes // 4), 4 * WARP

    def holds(self, low: int, high: int) -> bool:
        if self.nbytes < high <= self.limit_nbytes:
            self.grow(min(max(high, 2 * self.nbytes), self.limit_nbytes))
        return low >= 0 and high <= self.nbytes

    def inside(self, lanes: Lanes, address: np.ndarray, nbytes: int) -> np.ndarray:
        return (address >= 0) & (address <= self.nbytes - nbytes)

    def nbytes_from(self, address: int) -> int:
        return self.nbytes - address

    def describe(self, address: int) -> str:
        return f"the thread has {self.limit_nbytes} bytes of local memory"


class ReadOnlySpace:
    """The constant segment, and the parameter block: one copy for all."""

    footprint, marks, on_chip = None, NO_MARKS, NO_RANGES

    def __init__(self, data: bytes, name: str, has_sectors: bool):
        self.nbytes = len(data)
        self.views = typed_views(np.frombuffer(data.ljust(padded(len(data)) or 16, b"\0"), np.uint8).copy())
        self.name = name
        self.has_sectors = has_sectors
        self.layout = Layout((0, 1, 0, 0), ZERO, np.array([self.nbytes], np.int64))

    def flat(self, lanes: Lanes, address: np.ndarray) -> np.ndarray:
        return address

    def traced(self, lanes: Lanes, address: np.ndarray) -> np.ndarray:
        return address + CONST_TRACE_BASE

    def pieces(self, nbytes: int) -> tuple[int, int]:
        return 1, 0

    def holds(self, low: int, high: int) -> bool:
        return low >= 0 and high <= self.nbytes

    def inside(self, lanes: Lanes, address: np.ndarray, nbytes: int) -> np.ndarray:
        return (address >= 0) & (address <= self.nbytes - nbytes)

    def nbytes_from(self, address: int) -> int:
        return self.nbytes - address

    def describe(self, address: int) -> str:
        return f"the {self.name} has {self.nbytes} bytes"
