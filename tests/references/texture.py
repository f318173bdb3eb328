"""Texture fetching texel by texel and in exact fractions, as the CUDA C++ Programming Guide's appendix writes it. Slow
and plain.
"""

import math
from fractions import Fraction

import numpy as np

HALF = Fraction(1, 2)
FACES = (  # per face: s, t, major axis as functions of (x, y, z); Programming Guide, "Cubemap Textures"
    lambda x, y, z: (-z, -y, x), lambda x, y, z: (z, -y, -x),
    lambda x, y, z: (x, z, y), lambda x, y, z: (x, -z, -y),
    lambda x, y, z: (x, -y, z), lambda x, y, z: (-x, -y, -z),
)  # fmt: skip


def exact(u: float) -> Fraction:
    """A coordinate; what is not finite is far outside."""
    return Fraction(u) if math.isfinite(u) else Fraction(10**9 if u > 0 else -(10**9))


def in_texels(u: float, extent: int, mode: str, normalized: bool) -> Fraction:
    if mode in ("wrap", "mirror"):
        x = Fraction(u) if math.isfinite(u) else Fraction(0)
        whole = math.floor(x)
        return (1 - (x - whole) if mode == "mirror" and whole % 2 else x - whole) * extent
    x = exact(u) * (extent if normalized else 1)
    return min(max(x, Fraction(0)), Fraction(extent)) if mode == "clamp_ogl" else x


def placed(index: int, extent: int, mode: str) -> int | None:
    """The texel that stands for one that may be outside; None for the border."""
    if mode == "wrap":
        return index % extent
    if mode in ("clamp_to_border", "clamp_ogl"):
        return index if 0 <= index < extent else None
    return min(max(index, 0), extent - 1)


def taps(u: float, extent: int, mode: str, normalized: bool, linear: bool) -> list[tuple[int | None, Fraction]]:
    """(texel, weight) along one axis."""
    if not normalized and mode in ("wrap", "mirror"):
        mode = "clamp_to_edge"
    x = in_texels(0.0 if math.isnan(u) else u, extent, mode, normalized)
    if not linear:
        index = math.floor(x)
        return [(min(max(index, 0), extent - 1) if mode == "clamp_ogl" else placed(index, extent, mode), Fraction(1))]
    index = math.floor(x - HALF)
    weight = Fraction(math.floor((x - HALF - index) * 256 + HALF), 256)
    return [(placed(index, extent, mode), 1 - weight), (placed(index + 1, extent, mode), weight)]


def texel(level: np.ndarray, layer: int, place: tuple[int | None, ...], channel: int) -> Fraction:
    """level: (layers, depth, height, width, channels); place: x, y, z."""
    if channel >= level.shape[4]:
        return Fraction(int(channel == 3))
    if None in place:
        return Fraction(0)
    x, y, z = (*place, 0, 0)[:3]
    return Fraction(float(level[layer, z, y, x, channel]))


def filtered(level: np.ndarray, layer: int, axes: list, channel: int) -> Fraction:
    places = [((), Fraction(1))]
    for axis in axes:
        places = [((*place, index), weight * w) for place, weight in places for index, w in axis]
    return sum((weight * texel(level, layer, place, channel) for place, weight in places if weight), Fraction(0))


def axes(level: np.ndarray, coordinates: list[float], modes, normalized: bool, linear: bool) -> list:
    extents = level.shape[3:0:-1]
    return [
        taps(u, extent, mode, normalized, linear) for u, extent, mode in zip(coordinates, extents, modes, strict=False)
    ]


def levels(lod: float, count: int, mip_filter: str) -> list[tuple[int, Fraction]]:
    """(level, weight)."""
    lod = 0.0 if math.isnan(lod) else min(max(lod, 0.0), count - 1)
    if mip_filter == "nearest":
        return [(math.floor(Fraction(lod) + HALF), Fraction(1))]
    lower = math.floor(lod)
    weight = Fraction(math.floor((Fraction(lod) - lower) * 256 + HALF), 256)
    return [(lower, 1 - weight), (min(lower + 1, count - 1), weight)]


def fetch(
    pyramid: list[np.ndarray],
    layer: int,
    coordinates: list[float],
    modes,
    normalized=False,
    linear=False,
    lod=0.0,
    mip="nearest",
) -> list[Fraction]:
    """The four channels of a fetch; modes are PTX's names, one for each axis."""
    layer = min(layer, pyramid[0].shape[0] - 1)
    return [
        sum(
            (
                weight
                * filtered(
                    pyramid[number], layer, axes(pyramid[number], coordinates, modes, normalized, linear), channel
                )
                for number, weight in levels(lod, len(pyramid), mip)
                if weight
            ),
            Fraction(0),
        )
        for channel in range(4)
    ]


def gather(
    level: np.ndarray, layer: int, coordinates: list[float], modes, normalized: bool, channel: int
) -> list[Fraction]:
    """PTX ISA, tld4: (x0, y1), (x1, y1), (x1, y0), (x0, y0)."""
    (x0, _), (x1, _) = axes(level, coordinates, modes, normalized, True)[0]
    (y0, _), (y1, _) = axes(level, coordinates, modes, normalized, True)[1]
    return [texel(level, layer, place, channel) for place in ((x0, y1), (x1, y1), (x1, y0), (x0, y0))]


def face_of(x: float, y: float, z: float) -> tuple[int, float, float]:
    """(face, coordinates on it in [0, 1])."""
    size = max(abs(x), abs(y), abs(z))
    axis = next(k for k, value in enumerate((x, y, z)) if abs(value) == size)
    face = 2 * axis + ((x, y, z)[axis] < 0)
    s, t, major = FACES[face](x, y, z)
    return face, (s / major + 1) / 2, (t / major + 1) / 2
