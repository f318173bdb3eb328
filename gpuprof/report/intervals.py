"""How sure a sampled share is."""

from math import sqrt
from typing import NamedTuple

Z95 = 1.959963984540054  # the normal distribution's 97.5 % quantile


class Interval(NamedTuple):
    low: float
    high: float


def wilson(hits: float, n_samples: float) -> Interval:
    """The 95 % Wilson score interval of a share of `hits` in `n` samples (or an effective number of them), both ends in
    0..1. Without samples: 0 to 1.

    Wilson's stays inside 0..1 and is right for shares near 0, where most lines of a kernel are (Wilson 1927; Brown,
    Cai,
    DasGupta 2001).
    """
    if n_samples == 0:
        return Interval(0.0, 1.0)
    share = hits / n_samples
    z2 = Z95 * Z95 / n_samples
    centre = share + z2 / 2
    spread = Z95 * sqrt(share * (1 - share) / n_samples + z2 / (4 * n_samples))
    low = 0.0 if hits == 0 else (centre - spread) / (1 + z2)
    high = 1.0 if hits == n_samples else (centre + spread) / (1 + z2)
    return Interval(low, high)
