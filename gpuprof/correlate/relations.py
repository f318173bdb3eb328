"""The tables of tasks: from the rows of a recording, and what follows from them (`gpuprof.relate`)."""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from gpuprof.errors import FileFormatError
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording
from gpuprof.relate import kinds
from gpuprof.relate.flow import Again, Flow, Flows, Unread
from gpuprof.relate.journal import VIRTUAL
from gpuprof.relate.kinds import NONE
from gpuprof.relate.spans import Leaf, Span, happened, spans
from gpuprof.relate.waste import Finding, Work, findings


class Task(NamedTuple):
    """A row of a TASK chunk; None where there is none."""

    task: int
    parent: int | None
    kind: int
    flags: int
    name: str
    row: str
    launch: int | None
    begin: int
    end: int
    cycle: int
    work: int


class Relation(NamedTuple):
    kind: str
    source: int
    target: int | None
    via: int | None
    nbytes: int
    origin: str


class Tied(NamedTuple):
    """All that follows from a recording's tasks."""

    tasks: dict[int, Task]
    rows: list[str]
    spans: dict[int, Span]
    relations: list[Relation]
    constraints: list[tuple[int, int, str]]
    accesses: list[tuple]
    findings: list[Finding]


def fill_relations(database: sqlite3.Connection, recording: Recording) -> None:
    """All tables of tasks. Raises FileFormatError for rows that contradict each other."""
    tied = tie(recording)
    _insert(database, "task_rows", enumerate(tied.rows))
    numbers = {name: number for number, name in enumerate(tied.rows)}
    _insert(database, "tasks", (task_row(task, tied.spans.get(task.task), numbers) for task in tied.tasks.values()))
    _insert(database, "parameters", map(parameter_row, recording.parameters))
    _insert(database, "relation_kinds", ((k.name, k.inverse, k.follows, k.text) for k in kinds.RELATIONS))
    _insert(database, "stored_relations", tied.relations)
    _insert(database, "task_constraints", tied.constraints)
    _insert(database, "accesses_by_task", tied.accesses)
    _insert(database, "task_findings", ((number, *row) for number, row in enumerate(tied.findings)))


def _insert(database: sqlite3.Connection, table: str, rows) -> None:
    n_columns = len(database.execute(f"SELECT * FROM {table} LIMIT 0").description)
    database.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * n_columns)})", rows)


def task_row(task: Task, span: Span | None, rows: dict[str, int]) -> tuple:
    cycles = (None, None, 0, 0) if span is None else span
    is_virtual = int(task.flags & VIRTUAL != 0)
    what = (task.task, task.parent, kinds.TASKS[task.kind], is_virtual, task.name, rows[task.row], task.launch)
    return *what, task.begin, task.end, *cycles


def parameter_row(fields: dict) -> tuple:
    kind = kinds.PARAMETERS[fields["kind"]]
    place = (fields.get("task"), fields.get("address"), fields.get("nbytes"))
    return fields["parameter"], fields["name"], kind, fields["value"], *place, fields["begin"]


def tie(recording: Recording) -> Tied:
    check = _Checked(recording)
    tasks, parameters = check.tasks(), check.parameters()
    accesses = check.accesses(tasks, parameters)
    constraints = check.constraints(tasks)
    flows, unread, again, inputs = _flows(tasks, parameters, accesses)
    relations = check.relations(tasks, parameters)
    relations += [Relation(flow.kind, flow.source, flow.target, flow.buffer, flow.nbytes, "observed") for flow in flows]
    relations = sorted(set(relations), key=lambda row: (row.source, -1 if row.target is None else row.target, str(row)))
    waits = [(source, target) for source, target, _ in constraints]
    rows = list(dict.fromkeys(task.row for task in tasks.values()))
    found = findings({task.task: task.kind for task in tasks.values()}, unread, again, _works(tasks, accesses, inputs))
    exact = [
        (task, buffer, flags & kinds.WRITES, first, end, int(not flags & kinds.APPROXIMATE))
        for task, buffer, flags, first, end in accesses
        if not flags & kinds.FREES
    ]
    return Tied(
        tasks,
        rows,
        _spans(recording, tasks, relations, waits),
        relations,
        constraints,
        list(dict.fromkeys(exact)),
        found,
    )


