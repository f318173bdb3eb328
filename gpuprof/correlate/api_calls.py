"""Calls of a program: from a recording into the database, and out of it."""

import sqlite3
from typing import NamedTuple

from gpuprof.errors import FileFormatError
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording
from gpuprof.relate.task_kinds import NONE
from gpuprof.tables.sql import insertion
from gpuprof.tables.tasks import CALLS, TASKS


class ApiCall(NamedTuple):
    """`direction`: what it copied or filled, as tasks are called; "" for nothing, "several" where a graph did both.
    Times in ns of the host's.
    """

    task: int
    name: str
    file: str | None
    line: int
    thread: int
    status: int
    begin_ns: int
    end_ns: int
    waited_ns: int
    nbytes: int
    direction: str

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.begin_ns

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""


def fill_api_calls(database: sqlite3.Connection, recording: Recording) -> None:
    """Raises FileFormatError for rows that contradict the others."""
    there = set(recording.rows[TASKS]["task"].tolist())
    rows, seen = [], set()
    for task, file, line, thread, status, _, *times in recording.rows[CALLS].tolist():
        is_right = task in there and task not in seen and (file == NONE or file < len(recording.names))
        if not is_right or max(times) > MAX_COUNT or times[0] > times[1]:
            raise FileFormatError(f"{recording.path}: contradicts itself: it has call {task}")
        seen.add(task)
        rows.append((task, None if file == NONE else recording.names[file], line, thread, status, *times))
    database.executemany(insertion(CALLS), sorted(rows))


def read_api_calls(database: sqlite3.Connection) -> list[ApiCall]:
    """In the order of their beginnings."""
    query = """
        SELECT c.task, t.name, c.file, c.line, c.thread, c.status, c.begin_ns, c.end_ns, c.waited_ns, c.nbytes,
               (SELECT CASE COUNT(DISTINCT p.kind) WHEN 0 THEN '' WHEN 1 THEN MIN(p.kind) ELSE 'several' END
                FROM tasks p WHERE p.parent = c.task AND (p.kind LIKE 'copy%' OR p.kind = 'fill'))
        FROM api_calls c JOIN tasks t USING (task) ORDER BY c.task
    """
    return [ApiCall(*row) for row in database.execute(query)]


def launch_places(database: sqlite3.Connection) -> dict[int, str]:
    """FILE:LINE of the calls that have launched, by launch."""
    query = """
        SELECT t.launch, c.file, c.line FROM tasks t JOIN api_calls c ON c.task = t.parent
        WHERE t.launch IS NOT NULL AND c.file IS NOT NULL
    """
    return {launch: f"{file}:{line}" for launch, file, line in database.execute(query)}
