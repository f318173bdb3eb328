"""The positions of accessed bytes in shadows: those of shared memory by running block, those of local memory like in
the hardware, with the words of a warp's lanes side by side.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.isa.families.cluster import OFFSET_MASK, RANK_SHIFT
from gpuprof.trace.checkers.shadow_bits.memory_bits import (
    DEFINED,
    IS_DEFINED,
    PAGE_NBYTES,
    PAGE_SHIFT,
    UNDEFINED,
    MemoryShadow,
    TypedShadow,
    bounds,
    through_shared,
)
from gpuprof.trace.event import WARP, Access, TraceEvent, packed, unpacked
from gpuprof.trace.kernel import Kernel

WORD_NBYTES = 4
MOST_LOCAL_NBYTES = 1 << 20  # of a thread: more than on any GPU


class Piece(NamedTuple):
    """A part of an access of n warps: bytes `first` to `first` + `nbytes` of each lane's access, at addresses of a
    shadow, int64 (n, 32), of the lanes in `masks`, uint32 (n,).
    """

    shadow: "TypedShadow | BlockShadow"
    addresses: np.ndarray
    masks: np.ndarray
    first: int
    nbytes: int


class ShadowRange(NamedTuple):
    """Bytes of memory that lane `lane` of the event's warp `row` touches, in a shadow."""

    row: int
    lane: int
    space: str
    operation: str
    shadow: "TypedShadow | BlockShadow"
    address: int
    nbytes: int


