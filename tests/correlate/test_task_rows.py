"""Rows of tasks that contradict each other, and those of a run that was stopped."""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.correlate.tasks.task_rows import Checked, ordered
from gpuprof.errors import FileFormatError
from gpuprof.records.reader import Launch, Recording, Rows
from gpuprof.relate.task_kinds import NONE, NUMBERS
from gpuprof.tables.tasks import ACCESSES, CONSTRAINTS, OPERATIONS, RELATIONS, TASKS

TABLES = {
    "tasks": TASKS,
    "accesses": ACCESSES,
    "constraints": CONSTRAINTS,
    "relations": RELATIONS,
    "operations": OPERATIONS,
}
# task, parent, kind, flags, name, row, launch, reserved, begin, end, cycle, work
TWO_TASKS = [(0, NONE, 0, 0, 0, 1, NONE, 0, 0, 5, 0, 0), (1, 0, 1, 0, 0, 1, 7, 0, 1, 1, 0, 9)]
DEPENDS_ON, PRODUCES = NUMBERS["depends on"], NUMBERS["produces"]


def checked(complete: bool = True, **tables) -> list:
    """All columns, of two tasks and a buffer of 64 bytes; tables: instead of theirs."""
    given = {"tasks": TWO_TASKS} | tables
    rows = Rows({table: np.array(given.get(name, []), table.dtype) for name, table in TABLES.items()})
    buffer = {"parameter": 0, "name": "x", "kind": 0, "value": "", "begin": 0, "address": 256, "nbytes": 64}
    launches = {7: Launch({}, {"start_cycle": 10, "end_cycle": 30})}
    check = Checked(
        Recording(
            Path("FILE"), launches=launches, names=["a", "host"], parameters=[buffer], complete=complete, rows=rows
        )
    )
    tasks = check.tasks()
    parameters = check.parameters(tasks)
    constraints, relations = check.constraints(tasks), check.relations(tasks, parameters)
    leaves = check.leaves(tasks, check.operations(tasks))
    return [tasks, check.accesses(tasks, parameters), constraints, relations, leaves]


def test_what_is_right():
    tasks, accesses, constraints, relations, leaves = checked(
        tasks=TWO_TASKS[::-1],
        accesses=[(1, 0, 1, 0, 0, 64)],
        constraints=[(3, 0, 1), (0, 0, 1), (0, 0, 1)],
        relations=[(DEPENDS_ON, 1, 0, NONE), (PRODUCES, 1, NONE, 0)],
    )
    assert [column.tolist() for column in (tasks.task, tasks.parent, tasks.launch)] == [[0, 1], [-1, 0], [-1, 7]]
    assert [column.tolist() for column in accesses] == [[1], [0], [1], [0], [64]]
    assert [column.tolist() for column in constraints] == [[1, 1], [0, 0], [0, 3]]
    assert [column.tolist() for column in relations] == [[DEPENDS_ON, PRODUCES], [1, 1], [0, -1], [-1, 0]]
    assert [column.tolist() for column in leaves] == [[-1, 10], [-1, 30]]


def changed(row: tuple, place: int, value: int) -> tuple:
    return (*row[:place], value, *row[place + 1 :])


@pytest.mark.parametrize(
    "table, rows, what",
    [
        ("tasks", [TWO_TASKS[0], changed(TWO_TASKS[1], 4, 2)], "task 1"),
        ("tasks", [TWO_TASKS[0], TWO_TASKS[0]], "task 0"),
        ("tasks", [changed(TWO_TASKS[0], 8, 6)], "task 0"),
        ("tasks", [changed(TWO_TASKS[0], 2, 99)], "task 0"),
        ("tasks", [changed(TWO_TASKS[1], 1, 1)], "task 1"),
        ("tasks", [changed(TWO_TASKS[0], 6, 8)], "task 0, of launch 8"),
        ("tasks", [changed(TWO_TASKS[0], 10, 1 << 63)], f"cycle = {1 << 63}, more than 2^63 - 1"),
        ("tasks", TWO_TASKS[1:], "the parent of task 1, which is not among its tasks"),
        ("accesses", [(1, 1, 0, 0, 0, 4)], "an access of task 1 to parameter 1"),
        ("accesses", [(1, 0, 0, 0, 60, 65)], "an access of task 1 to parameter 0"),
        ("accesses", [(1, 0, 0, 0, 8, 4)], "an access of task 1 to parameter 0"),
        ("accesses", [(2, 0, 0, 0, 0, 4)], "task 2, which accesses memory, which is not among its tasks"),
        ("constraints", [(0, 1, 1)], "a constraint between tasks 1 and 1"),
        ("constraints", [(99, 0, 1)], "a constraint between tasks 0 and 1"),
        ("constraints", [(0, 0, 2)], "the tasks of a constraint of task 2, which is not among its tasks"),
        ("relations", [(99, 0, 1, NONE)], "a relation of task 0"),
        ("relations", [(DEPENDS_ON, 1, 1, NONE)], "a relation of task 1"),
        ("relations", [(PRODUCES, 1, 0, 0)], "a relation of task 1"),
        ("relations", [(PRODUCES, 1, NONE, NONE)], f"a relation of task 1 through parameter {NONE}"),
        ("relations", [(DEPENDS_ON, 1, 0, 1)], "a relation of task 1 through parameter 1"),
        ("relations", [(DEPENDS_ON, 1, 2, NONE)], "the tasks of a relation of task 1, which is not among its tasks"),
    ],
)
def test_what_contradicts_itself(table, rows, what):
    with pytest.raises(FileFormatError) as caught:
        checked(**{table: rows})
    assert str(caught.value) == f"FILE: contradicts itself: it has {what}"


def test_a_run_that_was_stopped_lacks_tasks():
    """Task 0 was still open: what it holds has no parent, and what ties it to others is left out."""
    tasks, accesses, constraints, relations, _ = checked(
        complete=False,
        tasks=TWO_TASKS[1:],
        accesses=[(0, 0, 1, 0, 0, 64), (1, 0, 0, 0, 0, 4)],
        constraints=[(0, 0, 1)],
        relations=[(DEPENDS_ON, 1, 0, NONE)],
    )
    assert (tasks.parent.tolist(), accesses.task.tolist()) == ([-1], [1])
    assert [len(column) for column in (constraints.source, relations.source)] == [0, 0]


def test_rows_in_order_and_once():
    columns = [np.array(column) for column in ([2, 1, 2, 1, 2], [5, 9, 4, 9, 5])]
    assert [column.tolist() for column in ordered(columns)] == [[1, 2, 2], [9, 4, 5]]
    assert [column.tolist() for column in ordered([np.empty(0, np.int64)] * 2)] == [[], []]
