"""Error against period, from one recording.

The warp that is drawn depends only on the seed, the SM and the cycle, so a recording with twice the period has exactly
every second sampled cycle of this one. Thinned so, in as many ways as there are phases, it shows what longer periods
would have said. What shorter ones would say follows by the formula of independent samples, for the effective number
there would be.
"""

import itertools
from math import erf, pi, sqrt
from typing import NamedTuple

import numpy as np

MIN_PERIOD_CYCLES, MAX_PERIOD_CYCLES = 1 << 5, 1 << 20
MOST_PHASES = 64  # that a mean is taken over
RANKED_SHARE = 0.01  # lines below it are not ranked
STEPS = 400  # of the integral for the largest of several errors


class Truth(NamedTuple):
    """Exact shares, float64, each summing to 1, of the lines and the stall reasons; numbers of samples refer to their
    order.
    """

    lines: np.ndarray
    reasons: np.ndarray


class Samples(NamedTuple):
    """Samples in any order: number of their line, stall reason, number of the sampled cycle (cycle // period) and
    weight.
    """

    line: np.ndarray
    reason: np.ndarray
    turn: np.ndarray
    weight: np.ndarray


class Error(NamedTuple):
    """How far off a profile is. Shares, 0..1; None where there is nothing to say."""

    mix: float | None  # half the sum of the differences between the shares of the reasons
    counted: float | None  # the same when every sample counts for one, as in the tools of hardware
    worst_line: float | None  # largest difference between a line's shares
    ranked: float | None  # of the lines above RANKED_SHARE, those at their place in the order
    hottest: float | None  # 1: the hottest line is the right one; a mean, or a probability


class Row(NamedTuple):
    period_cycles: int
    how: str  # "recorded", "thinned" or "predicted"
    samples: float  # in the mean
    error: Error
    expected_mix: float | None  # Error.mix by the formula
    recordings: int = 0  # that the error is the mean of; 0 where it is the formula's
    expected_hottest: float | None = None  # Error.hottest by the formula


NOTHING = Error(None, None, None, None, None)


def rows_of(samples: Samples, truth: Truth, period_cycles: int, effective: float, can_thin: bool) -> list[Row]:
    """A row for each power of two times the period, from MIN_PERIOD_CYCLES to MAX_PERIOD_CYCLES, ascending."""
    exponents = range(-period_cycles.bit_length(), MAX_PERIOD_CYCLES.bit_length())
    periods = [int(period_cycles * 2.0**k) for k in exponents]
    wanted = [p for p in periods if p == period_cycles or MIN_PERIOD_CYCLES <= p <= MAX_PERIOD_CYCLES]
    return [row_of(samples, truth, period_cycles, effective, period, can_thin) for period in wanted]


