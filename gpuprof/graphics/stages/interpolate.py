"""Interpolation: what the pixel shader reads of each lane, and the depth of each sample that is tested after it."""

from typing import NamedTuple

import numpy as np

from gpuprof.graphics.sizes import QUAD, SUBPIXELS
from gpuprof.graphics.stages.outlines import depth_along, weight_along
from gpuprof.graphics.stages.raster import Quads, limited
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit


class Lanes(NamedTuple):
    """positions: float32 (lanes, 4), x and y of the pixel's middle, depth, 1 / w. varyings: float32 (words, lanes).
    facts: uint32 (lanes,), the primitive's number times two, and whether it is seen from the front. points: float32
    (lanes, 2), where in its point the pixel's middle is, 0 where the primitive is no point; or (0, 2) where they are
    not needed. Lanes after the last quad are zero.
    """

    positions: np.ndarray
    varyings: np.ndarray
    facts: np.ndarray
    points: np.ndarray


def interpolated(quads: Quads, triangles: Triangles, varyings: np.ndarray, flat: tuple[int, ...], lanes: Lanes) -> None:
    """Fills `lanes`: perspective-correct, at the middles of pixels, which may lie outside of the triangle. varyings:
    float32 (words, vertices). flat: words that are those of the provoking vertex.
    """
    is_flat = np.zeros(len(varyings), np.bool_)
    is_flat[list(flat)] = True
    _interpolate(
        quads.x,
        quads.y,
        quads.triangles,
        triangles.positions,
        triangles.areas,
        triangles.depths,
        triangles.inverses,
        triangles.corners,
        triangles.sources,
        triangles.fronts,
        len(triangles.outlines) > 0,
        triangles.limits,
        triangles.provoking,
        is_flat,
        varyings,
        lanes.positions,
        lanes.varyings,
        lanes.facts,
    )
    if len(lanes.points) and len(triangles.outlines):
        _points(quads.x, quads.y, quads.triangles, triangles.positions, triangles.outlines, lanes.points)


@internal_njit
def edge(positions, t, k, x, y):
    """The value of edge k, of the corners other than k, at x and y: the part of twice the area that lies over there."""
    a, b = (k + 1) % 3, (k + 2) % 3
    ax, ay, bx, by = positions[t, a, 0], positions[t, a, 1], positions[t, b, 0], positions[t, b, 1]
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)


@internal_njit
def depth_at(positions, depths, area, is_outlined, limits, t, x, y):
    """float32: of triangle t, or line or point t, at x and y, in 1/256 pixel."""
    if is_outlined:
        return limited(depth_along(positions, depths, t, x, y), limits)
    first = edge(positions, t, 1, x, y) * (depths[t, 1] - depths[t, 0])
    second = edge(positions, t, 2, x, y) * (depths[t, 2] - depths[t, 0])
    return limited(np.float32(depths[t, 0] + (first + second) / area), limits)


@cached_njit
def _interpolate(  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    x_of, y_of, triangle_of, positions, areas, depths, inverses, corners, sources, fronts, is_outlined, limits,
    provoking, is_flat, varyings, out_positions, out, facts,
):  # fmt: skip
    for q in range(len(x_of)):
        t = triangle_of[q]
        a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
        area = np.float64(areas[t])
        for pixel in range(4):
            lane = q * QUAD + pixel
            x, y = x_of[q] + (pixel & 1), y_of[q] + (pixel >> 1)
            sx, sy = np.int64(x) * SUBPIXELS, np.int64(y) * SUBPIXELS
            if is_outlined:
                along = weight_along(positions, t, sx, sy)
                weight_a, weight_b, weight_c = (1 - along) * inverses[t, 0], along * inverses[t, 1], 0.0
            else:
                weight_a = edge(positions, t, 0, sx, sy) / area * inverses[t, 0]
                weight_b = edge(positions, t, 1, sx, sy) / area * inverses[t, 1]
                weight_c = edge(positions, t, 2, sx, sy) / area * inverses[t, 2]
            inverse = weight_a + weight_b + weight_c
            out_positions[lane, 0], out_positions[lane, 1] = x + 0.5, y + 0.5
            out_positions[lane, 2] = depth_at(positions, depths, area, is_outlined, limits, t, sx, sy)
            out_positions[lane, 3] = inverse
            facts[lane] = sources[t] * 2 + int(fronts[t])
            # a helper lane may lie where the triangle's plane passes the eye
            scale = 1 / inverse if inverse != 0 else 0.0
            for word in range(len(varyings)):
                if is_flat[word]:
                    out[word, lane] = varyings[word, provoking[t]]
                    continue
                out[word, lane] = (
                    weight_a * varyings[word, a] + weight_b * varyings[word, b] + weight_c * varyings[word, c]
                ) * scale


@cached_njit
def _points(x_of, y_of, point_of, positions, outlines, out):
    """The position of each pixel in its point's square, 0 to 1 to the right and downwards. Lines, whose ends differ,
    have none.
    """
    for q in range(len(x_of)):
        shape, ends = outlines[point_of[q]], positions[point_of[q]]
        if ends[0, 0] != ends[1, 0] or ends[0, 1] != ends[1, 1]:
            continue
        left, upper = shape[0, 0], shape[0, 1]
        side = np.float64(shape[2, 0] - left)
        for pixel in range(4):
            lane = q * QUAD + pixel
            out[lane, 0] = ((x_of[q] + (pixel & 1)) * SUBPIXELS - left) / side
            out[lane, 1] = ((y_of[q] + (pixel >> 1)) * SUBPIXELS - upper) / side
