"""Waiting lines: warps that keep returning to a unit."""

import numpy as np


def queued(thinking: np.ndarray, busy: np.ndarray, customers: np.ndarray) -> np.ndarray:
    """Cycles that `customers` take, each of which is away from a unit for `thinking` cycles, and which keep it `busy`
    together. As long as the longer of both where that is by far the longer; longer than both where they are alike,
    since customers meet at the unit by chance.

    The closed queue's mean values (Reiser and Lavenberg 1980) with Schweitzer's estimate of the line that an arrival
    finds (1979): for one unit that is a quadratic equation.
    """
    both = thinking + busy
    overlapped = thinking * busy * (1 - 1 / np.maximum(customers, 1))
    return (both + np.sqrt(np.maximum(both**2 - 4 * overlapped, 0))) / 2
