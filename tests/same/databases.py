"""The items of a .gpudb: the rows of each table and view, columns by name."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from tests.same.programs import moved_line, ptx_without_comments
from tests.same.texts import Item, Side, comparable, leaves

_NAMES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"


def database_items(path: Path, side: Side) -> Iterator[Item]:
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        tables = {side.names.of("table", name): name for (name,) in database.execute(_NAMES)}
        yield Item("tables", sorted(tables))
        ptx_lines = _ptx_lines(database, tables["modules"], side)
        for table in sorted(tables):
            yield from _rows(database, tables[table], table, ptx_lines, side)
    finally:
        database.close()


def _ptx_lines(database: sqlite3.Connection, modules: str, side: Side) -> dict[int, list[int]]:
    """By module, the number of each line of its PTX without comments."""
    cursor = database.execute(f'SELECT * FROM "{modules}"')
    columns = [side.names.column(modules, each[0]) for each in cursor.description]
    rows = [dict(zip(columns, row, strict=True)) for row in cursor]
    return {row["module"]: ptx_without_comments(row["ptx"])[1] for row in rows}


def _rows(database, old: str, table: str, ptx_lines: dict[int, list[int]], side: Side) -> Iterator[Item]:
    cursor = database.execute(f'SELECT * FROM "{old}"')
    columns = [side.names.column(old, each[0]) for each in cursor.description]
    yield Item(f"table {table} columns", sorted(columns))
    for index, row in enumerate(cursor):
        cells = dict(zip(columns, row, strict=True))
        yield Item(f"table {table} row {index}", _comparable_row(table, cells, ptx_lines, side))


def _comparable_row(table: str, cells: dict, ptx_lines: dict[int, list[int]], side: Side) -> dict:
    if table == "meta":
        return _fact(cells, side)
    if "ptx_line" in cells and cells.get("module") in ptx_lines:
        cells["ptx_line"] = moved_line(cells["ptx_line"], ptx_lines[cells["module"]])
    if "ptx" in cells:
        cells["ptx"], _ = ptx_without_comments(cells["ptx"])
    if "metric" in cells:
        cells["metric"] = side.names.key("LEND", cells["metric"])
    return {column: comparable(f"{table}.{column}", cells[column], side) for column in sorted(cells)}


def _fact(cells: dict, side: Side) -> dict:
    """A row of `meta`. A chip is a JSON object there."""
    key, value = side.names.key("meta", cells["key"]), cells["value"]
    return {"key": key, "value": list(leaves(_parsed(value), "meta", side, key, key))}


def _parsed(value: str):
    return json.loads(value) if value.startswith("{") else value
