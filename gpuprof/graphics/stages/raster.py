"""Rasterisation: the quads of pixels that triangles, lines and points cover, by the top-left rule, tile by tile; depth
and stencil tests before the shader, where it cannot change their outcome.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.device.graphics_state.draw_state import Scissor, Targets
from gpuprof.graphics.sizes import PIECE_QUADS, QUADS_OF_TILE, SUBPIXELS, TILE
from gpuprof.graphics.stages.depth_tests import LEQUAL, LESS, Tests, tested
from gpuprof.graphics.stages.outlines import change_along, depth_along
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

# From the middle of a pixel, in 1/256 pixel; Direct3D 11.3 specification, 19.2.4, and Mesa's llvmpipe have the same.
SAMPLE_PLACES = {
    1: np.array([[0, 0]], np.int64),
    4: np.array([[-32, -96], [96, -32], [-96, 32], [32, 96]], np.int64),
}
HALF_TILE, HALF_PIXEL = SUBPIXELS * TILE // 2, SUBPIXELS // 2
ROUNDING = 1e-9  # of a depth in a double, with a margin
ROUNDING_OF_DEPTHS = 2.0**-24  # of one up to 1 in a float
RIGHT, DOWN, START, LEAST = range(4)  # columns of an edge
TILES, HIDDEN_TILES, COVERED, TESTED, PASSED, EMPTIED = range(6)


class Quads(NamedTuple):
    """Two by two pixels of one triangle. x, y: int32 (n,), the upper left one. triangles: int64 (n,), rows of
    Triangles. masks: uint16 (n,), bit pixel * samples + sample for samples that are covered and have passed the tests
    so far.
    """

    x: np.ndarray
    y: np.ndarray
    triangles: np.ndarray
    masks: np.ndarray


class TestedQuads(NamedTuple):
    """Quads that were tested before the shader. x, y: int32 (n,). covered, passed: uint16 (n,), samples as in Quads:
    those tested, and of these those that passed. place: int64 (n,), how many quads of this piece were left before.
    """

    x: np.ndarray
    y: np.ndarray
    covered: np.ndarray
    passed: np.ndarray
    place: np.ndarray


class Scan(NamedTuple):
    """The progress of a scan. counts: int64 (6,): tiles looked at, tiles that hierarchical depth left out, samples
    covered, samples tested before the shader, samples that passed, quads that the tests emptied. tested: arrays for
    tested quads, empty where they are not needed.
    """

    at: np.ndarray  # int64 (3,): triangle, row of tiles, tested quads
    counts: np.ndarray
    tested: TestedQuads

    def last_tested(self) -> TestedQuads:
        """The tested quads of the last piece. They are valid until the next."""
        return TestedQuads(*(column[: self.at[2]] for column in self.tested))


def begin_scan(scissor: Scissor, notes_tested: bool = False) -> Scan:
    n = _room(scissor) if notes_tested else 0
    dtypes = (np.int32, np.int32, np.uint16, np.uint16, np.int64)
    tested = TestedQuads(*(np.empty(n, dtype) for dtype in dtypes))
    return Scan(np.array([0, -1, 0], np.int64), np.zeros(6, np.int64), tested)


def _row_quads(scissor: Scissor) -> int:
    """The most quads of a triangle in a row of tiles."""
    return (-(-scissor.width // TILE) + 1) * QUADS_OF_TILE


def _room(scissor: Scissor) -> int:
    """The number of quads of a piece."""
    return max(PIECE_QUADS, _row_quads(scissor))


def hierarchy(tests: Tests, targets: Targets, is_early: bool) -> np.ndarray:
    """float32 (rows of tiles, tiles): the farthest depth in each, which hides all beyond it; NaN until it is first
    needed. Empty where the tests are such that it does not hide.
    """
    if not (is_early and tests.has_depth and tests.compare in (LESS, LEQUAL) and not tests.has_stencil):
        return np.zeros((0, 0), np.float32)
    return np.full((-(-targets.height // TILE), -(-targets.width // TILE)), np.nan, np.float32)


def scan(
    state: Scan,
    triangles: Triangles,
    scissor: Scissor,
    targets: Targets,
    tests: Tests,
    depth: np.ndarray,
    stencil: np.ndarray,
    farthest: np.ndarray,
    is_early: bool,
    sample_mask: int,
) -> Quads | None:
    """The next quads, PIECE_QUADS or a row of tiles fewer; None at the end. depth: float32, stencil: uint8, a sample
    each. scissor: within the targets. sample_mask: bit s: sample s may be covered.
    """
    state.at[2] = 0
    if state.at[0] == len(triangles.areas):
        return None
    n = _room(scissor)
    x, y, numbers = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    masks = np.empty(n, np.uint16)
    count = _scan(
        state.at,
        state.counts,
        triangles.positions,
        triangles.areas,
        triangles.depths,
        triangles.fronts,
        triangles.outlines,
        triangles.limits,
        np.array([scissor.x, scissor.y, scissor.x + scissor.width, scissor.y + scissor.height], np.int64),
        targets.width,
        targets.height,
        SAMPLE_PLACES[targets.samples],
        sample_mask,
        tests,
        depth,
        stencil,
        farthest,
        is_early,
        x,
        y,
        numbers,
        masks,
        *state.tested,
        _row_quads(scissor),
    )
    return Quads(x[:count], y[:count], numbers[:count], masks[:count])


@internal_njit
def _farthest_of(depth, width, height, samples, row, column):
    farthest = np.float32(-np.inf)
    for y in range(row * TILE, min(row * TILE + TILE, height)):
        for x in range(column * TILE, min(column * TILE + TILE, width)):
            for s in range(samples):
                z = depth[(y * width + x) * samples + s]
                farthest = z if z > farthest or np.isnan(z) else farthest
    return farthest


@internal_njit
def _pixels_between(shape, axis, low, high):
    """First and last pixel along an axis that may have a sample in a shape, of those from `low` to before `high`."""
    a, b, c, d = shape[0, axis], shape[1, axis], shape[2, axis], shape[-1, axis]
    # samples lie less than half a pixel from the middle
    first, last = (min(a, b, c, d) - HALF_PIXEL) // SUBPIXELS, (max(a, b, c, d) + HALF_PIXEL) // SUBPIXELS + 1
    return max(first, low), min(last, high - 1)


@internal_njit
def limited(z, limits):
    """float32: a depth between the limits; NaN stays NaN."""
    return np.float32(limits[0]) if z < limits[0] else np.float32(limits[1]) if z > limits[1] else z


@internal_njit
def _set_edges(shape, edges):
    """Fills in edge k, from corner k + 1 to corner k + 2: its value's steps to the right and downwards, its value at
    (0, 0), and the least value inside. The value is positive inside; it is 0 on the edge, which belongs to the shape
    where it is a left or a top one.
    """
    for k in range(len(shape)):
        a, b = (k + 1) % len(shape), (k + 2) % len(shape)
        dx, dy = shape[b, 0] - shape[a, 0], shape[b, 1] - shape[a, 1]
        edges[k, RIGHT], edges[k, DOWN] = -dy, dx
        edges[k, START] = dy * shape[a, 0] - dx * shape[a, 1]
        edges[k, LEAST] = 0 if dy < 0 or (dy == 0 and dx > 0) else 1


@internal_njit
def _value(edges, k, x, y):
    return edges[k, RIGHT] * x + edges[k, DOWN] * y + edges[k, START]


@internal_njit
def _misses(edges, x, y):
    """True when the tile with this middle lies entirely outside of an edge."""
    for k in range(len(edges)):
        most = _value(edges, k, x, y) + HALF_TILE * (abs(edges[k, RIGHT]) + abs(edges[k, DOWN]))
        if most < edges[k, LEAST]:
            return True
    return False


@internal_njit
def _nearest(edges, depths, area, t, x, y):
    """float32: no depth of triangle t in the tile with this middle is smaller."""
    dz1, dz2 = depths[t, 1] - depths[t, 0], depths[t, 2] - depths[t, 0]
    middle = depths[t, 0] + (_value(edges, 1, x, y) * dz1 + _value(edges, 2, x, y) * dz2) / area
    right = abs(edges[1, RIGHT] * dz1 + edges[2, RIGHT] * dz2) / area
    down = abs(edges[1, DOWN] * dz1 + edges[2, DOWN] * dz2) / area
    least = min(depths[t, 0], depths[t, 1], depths[t, 2])
    return np.float32(max(least, middle - HALF_TILE * (right + down)) - ROUNDING)


@internal_njit
def _nearest_along(positions, depths, t, x, y):
    """float32: no depth of line or point t in the tile with this middle is smaller."""
    reach = HALF_TILE * change_along(positions, t) * abs(depths[t, 1] - depths[t, 0])
    return np.float32(depth_along(positions, depths, t, x, y) - reach - 2 * ROUNDING_OF_DEPTHS)


@cached_njit
def _scan(  # noqa: C901, PLR0913  # compiled: arrays, and a loop without calls
    at, counts, positions, areas, depths, fronts, outlines, limits, window, width, height, samples, sample_mask,
    tests, depth, stencil, farthest, is_early, x_of, y_of, triangle_of, mask_of, tested_x, tested_y, covered_of,
    passed_of, place_of, row_quads,
):  # fmt: skip
    """Fills the columns of Quads and gives their number, and those of TestedQuads; moves `at` on."""
    n_samples, n, is_tested = len(samples), 0, is_early and (tests.has_depth or tests.has_stencil)
    is_outlined = len(outlines) > 0
    edges = np.zeros((4 if is_outlined else 3, 4), np.int64)
    for t in range(at[0], len(areas)):
        shape = outlines[t] if is_outlined else positions[t]
        first_x, last_x = _pixels_between(shape, 0, window[0], window[2])
        first_y, last_y = _pixels_between(shape, 1, window[1], window[3])
        if first_x > last_x or first_y > last_y:
            continue
        _set_edges(shape, edges)
        dz1, dz2, area = depths[t, 1] - depths[t, 0], depths[t, 2] - depths[t, 0], np.float64(areas[t])
        for row in range(first_y // TILE if at[1] < 0 else at[1], last_y // TILE + 1):
            if n + row_quads > len(x_of) or (len(tested_x) and at[2] + row_quads > len(tested_x)):
                at[0], at[1] = t, row
                return n
            for column in range(first_x // TILE, last_x // TILE + 1):
                middle_x = SUBPIXELS * TILE * column + HALF_TILE - HALF_PIXEL
                middle_y = SUBPIXELS * TILE * row + HALF_TILE - HALF_PIXEL
                if _misses(edges, middle_x, middle_y):
                    continue
                counts[TILES] += 1
                if len(farthest):
                    if np.isnan(farthest[row, column]):
                        farthest[row, column] = _farthest_of(depth, width, height, n_samples, row, column)
                    if is_outlined:
                        nearest = _nearest_along(positions, depths, t, middle_x, middle_y)
                    else:
                        nearest = _nearest(edges, depths, area, t, middle_x, middle_y)
                    if limited(nearest, limits) > farthest[row, column]:
                        counts[HIDDEN_TILES] += 1
                        continue
                wrote = False
                for quad in range(QUADS_OF_TILE):
                    x = column * TILE + quad % (TILE // 2) * 2
                    y = row * TILE + quad // (TILE // 2) * 2
                    mask, covered, n_covered = 0, 0, 0
                    for pixel in range(4):
                        px, py = x + (pixel & 1), y + (pixel >> 1)
                        if px < first_x or px > last_x or py < first_y or py > last_y:
                            continue
                        for s in range(n_samples):
                            if not sample_mask >> s & 1:
                                continue
                            sx, sy = px * SUBPIXELS + samples[s, 0], py * SUBPIXELS + samples[s, 1]
                            if _value(edges, 0, sx, sy) < edges[0, LEAST]:
                                continue
                            first, second = _value(edges, 1, sx, sy), _value(edges, 2, sx, sy)
                            if first < edges[1, LEAST] or second < edges[2, LEAST]:
                                continue
                            if is_outlined and _value(edges, 3, sx, sy) < edges[3, LEAST]:
                                continue
                            n_covered += 1
                            covered |= 1 << pixel * n_samples + s
                            if is_tested:
                                counts[TESTED] += 1
                                if is_outlined:
                                    z = depth_along(positions, depths, t, sx, sy)
                                else:
                                    z = np.float32(depths[t, 0] + (first * dz1 + second * dz2) / area)
                                where = (py * width + px) * n_samples + s
                                if not tested(tests, depth, stencil, where, limited(z, limits), fronts[t]):
                                    continue
                                wrote = True
                            mask |= 1 << pixel * n_samples + s
                            counts[PASSED] += 1
                    counts[COVERED] += n_covered
                    if is_tested and n_covered and len(tested_x):
                        k = at[2]
                        tested_x[k], tested_y[k], covered_of[k], passed_of[k], place_of[k] = x, y, covered, mask, n
                        at[2] += 1
                    if mask:
                        x_of[n], y_of[n], triangle_of[n], mask_of[n] = x, y, t, mask
                        n += 1
                    elif n_covered:
                        counts[EMPTIED] += 1
                if wrote and tests.writes_depth and len(farthest):
                    farthest[row, column] = _farthest_of(depth, width, height, n_samples, row, column)
        at[1] = -1
    at[0] = len(areas)
    return n