class _Checked:
    """The rows of a recording as plain values. Rows whose task was not written, as the run was stopped, are left out;
    in a whole recording they are an error.
    """

    def __init__(self, recording: Recording):
        self.recording = recording

    def tasks(self) -> dict[int, Task]:
        table = self.recording.tasks
        self._bounded(table, ("begin", "end", "cycle", "work"))
        names, there = self.recording.names, set(table["task"].tolist())
        found = {}
        for row in table[np.argsort(table["task"], kind="stable")].tolist():
            task, parent, kind, flags, name, place, launch, _, begin, end, cycle, work = row
            known = name < len(names) and place < len(names) and kind < len(kinds.TASKS) and begin <= end
            if not known or task in found or task == NONE or (parent != NONE and parent >= task):
                raise self._wrong(f"task {task}")
            if launch != NONE and launch not in self.recording.launches:
                raise self._wrong(f"task {task}, of launch {launch}")
            above = None if parent == NONE else parent
            if above is not None and above not in there:
                self._missing(f"the parent of task {task}")
                above = None
            found[task] = Task(
                task,
                above,
                kind,
                flags,
                names[name],
                names[place],
                None if launch == NONE else launch,
                begin,
                end,
                cycle,
                work,
            )
        return found

    def parameters(self) -> list[dict]:
        there = set(self.recording.tasks["task"].tolist())
        for fields in self.recording.parameters:
            is_buffer = fields["kind"] == 0
            if fields["kind"] >= len(kinds.PARAMETERS) or is_buffer != ("nbytes" in fields and "address" in fields):
                raise self._wrong(f"parameter {fields['parameter']}")
            if "task" in fields and fields["task"] not in there:
                self._missing(f"the task of parameter {fields['parameter']}")
                del fields["task"]
        return self.recording.parameters

    def accesses(self, tasks: dict[int, Task], parameters: list[dict]) -> list[tuple[int, int, int, int, int]]:
        """(task, parameter, flags, first, end)"""
        self._bounded(self.recording.accesses, ("first", "end"))
        found = []
        for task, parameter, flags, _, first, end in self.recording.accesses.tolist():
            nbytes = parameters[parameter].get("nbytes", -1) if parameter < len(parameters) else -1
            if not 0 <= first <= end <= nbytes:
                raise self._wrong(f"an access of task {task} to parameter {parameter}")
            if task in tasks:
                found.append((task, parameter, flags, first, end))
            else:
                self._missing(f"task {task}, which accesses memory")
        return found

    def constraints(self, tasks: dict[int, Task]) -> list[tuple[int, int, str]]:
        found = set()
        for kind, source, target in self.recording.constraints.tolist():
            if kind >= len(kinds.CONSTRAINTS) or source >= target:
                raise self._wrong(f"a constraint between tasks {source} and {target}")
            if source in tasks and target in tasks:
                found.add((source, target, kinds.CONSTRAINTS[kind]))
            else:
                self._missing(f"task {source} or {target}, which wait for each other")
        return sorted(found, key=itemgetter(1, 0, 2))

    def relations(self, tasks: dict[int, Task], parameters: list[dict]) -> list[Relation]:
        found = []
        for kind, source, target, parameter in self.recording.relations.tolist():
            of_buffer = kind < len(kinds.NAMES) and kinds.NAMES[kind] in kinds.OF_BUFFERS
            if kind >= len(kinds.NAMES) or of_buffer != (target == NONE) or source == target:
                raise self._wrong(f"a relation of task {source}")
            if (parameter != NONE and parameter >= len(parameters)) or (of_buffer and parameter == NONE):
                raise self._wrong(f"a relation of task {source} through parameter {parameter}")
            if source in tasks and (of_buffer or target in tasks):
                via = None if parameter == NONE else parameter
                found.append(Relation(kinds.NAMES[kind], source, None if of_buffer else target, via, 0, "stated"))
            else:
                self._missing(f"task {source} or {target}, which are related")
        return found

    def _bounded(self, table: np.ndarray, columns: Sequence[str]) -> None:
        for name in columns:
            if len(table) and int(table[name].max()) > MAX_COUNT:
                raise self._wrong(f"{name} = {table[name].max()}, more than 2^63 - 1")

    def _missing(self, what: str) -> None:
        if self.recording.complete:
            raise self._wrong(f"{what}, which is not among its tasks")

    def _wrong(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.recording.path}: contradicts itself: it has {what}")


def _flows(
    tasks: dict[int, Task], parameters: list[dict], accesses: list[tuple]
) -> tuple[list[Flow], list[Unread], list[Again], dict[int, list]]:
    flows = Flows({task.task for task in tasks.values() if task.kind == kinds.COPY_OUT})
    closed: set[int] = set()
    for task, rows in groupby(accesses, key=itemgetter(0)):
        by_buffer: dict[int, list[tuple]] = {}
        for row in rows:
            by_buffer.setdefault(row[1], []).append(row)
        # what a task reads was there before it writes anything
        for buffer, its in by_buffer.items():
            if buffer in closed:
                continue
            if not flows.has(buffer):
                flows.add(buffer, 0, parameters[buffer]["nbytes"])
            if any(row[2] & kinds.FREES for row in its):
                flows.remove(buffer)
                closed.add(buffer)
                continue
            reads = _apart(row[3:] for row in its if not row[2] & kinds.WRITES)
            writes = _apart(row[3:] for row in its if row[2] & kinds.WRITES)
            same = _apart(row[3:] for row in its if row[2] & kinds.WRITES and row[2] & kinds.UNCHANGED)
            flows.access(task, buffer, reads, writes, same)
    return *flows.finish(), flows.inputs


def _apart(pairs: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges, ascending and apart, as they are written; a file of somebody's may have others."""
    found: list[tuple[int, int]] = []
    for first, end in sorted(pairs):
        if first == end:
            continue
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((first, end))
    return found


def _works(tasks: dict[int, Task], accesses: list[tuple], inputs: dict[int, list]) -> list[Work]:
    """The launches that wrote something, in the order of execution."""
    written: dict[int, int] = {}
    for task, _, flags, first, end in accesses:
        if flags & kinds.WRITES and tasks[task].work:
            written[task] = written.get(task, 0) + end - first
    return [Work(task, tasks[task].work, inputs.get(task, []), nbytes) for task, nbytes in written.items()]


def _spans(
    recording: Recording, tasks: dict[int, Task], relations: list[Relation], waits: list[tuple[int, int]]
) -> dict[int, Span]:
    launches, floors = {}, {}
    for task in tasks.values():
        end = recording.launches[task.launch].end if task.launch is not None else None
        if end:
            launches[task.task] = Leaf(end["start_cycle"], end["end_cycle"])
        elif task.kind not in (kinds.LAUNCH, kinds.TASK):
            floors[task.task] = task.cycle
    parts: dict[int, list[int]] = {}
    for task in tasks.values():
        if task.parent is not None:
            parts.setdefault(task.parent, []).append(task.task)
    for row in relations:
        if row.kind == kinds.CONTAINS:
            parts.setdefault(row.source, []).append(row.target)
    return spans(list(tasks), parts, happened(floors, launches, waits))
