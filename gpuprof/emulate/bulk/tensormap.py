"""A tensor map as the copy engine reads it: which bytes of global memory make up a tile, and where they go in shared
memory.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gpuprof.isa.tensormap import ELEMENT_TYPES, LAYOUT, MAGIC, SWIZZLES

# The fill value outside of the tensor when NaN is requested: the bits of the type's NaN with all mantissa bits set (PTX
# ISA 9.0, "OOB-NaN"; which NaN is not documented, this one is what cuTensorMapEncodeTiled's documentation calls a
# special NaN).
NAN_BITS = {
    "f16": 0x7FFF,
    "bf16": 0x7FFF,
    "f32": 0x7FFFFFFF,
    "f32.ftz": 0x7FFFFFFF,
    "tf32": 0x7FFFFFFF,
    "tf32.ftz": 0x7FFFFFFF,
    "f64": (1 << 63) - 1,
}


class TensorMap(NamedTuple):
    """Extents, strides and boxes are tuples of `rank` elements, dimension 0 first, which is contiguous."""

    address: int
    rank: int
    kind: str
    nbytes: int  # of an element
    extents: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    box: tuple[int, ...]
    steps: tuple[int, ...]
    interleave: int
    swizzle_nbytes: int
    fill_nan: bool
    im2col: bool
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


class BadTensorMap(Exception):
    """The fault of a descriptor, in words."""


@lru_cache(maxsize=256)
def decode(raw: bytes) -> TensorMap:
    """Decodes the bytes of a tensor map. Raises BadTensorMap."""
    f = LAYOUT.unpack(raw)
    address, strides, extents, rank = f[0], f[1:5], f[5:10], f[10] + 1
    box, steps = f[11:16], f[16:21]
    element, interleave, swizzle, fill, _, mode = f[21:27]
    lower, upper = f[27:30], f[30:33]
    channels, pixels, magic = f[33:36]
    # a kernel may make one out of zeros, by tensormap.replace of every field
    if magic not in (MAGIC, 0) or not address:
        raise BadTensorMap("these 128 bytes are no tensor map; make one with gpuprof.TensorMap")
    if rank > 5 or element not in ELEMENT_TYPES:
        raise BadTensorMap(f"the tensor map has rank {rank} and element type {element}")
    if swizzle not in SWIZZLES or interleave:
        raise BadTensorMap(f"swizzle mode {swizzle} with interleave {interleave} is not supported")
    kind, nbytes = ELEMENT_TYPES[element]
    return TensorMap(
        address, rank, kind, nbytes, extents[:rank], (nbytes, *strides)[:rank], box[:rank], steps[:rank], interleave,
        SWIZZLES[swizzle], bool(fill), bool(mode), lower[: rank - 2] if rank > 2 else (),
        upper[: rank - 2] if rank > 2 else (), channels, pixels,
    )  # fmt: skip


class Tile(NamedTuple):
    """`address` int64 and `inside` bool, in the order of shared memory: element k of the tile is at `address[k]`, if it
    is inside.
    """

    address: np.ndarray
    inside: np.ndarray


def tile(tensor: TensorMap, coordinates: tuple[int, ...]) -> Tile:
    """The elements of the box at `coordinates` (PTX ISA 9.0, tiled mode); element strides take every how many-th
    element.
    """
    # Without interleaving the innermost dimension has no element stride (cuTensorMapEncodeTiled).
    return _tile(tensor, coordinates, (1, *tensor.steps[1:]))


def _tile(tensor: TensorMap, coordinates: tuple[int, ...], steps: tuple[int, ...]) -> Tile:
    address = np.full((1,), tensor.address, np.int64)
    inside = np.ones((1,), np.bool_)
    for dimension in range(tensor.rank):
        step = steps[dimension]
        along = coordinates[dimension] + np.arange(0, tensor.box[dimension], max(step, 1), dtype=np.int64)
        here = (along >= 0) & (along < tensor.extents[dimension])
        address = (along * tensor.strides[dimension])[:, None] + address
        inside = here[:, None] & inside
        address, inside = address.reshape(-1), inside.reshape(-1)
    return Tile(address, inside)


class Rows(NamedTuple):
    """A tile of tiled mode by its rows, which are contiguous: int64 addresses of their first elements inside of the
    tensor, and which rows have one. A row has `width` elements, of which `before` are before the tensor and `count`
    inside.
    """

    address: np.ndarray
    inside: np.ndarray
    before: int
    count: int
    width: int


@lru_cache(maxsize=256)
def row_offsets(tensor: TensorMap) -> np.ndarray:
    """int64 (rows,): bytes from a tile's first row to each."""
    offsets = np.zeros(1, np.int64)
    for stride, reach, step in zip(tensor.strides[1:], tensor.box[1:], tensor.steps[1:], strict=True):
        offsets = (np.arange(0, reach, max(step, 1), dtype=np.int64) * stride)[:, None] + offsets
        offsets = offsets.reshape(-1)
    return offsets


