"""Seeds of random tests."""

import pytest


def seeds(count: int, first: int) -> list:
    """The numbers below `count`; those from `first` on are for the long tests."""
    return [number if number < first else pytest.param(number, marks=pytest.mark.long) for number in range(count)]
