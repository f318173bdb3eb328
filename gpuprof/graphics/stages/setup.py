"""Setup of the scanned shapes: depth bias and limits, viewport, the grid of 1/256 pixel, facing, culling."""

from typing import NamedTuple

import numpy as np

from gpuprof.device.graphics_state.draw_state import CULLS, FRONTS, DepthBias, DrawState, Viewport
from gpuprof.graphics.sizes import SUBPIXELS
from gpuprof.graphics.stages.clip import Clipped
from gpuprof.graphics.stages.outlines import directions, outlines_of_lines, outlines_of_points
from gpuprof.jit.cached import cached_njit

FRACTION_BITS = 23  # of a float32
UNLIMITED = (-np.inf, np.inf)


def limits_of(state: DrawState) -> np.ndarray:
    """float64 (2,): the least and the largest depth of a sample (OpenGL 4.6, 14.6.5 and 13.8)."""
    if state.depth_clamp:
        return np.array(sorted((state.viewport.near, state.viewport.far)), np.float64)
    return np.array(UNLIMITED if state.depth_bias == DepthBias() else (0, 1), np.float64)


def biases(positions: np.ndarray, areas: np.ndarray, depths: np.ndarray, bias: DepthBias) -> np.ndarray:
    """float64 (n,): the addend to the depths of each triangle. positions: int64 (n, 3, 2), in 1/256 pixel; areas: twice
    theirs; depths: float64 (n, 3). A step is 2 ** (exponent of the largest depth's float - 23).
    """
    (ax, ay), (bx, by) = (positions[:, 1] - positions[:, 0]).T, (positions[:, 2] - positions[:, 0]).T
    first, second = depths[:, 1] - depths[:, 0], depths[:, 2] - depths[:, 0]
    right, down = first * by - second * ay, second * ax - first * bx
    slopes = np.maximum(np.abs(right), np.abs(down)) / areas * SUBPIXELS
    largest, exponents = np.frexp(np.abs(depths).max(1).astype(np.float32))
    steps = np.where(largest > 0, 2.0 ** (exponents - 1.0 - FRACTION_BITS), 0.0)
    unlimited = bias.constant * steps + bias.slope * slopes
    if bias.limit == 0:
        return unlimited
    return np.minimum(unlimited, bias.limit) if bias.limit > 0 else np.maximum(unlimited, bias.limit)


class Triangles(NamedTuple):
    """The shapes that are scanned, a row each. positions: int64 (n, 3, 2), x and y in 1/256 pixel from the middle of
    pixel (0, 0); its corners go around so that `areas`, int64 (n,), is positive: twice the area. depths, inverses:
    float64 (n, 3), of each corner, depth and 1 / w. corners: int64 (n, 3), vertices. sources: int64 (n,), primitives.
    fronts: bool (n,).

    outlines: int64 (n, 4, 2), of lines and points, which go around like triangles; no rows for triangles. A line's
    first two positions are its ends, and its values change from the first towards the third (`weight_along`); those of
    a point are all the same. provoking: int64 (n,), the vertex that flat varyings are of. limits: float64 (2,), which
    depths stay between.
    """

    positions: np.ndarray
    areas: np.ndarray
    depths: np.ndarray
    inverses: np.ndarray
    corners: np.ndarray
    sources: np.ndarray
    fronts: np.ndarray
    outlines: np.ndarray
    provoking: np.ndarray
    limits: np.ndarray


class Culled(NamedTuple):
    """Primitives that are not scanned."""

    by_side: int
    without_area: int


def set_up(
    left: Clipped, provoking: np.ndarray, sizes: np.ndarray | None, state: DrawState, samples: int
) -> tuple[Triangles, Culled]:
    """provoking: int64, the vertex of each primitive before it was clipped. sizes: float32, of each vertex as a point,
    in pixels, or None for the state's. samples: of a pixel.
    """
    limits = limits_of(state)
    if left.corners.shape[1] == 3:
        triangles, culled = _triangles(
            left.positions, left.corners, left.sources, state.viewport, state.cull, state.front
        )
        if state.depth_bias != DepthBias() and len(triangles.areas):
            triangles.depths[:] += biases(triangles.positions, triangles.areas, triangles.depths, state.depth_bias)[
                :, None
            ]
        return triangles._replace(provoking=provoking[triangles.sources], limits=limits), culled
    with np.errstate(all="ignore"):  # a vertex of no primitive that is left may be anything
        snapped, depths, inverses = _windows(left.positions, state.viewport)
    corners, sources = left.corners, left.sources
    positions = snapped[corners]
    seen = np.isfinite(positions).all((1, 2))
    if corners.shape[1] == 2:
        seen &= (positions[:, 0] != positions[:, 1]).any(1)
    corners, sources, positions = corners[seen], sources[seen], positions[seen].astype(np.int64)
    thrice = [0, -1, 0]  # the second corner of a line, or a point's only one
    corners, positions, ones = corners[:, thrice], positions[:, thrice], np.ones(len(corners), np.int64)
    if left.corners.shape[1] == 2:
        outlines = outlines_of_lines(positions[:, :2], samples, state.line_width)
        positions[:, 2] += directions(positions, samples)
    else:
        outlines = outlines_of_points(positions[:, 0], state.point_size if sizes is None else sizes[corners[:, 0]])
    triangles = Triangles(
        positions,
        ones,
        depths[corners],
        inverses[corners],
        corners,
        sources,
        ones == 1,
        outlines,
        provoking[sources],
        limits,
    )
    return triangles, Culled(0, int((~seen).sum()))


