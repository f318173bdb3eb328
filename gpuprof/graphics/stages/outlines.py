"""Lines and points: the outlines that they are scanned by, parallelograms on the grid of 1/256 pixel."""

import numpy as np

from gpuprof.graphics.sizes import MOST_WIDTH, SUBPIXELS
from gpuprof.jit.internal import internal_njit

HALF_PIXEL = SUBPIXELS // 2


def outlines_of_points(positions: np.ndarray, sizes: float | np.ndarray) -> np.ndarray:
    """int64 (n, 4, 2): squares around positions, int64 (n, 2); sizes: in pixels, each of its own or one of all (OpenGL
    4.6, 14.4). A size that no point may have becomes the nearest, and NaN the least.
    """
    sizes = np.clip(np.nan_to_num(sizes, nan=1.0), 1.0, MOST_WIDTH)
    width = np.broadcast_to(np.rint(sizes * SUBPIXELS).astype(np.int64), len(positions))[:, None, None]
    return positions[:, None] + width * np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) - width // 2


def outlines_of_lines(positions: np.ndarray, samples: int, width: float) -> np.ndarray:
    """int64 (n, 4, 2): the outlines of lines of `width` pixels; positions: int64 (n, 2, 2), their ends, which differ.
    With several samples, lines are rectangles (OpenGL 4.6, 14.5.4); without, their width is rounded (14.5.2.2).
    """
    outlines = _rectangles(positions, width) if samples > 1 else _by_the_diamond_rule(positions, max(round(width), 1))
    a, b, c = outlines[:, 0], outlines[:, 1], outlines[:, 2]
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    return np.where((area < 0)[:, None, None], outlines[:, ::-1], outlines)


def _rectangles(positions: np.ndarray, width: float) -> np.ndarray:
    along = (positions[:, 1] - positions[:, 0]).astype(np.float64)
    across = along[:, ::-1] * (-1, 1) * HALF_PIXEL * width / np.hypot(*along.T)[:, None]
    return _around(positions, np.rint(across).astype(np.int64))


def _by_the_diamond_rule(positions: np.ndarray, width: int) -> np.ndarray:
    """A line covers the pixels whose diamonds, |x| + |y| < 1/2 from their middles, it leaves (OpenGL 4.6, 14.5.1). Of
    each column that it crosses, or row if it is steep, that is the pixel whose middle is within half a pixel. So only
    its ends need care: one that lies in a diamond, after the middle, is moved to before the middle. A start's pixel is
    covered then, and an end's is not. A wider line has as many pixels of each column, or row.
    """
    along = positions[:, 1] - positions[:, 0]
    is_steep = np.abs(along[:, 1]) > np.abs(along[:, 0])
    axis = is_steep.astype(np.int64)[:, None, None]
    main = np.take_along_axis(positions, axis, 2)[:, :, 0]
    side = np.take_along_axis(positions, 1 - axis, 2)[:, :, 0]
    direction = np.sign(main[:, 1] - main[:, 0])[:, None]
    from_main, from_side = ((coordinate + HALF_PIXEL) % SUBPIXELS - HALF_PIXEL for coordinate in (main, side))
    is_inside = np.abs(from_main) + np.abs(from_side) < HALF_PIXEL
    # a middle upon an outline belongs to it at the left and at the top
    is_behind = np.where(direction > 0, from_main > 0, from_main <= 0)
    moved = np.where(is_inside & is_behind, -from_main - direction * HALF_PIXEL, 0)
    slope = (side[:, 1] - side[:, 0]) / (main[:, 1] - main[:, 0])
    main, side = main + moved, side + np.rint(moved * slope[:, None]).astype(np.int64)
    ends = np.where(axis == 0, np.stack([main, side], 2), np.stack([side, main], 2))
    across = np.where(is_steep[:, None], (HALF_PIXEL, 0), (0, HALF_PIXEL))
    return _around(ends, across * width)


def _around(ends: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Ends, int64 (n, 2, 2), to both sides."""
    start, end = ends[:, 0], ends[:, 1]
    return np.stack([start - across, end - across, end + across, start + across], 1)


def directions(positions: np.ndarray, samples: int) -> np.ndarray:
    """int64 (n, 2): along which the values of lines change; even across it. That is a line's own with several samples
    (OpenGL 4.6, equation 14.5), else the axis that it follows (14.5.2.1).
    """
    along = positions[:, 1] - positions[:, 0]
    if samples > 1:
        return along
    is_steep = np.abs(along[:, 1]) > np.abs(along[:, 0])
    return np.where(is_steep[:, None], (0, 1), (1, 0))


@internal_njit
def weight_along(positions, t, x, y):
    """How far along line t, as a share of its length, a position is: negative before its start, above 1 after its end.
    0 for a point.
    """
    dx, dy = positions[t, 2, 0] - positions[t, 0, 0], positions[t, 2, 1] - positions[t, 0, 1]
    length = (positions[t, 1, 0] - positions[t, 0, 0]) * dx + (positions[t, 1, 1] - positions[t, 0, 1]) * dy
    if length == 0:
        return 0.0
    return ((x - positions[t, 0, 0]) * dx + (y - positions[t, 0, 1]) * dy) / length


@internal_njit
def change_along(positions, t):
    """By how much `weight_along` changes at most over one step to the right and one downwards."""
    dx, dy = positions[t, 2, 0] - positions[t, 0, 0], positions[t, 2, 1] - positions[t, 0, 1]
    length = (positions[t, 1, 0] - positions[t, 0, 0]) * dx + (positions[t, 1, 1] - positions[t, 0, 1]) * dy
    return (abs(dx) + abs(dy)) / max(abs(length), 1)


@internal_njit
def depth_along(positions, depths, t, x, y):
    """float32: of line or point t at x and y, in 1/256 pixel."""
    return np.float32(depths[t, 0] + weight_along(positions, t, x, y) * (depths[t, 1] - depths[t, 0]))
