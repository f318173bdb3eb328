"""The shares that samples estimate, with their 95 % intervals, and the exact ones.

A kernel's samples weigh what they stand for (see `correlate.sample_weights`). Compact records do not store
it: there each sample counts for one, and the interval follows only from their number.
"""

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

from gpuprof.report.model import Cost, Kernel, Launch

Z95 = 1.959963984540054  # the normal distribution's 97.5 % quantile


class Interval(NamedTuple):
    low: float
    high: float


def wilson(hits: float, n_samples: float) -> Interval:
    """The 95 % Wilson score interval of a share of `hits` in `n_samples` samples (or an effective number of them), both
    ends in 0..1. Without samples: 0 to 1.

    Wilson's stays inside 0..1 and is right for shares near 0, where most lines of a kernel are (Wilson 1927; Brown,
    Cai, DasGupta 2001).
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


class Estimate(NamedTuple):
    """Shares, 0..1. `exact` is None without a ledger."""

    share: float
    low: float
    high: float
    exact: float | None

    @property
    def error(self) -> float | None:
        return None if self.exact is None else self.share - self.exact

    @property
    def holds(self) -> bool:
        """The exact share is inside the interval."""
        return self.exact is not None and self.low <= self.exact <= self.high


class Scale(NamedTuple):
    """The totals that a kernel's shares are parts of."""

    weighted: bool
    whole: int  # sum of the weights, or the number of samples
    effective: float  # independent samples that would be as sure
    warp_cycles: int  # exact

    def part(self, cost: Cost) -> int:
        return cost.weight if self.weighted else cost.n_samples

    def estimate(self, cost: Cost) -> Estimate:
        return self.of(self.part(cost), cost.warp_cycles)

    def of(self, part: int, cycles: int) -> Estimate:
        share = part / self.whole if self.whole else 0.0
        return Estimate(
            share,
            *wilson(share * self.effective, self.effective),
            cycles / self.warp_cycles if self.warp_cycles else None,
        )


def scale_of(kernel: Kernel) -> Scale:
    cost, effective = kernel.cost, effective_of(kernel.launches)
    if effective is None:
        return Scale(False, cost.n_samples, cost.n_samples, cost.warp_cycles)
    return Scale(True, cost.weight, effective, cost.warp_cycles)


def effective_of(launches: Iterable[Launch]) -> float | None:
    """The effective number of samples of all launches together. Estimates are averaged by weight, so their variances
    add by its square. None where it is unknown for some launch.
    """
    sampled = [launch for launch in launches if launch.samples_kept]
    weighted = [
        (launch.sample_weight, launch.effective_samples)
        for launch in sampled
        if launch.sample_weight and launch.effective_samples is not None
    ]
    if not sampled or len(weighted) < len(sampled):
        return None
    variance = sum(weight**2 / effective for weight, effective in weighted)
    return sum(weight for weight, _ in weighted) ** 2 / variance
