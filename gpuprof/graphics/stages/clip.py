"""Clipping: triangles outside of the view go, and those that cross near or far plane, or reach beyond the guard band,
become several, with new vertices. Clip distances that a shader gives are further columns of a position.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.device.graphics_state.draw_state import Viewport
from gpuprof.graphics.sizes import GUARD_BAND
from gpuprof.jit.cached import cached_njit

# The sides of the view, near and far. A vertex (x, y, z, w) is inside of a plane where its product with the row is not
# negative. `planes` adds the sides of the guard band.
SIDES = ((1, 0, 0, 1), (-1, 0, 0, 1), (0, 1, 0, 1), (0, -1, 0, 1))
NEAR_AND_FAR = ((0, 0, 1, 0), (0, 0, -1, 1))
BEFORE_THE_EYE = ((0, 0, 0, 1), (0, 0, 0, 1))  # where depths are clamped
NEAR, N_VIEW = len(SIDES), len(SIDES + NEAR_AND_FAR)
N_CUTTING = 6  # near, far and the guard band's sides, in front of clip distances


class Clipped(NamedTuple):
    """positions: float32 (vertices, 4 and clip distances), and varyings: float32 (words, vertices), new ones at the
    end. corners: int64 (pieces, corners), vertices. sources: int64 (pieces,), the primitive that each comes from.
    n_rejected, n_clipped: primitives that lie outside, and that were cut.
    """

    positions: np.ndarray
    varyings: np.ndarray
    corners: np.ndarray
    sources: np.ndarray
    n_rejected: int
    n_clipped: int


def clipped(positions: np.ndarray, varyings: np.ndarray, corners: np.ndarray, all_planes: np.ndarray) -> Clipped:
    """Clips triangles, int64 (n, 3), to what can be drawn. One with a position that is not finite is outside.
    positions: float32 (vertices, 4 and clip distances). all_planes: `planes` of as many columns.
    """
    with np.errstate(invalid="ignore"):
        outside = np.less(positions.astype(np.float64) @ all_planes.T, 0)
    finite = np.all(np.isfinite(positions), 1)
    inside = ~outside[:, rejecting(all_planes)][corners].all(1).any(1) & finite[corners].all(1)
    crosses = np.any(outside[:, NEAR:], 1)[corners].any(1) & inside
    uncut = np.flatnonzero(inside & ~crosses)
    cut = np.flatnonzero(crosses)
    if not len(cut):
        n_rejected = len(corners) - len(uncut)
        return Clipped(positions, varyings, corners[uncut], uncut, n_rejected, 0)
    n_cutting = len(all_planes) - NEAR
    new = np.zeros((2 * n_cutting * len(cut), positions.shape[1]), np.float32)
    ends, weights = np.zeros((len(new), 2), np.int64), np.zeros(len(new), np.float64)
    most = (1 + n_cutting) * len(cut)
    pieces, sources = np.zeros((most, 3), np.int64), np.zeros(most, np.int64)
    everywhere = np.concatenate([positions, new])
    n_pieces, n_new = _cut(everywhere, len(positions), corners, cut, all_planes[NEAR:], ends, weights, pieces, sources)
    more = np.concatenate([varyings, np.zeros((len(varyings), n_new), np.float32)], 1)
    _between(more, len(positions), ends[:n_new], weights[:n_new])
    order = np.argsort(np.concatenate([uncut, sources[:n_pieces]]), kind="stable")
    return Clipped(
        everywhere[: len(positions) + n_new],
        more,
        np.concatenate([corners[uncut], pieces[:n_pieces]])[order],
        np.concatenate([uncut, sources[:n_pieces]])[order],
        len(corners) - len(uncut) - len(cut),
        len(cut),
    )


def rejecting(all_planes: np.ndarray) -> np.ndarray:
    """Rows of the planes beyond which nothing is visible: the view's, and clip distances."""
    return np.append(np.arange(N_VIEW), np.arange(NEAR + N_CUTTING, len(all_planes)))


def planes(viewport: Viewport, depth_clamp: bool = False, n_distances: int = 0) -> np.ndarray:
    """float64 (10 and clip distances, 4 and clip distances)."""
    half_x, half_y = viewport.width / 2, viewport.height / 2
    band_x = max((GUARD_BAND - abs(viewport.x + half_x)) / half_x, 1.0)
    band_y = max((GUARD_BAND - abs(viewport.y + half_y)) / half_y, 1.0)
    band = ((1, 0, 0, band_x), (-1, 0, 0, band_x), (0, 1, 0, band_y), (0, -1, 0, band_y))
    rows = SIDES + (BEFORE_THE_EYE if depth_clamp else NEAR_AND_FAR) + band
    plane_rows = np.eye(len(rows) + n_distances, 4 + n_distances, 4 - len(rows))  # a clip distance is its own plane's
    plane_rows[: len(rows)] = 0
    plane_rows[: len(rows), :4] = rows
    return plane_rows


@cached_njit
def _cut(positions, n_vertices, corners, cut, cutting, ends, weights, pieces, sources):
    """Sutherland and Hodgman's algorithm, plane after plane. A new vertex lies between `ends`, at `weights` of the way
    from the first; it is always seen from the end that is inside, so triangles that share an edge share it, too. Gives
    the number of pieces and of new vertices.
    """
    n_pieces, n_new, most = 0, 0, 4 + len(cutting)
    polygon, other = np.zeros(most, np.int64), np.zeros(most, np.int64)
    distance = np.zeros(most, np.float64)
    for source in cut:
        count = 3
        for k in range(3):
            polygon[k] = corners[source, k]
        for plane in range(len(cutting)):
            for k in range(count):
                total = 0.0
                for axis in range(positions.shape[1]):
                    total += cutting[plane, axis] * np.float64(positions[polygon[k], axis])
                distance[k] = total
            kept_count = 0
            for k in range(count):
                following = (k + 1) % count
                if distance[k] >= 0:
                    other[kept_count] = polygon[k]
                    kept_count += 1
                if (distance[k] >= 0) != (distance[following] >= 0):
                    a, b = (k, following) if distance[k] >= 0 else (following, k)
                    weight = distance[a] / (distance[a] - distance[b])
                    at = n_vertices + n_new
                    ends[n_new, 0], ends[n_new, 1], weights[n_new] = polygon[a], polygon[b], weight
                    for axis in range(positions.shape[1]):
                        start, end = np.float64(positions[polygon[a], axis]), np.float64(positions[polygon[b], axis])
                        positions[at, axis] = start + weight * (end - start)
                    other[kept_count] = at
                    kept_count, n_new = kept_count + 1, n_new + 1
            count = kept_count
            for k in range(count):
                polygon[k] = other[k]
        for k in range(1, count - 1):
            pieces[n_pieces, 0], pieces[n_pieces, 1], pieces[n_pieces, 2] = polygon[0], polygon[k], polygon[k + 1]
            sources[n_pieces] = source
            n_pieces += 1
    return n_pieces, n_new


@cached_njit
def _between(varyings, n_vertices, ends, weights):
    """Fills in those of new vertices, the first first: one may lie between others."""
    for k in range(len(ends)):
        for word in range(len(varyings)):
            start, end = np.float64(varyings[word, ends[k, 0]]), np.float64(varyings[word, ends[k, 1]])
            varyings[word, n_vertices + k] = start + weights[k] * (end - start)
