"""Columns and tables as they are declared."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType
from typing import NamedTuple, TypedDict

import numpy as np

# Roles: what merging, checking and extrapolating do with the values of a column.
SUM = "sum"  # an amount: rows, launches and passes add up
WORK = "work"  # an amount that also grows with the work, when only some blocks of a launch are timed
MAX = "max"  # an amount of which the largest counts
KEY = "key"  # distinguishes rows, or describes them; is not added up
FLAG = "flag"  # 0 or 1; in a recording also bits
PC = "pc"  # a code address, which moves with its module
CYCLE = "cycle"  # a GPU cycle from power-on
HOST_NS = "host ns"  # a time of the host's clock
ORDER = "order"  # a position in the order of all requests
LAUNCH, TASK, PARAMETER, NAME, DRAW = "launch", "task", "parameter", "name", "draw"  # numbers of these
RESERVED = "reserved"  # zero, and in no database

AMOUNTS = (SUM, WORK, MAX)
NONE = (1 << 32) - 1  # where a column with the number of something has none

# What passes of one run have in a table.
SAME = "same"  # the same rows
MORE = "more"  # rows of their own, which add to those of the others
ADDED = "added"  # rows of the same keys, whose amounts add up

SQL_TYPES = {"integer": "INTEGER", "real": "REAL", "text": "TEXT", "numeric": "NUMERIC"}


class Bounds(TypedDict):
    """Both bounds of a column, as keywords of `Column`."""

    low: int
    high: int


class Column(NamedTuple):
    """A column of a table. `unit` is "" for names, flags and plain numbers of things.

    `type`: integer, real, text or numeric; of a recorded row numpy's type, such as "<u8"; the page for a browser has
    types of its own. `low` and `high` bound a value in the database beyond what its role says. `parent`: the table of
    the database whose row the value names. `null`: the database may have NULL. `sql`: a further constraint there.
    `since`: the format version that has the column first, 0 for the table's.
    """

    name: str
    type: str
    unit: str
    text: str
    role: str = SUM
    low: int | None = None
    high: int | None = None
    parent: str = ""
    null: bool = False
    sql: str = ""
    since: int = 0

    @property
    def sql_type(self) -> str:
        """The type in the database: all recorded numbers are integers."""
        return SQL_TYPES.get(self.type, "INTEGER")


LAUNCH_OF_ROW = Column("launch", "integer", "", "the launch in which it was measured", LAUNCH, parent="launches")


@dataclass(frozen=True)
class Table:
    """A table, as it is declared.

    `chunk`: the type of its chunks in a recording, b"" where it has none. `rows`: the order of rows there.
    `of_launch`: a chunk's rows are of one launch. `grain`: the columns that distinguish rows, the primary key in the
    database. `stored`: the database's columns after the launch: names of `columns`, columns that only the database has,
    and `...` for the rest of `columns`; () where the database has no such table. `in_passes`: what passes of one run
    have in it. `indexes`: of the database, name and column. `since`: the format version that has the table first.
    """

    name: str
    text: str
    columns: tuple[Column, ...]
    chunk: bytes = b""
    rows: str = ""
    of_launch: bool = True
    grain: str = ""
    stored: tuple[str | Column | EllipsisType, ...] = (...,)
    in_passes: str = SAME
    indexes: tuple[tuple[str, str], ...] = ()
    since: int = 1

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def dtype(self) -> np.dtype:
        """The layout of a recorded row."""
        return np.dtype([(column.name, column.type) for column in self.columns])

    @cached_property
    def _layouts(self) -> dict[int, np.dtype]:
        """By format version: there may be a chunk of rows for each of a million launches."""
        return {}

    def dtype_of(self, version: int) -> np.dtype:
        """The layout of a row in a recording of a format version: later columns are not in it."""
        if version not in self._layouts:
            columns = [(column.name, column.type) for column in self.columns if column.since <= version]
            self._layouts[version] = np.dtype(columns)
        return self._layouts[version]

    def rows_of(self, version: int, data: bytes, count: int, start: int) -> np.ndarray:
        """The rows in a chunk of a recording of a format version, read-only; columns that it lacks are 0."""
        older = np.frombuffer(data, self.dtype_of(version), count, start)
        if older.dtype == self.dtype:
            return older
        rows = np.zeros(count, self.dtype)
        for name in older.dtype.names or ():
            rows[name] = older[name]
        rows.flags.writeable = False
        return rows

    @cached_property
    def key(self) -> tuple[str, ...]:
        return tuple(self.grain.split())

    def names(self, *roles: str) -> tuple[str, ...]:
        """The recorded columns of these roles."""
        return tuple(column.name for column in self.columns if column.role in roles)

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def has_amounts(self, rows: np.ndarray) -> np.ndarray:
        """The rows that have an amount other than 0, bool (n,)."""
        return np.logical_or.reduce([rows[name] != 0 for name in self.names(*AMOUNTS)])

    @property
    def newest(self) -> int:
        """The format version that has changed the table last."""
        return max(self.since, *(column.since for column in (*self.columns, *self.in_database)))

    @cached_property
    def in_database(self) -> tuple[Column, ...]:
        """The columns of the database's table."""
        if not self.chunk:
            return self.columns
        listed = list(self._listed())
        names = {column.name for column in listed}
        rest = [each for each in self.columns if each.role not in (RESERVED, LAUNCH) and each.name not in names]
        at = self.stored.index(...) if ... in self.stored else None
        if at is not None:
            before = sum(len(_split(each)) for each in self.stored[:at])
            listed[before:before] = rest
        return (LAUNCH_OF_ROW, *listed) if self.of_launch and listed else tuple(listed)

    def _listed(self) -> Iterable[Column]:
        """The columns that `stored` names or has."""
        by_name = {column.name: column for column in self.columns}
        for each in self.stored:
            if isinstance(each, Column):
                yield each
            elif each is not ...:
                yield from (by_name[name] for name in each.split())


def _split(stored: str | Column | EllipsisType) -> list:
    return stored.split() if isinstance(stored, str) else [stored]
