"""Copies and reductions of tensor tiles, whose places a tensor map says."""

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.bulk import tensormap
from gpuprof.emulate.bulk.operations import NBYTES_OF, reduce_into
from gpuprof.emulate.bulk.transfer import Transfer, per_lane, targets
from gpuprof.emulate.log.touched import runs
from gpuprof.emulate.together.services import read_bytes
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.families.cluster import OFFSET_MASK
from gpuprof.isa.modifiers import unpack, unpack_name
from gpuprof.isa.tensormap import NBYTES


def tensor_of(transfer: Transfer, inst: Instruction, element: int, address: int) -> tensormap.TensorMap:
    """The map at a generic address; raises KernelFault when it is none or does not fit the instruction."""
    if address % 64:
        raise transfer.fault(element, f"the tensor map at 0x{address:x} is not aligned to 64 bytes")
    raw = read_bytes(transfer.x, transfer.site.at, element, address, NBYTES)
    try:
        tensor = tensormap.decode(raw)
    except tensormap.BadTensorMap as error:
        raise transfer.fault(element, str(error)) from None
    rank, im2col = unpack(inst.mods, "dim"), bool(unpack(inst.mods, "im2col"))
    if tensor.rank != rank or tensor.im2col != im2col:
        have, want = (
            f"{r} dimensions, {'im2col' if i else 'tile'} mode"
            for r, i in ((tensor.rank, tensor.im2col), (rank, im2col))
        )
        raise transfer.fault(element, f"the tensor map has {have}; the instruction is for {want}")
    return tensor


def tile_of(transfer: Transfer, tensor, element: int, group: list[int], offsets: int) -> tensormap.Tile:
    coordinates = tuple(value - (1 << 32) if value >> 31 else value for value in group[3 : 3 + tensor.rank])
    if tensor.im2col:
        tile = tensormap.columns(tensor, coordinates, tuple(offsets >> 16 * k & 0xFFFF for k in range(3)))
    else:
        tile = tensormap.tile(tensor, coordinates)
    used = tile.address[tile.inside]
    if len(used):
        space = transfer.spaces["global"]
        lo, hi = int(used.min()), int(used.max()) + tensor.nbytes
        if not space.holds(lo, hi):
            text = (
                f"the tensor map reaches out of bounds of global memory, from 0x{lo:x} to 0x{hi:x}; "
                f"{space.describe(hi)}"
            )
            raise transfer.fault(element, text, "address")
        transfer.touched(element, np.unique(used >> 5))
        for start, nbytes in zip(*runs(used, tensor.nbytes), strict=True):
            transfer.note("global", transfer.site.verb, element, int(start), int(nbytes))
    return tile


def global_index(tile: tensormap.Tile, nbytes: int) -> np.ndarray:
    """The indexes of the tile's elements that are inside the tensor, in elements of `nbytes` from the start of global
    memory.
    """
    return (tile.address[tile.inside] - GLOBAL_BASE) // nbytes


def shared_index(tensor, start: int, place: int, count: int) -> np.ndarray:
    """The indexes of a tile's `count` elements in the chunk's shared memory, in elements. Swizzling goes by the address
    in the block.
    """
    offset = (place & OFFSET_MASK) + np.arange(count, dtype=np.int64) * tensor.nbytes
    return (tensormap.swizzled(offset, tensor.swizzle_nbytes) - (place & OFFSET_MASK) + start) // tensor.nbytes


def check_tile_place(transfer: Transfer, element: int, place: int) -> None:
    if place % 128:
        raise transfer.fault(element, f"a tile's place in shared memory, 0x{place:x}, is not aligned to 128 bytes")


@per_lane("tensor read", 8)
def build_tensor_load(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], offsets: int) -> None:
        place, barrier, mask = group[:3]
        check_tile_place(transfer, element, place)
        tensor = tensor_of(transfer, inst, element, address)
        tile = tile_of(transfer, tensor, element, group, offsets)
        n = len(tile.inside)
        values = np.full(n, tensormap.NAN_BITS.get(tensor.kind, 0) if tensor.fill_nan else 0, f"u{tensor.nbytes}")
        values[tile.inside] = transfer.spaces["global"].views[tensor.nbytes][global_index(tile, tensor.nbytes)]
        for target, reported in zip(
            targets(transfer, element, place, mask), targets(transfer, element, barrier, mask), strict=True
        ):
            start = transfer.shared(element, target, n * tensor.nbytes, "tensor write")
            transfer.spaces["shared"].views[tensor.nbytes][shared_index(tensor, start, place, n)] = values
            transfer.report(element, reported, n * tensor.nbytes)

    return act


def stored_tile(transfer: Transfer, inst: Instruction, element: int, address: int, group: list[int], offsets: int):
    """(tensor map, global element indexes, values) of a store or reduction; elements outside of the tensor are left
    out.
    """
    place = group[0]
    check_tile_place(transfer, element, place)
    tensor = tensor_of(transfer, inst, element, address)
    tile = tile_of(transfer, tensor, element, group, offsets)
    n = len(tile.inside)
    start = transfer.shared(element, place, n * tensor.nbytes, "tensor read")
    values = transfer.spaces["shared"].views[tensor.nbytes][shared_index(tensor, start, place, n)]
    return tensor, global_index(tile, tensor.nbytes), values[tile.inside]


@per_lane("tensor write", 8)
def build_tensor_store(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        tensor, index, values = stored_tile(transfer, inst, element, address, group, c)
        transfer.spaces["global"].views[tensor.nbytes][index] = values

    return act


@per_lane("tensor reduction", 8)
def build_tensor_reduce(inst: Instruction):
    operation = unpack_name(inst.mods, "redop")

    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        tensor, index, values = stored_tile(transfer, inst, element, address, group, c)
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
        tile_of(transfer, tensor_of(transfer, inst, element, address), element, group, offsets)

    return act


SEMANTICS = {
    "bulk_tensor_load": build_tensor_load, "bulk_tensor_store": build_tensor_store,
    "bulk_tensor_red": build_tensor_reduce,
    "bulk_tensor_prefetch": build_tensor_prefetch,
}  # fmt: skip
