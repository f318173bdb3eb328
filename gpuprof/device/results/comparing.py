"""Element by element: the results of a kernel and their references.

An element agrees when |got - reference| <= atol + rtol * |reference|, as with numpy.isclose. Two NaNs agree, and so do
two infinities of one sign.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.device.elements import ELEMENTS

CHUNK = 1 << 20  # elements compared at a time: their differences take some 32 bytes each

# Relative tolerances of floats that are summed in another order: some ten units in the last place of f32, one or two of
# the 16-bit types. There is no absolute one: with it an array that the kernel never writes agrees with small values.
DEFAULT_RTOL = {"f16": 2e-3, "bf16": 2e-2, "f32": 1e-5, "f64": 1e-9}
DEFAULT_ATOL = 0.0


class Difference(NamedTuple):
    """`at`: the place of the first element that differs, in C order. Errors are the largest of those that differ."""

    count: int
    at: int
    absolute_error: float
    relative_error: float


NO_DIFFERENCE = Difference(0, 0, 0.0, 0.0)


def default_rtol(element: str) -> float:
    """The relative tolerance of an element type: 0 for integers."""
    return DEFAULT_RTOL[element] if ELEMENTS[element].kind == "float" else 0.0


def difference(got: np.ndarray, reference: np.ndarray, rtol: float, atol: float) -> Difference:
    """Compares two arrays of one shape: both of floats, or both of one integer type."""
    got, reference = got.ravel(), reference.ravel()
    total = NO_DIFFERENCE
    for first in range(0, len(got), CHUNK):
        part = slice(first, first + CHUNK)
        total = _sum(total, _of_chunk(got[part], reference[part], rtol, atol, first))
    return total


def _sum(before: Difference, now: Difference) -> Difference:
    if not before.count or not now.count:
        return before if before.count else now
    errors = (max(pair) for pair in zip(before[2:], now[2:], strict=True))
    return Difference(before.count + now.count, before.at, *errors)


def _of_chunk(got: np.ndarray, reference: np.ndarray, rtol: float, atol: float, first: int) -> Difference:
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        error, size = _errors(got, reference), np.abs(reference.astype(np.float64))
        where = np.flatnonzero(~(error <= atol + rtol * np.where(np.isfinite(size), size, 0)))
        if not len(where):
            return NO_DIFFERENCE
        relative = _or_infinite(error[where] / size[where])
    return Difference(len(where), first + int(where[0]), float(error[where].max()), float(relative.max()))


def _errors(got: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """float64: |got - reference|; 0 for equal infinities and for two NaNs, infinite for one of them."""
    if got.dtype.kind in "iu":
        # modulo 2^64 the larger less the smaller is exact, whatever the sign
        low, high = np.minimum(got, reference), np.maximum(got, reference)
        return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)
    got, reference = got.astype(np.float64), reference.astype(np.float64)
    same = (got == reference) | (np.isnan(got) & np.isnan(reference))
    return np.where(same, 0.0, _or_infinite(np.abs(got - reference)))


def _or_infinite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), np.inf, values)
