"""The tables of tasks of a database, read for pages, exports and measurements. There may be a million tasks: they are
columns.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuprof.relate.critical import Path, longest
from gpuprof.relate.independent import Order, Pair, independent
from gpuprof.relate.kinds import CONTAINS, DEPENDS_ON, NEEDS

AT_A_TIME = 50_000  # rows
NUMBERS = (
    *("task", "parent", "is_virtual", "row", "launch", "begin_order", "end_order"),
    *("begin_cycle", "end_cycle", "own_cycles", "parts_cycles"),
)


@dataclass(frozen=True)
class Tasks:
    """Columns by name, int64 (n,), -1 for NULL; `kind` and `name` are numbers of `words`. Row k is of the k-th task."""

    columns: dict[str, np.ndarray]
    words: list[str]
    rows: dict[int, str]  # names of rows

    def __len__(self) -> int:
        return len(self.columns["task"])

    def place(self, task: int) -> int:
        """The row of a task."""
        return int(np.searchsorted(self.columns["task"], task))

    def name(self, place: int) -> str:
        return self.words[self.columns["name"][place]]

    def kind(self, place: int) -> str:
        return self.words[self.columns["kind"][place]]

    def row(self, place: int) -> str:
        return self.rows[int(self.columns["row"][place])]

    def value(self, column: str, place: int) -> int:
        return int(self.columns[column][place])

    @cached_property
    def spans(self) -> dict[int, tuple[int, int]]:
        """(begin, end) of the tasks that take time by themselves."""
        own = np.flatnonzero(self.columns["own_cycles"] > 0)
        each = (self.columns[name][own].tolist() for name in ("task", "begin_cycle", "end_cycle"))
        return {task: (begin, end) for task, begin, end in zip(*each, strict=True)}


def read_tasks(database: sqlite3.Connection) -> Tasks:
    words: dict[str, int] = {}
    pieces: dict[str, list[np.ndarray]] = {name: [] for name in (*NUMBERS, "kind", "name")}
    numbers = ", ".join(f"COALESCE({name}, -1)" for name in NUMBERS)
    cursor = database.execute(f"SELECT {numbers}, kind, name FROM tasks ORDER BY task")
    while rows := cursor.fetchmany(AT_A_TIME):
        columns = list(zip(*rows, strict=True))
        for name, values in zip(NUMBERS, columns, strict=False):
            pieces[name].append(np.array(values, np.int64))
        for name, values in zip(("kind", "name"), columns[len(NUMBERS) :], strict=True):
            pieces[name].append(np.array([words.setdefault(text, len(words)) for text in values], np.int64))
    whole = {name: np.concatenate(parts) if parts else np.empty(0, np.int64) for name, parts in pieces.items()}
    return Tasks(whole, list(words), dict(database.execute("SELECT row, name FROM task_rows")))


def contained(database: sqlite3.Connection) -> list[tuple[int, int]]:
    """(whole, part) where that is not the part's place."""
    return database.execute(
        "SELECT source, target FROM stored_relations WHERE kind = ? ORDER BY source, target", (CONTAINS,)
    ).fetchall()


def needs(database: sqlite3.Connection) -> list[tuple[int, int]]:
    """(before, after) of tasks that need each other: they share bytes, or depend on each other."""
    marks = ", ".join("?" * len(NEEDS))
    found = database.execute(
        f"SELECT DISTINCT source, target FROM stored_relations WHERE kind IN ({marks}) AND target IS NOT NULL "
        "UNION SELECT target, source FROM stored_relations WHERE kind = ?",
        (*NEEDS, DEPENDS_ON),
    )
    return [(source, target) for source, target in found if source < target]


def orders(database: sqlite3.Connection) -> list[Order]:
    query = "SELECT source, target, kind FROM task_constraints WHERE kind <> 'device launch' ORDER BY target, source"
    return [Order(*row) for row in database.execute(query)]


def pairs(database: sqlite3.Connection, tasks: Tasks, most: int) -> list[Pair]:
    """Tasks that are ordered and do not need each other, at most so many; none where nobody has noted what tasks read
    and wrote.
    """
    if not database.execute("SELECT EXISTS (SELECT 1 FROM accesses_by_task)").fetchone()[0]:
        return []
    found = independent(tasks.spans, orders(database), needs(database))
    return [pair for pair, _ in zip(found, range(most), strict=False)]


def host_launches(database: sqlite3.Connection) -> dict[int, int]:
    """Launches that the host has asked for, with their numbers among these."""
    query = (
        "SELECT launch FROM launches WHERE launch NOT IN (SELECT launch FROM launch_metrics WHERE metric = 'parent') "
        "ORDER BY launch"
    )
    return {launch: number for number, (launch,) in enumerate(database.execute(query))}


def critical_path(database: sqlite3.Connection, tasks: Tasks, launch_cycles: Mapping[int, int] | None = None) -> Path:
    """The longest chain of needs, of tasks with their own cycles, or with those of their launches in
    `launch_cycles`.
    """
    is_script = np.isin(tasks.columns["kind"], [number for number, word in enumerate(tasks.words) if word == "task"])
    leaves = np.flatnonzero(~is_script)
    numbers, cycles = tasks.columns["task"][leaves].tolist(), tasks.columns["own_cycles"][leaves].tolist()
    if launch_cycles is not None:
        cycles = [launch_cycles.get(launch, 0) for launch in tasks.columns["launch"][leaves].tolist()]
    durations = dict(zip(numbers, cycles, strict=True))
    return longest(
        durations,
        [(source, target) for source, target in needs(database) if source in durations and target in durations],
    )
