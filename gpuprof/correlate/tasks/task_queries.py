"""The tables of tasks of a database, read for pages, exports and measurements. There may be a million tasks: they are
columns.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from gpuprof.relate.critical import Needs, Path, longest
from gpuprof.relate.independent import Order, Pair, independent
from gpuprof.relate.task_kinds import CONTAINS, DEPENDS_ON, NEEDS

AT_A_TIME = 50_000  # tasks
NOTHING = np.empty(0, np.int64)
WORDS = ("kind", "name")
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
    pieces: dict[str, list[np.ndarray]] = {name: [NOTHING] for name in (*NUMBERS, *WORDS)}
    words: dict[bytes, int] = {}
    with as_bytes(database):
        while _read_piece(database, pieces, words):
            pass
    whole = {name: np.concatenate(parts) for name, parts in pieces.items()}
    texts = [word.decode("utf-8", "replace") for word in words]
    return Tasks(whole, texts, dict(database.execute("SELECT row, name FROM task_rows")))


def _read_piece(database: sqlite3.Connection, pieces: dict[str, list[np.ndarray]], words: dict[bytes, int]) -> bool:
    """Reads the next tasks; False when there are none. A column is one text of numbers: a Python value for each takes
    seconds for a million.
    """
    bounds = (int(pieces["task"][-1].max(initial=-1)), AT_A_TIME)
    columns = ", ".join(f"group_concat(COALESCE({name}, -1))" for name in NUMBERS)
    rows = "(SELECT * FROM tasks WHERE task > ? ORDER BY task LIMIT ?)"
    for name, text in zip(NUMBERS, database.execute(f"SELECT {columns} FROM {rows}", bounds).fetchone(), strict=True):
        pieces[name].append(NOTHING if text is None else np.fromstring(text, np.int64, sep=","))
    order = np.argsort(pieces["task"][-1], kind="stable")  # SQLite promises none
    for name in NUMBERS:
        pieces[name][-1] = pieces[name][-1][order]
    for name in WORDS:
        texts = database.execute(f"SELECT {name} FROM tasks WHERE task > ? ORDER BY task LIMIT ?", bounds)
        pieces[name].append(np.array([words.setdefault(text, len(words)) for (text,) in texts], np.int64))
    return len(order) > 0


@contextmanager
def as_bytes(database: sqlite3.Connection) -> Iterator[None]:
    """Texts as bytes: to decode each of a million takes seconds."""
    factory, database.text_factory = database.text_factory, bytes
    try:
        yield
    finally:
        database.text_factory = factory


def contained(database: sqlite3.Connection) -> list[tuple[int, int]]:
    """(whole, part) where that is not the part's place."""
    return database.execute(
        "SELECT source, target FROM stored_relations WHERE kind = ? ORDER BY source, target", (CONTAINS,)
    ).fetchall()


def needs(database: sqlite3.Connection) -> Needs:
    """Tasks that need each other: they share bytes, or depend on each other."""
    marks = ", ".join("?" * len(NEEDS))
    observed = f"SELECT source, target FROM stored_relations WHERE kind IN ({marks}) AND target > source"
    pieces = [np.empty((0, 2), np.int64), *_pieces(database.execute(observed, NEEDS))]
    stated = database.execute("SELECT target, source FROM stored_relations WHERE kind = ?", (DEPENDS_ON,)).fetchall()
    if stated:
        leaves = Leaves(database)
        pairs_ = (pair for before, after in stated for pair in product(leaves.of(before), leaves.of(after)))
        distinct = list(dict.fromkeys(pair for pair in pairs_ if pair[0] < pair[1]))
        pieces.append(np.array(distinct, np.int64).reshape(-1, 2))
    return Needs(*np.concatenate(pieces).T)


def _pieces(rows: sqlite3.Cursor) -> Iterator[np.ndarray]:
    """int64 (n, 2), until there are no rows."""
    while some := rows.fetchmany(AT_A_TIME):
        yield np.array(some, np.int64)


class Leaves:
    """The tasks without parts that a task is made of: what is stated of the whole holds of each."""

    def __init__(self, database: sqlite3.Connection):
        self._parts: dict[int, list[int]] = {}
        query = "SELECT parent, task FROM tasks NOT INDEXED WHERE parent IS NOT NULL"
        for whole, part in (*database.execute(query), *contained(database)):
            self._parts.setdefault(whole, []).append(part)

    def of(self, task: int) -> list[int]:
        """Ascending; the task itself where it has no parts."""
        leaves, seen, stack = [], {task}, [task]
        while stack:
            here = stack.pop()
            parts = self._parts.get(here, ())
            if not parts:
                leaves.append(here)
            stack += [part for part in parts if part not in seen]
            seen.update(parts)
        return sorted(leaves)


def orders(database: sqlite3.Connection) -> list[Order]:
    """Between tasks that take time."""
    timed = "(SELECT task FROM tasks WHERE own_cycles > 0)"
    query = (
        f"SELECT source, target, kind FROM task_constraints WHERE kind <> 'device launch' AND source IN {timed} "
        f"AND target IN {timed} ORDER BY target, source"
    )
    return [Order(*row) for row in database.execute(query)]


def pairs(database: sqlite3.Connection, tasks: Tasks, most: int, among: Set[int] | None = None) -> list[Pair]:
    """Tasks that are ordered and do not need each other, one of them `among` these, at most so many; none if the
    bytes that tasks read and wrote were not recorded.
    """
    if not database.execute("SELECT EXISTS (SELECT 1 FROM accesses_by_task)").fetchone()[0]:
        return []
    engines = dict(database.execute("SELECT task, engine FROM device_operations"))
    # an engine does one thing at a time, whatever is asked of it
    free = (order for order in orders(database) if engines.get(order.source, "") != engines.get(order.target))
    candidates = independent(tasks.spans, free, needs(database))
    wanted = (pair for pair in candidates if among is None or pair.source in among or pair.target in among)
    return [pair for pair, _ in zip(wanted, range(most), strict=False)]


def host_launches(database: sqlite3.Connection) -> dict[int, int]:
    """Launches that the host has requested, with their numbers among these."""
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
    cycles = tasks.columns["own_cycles"][leaves]
    if launch_cycles is not None:
        # copies, fills and host functions stay as long as they were: what runs again is launches
        each = zip(tasks.columns["launch"][leaves].tolist(), cycles.tolist(), strict=True)
        cycles = np.array([own if launch < 0 else launch_cycles.get(launch, 0) for launch, own in each], np.int64)
    return longest(tasks.columns["task"][leaves], cycles, needs(database))
