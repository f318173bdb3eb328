"""The tasks that a page shows if only some launches are requested."""

import sqlite3
from collections.abc import Set

import numpy as np

from gpuprof.correlate.tasks.task_queries import Tasks, contained


def tasks_of(database: sqlite3.Connection, tasks: Tasks, launches: Set[int]) -> frozenset[int]:
    """The numbers of the launches' tasks, and of those that they are parts of."""
    wholes: dict[int, list[int]] = {}
    for whole, part in contained(database):
        wholes.setdefault(part, []).append(whole)
    own = np.isin(tasks.columns["launch"], list(launches))
    stack = tasks.columns["task"][own].tolist()
    result: set[int] = set()
    while stack:
        task = stack.pop()
        if task in result:
            continue
        result.add(task)
        parent = tasks.value("parent", tasks.place(task))
        stack += [*([parent] if parent >= 0 else []), *wholes.get(task, ())]
    return frozenset(result)


def list_shown(database: sqlite3.Connection, shown: Set[int] | None) -> None:
    """Lists tasks in a temporary table, for queries; None: all of them. The file is not written to."""
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("DROP TABLE IF EXISTS temp.tasks_shown")
    database.execute("CREATE TEMP TABLE tasks_shown (task INTEGER PRIMARY KEY)")
    if shown is None:
        database.execute("INSERT INTO temp.tasks_shown SELECT task FROM tasks")
    else:
        database.executemany("INSERT INTO temp.tasks_shown VALUES (?)", ((task,) for task in shown))