def _triangles(
    positions: np.ndarray, corners: np.ndarray, sources: np.ndarray, viewport: Viewport, cull: str, front: str
) -> tuple[Triangles, Culled]:
    """positions: float32 (vertices, 4), in clip space. Without their provoking vertices and limits."""
    n = len(corners)
    triangles = Triangles(
        np.zeros((n, 3, 2), np.int64),
        np.zeros(n, np.int64),
        np.zeros((n, 3), np.float64),
        np.zeros((n, 3), np.float64),
        np.zeros((n, 3), np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.bool_),
        np.zeros((0, 4, 2), np.int64),
        np.zeros(0, np.int64),
        np.zeros(2, np.float64),
    )
    with np.errstate(all="ignore"):  # a vertex of no triangle that is left may be anything
        snapped, depths, inverses = _windows(positions, viewport)
    count, by_side, without_area = _set_up(
        snapped, depths, inverses, corners, sources, CULLS.index(cull), FRONTS.index(front), *triangles[:7]
    )
    return Triangles(*(column[:count] for column in triangles)), Culled(by_side, without_area)


def _windows(positions: np.ndarray, viewport: Viewport) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places on the grid, float64 (n, 2), not finite where w is 0; depths and 1 / w, float64. Arithmetic is float32,
    scale and offset in one step, as a card's and Mesa's is.
    """
    inverses = np.float32(1) / positions[:, 3]
    scales = np.array([viewport.width / 2, -viewport.height / 2, viewport.far - viewport.near])
    offsets = np.array([viewport.x + viewport.width / 2, viewport.y + viewport.height / 2, viewport.near])
    in_window = ((positions[:, :3] * inverses[:, None]).astype(np.float64) * scales + offsets).astype(np.float32)
    snapped = np.rint((in_window[:, :2] - np.float32(0.5)) * np.float32(SUBPIXELS)).astype(np.float64)
    return snapped, in_window[:, 2].astype(np.float64), inverses.astype(np.float64)


@cached_njit
def _set_up(  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    snapped,
    depths,
    inverses,
    corners,
    sources,
    cull,
    front,
    positions,
    areas,
    z,
    w,
    found_corners,
    found_sources,
    fronts,
):
    """Fills the columns of Triangles; gives their number, and those culled by side and without area."""
    count, by_side, without_area = 0, 0, 0
    for t in range(len(corners)):
        a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
        is_finite = True
        for vertex in (a, b, c):
            if not (np.isfinite(snapped[vertex, 0]) and np.isfinite(snapped[vertex, 1])):
                is_finite = False
        if not is_finite:
            without_area += 1
            continue
        ax, ay = np.int64(snapped[a, 0]), np.int64(snapped[a, 1])
        bx, by = np.int64(snapped[b, 0]), np.int64(snapped[b, 1])
        cx, cy = np.int64(snapped[c, 0]), np.int64(snapped[c, 1])
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0:
            without_area += 1
            continue
        # Rows go downwards, so a positive area goes around clockwise.
        is_front = (area > 0) == (front == 1)
        if (cull == 1 and is_front) or (cull == 2 and not is_front):
            by_side += 1
            continue
        if area < 0:
            b, c = c, b
            area = -area
        for k, vertex in enumerate((a, b, c)):
            positions[count, k, 0], positions[count, k, 1] = np.int64(snapped[vertex, 0]), np.int64(snapped[vertex, 1])
            z[count, k], w[count, k], found_corners[count, k] = depths[vertex], inverses[vertex], vertex
        areas[count], found_sources[count], fronts[count] = area, sources[t], is_front
        count += 1
    return count, by_side, without_area
