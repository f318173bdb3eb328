"""Rasterisation: the quads of pixels that triangles cover, by the top-left rule, tile by tile; depth and stencil tests
before the shader, where it cannot change their outcome.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.compiled.parts import part
from gpuprof.device.drawing import Scissor, Targets
from gpuprof.graphics.sizes import PIECE_QUADS, QUADS_OF_TILE, SUBPIXELS, TILE
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.graphics.stages.tests import LEQUAL, LESS, Tests, tested

# From the middle of a pixel, in 1/256 pixel; Direct3D 11.3 specification, 19.2.4, and Mesa's llvmpipe have the same.
SAMPLE_PLACES = {
    1: np.array([[0, 0]], np.int64),
    4: np.array([[-32, -96], [96, -32], [-96, 32], [32, 96]], np.int64),
}
HALF_TILE = SUBPIXELS * TILE // 2


class Quads(NamedTuple):
    """Two by two pixels of one triangle. x, y: int32 (n,), the upper left one. triangles: int64 (n,), rows of
    Triangles. masks: uint16 (n,), bit pixel * samples + sample for what is covered and has passed the tests so far.
    """

    x: np.ndarray
    y: np.ndarray
    triangles: np.ndarray
    masks: np.ndarray


class Scan(NamedTuple):
    """How far the scan has come. counts: int64 (6,): tiles looked at, tiles that hierarchical depth left out, samples
    covered, samples tested before the shader, samples that passed, quads that the tests emptied.
    """

    at: np.ndarray  # int64 (2,): triangle, row of tiles
    counts: np.ndarray


TILES, HIDDEN_TILES, COVERED, TESTED, PASSED, EMPTIED = range(6)


def begin_scan() -> Scan:
    return Scan(np.array([0, -1], np.int64), np.zeros(6, np.int64))


def hierarchy(tests: Tests, targets: Targets, depth: np.ndarray, is_early: bool) -> np.ndarray:
    """float32 (rows of tiles, tiles): the farthest depth in each, which hides what lies behind; nothing where the tests
    are such that it does not.
    """
    if not (is_early and tests.has_depth and tests.compare in (LESS, LEQUAL) and not tests.has_stencil):
        return np.zeros((0, 0), np.float32)
    farthest = np.empty((-(-targets.height // TILE), -(-targets.width // TILE)), np.float32)
    _farthest(depth, targets.width, targets.height, targets.samples, farthest)
    return farthest


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
) -> Quads | None:
    """The next quads, PIECE_QUADS or a row of tiles fewer; None at the end. depth: float32, stencil: uint8, a sample
    each. scissor: within the targets.
    """
    if state.at[0] == len(triangles.areas):
        return None
    row_quads = (-(-scissor.width // TILE) + 1) * QUADS_OF_TILE
    n = max(PIECE_QUADS, row_quads)
    x, y, numbers = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    masks = np.empty(n, np.uint16)
    count = _scan(
        state.at,
        state.counts,
        triangles.places,
        triangles.areas,
        triangles.depths,
        triangles.fronts,
        np.array([scissor.x, scissor.y, scissor.x + scissor.width, scissor.y + scissor.height], np.int64),
        targets.width,
        targets.height,
        SAMPLE_PLACES[targets.samples],
        tests,
        depth,
        stencil,
        farthest,
        is_early,
        x,
        y,
        numbers,
        masks,
        row_quads,
    )
    return Quads(x[:count], y[:count], numbers[:count], masks[:count])


@kept
def _farthest(depth, width, height, samples, farthest):
    for row in range(farthest.shape[0]):
        for column in range(farthest.shape[1]):
            farthest[row, column] = _farthest_of(depth, width, height, samples, row, column)


@part
def _farthest_of(depth, width, height, samples, row, column):
    found = np.float32(-np.inf)
    for y in range(row * TILE, min(row * TILE + TILE, height)):
        for x in range(column * TILE, min(column * TILE + TILE, width)):
            for s in range(samples):
                z = depth[(y * width + x) * samples + s]
                found = z if z > found or np.isnan(z) else found
    return found


@kept
def _scan(
    at, counts, places, areas, depths, fronts, window, width, height, samples, tests, depth, stencil, farthest, is_early,
    x_of, y_of, triangle_of, mask_of, row_quads,
):  # fmt: skip
    """Fills the columns of Quads and gives their number; moves `at` on."""
    n_samples, n = len(samples), 0
    steps_x, steps_y, starts, least = np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(3, np.int64)
    for t in range(at[0], len(areas)):
        low_x, high_x = places[t, :, 0].min(), places[t, :, 0].max()
        low_y, high_y = places[t, :, 1].min(), places[t, :, 1].max()
        # samples lie within half a pixel of the middle
        first_x, last_x = max((low_x - 128) >> 8, window[0]), min((high_x + 383) >> 8, window[2] - 1)
        first_y, last_y = max((low_y - 128) >> 8, window[1]), min((high_y + 383) >> 8, window[3] - 1)
        if first_x > last_x or first_y > last_y:
            continue
        for k in range(3):  # of edge k, from corner k + 1 to corner k + 2; its value is positive inside
            a, b = (k + 1) % 3, (k + 2) % 3
            dx, dy = places[t, b, 0] - places[t, a, 0], places[t, b, 1] - places[t, a, 1]
            steps_x[k], steps_y[k] = -dy, dx
            starts[k] = dy * places[t, a, 0] - dx * places[t, a, 1]
            is_top_left = dy < 0 or (dy == 0 and dx > 0)
            least[k] = 0 if is_top_left else 1
        nearest = depths[t].min()
        dz1, dz2, area = depths[t, 1] - depths[t, 0], depths[t, 2] - depths[t, 0], np.float64(areas[t])
        first_row = first_y // TILE if at[1] < 0 else at[1]
        for row in range(first_row, last_y // TILE + 1):
            if n + row_quads > len(x_of):
                at[0], at[1] = t, row
                return n
            for column in range(first_x // TILE, last_x // TILE + 1):
                middle_x, middle_y = SUBPIXELS * TILE * column + HALF_TILE - 128, SUBPIXELS * TILE * row + HALF_TILE - 128
                misses = False
                reach = 0.0
                for k in range(3):
                    value = steps_x[k] * middle_x + steps_y[k] * middle_y + starts[k]
                    most = HALF_TILE * (abs(steps_x[k]) + abs(steps_y[k]))
                    misses = misses or value + most < least[k]
                if misses:
                    continue
                counts[0] += 1
                if farthest.shape[0]:
                    at_middle = depths[t, 0] + (
                        (steps_x[1] * middle_x + steps_y[1] * middle_y + starts[1]) * dz1
                        + (steps_x[2] * middle_x + steps_y[2] * middle_y + starts[2]) * dz2
                    ) / area
                    reach = HALF_TILE * (
                        abs(steps_x[1] * dz1 + steps_x[2] * dz2) + abs(steps_y[1] * dz1 + steps_y[2] * dz2)
                    ) / area
                    # a margin for what differs in rounding
                    if np.float32(max(nearest, at_middle - reach) - 1e-9) > farthest[row, column]:
                        counts[1] += 1
                        continue
                wrote = False
                for quad in range(QUADS_OF_TILE):
                    x = column * TILE + quad % (TILE // 2) * 2
                    y = row * TILE + quad // (TILE // 2) * 2
                    mask, n_covered = 0, 0
                    for pixel in range(4):
                        px, py = x + (pixel & 1), y + (pixel >> 1)
                        if px < first_x or px > last_x or py < first_y or py > last_y:
                            continue
                        for s in range(n_samples):
                            sx, sy = px * SUBPIXELS + samples[s, 0], py * SUBPIXELS + samples[s, 1]
                            e0 = steps_x[0] * sx + steps_y[0] * sy + starts[0]
                            e1 = steps_x[1] * sx + steps_y[1] * sy + starts[1]
                            e2 = steps_x[2] * sx + steps_y[2] * sy + starts[2]
                            if e0 < least[0] or e1 < least[1] or e2 < least[2]:
                                continue
                            n_covered += 1
                            passes = True
                            if is_early:
                                z = np.float32(depths[t, 0] + (e1 * dz1 + e2 * dz2) / area)
                                where = (py * width + px) * n_samples + s
                                passes = tested(tests, depth, stencil, where, z, fronts[t])
                                counts[3] += tests.has_depth or tests.has_stencil
                                wrote = wrote or (passes and tests.writes_depth)
                            if passes:
                                mask |= 1 << pixel * n_samples + s
                                counts[4] += 1
                    counts[2] += n_covered
                    if mask:
                        x_of[n], y_of[n], triangle_of[n], mask_of[n] = x, y, t, mask
                        n += 1
                    elif n_covered:
                        counts[5] += 1
                if wrote and farthest.shape[0]:
                    farthest[row, column] = _farthest_of(depth, width, height, n_samples, row, column)
        at[1] = -1
    at[0] = len(areas)
    return n
