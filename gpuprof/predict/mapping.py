"""Mapping functions: from a sum of parts to the time that they take together. They are the only part of a prediction
that is fitted, to chips that were simulated.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np


class Mapping(NamedTuple):
    """A sum of s microseconds takes factor * s ** exponent."""

    factor: float
    exponent: float

    def __call__(self, microseconds: np.ndarray) -> np.ndarray:
        return self.factor * microseconds**self.exponent


IDENTITY = Mapping(1.0, 1.0)
LEAST_PAIRS = 3  # a line through two points follows any error of theirs


class Mappings(NamedTuple):
    buffer: Mapping = IDENTITY
    test: Mapping = IDENTITY


IDENTITIES = Mappings()


class Pair(NamedTuple):
    """A predicted and a simulated time, with the chip and the test that both belong to."""

    predicted: float
    simulated: float
    chip: Hashable
    test: Hashable


def fit(pairs: Sequence[Pair]) -> Mapping:
    """The line of least squares through the logarithms; IDENTITY for fewer pairs than a line needs."""
    x = np.log([pair.predicted for pair in pairs])
    y = np.log([pair.simulated for pair in pairs])
    if len(pairs) < LEAST_PAIRS:
        return IDENTITY
    spread = np.square(x - x.mean()).sum()
    exponent = float(((x - x.mean()) * (y - y.mean())).sum() / spread) if spread > 1e-12 else 1.0
    return Mapping(float(np.exp(y.mean() - exponent * x.mean())), exponent)


def errors(pairs: Sequence[Pair], mapping: Mapping = IDENTITY) -> np.ndarray:
    """The share of the simulated time by which each prediction is off."""
    return np.array([abs(float(mapping(np.float64(p.predicted))) / p.simulated - 1) for p in pairs])


def leave_one_out(pairs: Sequence[Pair], by: str) -> np.ndarray:
    """`errors` of each pair by a mapping that was fitted without all pairs of its chip (`by` "chip") or of its test."""
    all_errors = np.empty(len(pairs))
    keys = [getattr(pair, by) for pair in pairs]
    for key in dict.fromkeys(keys):
        left_out = np.array([other == key for other in keys])
        mapping = fit([pair for pair, is_out in zip(pairs, left_out, strict=True) if not is_out])
        all_errors[left_out] = errors([pair for pair, is_out in zip(pairs, left_out, strict=True) if is_out], mapping)
    return all_errors