class OwnedShadow(MemoryShadow):
    """Memory of which each running block, or each of its warps, has `stride` bytes. Its state is `outside` when they
    begin.
    """

    def __init__(self, nbytes: int, outside: int):
        super().__init__(outside)
        self.stride, self._n_owners = -(-nbytes // PAGE_NBYTES) * PAGE_NBYTES, 0

    def begin(self, n_owners: int) -> None:
        """Makes room for `n_owners`."""
        if n_owners > self._n_owners and self.stride:
            self._n_owners = max(n_owners, 2 * self._n_owners)
            self._reach(0, self._n_owners * self.stride)

    def end(self, owners: np.ndarray) -> None:
        """Clears the memory of owners that have ended, int64 (n,)."""
        if not self._n_owners or not len(owners):
            return
        states = self._states[: self._n_owners * self.stride >> PAGE_SHIFT].reshape(self._n_owners, -1)
        used = states[owners]
        self._free += used[used >= 0].tolist()
        states[owners] = self._outside

    def widen(self, nbytes: int) -> None:
        """Increases the bytes of each owner to at least `nbytes`."""
        if nbytes <= self.stride:
            return
        old, self.stride = self.stride >> PAGE_SHIFT, -(-max(nbytes, 2 * self.stride) // PAGE_NBYTES) * PAGE_NBYTES
        if self._n_owners:
            states = np.full((self._n_owners, self.stride >> PAGE_SHIFT), self._outside, np.int32)
            if old:
                states[:, :old] = self._states[: self._n_owners * old].reshape(self._n_owners, old)
            self._base, self._states = 0, states.reshape(-1)


class BlockShadow(OwnedShadow):
    """A shadow that is undefined when its owners begin. `padding`: as in TypedShadow."""

    def __init__(self, nbytes: int):
        super().__init__(nbytes, UNDEFINED)
        self.padding = OwnedShadow(nbytes, DEFINED)

    def begin(self, n_owners: int) -> None:
        super().begin(n_owners)
        self.padding.begin(n_owners)

    def end(self, owners: np.ndarray) -> None:
        super().end(owners)
        self.padding.end(owners)

    def widen(self, nbytes: int) -> None:
        super().widen(nbytes)
        self.padding.widen(nbytes)

    def is_clean_of(self, access: Access, blocks: np.ndarray, slots: np.ndarray) -> bool:
        """True if a quick check shows that all accessed bytes are defined. `blocks`: int64 (n,), of its warps; `slots`:
        as in `memory_bits.through_shared`.
        """
        return self._quickly(access, blocks, slots, False)

    def define_of(self, access: Access, blocks: np.ndarray, slots: np.ndarray) -> bool:
        """Marks accessed bytes as defined; true if that could be done quickly: each owner has its pages, and accesses
        only its own.
        """
        return self._quickly(access, blocks, slots, True)

    def _quickly(self, access: Access, blocks: np.ndarray, slots: np.ndarray, defines: bool) -> bool:
        result = through_shared(
            self._states, self._bytes, self._n_undefined, slots, blocks, self.stride, access.addresses, access.masks,
            access.nbytes, defines,
        )  # fmt: skip
        return result == IS_DEFINED


def read(pieces: list[Piece], nbytes: int) -> np.ndarray | None:
    """uint8 (n, 32, nbytes): undefined bits of accessed bytes; None if all are defined."""
    unclean = [each for each in pieces if not each.shadow.is_clean(each.addresses, each.masks, each.nbytes)]
    if not unclean:
        return None
    if len(pieces) == 1:
        return pieces[0].shadow.read(pieces[0].addresses, pieces[0].masks, nbytes)
    bits = np.zeros((*pieces[0].addresses.shape, nbytes), np.uint8)
    for each in unclean:
        bits[:, :, each.first : each.first + each.nbytes] = each.shadow.read(each.addresses, each.masks, each.nbytes)
    return bits


def define(pieces: list[Piece]) -> None:
    for each in pieces:
        each.shadow.define_lanes(each.addresses, each.masks, each.nbytes)


def write(pieces: list[Piece], undefined: np.ndarray) -> None:
    """Sets the undefined bits of written bytes: uint8 (n, 32, nbytes)."""
    for each in pieces:
        part = np.ascontiguousarray(undefined[:, :, each.first : each.first + each.nbytes])
        each.shadow.write(each.addresses, each.masks, part)


def read_padding(pieces: list[Piece], nbytes: int) -> np.ndarray | None:
    """uint8 (n, 32, nbytes): bits that are known to be padding; None for none."""
    if all(each.shadow.padding.is_defined for each in pieces):
        return None
    return read([each._replace(shadow=each.shadow.padding) for each in pieces], nbytes)


def write_padding(pieces: list[Piece], padding: np.ndarray) -> None:
    """Marks these bits as padding, uint8 (n, 32, nbytes), and no others."""
    if padding.any() or not all(each.shadow.padding.is_defined for each in pieces):
        write([each._replace(shadow=each.shadow.padding) for each in pieces], padding)


def narrowed(masks: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """uint32 (n,): lanes of masks that are also in `inside`, bool (n, 32). Accesses out of bounds are left to
    memcheck.
    """
    if inside.all():
        return masks
    return masks & packed(inside)


def local_pieces(shadow: BlockShadow, access: Access, owners: np.ndarray) -> Iterator[Piece]:
    """The pieces of an access to local memory. `owners`: int64 (n,), warps of running blocks."""
    addresses, nbytes = access.addresses, access.nbytes
    masks = narrowed(access.masks, (addresses >= 0) & (addresses <= MOST_LOCAL_NBYTES - nbytes))
    base = (owners * shadow.stride)[:, None] + np.arange(0, WARP * WORD_NBYTES, WORD_NBYTES)
    for first in range(0, nbytes, WORD_NBYTES):
        word_addresses = addresses + first
        words = (word_addresses >> 2 << 7) + (word_addresses & 3)
        yield Piece(shadow, base + words, masks, first, min(nbytes, WORD_NBYTES))


class Spaces:
    """The shadows of a launch's memory. Constants and parameters are defined, and have none."""

    def __init__(
        self, kernel: Kernel, shadow: TypedShadow, slots: Callable[[np.ndarray], np.ndarray], numbers: np.ndarray
    ):
        """`shadow`: of global memory; `slots`: gives those of running blocks; `numbers`: these plus one, by block, 0
        for none.
        """
        self._kernel, self._global, self._slots, self._numbers = kernel, shadow, slots, numbers
        self._shared, self._local = BlockShadow(kernel.shared_nbytes), BlockShadow(0)
        self._warps, self._n_slots = kernel.warps_per_block, 0
        ends = [(each.address, each.address + each.nbytes) for each in kernel.allocations]
        self._low, self._high = min((low for low, _ in ends), default=0), max((high for _, high in ends), default=0)

    def begin(self, n_slots: int) -> None:
        self._n_slots = n_slots
        self._shared.begin(n_slots)
        self._local.begin(n_slots * self._warps)

    def end(self, slots: list[int]) -> None:
        ended = np.array(slots, np.int64)
        self._shared.end(ended)
        self._local.end((ended[:, None] * self._warps + np.arange(self._warps)).reshape(-1))

    def is_clean(self, access: Access, blocks: np.ndarray) -> bool:
        """True if a quick check shows that the read bytes are defined. blocks: int64 (n,), of the access' warps."""
        return access.space == "shared" and self._shared.is_clean_of(access, blocks, self._numbers)

    def is_defined_now(self, access: Access, blocks: np.ndarray) -> bool:
        """Marks written bytes as defined, if that is quick; true if it was done."""
        return access.space == "shared" and self._shared.define_of(access, blocks, self._numbers)

    def pieces(self, access: Access, blocks: np.ndarray, warps: np.ndarray) -> list[Piece]:
        """The pieces of an access in its shadow. blocks, warps: int64 (n,), of the access' warps."""
        if access.space == "global":
            return [self.of_global(access.addresses, access.masks, access.nbytes)]
        if access.space == "shared":
            return [self.of_shared(access.addresses, access.masks, access.nbytes, blocks)]
        if access.space == "local":
            _, high = bounds(access.addresses, access.masks)
            if high + access.nbytes <= MOST_LOCAL_NBYTES:
                self._local.widen(WARP * (high + access.nbytes))
                self._local.begin(self._n_slots * self._warps)
            return list(local_pieces(self._local, access, self._slots(blocks) * self._warps + warps))
        return []

    def whole(self, access: Access) -> "tuple[TypedShadow | BlockShadow, int] | None":
        """The shadow of an access that is one piece, with all of its lanes, and the bytes from a slot of it to the
        next; None for any other.
        """
        first, last = bounds(access.addresses, access.masks)
        if access.space == "global":
            low, high = self._reach_of_global()
            return None if first < low or last + access.nbytes > high else (self._global, 0)
        if access.space == "shared" and first >= 0 and last + access.nbytes <= self._shared.stride:
            return self._shared, self._shared.stride
        return None

    def _reach_of_global(self) -> tuple[int, int]:
        """The addresses of all allocations, and of everything with a state, are in [first, second)."""
        low, high = self._global.reach
        return min(self._low, low), max(self._high, high)

    def of_global(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int) -> Piece:
        low, high = self._reach_of_global()
        first, last = bounds(addresses, masks)
        if first < low or last + nbytes > high:
            masks = narrowed(masks, (addresses >= low) & (addresses <= high - nbytes))
        return Piece(self._global, addresses, masks, 0, nbytes)

    def of_shared(self, addresses: np.ndarray, masks: np.ndarray, nbytes: int, blocks: np.ndarray) -> Piece:
        first, last = bounds(addresses, masks)
        if first >= 0 and last + nbytes <= self._shared.stride:
            base = self._slots(blocks) * self._shared.stride
            return Piece(self._shared, addresses + base[:, None], masks, 0, nbytes)
        offset, rank = addresses & OFFSET_MASK, addresses >> RANK_SHIFT
        masks = narrowed(masks, (addresses >= 0) & (offset + nbytes <= self._shared.stride))
        lanes = unpacked(masks)
        own, most = np.broadcast_to(blocks[:, None], addresses.shape), np.prod(self._kernel.cluster) - 1
        owners = np.where(rank > 0, self._kernel.block_of_rank(own, np.clip(rank - 1, 0, most)), own)
        slots = np.zeros(addresses.shape, np.int64)
        slots[lanes] = self._slots(owners[lanes])
        return Piece(self._shared, slots * self._shared.stride + offset, masks, 0, nbytes)

    def are_undefined(self, space: str, addresses: np.ndarray, nbytes: int, blocks: np.ndarray) -> np.ndarray:
        """bool (k,): true for a range of `nbytes` bytes with an undefined bit. addresses, blocks: int64 (k,)."""
        lanes = np.zeros((len(addresses), WARP), np.int64)
        lanes[:, 0] = addresses
        masks = np.ones(len(addresses), np.uint32)
        piece = (
            self.of_global(lanes, masks, nbytes) if space == "global" else self.of_shared(lanes, masks, nbytes, blocks)
        )
        bits = read([piece], nbytes)
        return np.zeros(len(addresses), np.bool_) if bits is None else bits[:, 0].any(axis=1)

    def touched_ranges(self, event: TraceEvent, operations: tuple[str, ...]) -> Iterator[ShadowRange]:
        """The ranges that an event touches, one after the other."""
        for ranges in event.ranges:
            if ranges.operation not in operations:
                continue
            for row, lane, address, nbytes in zip(*(each.tolist() for each in ranges[2:]), strict=True):
                block = np.array([event.block[row]])
                of_lanes = np.full((1, WARP), address, np.int64)
                one = np.ones(1, np.uint32)
                piece = (
                    self.of_global(of_lanes, one, nbytes)
                    if ranges.space == "global"
                    else self.of_shared(of_lanes, one, nbytes, block)
                )
                if piece.masks[0]:
                    at = int(piece.addresses[0, 0])
                    yield ShadowRange(row, lane, ranges.space, ranges.operation, piece.shadow, at, nbytes)

    def transfers(self, event: TraceEvent) -> Iterator[tuple[list[ShadowRange], list[ShadowRange]]]:
        """The sources and targets of each lane's copy."""
        by_lane: dict[tuple[int, int], list[ShadowRange]] = {}
        for each in self.touched_ranges(event, ("load", "store", "reduction")):
            by_lane.setdefault((each.row, each.lane), []).append(each)
        for ranges in by_lane.values():
            source = [each for each in ranges if each.operation == "load"]
            yield source, [each for each in ranges if each.operation != "load"]
