"""The lines that the samples can put in order, and how many samples that would take."""

import itertools
from math import sqrt
from typing import NamedTuple

from gpuprof.report.estimates import Z95, Estimate

MIN_PERIOD_CYCLES = 32  # the sampler's


class Overlap(NamedTuple):
    """Two lines next to each other in the samples' order whose intervals overlap. `enough_cycles`: the largest period,
    a power of two, that would part them; None where none does."""

    upper: str
    lower: str
    upper_estimate: Estimate
    lower_estimate: Estimate
    enough_cycles: int | None


def overlaps(lines: list[tuple[str, Estimate]], effective: float, period_cycles: int) -> list[Overlap]:
    """The pairs of neighbours in rank whose intervals overlap. `lines`: (name, estimate), in any order."""
    order = sorted(lines, key=lambda line: (-line[1].share, line[0]))
    return [
        Overlap(upper, lower, first, second, enough_period(first, second, effective, period_cycles))
        for (upper, first), (lower, second) in itertools.pairwise(order)
        if first.low <= second.high
    ]


def enough_period(one: Estimate, other: Estimate, effective: float, period_cycles: int) -> int | None:
    """Half an interval is Z sqrt(p (1 - p) / n) wide: the n for which two fit between the shares, the exact ones where
    they are known.
    """
    p, q = ((e.share if e.exact is None else e.exact) for e in (one, other))
    if p == q or not period_cycles:
        return None
    needed = (Z95 * (sqrt(p * (1 - p)) + sqrt(q * (1 - q))) / (p - q)) ** 2
    # here they overlap
    enough = int(min(period_cycles * effective / needed, period_cycles // 2)) if needed else period_cycles // 2
    return 1 << enough.bit_length() - 1 if enough >= MIN_PERIOD_CYCLES else None
