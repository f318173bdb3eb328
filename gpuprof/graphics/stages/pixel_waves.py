"""The warps of a draw's shaders in front of the rasteriser: what each has to do, and what it waits for."""

from typing import NamedTuple

import numpy as np

from gpuprof.graphics.sizes import BLOCK


class Waves(NamedTuple):
    """Of one stage, in their order. needs: int64 (waves,), the last warp of the stage before that each needs, or that
    one before it needs. n_items: int64 (waves,), lanes with an item of their own: control points, tessellated vertices,
    primitives.
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
