"""Images, to which the handles of textures and surfaces refer.

An image is a view of ordinary global memory. Rows follow each other (hardware tiles them, see docs/model.md), without
padding unless they lie in pitched memory: texel (layer, z, y, x) of a level is at address + ((layer * depth + z) *
height + y) * row_nbytes + x * texel_nbytes.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.errors import UsageError


class ImageElement(NamedTuple):
    """The type of one channel of a texel. `data_type` is OpenCL's number for it, which PTX queries return."""

    dtype: np.dtype
    data_type: int
    normalized_type: int  # 0 when the type cannot be read as a number in [0, 1] or [-1, 1]


# OpenCL 1.2, cl.h: CL_SIGNED_INT8 ... CL_FLOAT, CL_SNORM_INT8 ... CL_UNORM_INT16 (PTX ISA 5.3: "Channel Data Type and
# Channel Order Fields").
IMAGE_ELEMENTS = {
    "i8": ImageElement(np.dtype("i1"), 0x10D7, 0x10D0),
    "i16": ImageElement(np.dtype("<i2"), 0x10D8, 0x10D1),
    "i32": ImageElement(np.dtype("<i4"), 0x10D9, 0),
    "u8": ImageElement(np.dtype("u1"), 0x10DA, 0x10D2),
    "u16": ImageElement(np.dtype("<u2"), 0x10DB, 0x10D3),
    "u32": ImageElement(np.dtype("<u4"), 0x10DC, 0),
    "f16": ImageElement(np.dtype("<f2"), 0x10DD, 0),
    "f32": ImageElement(np.dtype("<f4"), 0x10DE, 0),
}
CHANNEL_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}  # CL_R, CL_RG, CL_RGBA
# Geometry -> dimensions of an array of it, layers and faces included; a channel axis may follow.
GEOMETRIES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}
READS = ("element", "normalized")
FACES = 6
MAX_EXTENT, MAX_LEVELS = 1 << 31, 32  # no host has memory for more


class TextureOptions(NamedTuple):
    """How an array is seen as a texture; the words of CUDA's cudaTextureDesc."""

    geometry: str = ""  # "": 1d, 2d or 3d, by the array
    filter: str = "nearest"
    address: tuple[str, ...] = ("clamp",)
    normalized: bool = False
    read: str = "element"
    mip_filter: str = "nearest"
    srgb: bool = False


class Level(NamedTuple):
    """The address and extents, in texels, of one mipmap level. `pitch_nbytes`: from row to row; 0: no padding."""

    address: int
    width: int
    height: int = 1
    depth: int = 1
    pitch_nbytes: int = 0


class Image(NamedTuple):
    """`layers` counts the faces of cube maps, too; 1 where there are none. `name` is for messages."""

    name: str
    geometry: str
    element: str  # a key of IMAGE_ELEMENTS
    channels: int
    levels: tuple[Level, ...]
    layers: int = 1
    read: str = "element"
    srgb: bool = False
    is_surface: bool = False

    @property
    def texel_nbytes(self) -> int:
        return self.channels * IMAGE_ELEMENTS[self.element].dtype.itemsize

    @property
    def is_float(self) -> bool:
        """True when a fetch returns f32 values, which can be filtered."""
        return self.element[0] == "f" or self.read == "normalized"

    def row_nbytes(self, level: int) -> int:
        """From the start of a level's row to the start of the next."""
        return self.levels[level].pitch_nbytes or self.levels[level].width * self.texel_nbytes

    def level_nbytes(self, level: int) -> int:
        """From its first texel to the end of its last."""
        _, width, height, depth, _ = self.levels[level]
        return (self.layers * depth * height - 1) * self.row_nbytes(level) + width * self.texel_nbytes


def check_image(image: Image) -> bool:
    """True when `texture.image_of` could have made the image, as far as the image itself shows."""
    return (
        image.element in IMAGE_ELEMENTS
        and image.geometry in GEOMETRIES
        and image.channels in CHANNEL_ORDERS
        and image.read in READS
        and 0 < image.layers < MAX_EXTENT
        and 0 < len(image.levels) <= MAX_LEVELS
        and all(level.address >= 0 and all(0 < extent < MAX_EXTENT for extent in level[1:4]) for level in image.levels)
        and all(image.row_nbytes(n) >= level.width * image.texel_nbytes for n, level in enumerate(image.levels))
    )


def split_shape(geometry: str, shape: tuple[int, ...]) -> tuple[int, tuple[int, int, int], int]:
    """(layers, (width, height, depth), channels) of an array of a geometry. Raises UsageError for a shape that is
    none.
    """
    n = GEOMETRIES[geometry]
    if len(shape) not in (n, n + 1):
        raise UsageError(
            f"a {geometry} image is made of an array of {n} dimensions, or {n + 1} with channels, not of {list(shape)}"
        )
    channels = shape[n] if len(shape) > n else 1
    if channels not in (1, 2, 4):
        raise UsageError(f"a texel has 1, 2 or 4 channels, not {channels} (the last dimension of {list(shape)})")
    if not all(shape):
        raise UsageError(f"an image cannot have the shape {list(shape)}")
    layers = 1
    extents = shape[:n]
    if geometry == "acube":
        layers, extents = extents[0] * extents[1], extents[2:]
    elif geometry in ("a1d", "a2d", "cube"):
        layers, extents = extents[0], extents[1:]
    if "cube" in geometry and (shape[n - 3] != FACES or extents[0] != extents[1]):
        raise UsageError(f"a cube map has {FACES} square faces: [..., {FACES}, n, n], not {list(shape)}")
    return layers, (*extents[::-1], 1, 1)[:3], channels


class ImageTable:
    """The images of a device by number, from 1."""

    def __init__(self) -> None:
        self._images: list[Image] = []

    def add(self, image: Image) -> int:
        self._images.append(image)
        return len(self._images)

    def get(self, number: int) -> Image | None:
        return self._images[number - 1] if 1 <= number <= len(self._images) else None
