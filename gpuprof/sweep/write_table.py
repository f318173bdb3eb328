"""Tables as files: CSV, JSON, SQLite. The same table gives the same bytes, and a file appears whole or not at all."""

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from gpuprof.base.files import replacing
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.isa.printing.printable import printable
from gpuprof.sweep.sweep_table import SweepTable
from gpuprof.tables.table import Column

# of the JSON document and of the SQLite schema. History: 1 the first; 2 has the columns cycles_within and fidelity;
# 3 metrics of operations; 4 cycles of draws; 5 the column cache.
VERSION = 5
APPLICATION_ID = 0x67707377  # "gpsw"; shown by `file`


def write_csv(table: SweepTable, path: Path) -> None:
    """A heading, then the rows; a cell is empty where nothing was measured."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.name for column in table.columns])
        writer.writerows([printable(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows)


def write_json(table: SweepTable, path: Path) -> None:
    """{"version": 1, "meta": {...}, "columns": [...], "rows": [{column: value}]}"""
    document = {
        "version": VERSION,
        "meta": dict(table.meta),
        "columns": [described(column) for column in table.columns],
        "rows": list(table.records()),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def described(column: Column) -> dict[str, str]:
    return {"name": column.name, "type": column.sql_type, "unit": column.unit, "text": column.text}


def write_sqlite(table: SweepTable, path: Path) -> None:
    """The tables `meta` and `sweep`; the columns' meanings stay as comments in the schema that SQLite stores."""
    path.touch()  # where the system refuses it says why, and SQLite would not
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.executescript(
                "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA encoding = "
                "'UTF-8';"
                f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
            )
            db.executescript(schema(table.columns))
            db.execute("BEGIN")
            db.executemany("INSERT INTO meta VALUES (?, ?)", table.meta.items())
            db.executemany(f"INSERT INTO sweep VALUES ({', '.join('?' * len(table.columns))})", table.rows)
            db.execute("COMMIT")
    except sqlite3.OperationalError as error:
        raise GpuprofError(f"{path}: cannot be written: {error}") from None


def schema(columns: tuple[Column, ...]) -> str:
    lines = [
        f"    {column.name} {column.sql_type}{',' if column is not columns[-1] else ''} -- "
        f"{f'{column.unit}: ' if column.unit else ''}{column.text}"
        for column in columns
    ]
    meta = (
        "CREATE TABLE meta (            -- what made this file\n    key TEXT PRIMARY KEY,\n    value TEXT NOT "
        "NULL\n) WITHOUT ROWID;"
    )
    return "\n".join([meta, "CREATE TABLE sweep (           -- a row per launch of each run", *lines, ");"])


Writer = Callable[[SweepTable, Path], None]
WRITERS: dict[str, Writer] = {".csv": write_csv, ".json": write_json, ".sqlite": write_sqlite}


def check_output(path: Path) -> None:
    """Raises UsageError for a name that says no format."""
    if path.suffix not in WRITERS:
        raise UsageError(f"-o {path}: expected a name that ends in {', '.join(WRITERS)}")


def write(table: SweepTable, path: Path) -> None:
    """In the format that the name ends in. Raises GpuprofError when the disk refuses."""
    with replacing(path) as partial:
        WRITERS[path.suffix](table, partial)
