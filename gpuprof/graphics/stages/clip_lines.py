"""Clipping of lines and points: lines end at near and far plane, and at the guard band; points are drawn or not."""

import numpy as np

from gpuprof.graphics.stages.clip import NEAR, Clipped, rejecting


def clipped_points(positions: np.ndarray, varyings: np.ndarray, corners: np.ndarray, planes: np.ndarray) -> Clipped:
    """corners: int64 (n, 1). A point whose middle lies outside of the view goes."""
    with np.errstate(invalid="ignore"):
        inside = (positions[corners[:, 0]].astype(np.float64) @ planes[rejecting(planes)].T >= 0).all(1)
    inside &= np.isfinite(positions[corners[:, 0]]).all(1)
    left = np.flatnonzero(inside)
    return Clipped(positions, varyings, corners[left], left, len(corners) - len(left), 0)


def clipped_lines(positions: np.ndarray, varyings: np.ndarray, corners: np.ndarray, planes: np.ndarray) -> Clipped:
    """Clips lines. corners: int64 (n, 2), the vertices of each."""
    ends = positions[corners].astype(np.float64)
    with np.errstate(invalid="ignore"):
        distances = ends @ planes.T  # (n, 2, planes)
    finite = np.isfinite(ends).all((1, 2))
    is_visible = ~((distances[:, :, rejecting(planes)] < 0).all(1).any(1)) & finite
    start, end = _inside(distances[:, :, NEAR:])
    left = np.flatnonzero(is_visible & (start < end))
    start, end, lines = start[left], end[left], corners[left].copy()
    n, new_positions, new_varyings = len(positions), [positions], [varyings]
    for k, weights, is_cut in ((0, start, start > 0), (1, end, end < 1)):
        a, b = corners[left][is_cut].T
        lines[is_cut, k] = n + np.arange(len(a))
        n += len(a)
        weights = weights[is_cut]
        new_positions.append(_between(positions[a], positions[b], weights[:, None]))
        new_varyings.append(_between(varyings[:, a], varyings[:, b], weights))
    return Clipped(
        np.concatenate(new_positions),
        np.concatenate(new_varyings, 1),
        lines,
        left,
        len(corners) - len(left),
        int(((start > 0) | (end < 1)).sum()),
    )


def _inside(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The parts of lines that are inside of all planes, as weights of the second end. distances: float64 (n, 2, m)."""
    first, second = distances[:, 0], distances[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = first / (first - second)
    return np.where(first < 0, crossing, 0.0).max(1), np.where(second < 0, crossing, 1.0).min(1)


def _between(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> np.ndarray:
    first = first.astype(np.float64)
    return (first + weights * (second - first)).astype(np.float32)
