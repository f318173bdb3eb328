"""The warps of a draw's shaders before the rasteriser: primitives in batches, each of which shades its vertices once
(vertex reuse), and what each warp waits for.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.graphics.sizes import BATCH_PRIMITIVES, BATCH_VERTICES, BLOCK
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit


class Batches(NamedTuple):
    """numbers: uint32 (batches * BATCH_VERTICES,), the vertex that each lane of the vertex shader has; lanes that are
    left over have that of the batch's last one. corners: int64 (primitives, corners), the lanes of their vertices.
    used: int64 (batches,), lanes of each batch that have a vertex of their own.
    """

    numbers: np.ndarray
    corners: np.ndarray
    used: np.ndarray


def batched(primitives: np.ndarray) -> Batches:
    """Batches of primitives, int64 (n, corners), in their order."""
    n, size = primitives.shape
    # A batch that ends has so many primitives, or no room for the vertices of one more.
    most = n // BATCH_PRIMITIVES + size * n // (BATCH_VERTICES - size + 1) + 1
    numbers, used = np.zeros(most * BATCH_VERTICES, np.uint32), np.zeros(most, np.int64)
    corners = np.zeros((n, size), np.int64)
    batches = _batch(np.ascontiguousarray(primitives), numbers, corners, used) if n else 0
    return Batches(numbers[: batches * BATCH_VERTICES].copy(), corners, used[:batches].copy())


@internal_njit
def _lane_of(vertex, numbers, first, count):
    for lane in range(first, first + count):
        if numbers[lane] == vertex:
            return lane
    return -1


@internal_njit
def _end(numbers, used, batch, count):
    used[batch] = count
    for lane in range(batch * BATCH_VERTICES + count, (batch + 1) * BATCH_VERTICES):
        numbers[lane] = numbers[lane - 1]


@cached_njit
def _batch(primitives, numbers, corners, used):
    """Fills `numbers`, `corners` and `used`; gives the number of batches."""
    batch, count, n_primitives = 0, 0, 0
    for p in range(len(primitives)):
        first, new = batch * BATCH_VERTICES, 0
        for k in range(primitives.shape[1]):
            vertex = primitives[p, k]
            is_new = _lane_of(vertex, numbers, first, count) < 0
            for before in range(k):
                is_new = is_new and primitives[p, before] != vertex
            new += int(is_new)
        if count + new > BATCH_VERTICES or n_primitives == BATCH_PRIMITIVES:
            _end(numbers, used, batch, count)
            batch, count, n_primitives = batch + 1, 0, 0
            first = batch * BATCH_VERTICES
        for k in range(primitives.shape[1]):
            lane = _lane_of(primitives[p, k], numbers, first, count)
            if lane < 0:
                lane = first + count
                numbers[lane] = primitives[p, k]
                count += 1
            corners[p, k] = lane
        n_primitives += 1
    _end(numbers, used, batch, count)
    return batch + 1


class Waves(NamedTuple):
    """The warps of one stage, in their order. needs: int64 (waves,), the last warp of the preceding stage that each of
    them, or a warp before it, needs. n_items: int64 (waves,), lanes with an item of their own: control points,
    tessellated vertices, primitives.
    """

    stage: str
    needs: np.ndarray
    n_items: np.ndarray


def waves_of(stage: str, needs_of_items: np.ndarray, item_of_wave: int = BLOCK, lanes_of_item: int = 1) -> Waves:
    """needs_of_items: int64 (items,), the last warp of the stage before that each needs. A warp has `item_of_wave`
    items, each of some lanes.
    """
    first = np.arange(0, len(needs_of_items), item_of_wave)
    needs = np.maximum.reduceat(needs_of_items, first) if len(first) else np.zeros(0, np.int64)
    n_items = np.minimum(len(needs_of_items) - first, item_of_wave) * lanes_of_item
    return Waves(stage, np.maximum.accumulate(needs), n_items)
