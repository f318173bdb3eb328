"""A program's description of a texture or surface, as an image and how it is read."""

import struct
from collections.abc import Mapping

from gpuprof.device.images import GEOMETRIES, IMAGE_ELEMENTS, Image, Level, check_image
from gpuprof.errors import UsageError
from gpuprof.isa.handles import Sampler

# CUDA's enumerations, in their order.
KINDS = "iuf"  # cudaChannelFormatKind
ADDRESSES = ("wrap", "clamp_to_edge", "mirror", "clamp_to_border")  # cudaTextureAddressMode
FILTERS = ("nearest", "linear")  # cudaTextureFilterMode
READS = ("element", "normalized")  # cudaTextureReadMode
LEVEL = struct.Struct("<5Q")


def image_of(words: Mapping[str, int], levels: bytes) -> tuple[Image, Sampler]:
    """`words` and `levels` as in the call make_image. Raises UsageError for an image that there is not."""
    geometry, kind, bits, channels = words["geometry"], words["kind"], words["bits"], words["channels"]
    filter, mip_filter, read, is_surface = words["filter"], words["mip_filter"], words["read"], words["is_surface"]
    addresses = [words["address_x"], words["address_y"], words["address_z"]]
    choices = ((geometry, GEOMETRIES), (kind, KINDS), (filter, FILTERS), (mip_filter, FILTERS), (read, READS))
    wrong = [number for number, table in (*choices, *((each, ADDRESSES) for each in addresses)) if number >= len(table)]
    if wrong or len(levels) % LEVEL.size:
        raise UsageError("CUDA has no textures of this kind")
    name = tuple(GEOMETRIES)[geometry]
    element = f"{KINDS[kind]}{bits}"
    what = f"{'surface' if is_surface else 'texture'} {name} of {element} x {channels}"
    if element not in IMAGE_ELEMENTS:
        raise UsageError(f"a texel cannot have channels of {element}; it can have {' '.join(IMAGE_ELEMENTS)}")
    image = Image(
        what, name, element, channels, tuple(_levels(levels, what, channels, bits)), words["layers"],
        READS[read], bool(words["srgb"]),
        bool(is_surface),
    )  # fmt: skip
    if not check_image(image):
        raise UsageError(f"{what}: there is no such image")
    _check(image, filter or mip_filter)
    modes = (ADDRESSES[addresses[0]], ADDRESSES[addresses[1]], ADDRESSES[addresses[2]])
    return image, Sampler(modes, FILTERS[filter], bool(words["normalized"]), FILTERS[mip_filter])


def _levels(payload: bytes, what: str, channels: int, bits: int):
    for address, width, height, depth, row_nbytes in LEVEL.iter_unpack(payload):
        texel_nbytes = channels * bits // 8
        if row_nbytes < width * texel_nbytes or row_nbytes % texel_nbytes:
            raise UsageError(f"{what}: its rows of {width * texel_nbytes} bytes lie {row_nbytes} bytes apart")
        has_padding = height > 1 and row_nbytes != width * texel_nbytes
        yield Level(address, width, height, depth, row_nbytes if has_padding else 0)


def _check(image: Image, is_filtered: int) -> None:
    if image.read == "normalized" and not IMAGE_ELEMENTS[image.element].normalized_type:
        raise UsageError(f"{image.name}: only 8- and 16-bit integers can be read normalized")
    if image.srgb and not (image.element == "u8" and image.read == "normalized"):
        raise UsageError(f"{image.name}: sRGB is for bytes that are read normalized")
    if is_filtered and not image.is_float:
        raise UsageError(f"{image.name}: linear filtering needs floats, or integers that are read normalized")
