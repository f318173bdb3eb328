"""Origins of code: the line of each instruction, and the call sites that it was inlined at."""

import json
import sqlite3
from collections.abc import Collection, Iterator
from typing import NamedTuple

# of rows `w` of temp.code_of; the parameter is a list as JSON, since SQLite takes only so many parameters
IN_FUNCTIONS = "w.function IN (SELECT value FROM json_each(?))"


class Position(NamedTuple):
    """A line of a file, inside a function. path "" or line 0: unknown."""

    function: str
    path: str
    line: int


def list_code(database: sqlite3.Connection) -> None:
    """Lists the instructions by their functions for `positions`, in a temporary table: the file is not written to."""
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("DROP TABLE IF EXISTS temp.code_of")
    database.execute(
        "CREATE TEMP TABLE code_of (function INTEGER, pc INTEGER, PRIMARY KEY (function, pc)) WITHOUT ROWID"
    )
    database.execute("INSERT INTO temp.code_of SELECT function, pc FROM instructions")


def positions(database: sqlite3.Connection, functions: Collection[int]) -> dict[int, tuple[Position, ...]]:
    """Address -> the positions of every instruction of these functions, innermost first. The last one is in the
    function that has the code; each other is in a function that was inlined at the next. After `list_code`.
    """
    wanted = (json.dumps(sorted(functions)),)
    frames: dict[int, list[tuple[str, str, int]]] = {}
    for pc, *frame in database.execute(
        "SELECT n.pc, n.function, path, n.line FROM temp.code_of w CROSS JOIN inline_frames n USING (pc) "
        f"JOIN sources s ON s.source = n.source WHERE {IN_FUNCTIONS} ORDER BY n.pc, depth",
        wanted,
    ):
        frames.setdefault(pc, []).append(tuple(frame))
    return {
        pc: tuple(chain(function, path, line, frames.get(pc, [])))
        for pc, function, path, line in database.execute(
            "SELECT pc, display, COALESCE(path, ''), line FROM temp.code_of w CROSS JOIN instructions i USING (pc) "
            f"JOIN functions f ON f.function = w.function LEFT JOIN sources s ON s.source = i.source "
            f"WHERE {IN_FUNCTIONS}",
            wanted,
        )
    }


def chain(function: str, path: str, line: int, frames: list[tuple[str, str, int]]) -> Iterator[Position]:
    """`frames`: name of the inlined function, path and line of the call, innermost first. Frame k names the function
    that position k is in.
    """
    for inlined, call_path, call_line in frames:
        yield Position(inlined, path, line)
        path, line = call_path, call_line
    yield Position(function, path, line)
