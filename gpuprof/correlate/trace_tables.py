"""Tables of trace generators in a database: a table of each of their tables, with the columns that they declare.

`trace_tables` and `trace_columns` say which there are. Names are checked before they become SQL: a recording, or a
database, may come from any source.
"""

import re
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gpuprof.base.compared_results import NAME
from gpuprof.errors import FileFormatError
from gpuprof.records.reader import Recording, TraceKey
from gpuprof.tables.code import TRACE_COLUMNS, TRACE_TABLES
from gpuprof.tables.sql import insertion
from gpuprof.tables.table import Column

TABLE_NAME = re.compile(r"trace_[a-z0-9_]{3,100}")
TYPES = ("integer", "real", "text")
PREFIX = "trace_"


COLUMN_FIELDS = ("name", "type", "unit", "text")  # of a declared column, in a recording and in trace_columns


class TraceTable(NamedTuple):
    """`name`: of the SQL table, whose columns are the launch and `columns`."""

    name: str
    generator: str
    table: str
    text: str
    columns: tuple[Column, ...]


class Traced(NamedTuple):
    """A table with its rows: (launch, *values)."""

    table: TraceTable
    rows: tuple[tuple, ...]


# From a recording.


def tables_of(recording: Recording) -> list[tuple[TraceTable, list[TraceKey]]]:
    """The tables by generator and name, each with its keys in the recording, by launch. Raises FileFormatError for a
    name that is none, and for a table that differs between launches.
    """
    tables: dict[tuple[str, str], tuple[TraceTable, list[TraceKey]]] = {}
    used: set[str] = set()
    for key in sorted(recording.traces, key=lambda key: (key.generator, key.table, key.launch)):
        trace = recording.traces[key]
        columns = tuple(Column(*(each[name] for name in COLUMN_FIELDS)) for each in trace.fields["columns"])
        declared = TraceTable("", key.generator, key.table, trace.fields["text"], columns)
        if (key.generator, key.table) not in tables:
            check_names(recording, declared)
            name = _free(f"{PREFIX}{key.generator}_{key.table}", used)
            tables[key.generator, key.table] = declared._replace(name=name), []
        table, keys = tables[key.generator, key.table]
        if table._replace(name="") != declared:
            raise FileFormatError(
                f"{recording.path}: table {key.table} of trace generator {key.generator} has other columns in launch "
                f"{key.launch}"
            )
        keys.append(key)
    return list(tables.values())


def _free(name: str, used: set[str]) -> str:
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name}_{number}"
    used.add(free)
    return free


def check_names(recording: Recording, table: TraceTable) -> None:
    names = [column.name for column in table.columns]
    for name in (table.generator, table.table, *names):
        if not NAME.fullmatch(name):
            raise FileFormatError(f"{recording.path}: {name[:40]!r} is no name of a trace generator, table or column")
    if not names or len(set(names)) < len(names) or "launch" in names:
        raise FileFormatError(
            f"{recording.path}: the columns of trace table {table.table} do not have names of their own"
        )
    for column in table.columns:
        if column.type not in TYPES:
            raise FileFormatError(
                f"{recording.path}: trace table {table.table} has a column of type {column.type[:40]!r}"
            )


def fill_traces(database: sqlite3.Connection, recording: Recording) -> None:
    """Makes the tables, and fills them."""
    database.executemany("INSERT OR IGNORE INTO trace_launches VALUES (?, ?)", watched_launches(recording))
    for number, (table, keys) in enumerate(tables_of(recording)):
        database.execute(
            insertion(TRACE_TABLES),
            (number, table.name, table.generator, table.table, table.text),
        )
        database.executemany(
            insertion(TRACE_COLUMNS),
            [(number, place, *column[:4]) for place, column in enumerate(table.columns)],
        )
        database.execute(definition(table))
        marks = ", ".join("?" * (1 + len(table.columns)))
        for key in keys:
            rows = recording.traces[key].rows
            database.executemany(f"INSERT INTO {table.name} VALUES ({marks})", ((key.launch, *row) for row in rows))


def watched_launches(recording: Recording) -> Iterator[tuple[int, str]]:
    """(launch, generator)"""
    for number, launch in sorted(recording.launches.items()):
        for name in filter(None, launch.begin.get("traces", "").split(",")):
            yield number, name


def definition(table: TraceTable) -> str:
    columns = "".join(f', "{column.name}" {column.sql_type} NOT NULL' for column in table.columns)
    return f"CREATE TABLE {table.name} (launch INTEGER NOT NULL REFERENCES launches{columns})"


# From a database.


def read_tables(database: sqlite3.Connection) -> list[TraceTable]:
    columns: dict[int, list[Column]] = {}
    for number, *column in database.execute(
        "SELECT trace, name, type, unit, text FROM trace_columns ORDER BY trace, place"
    ):
        columns.setdefault(number, []).append(Column(*column))
    return [
        TraceTable(*row, tuple(columns.get(number, ())))
        for number, *row in database.execute(
            "SELECT trace, table_name, generator, name, text FROM trace_tables ORDER BY trace"
        )
    ]


def read_rows(database: sqlite3.Connection, table: TraceTable) -> Iterator[Sequence[object]]:
    """(launch, *values) in the order they were written."""
    names = "".join(f', "{column.name}"' for column in table.columns)
    return database.execute(f"SELECT launch{names} FROM {table.name} ORDER BY rowid")


def read_traces(database: sqlite3.Connection, launches: Collection[int]) -> tuple[Traced, ...]:
    """All tables, with the rows of these launches."""
    return tuple(
        Traced(table, tuple(tuple(row) for row in read_rows(database, table) if row[0] in launches))
        for table in read_tables(database)
    )


def wrong_tables(database: sqlite3.Connection) -> Iterator[str]:
    """The contradictions in the traces of a database: invalid names, missing tables, values of another type."""
    for table in read_tables(database):
        names = [column.name for column in table.columns]
        bad = [name for name in names if not NAME.fullmatch(name)]
        if bad or not TABLE_NAME.fullmatch(table.name) or any(each.type not in TYPES for each in table.columns):
            yield f"trace_tables has a table {table.name[:40]!r} whose names or types are none"
            continue
        have = database.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table.name,)
        ).fetchone()
        if have is None or have[0] != definition(table):
            yield f"{table.name} is missing, or has other columns than trace_columns says"
            continue
        yield from _wrong_values(database, table)


def _wrong_values(database: sqlite3.Connection, table: TraceTable) -> Iterator[str]:
    rules = {column.name: f"typeof(\"{column.name}\") = '{column.type}'" for column in table.columns}
    rules["launch"] = "typeof(launch) = 'integer' AND launch IN (SELECT launch FROM launches)"
    for name, rule in rules.items():
        (n_wrong,) = database.execute(f"SELECT COUNT(*) FROM {table.name} WHERE NOT COALESCE({rule}, 0)").fetchone()
        if n_wrong:
            yield f"{table.name}.{name} is of another type than trace_columns says in {n_wrong:,} rows"
