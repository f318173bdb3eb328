"""Mapping functions: what is fitted, and errors on what was left out."""

import numpy as np
import pytest

from gpuprof.predict.mapping import IDENTITY, Mapping, Pair, errors, fit, leave_one_out


def pairs(factor=1.0, exponent=1.0, chips="abcd", tests="xy"):
    """Of each chip and test a sum of 1, 2, 3, ... microseconds, and the time that a mapping makes of it."""
    keys = [(chip, test) for chip in chips for test in tests]
    return [Pair(s, factor * s**exponent, chip, test) for s, (chip, test) in enumerate(keys, 1)]


@pytest.mark.parametrize("factor, exponent", [(1.0, 1.0), (0.5, 1.0), (2.0, 0.8), (3.0, 1.25)])
def test_a_power_law_is_found_again(factor, exponent):
    assert fit(pairs(factor, exponent)) == pytest.approx((factor, exponent))


def test_two_pairs_fit_nothing():
    assert fit(pairs(3.0)[:2]) == IDENTITY


def test_equal_sums_have_a_factor_alone():
    assert fit([Pair(2.0, 3.0, chip, "x") for chip in "abc"]) == pytest.approx((1.5, 1.0))


def test_errors_are_shares_of_the_simulated_time():
    assert errors([Pair(3.0, 2.0, "a", "x"), Pair(1.0, 2.0, "a", "x")]).tolist() == [0.5, 0.5]
    assert errors([Pair(4.0, 2.0, "a", "x")], Mapping(0.5, 1.0)).tolist() == [0.0]


def test_a_chip_that_was_left_out_does_not_help_itself():
    """Chip d takes ten times as long: the others' mapping, which is the identity, does not know."""
    found = [pair._replace(simulated=10 * pair.simulated) if pair.chip == "d" else pair for pair in pairs()]
    left_out = leave_one_out(found, "chip")
    assert left_out[-2:] == pytest.approx([0.9, 0.9])
    assert (left_out[:-2] > 0).all()  # whose mappings were fitted to d, too
    by_test = leave_one_out(pairs(2.0, 1.1), "test")
    np.testing.assert_allclose(by_test, 0, atol=1e-12)
