"""Rows of a matrix of tests: `make test` takes some of them, `make test-all` every one."""

from collections.abc import Iterable

import pytest


def long_from(first: int, rows: Iterable) -> list:
    """The rows as they are; those from number `first` on are for the long tests."""
    return [row if number < first else _long(row) for number, row in enumerate(rows)]


def long_but_every(step: int, rows: Iterable) -> list:
    """The rows as they are; all but each `step`-th one are for the long tests."""
    return [_long(row) if number % step else row for number, row in enumerate(rows)]


def _long(row):
    values, marks, name = (row.values, row.marks, row.id) if _is_param(row) else (_values(row), (), None)
    return pytest.param(*values, marks=[*marks, pytest.mark.long], id=name)


def _is_param(row) -> bool:
    return isinstance(row, type(pytest.param()))


def _values(row):
    return row if type(row) in (tuple, list) else (row,)  # a NamedTuple is one value
