"""Vertex reuse: triangles in batches, each of which shades its vertices once."""

from typing import NamedTuple

import numpy as np

from gpuprof.compiled.kept import kept
from gpuprof.compiled.parts import part
from gpuprof.graphics.sizes import BATCH_PRIMITIVES, BATCH_VERTICES


class Batches(NamedTuple):
    """numbers: uint32 (batches * BATCH_VERTICES,), the vertex that each lane of the vertex shader has; lanes that are
    left over have that of the batch's last one. corners: int64 (triangles, 3), the lanes of each triangle's vertices.
    used: int64 (batches,), lanes of each batch that have a vertex of their own.
    """

    numbers: np.ndarray
    corners: np.ndarray
    used: np.ndarray


def batched(triangles: np.ndarray) -> Batches:
    """Batches of triangles, int64 (n, 3), in their order."""
    n = len(triangles)
    # A batch that ends has so many triangles, or no room for three more vertices.
    most = n // BATCH_PRIMITIVES + 3 * n // (BATCH_VERTICES - 2) + 1
    numbers, used = np.zeros(most * BATCH_VERTICES, np.uint32), np.zeros(most, np.int64)
    corners = np.zeros((n, 3), np.int64)
    batches = _batch(triangles, numbers, corners, used) if n else 0
    return Batches(numbers[: batches * BATCH_VERTICES].copy(), corners, used[:batches].copy())


@part
def _lane_of(vertex, numbers, first, count):
    for lane in range(first, first + count):
        if numbers[lane] == vertex:
            return lane
    return -1


@part
def _end(numbers, used, batch, count):
    used[batch] = count
    for lane in range(batch * BATCH_VERTICES + count, (batch + 1) * BATCH_VERTICES):
        numbers[lane] = numbers[lane - 1]


@kept
def _batch(triangles, numbers, corners, used):
    """Fills `numbers`, `corners` and `used`; gives the number of batches."""
    batch, count, n_triangles = 0, 0, 0
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        first = batch * BATCH_VERTICES
        new = int(_lane_of(a, numbers, first, count) < 0)
        new += int(b != a and _lane_of(b, numbers, first, count) < 0)
        new += int(c != a and c != b and _lane_of(c, numbers, first, count) < 0)
        if count + new > BATCH_VERTICES or n_triangles == BATCH_PRIMITIVES:
            _end(numbers, used, batch, count)
            batch, count, n_triangles = batch + 1, 0, 0
            first = batch * BATCH_VERTICES
        for k in range(3):
            lane = _lane_of(triangles[t, k], numbers, first, count)
            if lane < 0:
                lane = first + count
                numbers[lane] = triangles[t, k]
                count += 1
            corners[t, k] = lane
        n_triangles += 1
    _end(numbers, used, batch, count)
    return batch + 1