def row_of(samples: Samples, truth: Truth, recorded: int, effective: float, period: int, can_thin: bool) -> Row:
    n = effective * recorded / period
    expected = predicted(truth, n)
    if period == recorded or (period > recorded and can_thin):
        phases = measured(samples, truth, period // recorded)
        how = "recorded" if period == recorded else "thinned"
        return Row(
            period,
            how,
            len(samples.line) * recorded / period,
            mean(phases),
            expected.mix,
            len(phases),
            expected.hottest,
        )
    n_samples = len(samples.line) * recorded / period
    return Row(period, "predicted", n_samples, expected, expected.mix, 0, expected.hottest)


def measured(samples: Samples, truth: Truth, times: int) -> list[Error]:
    """The errors of the recordings with a period `times` as long: of each phase, or of MOST_PHASES that lie evenly.
    Without those that have no sample."""
    n = min(times, MOST_PHASES)
    number_of = np.full(times, -1)
    number_of[np.arange(n) * times // n] = np.arange(n)
    phase = number_of[samples.turn % times]
    chosen = phase >= 0
    phase, line, reason, weight = phase[chosen], samples.line[chosen], samples.reason[chosen], samples.weight[chosen]

    def table(place: np.ndarray, width: int, values: np.ndarray | None) -> np.ndarray:
        return np.bincount(phase * width + place, values, n * width).reshape(n, width)

    lines = table(line, len(truth.lines), weight)
    reasons, counts = (table(reason, len(truth.reasons), values) for values in (weight, None))
    return [
        error_of(*shares, truth)
        for *shares, some in zip(lines, reasons, counts, lines.any(axis=1), strict=True)
        if some
    ]


def error_of(lines: np.ndarray, reasons: np.ndarray, counts: np.ndarray, truth: Truth) -> Error:
    """The error of a profile: sums of weights by line and by reason, and numbers of samples by reason."""
    shares = lines / lines.sum()
    order = ranking(truth.lines)
    return Error(
        distance(reasons, truth.reasons),
        distance(counts, truth.reasons),
        float(np.abs(shares - truth.lines).max()),
        float(np.mean(at_place(shares[order]))) if len(order) else None,
        float(shares[np.argmax(truth.lines)] == shares.max()) / np.count_nonzero(shares == shares.max()),
    )


def at_place(shares: np.ndarray) -> np.ndarray:
    """For each line, hottest first in truth, whether the order of the found shares has it there: 1, 0, or the chance of
    it among equals, such as lines that no sample saw."""
    ahead = (shares[None, :] > shares[:, None]).sum(axis=1)
    equal = (shares[None, :] == shares[:, None]).sum(axis=1)
    place = np.arange(len(shares))
    return np.where((ahead <= place) & (place < ahead + equal), 1 / equal, 0.0)


def distance(sums: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(sums / sums.sum() - exact).sum() / 2)


def ranking(shares: np.ndarray) -> np.ndarray:
    """The lines worth ranking, hottest first."""
    order = np.argsort(-shares, kind="stable")
    return order[shares[order] >= RANKED_SHARE]


def mean(errors: list[Error]) -> Error:
    if not errors:
        return NOTHING
    return Error(*(None if None in values else float(np.mean(values)) for values in zip(*errors, strict=True)))


def predicted(truth: Truth, n_samples: float) -> Error:
    """The mean error of `n_samples` independent samples: normal errors of standard deviation sqrt(p (1 - p) / n)."""
    if n_samples <= 0:
        return NOTHING
    spread = np.sqrt(truth.lines * (1 - truth.lines) / n_samples)
    spread = spread[spread > spread.max() / 8]  # the others are never the largest
    mix = min(1.0, float(np.sqrt(truth.reasons * (1 - truth.reasons) / n_samples).sum() * sqrt(2 / pi) / 2))
    shares = truth.lines[ranking(truth.lines)].tolist()
    right = [in_order(p, q, n_samples) for p, q in itertools.pairwise(shares)]
    places = [a * b for a, b in zip([1.0, *right], [*right, 1.0], strict=True)] if shares else []
    return Error(
        mix, None, min(1.0, largest(spread)), sum(places) / len(places) if places else None, right[0] if right else 1.0
    )


def in_order(p: float, q: float, n_samples: float) -> float:
    """The probability that of two shares p >= q the first is sampled as the larger: their difference varies by p + q -
    (p - q)^2.
    """
    variance = (p + q - (p - q) ** 2) / n_samples
    return (1 + erf((p - q) / sqrt(2 * variance))) / 2


def largest(spread: np.ndarray) -> float:
    """The mean of the largest absolute value of independent normal numbers: the integral of the probability that one is
    beyond z.
    """
    if not len(spread):
        return 0.0
    step = 6 * float(spread.max()) / STEPS
    middle = (np.arange(STEPS) + 0.5) * step
    inside = np.ones(STEPS)
    for each in spread.tolist():
        inside *= [erf(z / (each * sqrt(2))) for z in middle.tolist()]
    return float((1 - inside).sum() * step)
