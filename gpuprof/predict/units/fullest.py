"""The fullest of some places among which a hash scatters things: what lies there is served last."""

from functools import cache
from statistics import NormalDist

import numpy as np


def fullest(mean: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Things in the fullest of `places`, `mean` on average: a Poisson distribution, taken as a normal one."""
    return mean + np.sqrt(mean) * largest_of(places)


def largest_of(places: np.ndarray) -> np.ndarray:
    """The expected largest of so many values with one normal distribution, in its deviations (Blom 1958)."""
    there, of = np.unique(places, return_inverse=True)
    return np.array([_largest_of(n) for n in there.tolist()])[of]


@cache
def _largest_of(places: float) -> float:
    return NormalDist().inv_cdf((places - 0.375) / (places + 0.25)) if places > 1 else 0.0
