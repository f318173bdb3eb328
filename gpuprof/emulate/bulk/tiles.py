"""Copies and reductions of tensor tiles, whose places a tensor map says."""

from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.bulk import tensormap
from gpuprof.emulate.bulk.bulk_copies import NBYTES_OF, reduce_into
from gpuprof.emulate.bulk.transfer import Transfer, per_lane, targets
from gpuprof.emulate.collectives.services import find_bytes
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.families.cluster import OFFSET_MASK
from gpuprof.isa.modifiers import unpack, unpack_name
from gpuprof.isa.tensormap import NBYTES


def tensor_of(transfer: Transfer, inst: Instruction, element: int, address: int) -> tensormap.TensorMap | None:
    """The map at a generic address. Raises KernelFault when it is none or does not fit the instruction; None where that
    is refused.
    """
    if address % 64:
        text = f"the tensor map at 0x{address:x} is not aligned to 64 bytes"
        return transfer.refuse(element, "misaligned", "global", address, text)
    raw = find_bytes(transfer.x, transfer.site.at, element, address, NBYTES)
    if raw is None:
        return None
    try:
        tensor = tensormap.decode(raw)
    except tensormap.BadTensorMap as error:
        return transfer.refuse(element, "invalid_tensor_map", "global", address, str(error))
    rank, im2col = unpack(inst.mods, "dim"), bool(unpack(inst.mods, "im2col"))
    if tensor.rank != rank or tensor.im2col != im2col:
        have, want = (
            f"{r} dimensions, {'im2col' if i else 'tile'} mode"
            for r, i in ((tensor.rank, tensor.im2col), (rank, im2col))
        )
        text = f"the tensor map has {have}; the instruction is for {want}"
        return transfer.refuse(element, "invalid_tensor_map", "global", address, text)
    return tensor


def tile_of(transfer: Transfer, tensor, element: int, group: list[int], offsets: int) -> tensormap.Tile | None:
    """Raises KernelFault for a box that the map does not have; None where that is refused."""
    coordinates = coordinates_of(tensor, group)
    try:
        if tensor.im2col:
            tile = tensormap.columns(tensor, coordinates, tuple(offsets >> 16 * k & 0xFFFF for k in range(3)))
        else:
            tile = tensormap.tile(tensor, coordinates)
    except tensormap.BadTensorMap as error:
        return transfer.refuse(element, "invalid_tensor_map", "global", -1, str(error))
    tile = allocated(transfer, tensor, element, tile)
    transfer.touch_runs(element, tile.address[tile.inside], tensor.nbytes, transfer.site.verb)
    return tile


def allocated(transfer: Transfer, tensor: tensormap.TensorMap, element: int, tile: tensormap.Tile) -> tensormap.Tile:
    """The tile, of whose elements those that no allocation holds count as outside of the tensor. Raises KernelFault
    when there are some."""
    used, space = tile.address[tile.inside], transfer.spaces["global"]
    if not len(used):
        return tile
    lo, hi = int(used.min()), int(used.max()) + tensor.nbytes
    if space.holds(lo, hi):
        return tile
    held = space.inside(transfer.x, used, tensor.nbytes)
    wrong = hi if held.all() else int(used[~held].min())
    text = f"the tensor map reaches out of bounds of global memory, from 0x{lo:x} to 0x{hi:x}; {space.describe(wrong)}"
    transfer.refuse(element, "outside", "global", wrong, text)
    inside = tile.inside.copy()
    inside[inside] = held
    return tile._replace(inside=inside)


