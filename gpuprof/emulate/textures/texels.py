"""Texture fetching by the formulas of the CUDA C++ Programming Guide, appendix "Texture Fetching": coordinates to
texels and weights.

Where the guide leaves open what happens, this is what happens here:

* a coordinate that is not a number, and an infinite one where it wraps, counts as 0;
* near the edge, clamp and mirror give the texel index, not the coordinate, its place, so the outermost half texel is
  constant;
* weights have 8 bits after the point and round to nearest; products and sums are made in double precision and rounded
  once;
* faces of a cube map are filtered by themselves; a texel outside of the border is zero in all channels it has;
* channels a texel does not have are 0, 0 and 1.
"""

from decimal import Decimal, localcontext
from functools import cache
from typing import NamedTuple

import numpy as np

from gpuprof.device.images import FACES, IMAGE_ELEMENTS, Image
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.isa.handles import Sampler

FAR = 4.0  # texels outside of an edge, beyond which nothing changes
WEIGHT_STEPS = 256


class Tap(NamedTuple):
    """A texel along one axis, for n lanes: index int64, inside bool, weight float64, all (n,)."""

    index: np.ndarray
    inside: np.ndarray
    weight: np.ndarray


def integer_axis(index: np.ndarray, extent: int, borders: bool) -> list[Tap]:
    """Integer coordinates are clamped, or, with borders, may be outside."""
    inside = (index >= 0) & (index < extent) if borders else np.ones(len(index), np.bool_)
    return [Tap(np.clip(index, 0, extent - 1), inside, np.ones(len(index)))]


def float_axis(coordinate: np.ndarray, extent: int, mode: str, normalized: bool, linear: bool) -> list[Tap]:
    """float64 coordinates (n,) to one tap, or two of linear filtering."""
    if not normalized and mode in ("wrap", "mirror"):
        mode = "clamp_to_edge"
    position = place(np.where(np.isnan(coordinate), 0.0, coordinate), extent, mode, normalized)
    if not linear:
        index = np.floor(position).astype(np.int64)
        if mode in ("wrap", "clamp_ogl"):
            mode = "clamp_to_edge"  # the position is inside, or just at the end
        return [resolve(index, np.ones(len(coordinate)), extent, mode)]
    index = np.floor(position - 0.5)
    weight = np.floor((position - 0.5 - index) * WEIGHT_STEPS + 0.5) / WEIGHT_STEPS
    index = index.astype(np.int64)
    return [resolve(index, 1 - weight, extent, mode), resolve(index + 1, weight, extent, mode)]


def place(coordinate: np.ndarray, extent: int, mode: str, normalized: bool) -> np.ndarray:
    """Coordinates in texels, in [0, extent] where the mode says so, else not far outside."""
    if mode in ("wrap", "mirror"):
        integral = np.floor(coordinate)
        part = coordinate - integral
        if mode == "mirror":
            part = np.where(np.fmod(integral, 2) != 0, 1 - part, part)
        return np.nan_to_num(part, nan=0.0) * extent
    position = coordinate * extent if normalized else coordinate
    return np.clip(position, 0, extent) if mode == "clamp_ogl" else np.clip(position, -FAR, extent + FAR)


def resolve(index: np.ndarray, weight: np.ndarray, extent: int, mode: str) -> Tap:
    """The texel of an index: outside of the image the opposite one, the nearest, or none."""
    inside = np.ones(len(index), np.bool_)
    if mode == "wrap":
        return Tap(index % extent, inside, weight)
    if mode in ("clamp_to_border", "clamp_ogl"):
        inside = (index >= 0) & (index < extent)
    return Tap(np.clip(index, 0, extent - 1), inside, weight)


class Texels(NamedTuple):
    """address: int64 (n, taps), -1 for none; value: float64 or int64 (4, n)."""

    address: np.ndarray
    value: np.ndarray


