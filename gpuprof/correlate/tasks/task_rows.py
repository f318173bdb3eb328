"""The rows of tasks that a recording holds, checked: columns of int64.

Rows whose task was not written, as the run was stopped, are left out; in a whole recording they are an error.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.errors import FileFormatError
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording, no_rows
from gpuprof.relate import task_kinds
from gpuprof.relate.task_kinds import NONE
from gpuprof.relate.task_spans import NEVER, NO_TASK, Leaves
from gpuprof.tables.engines import ENGINES
from gpuprof.tables.table import Table
from gpuprof.tables.tasks import ACCESSES, CONSTRAINTS, OPERATIONS, RELATIONS, TASKS

NOTHING = -1  # where a column has no number


class Tasks(NamedTuple):
    """Row k is of the k-th task; int64 (n,). parent, launch: NOTHING for none. name, row: places in
    Recording.names.
    """

    task: np.ndarray
    parent: np.ndarray
    kind: np.ndarray
    flags: np.ndarray
    name: np.ndarray
    row: np.ndarray
    launch: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    cycle: np.ndarray
    work: np.ndarray

    def places(self, tasks: np.ndarray) -> np.ndarray:
        """The rows of tasks that are there; NO_TASK stays what it is."""
        return np.where(tasks == NOTHING, NO_TASK, np.searchsorted(self.task, tasks))

    def has(self, tasks: np.ndarray) -> np.ndarray:
        return np.isin(tasks, self.task)


class Relations(NamedTuple):
    """int64 (n,). kind: a number of kinds.RELATIONS. target: NOTHING where a task is related to a buffer; via: NOTHING
    for none.
    """

    kind: np.ndarray
    source: np.ndarray
    target: np.ndarray
    via: np.ndarray


class Accesses(NamedTuple):
    """int64 (n,), in the order of execution."""

    task: np.ndarray
    parameter: np.ndarray
    flags: np.ndarray
    first: np.ndarray
    end: np.ndarray


class Constraints(NamedTuple):
    """int64 (n,), by target, source and kind, none twice. kind: a number of kinds.CONSTRAINTS."""

    target: np.ndarray
    source: np.ndarray
    kind: np.ndarray


class Operations(NamedTuple):
    """Copies, fills and host functions with their times, by task, each once: int64 (n,). engine: a number of
    ENGINES; start, end: GPU cycles; nbytes in bytes.
    """

    task: np.ndarray
    engine: np.ndarray
    flags: np.ndarray
    stream: np.ndarray
    start: np.ndarray
    end: np.ndarray
    nbytes: np.ndarray


class Checked:
    """Takes the rows out of the recording: there may be millions. Raises FileFormatError for those that contradict each
    other.
    """

    def __init__(self, recording: Recording):
        self.recording = recording

    def tasks(self) -> Tasks:
        table = self._taken(TASKS)
        self._bounded(table, ("begin", "end", "cycle", "work"))
        order = np.argsort(table["task"], kind="stable")
        tasks = Tasks(*(table[name][order].astype(np.int64) for name in Tasks._fields))
        n_names = len(self.recording.names)
        is_wrong = (tasks.name >= n_names) | (tasks.row >= n_names) | (tasks.kind >= len(task_kinds.TASKS))
        is_wrong |= (tasks.begin > tasks.end) | (tasks.task == NONE)
        is_wrong |= (tasks.parent != NONE) & (tasks.parent >= tasks.task)
        is_wrong[1:] |= tasks.task[1:] == tasks.task[:-1]
        for task in tasks.task[is_wrong][:1].tolist():
            raise self.wrong(f"task {task}")
        tasks = tasks._replace(launch=_or_nothing(tasks.launch), parent=_or_nothing(tasks.parent))
        launches = np.fromiter(self.recording.launches, np.int64, len(self.recording.launches))
        is_wrong = (tasks.launch != NOTHING) & ~np.isin(tasks.launch, launches)
        for task, launch in zip(tasks.task[is_wrong][:1].tolist(), tasks.launch[is_wrong].tolist(), strict=False):
            raise self.wrong(f"task {task}, of launch {launch}")
        is_alone = (tasks.parent != NOTHING) & ~tasks.has(tasks.parent)
        self._missing("the parent of task {}", tasks.task[is_alone])
        return tasks._replace(parent=np.where(is_alone, NOTHING, tasks.parent))

    def parameters(self, tasks: Tasks) -> list[dict]:
        for fields in self.recording.parameters:
            is_buffer = fields["kind"] == 0
            if fields["kind"] >= len(task_kinds.PARAMETERS) or is_buffer != (
                "nbytes" in fields and "address" in fields
            ):
                raise self.wrong(f"parameter {fields['parameter']}")
        told = [fields for fields in self.recording.parameters if "task" in fields]
        is_there = tasks.has(np.array([fields["task"] for fields in told], np.int64))
        for fields, there in zip(told, is_there.tolist(), strict=True):
            if not there:
                self._missing("the task of parameter {}", [fields["parameter"]])
                del fields["task"]
        return self.recording.parameters

    def accesses(self, tasks: Tasks, parameters: list[dict]) -> Accesses:
        table = self._taken(ACCESSES)
        self._bounded(table, ("first", "end"))
        rows = Accesses(*(table[name].astype(np.int64) for name in Accesses._fields))
        # of no parameter and of what is no buffer no byte can be accessed
        sizes = np.array([*(fields.get("nbytes", -1) for fields in parameters), -1], np.int64)
        nbytes = sizes[np.minimum(rows.parameter, len(parameters))]
        is_wrong = (rows.first > rows.end) | (rows.end > nbytes)
        for task, parameter in zip(rows.task[is_wrong][:1].tolist(), rows.parameter[is_wrong].tolist(), strict=False):
            raise self.wrong(f"an access of task {task} to parameter {parameter}")
        is_there = tasks.has(rows.task)
        self._missing("task {}, which accesses memory", rows.task[~is_there])
        return Accesses(*(column[is_there] for column in rows))

    def constraints(self, tasks: Tasks) -> Constraints:
        table = self._taken(CONSTRAINTS)
        rows = Constraints(*(table[name].astype(np.int64) for name in Constraints._fields))
        is_wrong = (rows.kind >= len(task_kinds.CONSTRAINTS)) | (rows.source >= rows.target)
        for source, target in zip(rows.source[is_wrong][:1].tolist(), rows.target[is_wrong].tolist(), strict=False):
            raise self.wrong(f"a constraint between tasks {source} and {target}")
        is_there = tasks.has(rows.source) & tasks.has(rows.target)
        self._missing("the tasks of a constraint of task {}", rows.target[~is_there])
        return Constraints(*ordered([column[is_there] for column in rows]))

    def relations(self, tasks: Tasks, parameters: list[dict]) -> Relations:
        """The relations that were stated, none twice."""
        table = self._taken(RELATIONS)
        kind, source, target, via = (table[name].astype(np.int64) for name in ("kind", "source", "target", "parameter"))
        of_buffer = np.isin(kind, [task_kinds.NUMBERS[name] for name in task_kinds.OF_BUFFERS])
        is_wrong = (kind >= len(task_kinds.NAMES)) | (of_buffer != (target == NONE)) | (source == target)
        for task in source[is_wrong][:1].tolist():
            raise self.wrong(f"a relation of task {task}")
        is_wrong = ((via != NONE) & (via >= len(parameters))) | (of_buffer & (via == NONE))
        for task, parameter in zip(source[is_wrong][:1].tolist(), via[is_wrong].tolist(), strict=False):
            raise self.wrong(f"a relation of task {task} through parameter {parameter}")
        is_there = tasks.has(source) & (of_buffer | tasks.has(target))
        self._missing("the tasks of a relation of task {}", source[~is_there])
        columns = (kind, source, _or_nothing(target), _or_nothing(via))
        return Relations(*ordered([column[is_there] for column in columns]))

    def operations(self, tasks: Tasks) -> Operations:
        table = self._taken(OPERATIONS)
        self._bounded(table, ("start", "end", "nbytes"))
        table = table[np.argsort(table["task"], kind="stable")]
        rows = Operations(*(table[name].astype(np.int64) for name in Operations._fields))
        is_wrong = (rows.engine >= len(ENGINES)) | (rows.start > rows.end)
        is_wrong[1:] |= rows.task[1:] == rows.task[:-1]
        is_there = tasks.has(rows.task)
        is_wrong[is_there] |= tasks.launch[tasks.places(rows.task[is_there])] != NOTHING
        for task in rows.task[is_wrong][:1].tolist():
            raise self.wrong(f"an operation of task {task}")
        self._missing("task {}, which has an operation", rows.task[~is_there])
        return Operations(*(column[is_there] for column in rows))

    def leaves(self, tasks: Tasks, operations: Operations) -> Leaves:
        """The times of launches and operations."""
        times = {number: launch.end for number, launch in self.recording.launches.items() if launch.end}
        for number, end in times.items():
            if end["start_cycle"] > end["end_cycle"]:
                raise self.wrong(f"launch {number}, which ends before it begins")
        numbers = np.array(sorted(times), np.int64)
        places = np.searchsorted(numbers, tasks.launch)
        has_time = np.isin(tasks.launch, numbers)
        columns = []
        for name in ("start_cycle", "end_cycle"):
            cycles = np.array([*(times[number][name] for number in numbers.tolist()), NEVER], np.int64)
            columns.append(np.where(has_time, cycles[places], NEVER))
        begin, end = columns
        of_tasks = tasks.places(operations.task)
        begin[of_tasks], end[of_tasks] = operations.start, operations.end
        return Leaves(begin, end)

    def _taken(self, table: Table) -> np.ndarray:
        return self.recording.rows.pop(table, no_rows(table))

    def _bounded(self, table: np.ndarray, columns: Sequence[str]) -> None:
        for name in columns:
            if len(table) and int(table[name].max()) > MAX_COUNT:
                raise self.wrong(f"{name} = {table[name].max()}, more than 2^63 - 1")

    def _missing(self, what: str, tasks: Sequence[int]) -> None:
        if len(tasks) and self.recording.complete:
            raise self.wrong(f"{what.format(tasks[0])}, which is not among its tasks")

    def wrong(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.recording.path}: contradicts itself: it has {what}")


def ordered(columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The rows of columns, by the first, then by the second and so on, none twice."""
    order = np.lexsort(tuple(reversed(columns)))
    is_new = np.zeros(len(order), bool)
    is_new[:1] = True
    for column in columns:
        in_order = column[order]
        is_new[1:] |= in_order[1:] != in_order[:-1]
    order = order[is_new]
    return [column[order] for column in columns]


def _or_nothing(column: np.ndarray) -> np.ndarray:
    return np.where(column == NONE, NOTHING, column)
