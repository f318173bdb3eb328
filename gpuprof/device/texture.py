"""Textures and surfaces of the Python face: arrays in device memory with a handle that kernels take as a 64-bit
integer.

picture = gpu.texture(array, filter="linear", address=("wrap", "clamp"), normalized=True)
canvas = gpu.surface(gpu.device_array((64, 64), np.float32))
mod.rotate[grid, block](picture, canvas, 0.5)
canvas.array.copy_to_host()
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.array import DeviceArray, type_text
from gpuprof.device.elements import element_of
from gpuprof.device.images import GEOMETRIES, IMAGE_ELEMENTS, READS, Image, Level, TextureOptions, split_shape
from gpuprof.device.launching.argument_values import HandleValue
from gpuprof.device.streams import Submit
from gpuprof.errors import UsageError
from gpuprof.isa.handles import FILTERS, Sampler, pack_handle

# CUDA's names of what happens outside of a texture.
ADDRESS_NAMES = {"wrap": "wrap", "clamp": "clamp_to_edge", "mirror": "mirror", "border": "clamp_to_border"}
DEFAULT_GEOMETRIES = {1: "1d", 2: "2d", 3: "3d"}


@dataclass(frozen=True, eq=False)
class Texture:
    """`arrays`: the mipmap levels, the largest first."""

    handle: int
    arrays: tuple[DeviceArray, ...]
    text: str

    @property
    def array(self) -> DeviceArray:
        return self.arrays[0]

    def as_argument(self) -> HandleValue:
        return HandleValue(self.text, self.handle)


class Surface(Texture):
    """A texture's twin that kernels write."""


DEFAULTS = TextureOptions()


def make_texture(submit: Submit, arrays: Sequence[DeviceArray], options: TextureOptions = DEFAULTS) -> Texture:
    """A texture over device arrays. Raises UsageError for any other value."""
    image = image_of(arrays, options)
    handle = pack_handle(submit(cmd.MakeImage(image)), sampler_of_options(options))
    return Texture(handle, tuple(arrays), image.name)


def make_surface(submit: Submit, array: DeviceArray, geometry: str = "") -> Surface:
    image = image_of([array], TextureOptions(geometry), is_surface=True)
    return Surface(pack_handle(submit(cmd.MakeImage(image))), (array,), image.name)


def sampler_of_options(options: TextureOptions) -> Sampler:
    modes = tuple(_known(mode, ADDRESS_NAMES, "address") for mode in options.address)
    if not 1 <= len(modes) <= 3:
        raise UsageError(f"address takes 1 to 3 words, not {len(modes)}")
    modes = (*modes, *modes[-1:] * 2)[:3]
    filters = [
        _known(word, dict(zip(FILTERS, FILTERS, strict=True)), "filter")
        for word in (options.filter, options.mip_filter)
    ]
    return Sampler(tuple(modes), filters[0], bool(options.normalized), filters[1])


def image_of(arrays: Sequence[DeviceArray], options: TextureOptions, is_surface: bool = False) -> Image:
    """The image a texture or surface is a view of; the one place that says which arrays can be one."""
    if not arrays:
        raise UsageError("a texture needs at least one array")
    first = arrays[0]
    what = "surface" if is_surface else "texture"
    element = element_of(first.dtype)
    if element is None or element.name not in IMAGE_ELEMENTS:
        raise UsageError(f"a {what} cannot have elements of {first.dtype}; it can have {' '.join(IMAGE_ELEMENTS)}")
    geometry = options.geometry or DEFAULT_GEOMETRIES.get(first.ndim, "")
    if geometry not in GEOMETRIES:
        raise UsageError(
            f"give the geometry of a {what} of {type_text(first.dtype, first.shape)}: one of {' '.join(GEOMETRIES)}"
        )
    layers, _, channels = split_shape(geometry, first.shape)
    levels = []
    for number, array in enumerate(arrays):
        its_layers, extents, its_channels = split_shape(geometry, array.shape)
        expected = tuple(max(extent >> number, 1) for extent in (levels[0][1:4] if levels else extents))
        if (its_layers, its_channels, array.dtype, extents) != (layers, channels, first.dtype, expected):
            raise UsageError(
                f"mipmap level {number} is {type_text(array.dtype, array.shape)}: it must have half the extents "
                "of the level before it"
            )
        levels.append(Level(array.address, *extents))
    name = f"{what} {geometry} {type_text(first.dtype, first.shape)}"
    image = Image(name, geometry, element.name, channels, tuple(levels), layers, options.read, options.srgb, is_surface)
    _check_reading(image, options)
    return image


def _check_reading(image: Image, options: TextureOptions) -> None:
    if options.read not in READS:
        raise UsageError(f"read is {' or '.join(READS)}, not {options.read!r}")
    if options.read == "normalized" and not IMAGE_ELEMENTS[image.element].normalized_type:
        raise UsageError(f"{image.name}: only 8- and 16-bit integers can be read normalized")
    if options.srgb and not (image.element == "u8" and options.read == "normalized"):
        raise UsageError(f"{image.name}: sRGB is for bytes that are read normalized")
    if "linear" in (options.filter, options.mip_filter) and not image.is_float:
        raise UsageError(
            f'{image.name}: linear filtering needs floats; give read="normalized" for 8- and 16-bit integers'
        )


def _known(word: str, known: dict[str, str], what: str) -> str:
    if word not in known:
        raise UsageError(f"{what} is one of {', '.join(known)}, not {word!r}")
    return known[word]


def device_arrays(to_device, arrays) -> list[DeviceArray]:
    """The arrays of a texture, copied in where they are not on the device yet; one array or a list of mipmap levels."""
    given = (
        arrays
        if isinstance(arrays, list | tuple) and all(isinstance(array, np.ndarray | DeviceArray) for array in arrays)
        else [arrays]
    )
    return [array if isinstance(array, DeviceArray) else to_device(array) for array in given]