def rows(tensor: TensorMap, coordinates: tuple[int, ...]) -> Rows:
    """The elements of `tile`, by rows."""
    width = tensor.box[0]
    offsets = row_offsets(tensor)
    reaches = zip(coordinates, tensor.box, tensor.extents, strict=True)
    if all(at >= 0 and at + reach <= extent for at, reach, extent in reaches):
        start = sum(at * stride for at, stride in zip(coordinates, tensor.strides, strict=True))
        return Rows(tensor.address + start + offsets, np.ones(len(offsets), np.bool_), 0, width, width)
    first, after = max(coordinates[0], 0), min(coordinates[0] + width, tensor.extents[0])
    outer = tensor._replace(
        rank=tensor.rank - 1, address=tensor.address + first * tensor.strides[0], extents=tensor.extents[1:],
        strides=tensor.strides[1:], box=tensor.box[1:],
    )  # fmt: skip
    found = _tile(outer, coordinates[1:], tensor.steps[1:])
    count = max(after - first, 0)
    return Rows(found.address, found.inside & (count > 0), first - coordinates[0], count, width)


def columns(tensor: TensorMap, coordinates: tuple[int, ...], offsets: tuple[int, ...]) -> Tile:
    """im2col: `pixels` pixels of `channels` channels each, from the pixel at `coordinates` on.

    Dimensions are C, W(, H(, D)), N. Pixels follow each other along W, then H, then D inside the bounding box, which
    reaches from `lower` to the extent - 1 + `upper`, in steps of the element strides; then along N. The offsets are
    added to each pixel's place (PTX ISA 9.0, im2col mode).
    """
    spatial = tensor.rank - 2
    first = [tensor.lower[k] for k in range(spatial)]
    counts = [
        max(0, -(-(tensor.extents[1 + k] + tensor.upper[k] - first[k]) // max(tensor.steps[1 + k], 1)))
        for k in range(spatial)
    ]
    addresses = np.zeros(tensor.pixels, np.int64)
    start, weight = 0, 1
    for k in range(spatial):
        start += (coordinates[1 + k] - first[k]) // max(tensor.steps[1 + k], 1) * weight
        weight *= counts[k]
    if weight <= 0:
        raise BadTensorMap("the im2col box of pixels is empty")
    number = start + np.arange(tensor.pixels, dtype=np.int64)
    image = coordinates[-1] + number // weight
    rest = number % weight
    inside = (image >= 0) & (image < tensor.extents[-1])
    addresses = tensor.address + image * tensor.strides[-1]
    for k in range(spatial):
        along = first[k] + rest % counts[k] * max(tensor.steps[1 + k], 1) + offsets[k]
        rest = rest // counts[k]
        inside &= (along >= 0) & (along < tensor.extents[1 + k])
        addresses = addresses + along * tensor.strides[1 + k]
    channel = coordinates[0] + np.arange(tensor.channels, dtype=np.int64)
    in_range = (channel >= 0) & (channel < tensor.extents[0])
    return Tile((addresses[:, None] + channel * tensor.nbytes).reshape(-1), (inside[:, None] & in_range).reshape(-1))


def swizzled(offset: np.ndarray, swizzle_nbytes: int) -> np.ndarray:
    """The address that a byte address of shared memory is swizzled to: 16-byte units of a row are exchanged by the
    number of the 128-byte line.

    128: address bits 4..6 ^= bits 7..9; 64: bits 4..5 ^= bits 7..8; 32: bit 4 ^= bit 7 (PTX ISA 9.0, swizzling modes).
    """
    if not swizzle_nbytes:
        return offset
    units = swizzle_nbytes // 16 - 1
    return offset ^ ((offset >> 7 & units) << 4)
