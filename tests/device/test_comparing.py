"""Element by element: against numpy's isclose, and Python's integers."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gpuprof.device.results import comparing
from gpuprof.device.results.comparing import NO_DIFFERENCE, Difference, difference

FLOATS = st.floats(width=32) | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 1.0 + 2**-20])
TOLERANCES = st.sampled_from([0.0, 1e-6, 0.5, 1e30])


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=20), TOLERANCES, TOLERANCES, st.booleans())
def test_floats_differ_where_numpy_says_so(pairs, rtol, atol, wide):
    """References may be wider than the array; the count and the first place are numpy's."""
    got, wanted = np.array(pairs, np.float64 if wide else np.float32).T
    got = got.astype(np.float32)
    with np.errstate(all="ignore"):
        differs = ~np.isclose(got.astype(np.float64), wanted.astype(np.float64), rtol, atol, equal_nan=True)
    found = difference(got, wanted, rtol, atol)
    assert found[:2] == (differs.sum(), differs.argmax())


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
@given(data=st.data())
def test_integers_differ_by_any_amount(dtype, data):
    limits = np.iinfo(dtype)
    values = st.integers(limits.min, limits.max)
    pairs = data.draw(st.lists(st.tuples(values, values) | values.map(lambda n: (n, n)), min_size=1, max_size=20))
    got, wanted = np.array([pair[0] for pair in pairs], dtype), np.array([pair[1] for pair in pairs], dtype)
    errors = [abs(a - b) for a, b in pairs]
    places = [place for place, error in enumerate(errors) if error]
    found = difference(got, wanted, 0, 0)
    assert found[:2] == (len(places), places[0] if places else 0)
    assert found.absolute_error == float(max(errors))


def row(*values, dtype=np.float32):
    return np.array(values, dtype)


@pytest.mark.parametrize(
    ("got", "wanted", "rtol", "atol", "expected"),
    [
        (row(1, 2, 3), row(1, 2, 3), 0, 0, NO_DIFFERENCE),
        (row(1, 2.5, 2), row(1, 2, 4), 0, 0, Difference(2, 1, 2.0, 0.5)),
        (row(math.nan, 1), row(math.nan, 1), 0, 0, NO_DIFFERENCE),
        (row(math.nan), row(1), 1, 1, Difference(1, 0, math.inf, math.inf)),
        (row(1), row(math.nan), 1, 1, Difference(1, 0, math.inf, math.inf)),
        (row(math.inf, -math.inf), row(math.inf, -math.inf), 0, 0, NO_DIFFERENCE),
        (row(math.inf), row(-math.inf), 1, 1, Difference(1, 0, math.inf, math.inf)),
        (row(1e30), row(math.inf), 1, 1, Difference(1, 0, math.inf, math.inf)),
        (row(-0.0), row(0.0), 0, 0, NO_DIFFERENCE),
        (row(0), row(1e-7), 1e-5, 0, Difference(1, 0, float(np.float32(1e-7)), 1.0)),  # what no kernel wrote
        (row(0.25), row(0), 1, 0, Difference(1, 0, 0.25, math.inf)),
        (row(99, 101), row(100, 100), 0.01, 0, NO_DIFFERENCE),
        (row(99, 102), row(100, 100), 0.01, 0.5, Difference(1, 1, 2.0, 0.02)),
        (row(7, 9, dtype=np.int32), row(7, 8, dtype=np.int32), 0, 1, NO_DIFFERENCE),
        (row(0, dtype=np.uint64), row(2**64 - 1, dtype=np.uint64), 0, 0, Difference(1, 0, float(2**64 - 1), 1.0)),
    ],
)
def test_by_hand(got, wanted, rtol, atol, expected):
    assert difference(got, wanted, rtol, atol) == expected


def test_pieces_add_up(monkeypatch):
    rng = np.random.default_rng(0)
    got, wanted = rng.integers(0, 3, (7, 11)).astype(np.float32), np.ones((7, 11), np.float32)
    whole = difference(got, wanted, 0, 0)
    monkeypatch.setattr(comparing, "CHUNK", 5)
    assert difference(got, wanted, 0, 0) == whole
    assert whole.count == (got != 1).sum()
