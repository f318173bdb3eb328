"""What becomes of a triangle's depths before they are tested: the bias, and the limits that they stay between."""

import numpy as np

from gpuprof.device.graphics_state.draw_state import DepthBias, DrawState
from gpuprof.graphics.sizes import SUBPIXELS

FRACTION_BITS = 23  # of a float32
UNLIMITED = (-np.inf, np.inf)


def limits_of(state: DrawState) -> np.ndarray:
    """float64 (2,): the least and the largest depth of a sample (OpenGL 4.6, 14.6.5 and 13.8)."""
    if state.depth_clamp:
        return np.array(sorted((state.viewport.near, state.viewport.far)), np.float64)
    return np.array(UNLIMITED if state.depth_bias == DepthBias() else (0, 1), np.float64)


def biases(places: np.ndarray, areas: np.ndarray, depths: np.ndarray, bias: DepthBias) -> np.ndarray:
    """float64 (n,): what is added to the depths of each triangle. places: int64 (n, 3, 2), in 1/256 pixel; areas: twice
    theirs; depths: float64 (n, 3). A step is 2 ** (exponent of the largest depth's float - 23).
    """
    (ax, ay), (bx, by) = (places[:, 1] - places[:, 0]).T, (places[:, 2] - places[:, 0]).T
    first, second = depths[:, 1] - depths[:, 0], depths[:, 2] - depths[:, 0]
    right, down = first * by - second * ay, second * ax - first * bx
    slopes = np.maximum(np.abs(right), np.abs(down)) / areas * SUBPIXELS
    largest, exponents = np.frexp(np.abs(depths).max(1).astype(np.float32))
    steps = np.where(largest > 0, 2.0 ** (exponents - 1.0 - FRACTION_BITS), 0.0)
    found = bias.constant * steps + bias.slope * slopes
    if bias.limit == 0:
        return found
    return np.minimum(found, bias.limit) if bias.limit > 0 else np.maximum(found, bias.limit)