def load_rows(transfer: Transfer, tensor, element: int, group: list[int]) -> bool:
    """Loads a tile by its rows; False, and nothing is done, for what is not the rule: a tile in im2col mode, one whose
    rows overlap, or bytes that are in no allocation or no block.
    """
    from gpuprof.emulate.bulk.tile_rows import load

    shared_address, barrier, mask = group[:3]
    if tensor.im2col:
        return False
    rows = tensormap.rows(tensor, coordinates_of(tensor, group))
    starts, nbytes, memory = rows.address[rows.inside], rows.count * tensor.nbytes, transfer.spaces["global"]
    width = rows.width * tensor.nbytes
    tile_nbytes = width * len(rows.address)
    if len(starts):  # ascending, and all in one allocation
        is_held = memory.holds(int(starts[0]), int(starts[-1]) + nbytes)
        if not is_held or (np.diff(starts) < nbytes).any():
            return False
    places = targets(transfer, element, shared_address, mask)
    if not all(transfer.in_shared(place, tile_nbytes) for place in places):
        return False
    transfer.touch_runs(element, starts, nbytes, transfer.site.verb)
    fill = np.array([tensormap.NAN_BITS.get(tensor.kind, 0) if tensor.fill_nan else 0], f"u{tensor.nbytes}")
    for place, reported in zip(places, targets(transfer, element, barrier, mask), strict=True):
        transfer.count_shared(element, tile_nbytes)
        transfer.note("shared", "tensor write", element, place, tile_nbytes)
        load(
            memory.views[1],
            rows.address - GLOBAL_BASE,
            rows.inside,
            rows.before * tensor.nbytes,
            nbytes,
            width,
            fill.view(np.uint8),
            transfer.spaces["shared"].views[1],
            transfer.block_start(element, place),
            place & OFFSET_MASK,
            max(tensor.swizzle_nbytes // 16 - 1, 0),
        )
        transfer.report(element, reported, tile_nbytes)
    return True


def coordinates_of(tensor: tensormap.TensorMap, group: list[int]) -> tuple[int, ...]:
    return tuple(value - (1 << 32) if value >> 31 else value for value in group[3 : 3 + tensor.rank])


def global_index(tile: tensormap.Tile, nbytes: int) -> np.ndarray:
    """The indexes of the tile's elements that are inside the tensor, in elements of `nbytes` from the start of global
    memory.
    """
    return (tile.address[tile.inside] - GLOBAL_BASE) // nbytes


class SharedTile(NamedTuple):
    """A tile's elements in shared memory. `view`: all of the chunk's, in elements; `index`: of those that the block
    has; `inside` bool: which of the tile's these are.
    """

    view: np.ndarray
    index: np.ndarray
    inside: np.ndarray

    def read(self) -> np.ndarray:
        """The elements of the tile, 0 for those outside of the tensor."""
        values = np.zeros(len(self.inside), self.view.dtype)
        values[self.inside] = self.view[self.index]
        return values

    def write(self, values: np.ndarray) -> None:
        self.view[self.index] = values[self.inside]


def shared_tile(transfer: Transfer, tensor, element: int, address: int, count: int, verb: str) -> SharedTile:
    """The location of a tile's `count` elements in shared memory. Swizzling uses the address within the block. Raises
    KernelFault when the block does not have these bytes.
    """
    nbytes = count * tensor.nbytes
    offset = (address & OFFSET_MASK) + np.arange(count, dtype=np.int64) * tensor.nbytes
    offset = tensormap.swizzled(offset, tensor.swizzle_nbytes)
    transfer.count_shared(element, nbytes)
    inside = np.ones(count, np.bool_)
    if not transfer.in_shared(address, nbytes):
        transfer.leaves_shared(element, address, nbytes, verb)
        inside = transfer.are_in_shared(address, offset, tensor.nbytes)
    if inside.any():
        transfer.note("shared", verb, element, address, int(np.count_nonzero(inside)) * tensor.nbytes)
    index = (transfer.block_start(element, address) + offset[inside]) // tensor.nbytes
    return SharedTile(transfer.spaces["shared"].views[tensor.nbytes], index, inside)


def is_tile_aligned(transfer: Transfer, element: int, address: int) -> bool:
    """Raises KernelFault for a place that no tile can have."""
    if address % 128:
        text = f"a tile's address in shared memory, 0x{address:x}, is not aligned to 128 bytes"
        transfer.refuse(element, "misaligned", "shared", address, text)
    return address % 128 == 0


@per_lane("tensor read", 8)
def build_tensor_load(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], offsets: int) -> None:
        shared_address, barrier, mask = group[:3]
        is_placed = is_tile_aligned(transfer, element, shared_address)
        tensor = tensor_of(transfer, inst, element, address)
        if is_placed and tensor is not None and load_rows(transfer, tensor, element, group):
            return
        tile = tensor and tile_of(transfer, tensor, element, group, offsets)
        if tile is None:
            for reported in targets(transfer, element, barrier, mask):
                transfer.report(element, reported, transfer.missing_nbytes(element, reported))
            return
        n = len(tile.inside)
        values = np.full(n, tensormap.NAN_BITS.get(tensor.kind, 0) if tensor.fill_nan else 0, f"u{tensor.nbytes}")
        values[tile.inside] = transfer.spaces["global"].views[tensor.nbytes][global_index(tile, tensor.nbytes)]
        for target, reported in zip(
            targets(transfer, element, shared_address, mask), targets(transfer, element, barrier, mask), strict=True
        ):
            if is_placed:
                shared_tile(transfer, tensor, element, target, n, "tensor write").write(values)
            transfer.report(element, reported, n * tensor.nbytes)

    return act


def stored_tile(transfer: Transfer, inst: Instruction, element: int, address: int, group: list[int], offsets: int):
    """(tensor map, global element indexes, values) of a store or reduction; elements outside of the tensor are left
    out. None where there is nothing to store.
    """
    shared_address = group[0]
    is_placed = is_tile_aligned(transfer, element, shared_address)
    tensor = tensor_of(transfer, inst, element, address)
    if not is_placed or tensor is None:
        return None
    tile = tile_of(transfer, tensor, element, group, offsets)
    if tile is None:
        return None
    values = shared_tile(transfer, tensor, element, shared_address, len(tile.inside), "tensor read").read()
    return tensor, global_index(tile, tensor.nbytes), values[tile.inside]


@per_lane("tensor write", 8)
def build_tensor_store(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        stored = stored_tile(transfer, inst, element, address, group, c)
        if stored is not None:
            tensor, index, values = stored
            transfer.spaces["global"].views[tensor.nbytes][index] = values

    return act


@per_lane("tensor reduction", 8)
def build_tensor_reduce(inst: Instruction):
    operation = unpack_name(inst.mods, "redop")

    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        stored = stored_tile(transfer, inst, element, address, group, c)
        if stored is None:
            return
        tensor, index, values = stored
        kind = tensor.kind.removesuffix(".ftz")
        if operation in ("and", "or", "xor"):
            kind = f"b{8 * tensor.nbytes}"
        if kind not in NBYTES_OF:
            raise transfer.fault(element, f"no reduction .{operation} of a tensor of {tensor.kind}")
        reduce_into(operation, kind, transfer.spaces["global"].views[tensor.nbytes], index, values)

    return act


@per_lane("tensor prefetch", 8)
def build_tensor_prefetch(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], offsets: int) -> None:
        tensor = tensor_of(transfer, inst, element, address)
        if tensor is not None:
            tile_of(transfer, tensor, element, group, offsets)

    return act


SEMANTICS = {
    "bulk_tensor_load": build_tensor_load, "bulk_tensor_store": build_tensor_store,
    "bulk_tensor_red": build_tensor_reduce,
    "bulk_tensor_prefetch": build_tensor_prefetch,
}  # fmt: skip
