"""Relations of tasks that have parts, from the relations of their parts."""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuprof.correlate.tasks.task_queries import contained
from gpuprof.relate.task_kinds import NEEDS, RELATIONS

INVERSES = {kind.name: kind.inverse for kind in RELATIONS}


class Between(NamedTuple):
    """The parts of a task are related so to those of another, through a buffer."""

    kind: str
    task: int
    via: int | None
    nbytes: int


class Wholes:
    """The tasks that each task is a part of, by its position or as part of a virtual one."""

    def __init__(self, database: sqlite3.Connection):
        self._database = database
        self._above: dict[int, list[int]] = {}
        self._below: dict[int, list[int]] = {}
        query = "SELECT parent, task FROM tasks NOT INDEXED WHERE parent IS NOT NULL"
        for whole, part in (*database.execute(query), *contained(database)):
            self._above.setdefault(part, []).append(whole)
            self._below.setdefault(whole, []).append(part)

    def between(self, task: int) -> list[Between]:
        """By kind, task and buffer; nothing for a task without parts. Others are as whole as they can be without being
        wholes of `task`.
        """
        if task not in self._below:
            return []
        inside, around = _reached(task, self._below), _reached(task, self._above)
        sums: dict[tuple[str, int, int | None], int] = {}
        for kind, source, target, via, nbytes in self._needs():
            if (source in inside) == (target in inside):
                continue
            told, other = (kind, target) if source in inside else (INVERSES[kind], source)
            for whole in self._outermost(other, around):
                sums[told, whole, via] = sums.get((told, whole, via), 0) + nbytes
        return [Between(*key, nbytes) for key, nbytes in sums.items()]

    def _needs(self) -> Iterable[tuple]:
        marks = ", ".join("?" * len(NEEDS))
        return self._database.execute(
            f"SELECT kind, source, target, via, nbytes FROM stored_relations WHERE kind IN ({marks}) "
            "ORDER BY source, target, kind, via",
            NEEDS,
        )

    def _outermost(self, task: int, around: set[int]) -> Iterator[int]:
        """The task, or all wholes that it is in and that are in none, without those in `around`."""
        reached = _reached(task, self._above) - around
        return (whole for whole in sorted(reached) if not reached & set(self._above.get(whole, ())))


def _reached(task: int, ways: dict[int, list[int]]) -> set[int]:
    reached, stack = {task}, [task]
    while stack:
        new = [next_task for next_task in ways.get(stack.pop(), ()) if next_task not in reached]
        reached.update(new)
        stack += new
    return reached