def read_texels(views: dict[int, np.ndarray], image: Image, address: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """(4, n): float64 where the image gives floats, else int64."""
    dtype = IMAGE_ELEMENTS[image.element].dtype
    memory = views[dtype.itemsize].view(dtype)
    index = (address - GLOBAL_BASE) // dtype.itemsize
    value = np.zeros((4, len(address)), np.float64 if image.is_float else np.int64)
    value[3] = 1
    for channel in range(image.channels):
        raw = np.where(inside, memory.take(index + channel, mode="clip"), 0)
        value[channel] = normalize(raw, dtype, image.srgb and channel < 3) if image.read == "normalized" else raw
    return value


def normalize(raw: np.ndarray, dtype: np.dtype, srgb: bool) -> np.ndarray:
    """Integers to [0, 1] or [-1, 1]; the most negative one counts as the one above it (Programming Guide,
    cudaReadModeNormalizedFloat).
    """
    if srgb:
        return srgb_levels()[raw]
    return np.maximum(raw.astype(np.float64) / np.iinfo(dtype).max, -1.0)


@cache
def srgb_levels() -> np.ndarray:
    """The 256 values of a byte (IEC 61966-2-1), float64; in decimal arithmetic, since the C library's powers differ
    between machines.
    """

    def level(byte: int) -> Decimal:
        value = Decimal(byte) / 255
        return (
            value / Decimal("12.92")
            if value <= Decimal("0.04045")
            else ((value + Decimal("0.055")) / Decimal("1.055")) ** Decimal("2.4")
        )

    with localcontext(prec=30):
        return np.array([float(level(byte)) for byte in range(256)])


def level_taps(
    image: Image, number: int, layer: np.ndarray, axes: list[list[Tap]]
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(address, inside, weight) of every texel of a level that a fetch reads; the first axis is x and varies
    fastest.
    """
    level = image.levels[number]
    taps = [(layer * 0, np.ones(len(layer), np.bool_), np.ones(len(layer)))]
    # From a texel, a row and a slice to the next one.
    row_nbytes = image.row_nbytes(number)
    steps = (image.texel_nbytes, row_nbytes, row_nbytes * level.height)
    taps = [(layer * (steps[2] * level.depth), *taps[0][1:])]
    for axis in reversed(range(len(axes))):
        taps = [
            (at + tap.index * steps[axis], inside & tap.inside, weight * tap.weight)
            for at, inside, weight in taps
            for tap in axes[axis]
        ]
    return [(level.address + at, inside, weight) for at, inside, weight in taps]


def sample_level(views, image: Image, number: int, layer: np.ndarray, axes: list[list[Tap]]) -> Texels:
    """The weighted sum of a level's texels."""
    taps = level_taps(image, number, layer, axes)
    address = np.stack([np.where(inside, at, -1) for at, inside, _ in taps], axis=1)
    if len(taps) == 1:
        return Texels(address, read_texels(views, image, *taps[0][:2]))
    total = np.zeros((4, len(layer)))
    for at, inside, weight in taps:  # a texel without weight does not count, not even an infinite one
        total += np.where(weight == 0, 0.0, read_texels(views, image, at, inside)) * weight
    return Texels(address, total)


# Where s, t and the major axis of a face come from: (sign, coordinate). Programming Guide, "Cubemap Textures".
FACE_AXES = (
    ((-1, 2), (-1, 1), (1, 0)), ((1, 2), (-1, 1), (-1, 0)),
    ((1, 0), (1, 2), (1, 1)), ((1, 0), (-1, 2), (-1, 1)),
    ((1, 0), (-1, 1), (1, 2)), ((-1, 0), (-1, 1), (-1, 2)),
)  # fmt: skip


def faces_of(direction: np.ndarray) -> np.ndarray:
    """The face, int64 (n,), each direction (3, n) points at. The x axis wins a tie, then y."""
    size = np.abs(np.nan_to_num(direction))
    x, y, z = size
    axis = np.where((x >= y) & (x >= z), 0, np.where(y >= z, 1, 2))
    return 2 * axis + (np.take_along_axis(direction, axis[None], axis=0)[0] < 0)


def on_face(direction: np.ndarray, face: np.ndarray) -> np.ndarray:
    """(3, n): s, t and the major axis of each direction on its face."""
    result = np.empty_like(direction)
    for number in range(FACES):
        where = face == number
        for row, (sign, coordinate) in enumerate(FACE_AXES[number]):
            result[row, where] = sign * direction[coordinate, where]
    return result


def cube_coordinates(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(face, coordinates (2, n) in [0, 1]) of directions (3, n)."""
    face = faces_of(direction)
    s, t, major = on_face(direction, face)
    return face, np.stack([(s / major + 1) / 2, (t / major + 1) / 2])


def cube_derivative(direction: np.ndarray, change: np.ndarray) -> np.ndarray:
    """(2, n): derivative of the face's coordinates where `direction` changes by `change`."""
    face = faces_of(direction)
    s, t, major = on_face(direction, face)
    ds, dt, dm = on_face(change, face)
    return np.stack([(ds * major - s * dm), (dt * major - t * dm)]) / (2 * major * major)


def gradient_level(image: Image, dx: np.ndarray, dy: np.ndarray, normalized: bool) -> np.ndarray:
    """Level of detail (n,) of derivatives (dimensions, n): log2 of the longer one, in texels."""
    extents = np.array(image.levels[0][1 : 1 + len(dx)])[:, None] if normalized else 1
    from gpuprof.emulate.scalar.elementary import log2

    return log2(np.maximum(*(np.sqrt(((d * extents) ** 2).sum(axis=0)) for d in (dx, dy))))


def choose_levels(lod: np.ndarray, n_levels: int, mip_filter: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """(level, weight) pairs of each lane, int64 and float64 (n,)."""
    lod = np.clip(np.where(np.isnan(lod), 0.0, lod), 0.0, n_levels - 1.0)
    if mip_filter == "nearest":
        return [(np.floor(lod + 0.5).astype(np.int64), np.ones(len(lod)))]
    lower = np.floor(lod)
    weight = np.floor((lod - lower) * WEIGHT_STEPS + 0.5) / WEIGHT_STEPS
    lower = lower.astype(np.int64)
    return [(lower, 1 - weight), (np.minimum(lower + 1, n_levels - 1), weight)]


class Fetch(NamedTuple):
    """Coordinates of one fetch: `spatial` is float64 or int64 (dimensions, n), `layer` int64 (n,), `lod` float64 (n,)
    or None.
    """

    spatial: np.ndarray
    layer: np.ndarray
    lod: np.ndarray | None


def axes_of(image: Image, number: int, sampler: Sampler, spatial: np.ndarray, linear: bool) -> list[list[Tap]]:
    extents = image.levels[number][1:4]
    if spatial.dtype == np.int64:  # linear memory, which only 1d fetches read, has no clamping: texels outside are zero
        borders = [image.geometry == "1d" or mode == "clamp_to_border" for mode in sampler.address]
        return [integer_axis(u, extent, border) for u, extent, border in zip(spatial, extents, borders, strict=False)]
    normalized = sampler.normalized or "cube" in image.geometry
    modes = ["clamp_to_edge"] * 3 if "cube" in image.geometry else sampler.address
    return [
        float_axis(u, extent, mode, normalized, linear)
        for u, extent, mode in zip(spatial, extents, modes, strict=False)
    ]


def sample(views, image: Image, sampler: Sampler, fetch: Fetch) -> Texels:
    """The texels of a fetch, filtered."""
    linear = sampler.filter == "linear" and image.is_float
    lod = np.zeros(len(fetch.layer)) if fetch.lod is None else fetch.lod
    mip_filter = sampler.mip_filter if image.is_float else "nearest"
    parts = []
    for level, weight in choose_levels(lod, len(image.levels), mip_filter):
        value, address = None, None
        for number in np.unique(level):
            at = np.flatnonzero(level == number)
            texels = sample_level(
                views, image, number, fetch.layer[at], axes_of(image, number, sampler, fetch.spatial[:, at], linear)
            )
            if value is None:
                value = np.zeros((4, len(level)), texels.value.dtype)
                address = np.full((len(level), texels.address.shape[1]), -1, np.int64)
            value[:, at], address[at] = texels.value, texels.address
        parts.append((value, address, weight))
    if len(parts) == 1:
        return Texels(parts[0][1], parts[0][0])
    total = sum(np.where(weight == 0, 0.0, value) * weight for value, _, weight in parts)
    return Texels(np.concatenate([address for _, address, _ in parts], axis=1), total)


def gather(views, image: Image, sampler: Sampler, fetch: Fetch, component: int) -> Texels:
    """Reads one channel of the four texels that linear filtering would mix, counterclockwise from the lower left (PTX
    ISA, tld4).
    """
    axes = axes_of(image, 0, sampler, fetch.spatial, True)
    taps = level_taps(image, 0, fetch.layer, axes)  # (x0, y0), (x1, y0), (x0, y1), (x1, y1)
    address = np.stack([np.where(inside, at, -1) for at, inside, _ in taps], axis=1)
    values = [read_texels(views, image, at, inside)[component] for at, inside, _ in taps]
    return Texels(address, np.stack([values[k] for k in (2, 3, 1, 0)]))
