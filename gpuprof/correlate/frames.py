"""Where code comes from: the line of each instruction, and the call sites that it was inlined at."""

import sqlite3
from collections.abc import Collection, Iterator
from typing import NamedTuple


class Position(NamedTuple):
    """A line of a file, inside a function. path "" or line 0: unknown."""

    function: str
    path: str
    line: int


def positions(database: sqlite3.Connection, functions: Collection[int]) -> dict[int, tuple[Position, ...]]:
    """Address -> the positions of every instruction of these functions, innermost first. The last one is in the
    function that has the code; each other is in a function that was inlined at the next.
    """
    wanted = f"i.function IN ({','.join('?' * len(functions))})"
    frames: dict[int, list[tuple[str, str, int]]] = {}
    for pc, *frame in database.execute(
        "SELECT pc, n.function, path, n.line FROM inline_frames n JOIN sources s ON s.source = n.source "
        f"JOIN instructions i USING (pc) WHERE {wanted} ORDER BY pc, depth",
        sorted(functions),
    ):
        frames.setdefault(pc, []).append(tuple(frame))
    return {
        pc: tuple(chain(function, path, line, frames.get(pc, [])))
        for pc, function, path, line in database.execute(
            "SELECT pc, display, COALESCE(path, ''), line FROM instructions i JOIN functions USING (function) "
            f"LEFT JOIN sources USING (source) WHERE {wanted}",
            sorted(functions),
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
