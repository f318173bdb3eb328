"""The tables of tasks: from the rows of a recording, and what follows from them (`gpuprof.relate`)."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from gpuprof.correlate.tasks.observed_accesses import observe
from gpuprof.correlate.tasks.task_rows import NOTHING, Accesses, Checked, Constraints, Relations, Tasks, ordered
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording
from gpuprof.relate import task_kinds
from gpuprof.relate.journal import VIRTUAL
from gpuprof.relate.task_spans import NEVER, Leaves, Spans, happened, spans
from gpuprof.relate.waste import FINDINGS, findings
from gpuprof.tables.sql import index_definitions, insertion
from gpuprof.tables.table import Table
from gpuprof.tables.tasks import (
    ACCESSES_BY_TASK,
    PARAMETERS,
    RELATION_KINDS,
    STORED_RELATIONS,
    STORED_TASKS,
    TASK_CONSTRAINTS,
    TASK_FINDINGS,
    TASK_ROWS,
)

AT_A_TIME = 1 << 14  # rows that are Python's at one time


def fill_relations(database: sqlite3.Connection, recording: Recording) -> None:
    """All tables of tasks, whose rows are taken out of the recording. Raises FileFormatError for those that contradict
    each other.
    """
    check = Checked(recording)
    tasks = check.tasks()
    parameters = check.parameters(tasks)
    stated = check.relations(tasks, parameters)
    with indexed_afterwards(database, STORED_TASKS):
        _fill_tasks(database, recording, tasks, _timed(database, check, tasks, stated))
    database.executemany(insertion(PARAMETERS), map(parameter_row, parameters))
    database.executemany(
        insertion(RELATION_KINDS),
        ((kind.name, kind.inverse, kind.follows, kind.text) for kind in task_kinds.RELATIONS),
    )
    accesses = check.accesses(tasks, parameters)
    _fill_accesses(database, accesses)
    observed, works = observe(tasks, parameters, accesses)
    with indexed_afterwards(database, STORED_RELATIONS):
        _fill_relations(database, stated, observed.flows)
    waste = findings(tasks.task[tasks.kind == task_kinds.COPY_IN], observed, works)
    what = (Words(FINDINGS, waste["kind"]), *(waste[name] for name in ("task", "other", "buffer", "nbytes")))
    insert_columns(database, TASK_FINDINGS, (np.arange(len(waste)), *what))


def _timed(database: sqlite3.Connection, check: Checked, tasks: Tasks, stated: Relations) -> Spans:
    """When tasks began and ended; fills the table of what waits for what."""
    constraints = check.constraints(tasks)
    waits = (constraints.source, constraints.target, Words(task_kinds.CONSTRAINTS, constraints.kind))
    insert_columns(database, TASK_CONSTRAINTS, waits)
    return _spans(check, tasks, stated, constraints)


def _fill_tasks(database: sqlite3.Connection, recording: Recording, tasks: Tasks, times: Spans) -> None:
    """Rows are numbered as they were first used."""
    places, firsts = np.unique(tasks.row, return_index=True)
    texts = [recording.names[place] for place in places.tolist()]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts[k] for k in np.argsort(firsts)))}
    database.executemany(insertion(TASK_ROWS), ((number, text) for text, number in numbers.items()))
    row_of = np.array([numbers[text] for text in texts], np.int64)
    columns = (
        tasks.task,
        tasks.parent,
        Words(task_kinds.TASKS, tasks.kind),
        (tasks.flags & VIRTUAL != 0).astype(np.int64),
        Words(recording.names, tasks.name),
        row_of[np.searchsorted(places, tasks.row)],
        tasks.launch,
        tasks.begin,
        tasks.end,
        *times,
    )
    insert_columns(database, STORED_TASKS, columns)


def parameter_row(fields: dict) -> tuple:
    kind = task_kinds.PARAMETERS[fields["kind"]]
    place = (fields.get("task"), fields.get("address"), fields.get("nbytes"))
    return fields["parameter"], fields["name"], kind, fields["value"], *place, fields["begin"]


def _fill_relations(database: sqlite3.Connection, stated: Relations, flows: np.ndarray) -> None:
    """By source and target."""
    n_stated, n_flows = len(stated.kind), len(flows)
    source, target, kind, via, nbytes = (
        np.concatenate(pair)
        for pair in (
            (stated.source, flows["source"]),
            (stated.target, flows["target"]),
            (stated.kind, flows["kind"]),
            (stated.via, flows["buffer"]),
            (np.zeros(n_stated, np.int64), flows["nbytes"]),
        )
    )
    origins = np.repeat([task_kinds.ORIGINS.index(origin) for origin in ("stated", "observed")], [n_stated, n_flows])
    columns = (Words(task_kinds.NAMES, kind), source, target, via, nbytes, Words(task_kinds.ORIGINS, origins))
    insert_columns(database, STORED_RELATIONS, columns, np.lexsort((via, kind, target, source)))


def _fill_accesses(database: sqlite3.Connection, accesses: Accesses) -> None:
    is_access = accesses.flags & task_kinds.FREES == 0
    flags = accesses.flags[is_access]
    what = (accesses.task, accesses.parameter, accesses.first, accesses.end)
    task, parameter, first, end = (column[is_access] for column in what)
    is_exact = (flags & task_kinds.APPROXIMATE == 0).astype(np.int64)
    insert_columns(
        database, ACCESSES_BY_TASK, ordered([task, parameter, flags & task_kinds.WRITES, first, end, is_exact])
    )


@contextmanager
def indexed_afterwards(database: sqlite3.Connection, table: Table) -> Iterator[None]:
    """A table's indexes are made when its rows are there: to sort all at once is several times as fast."""
    for name, _ in table.indexes:
        database.execute(f"DROP INDEX {name}")
    yield
    for statement in index_definitions(table):
        database.execute(statement)


class Words:
    """A column of texts that are the same again and again, as places among them."""

    def __init__(self, texts: Sequence[str], places: np.ndarray):
        self._texts, self._places = np.array([*texts, ""], object)[:-1], places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return self._texts[self._places[rows]]


def insert_columns(
    database: sqlite3.Connection, table: Table, columns: Sequence[np.ndarray | Words], order: np.ndarray | None = None
) -> None:
    """Rows of columns, in the order of the places in `order`. NOTHING of a column that may be NULL is NULL."""
    marks = ", ".join(f"NULLIF(?, {NOTHING})" if column.null else "?" for column in table.in_database)
    statement = f"INSERT INTO {table.name} VALUES ({marks})"
    for at in range(0, len(columns[0]), AT_A_TIME):
        some = slice(at, at + AT_A_TIME) if order is None else order[at : at + AT_A_TIME]
        database.executemany(statement, zip(*(column[some].tolist() for column in columns), strict=True))


def _spans(check: Checked, tasks: Tasks, stated: Relations, constraints: Constraints) -> Spans:
    """Raises FileFormatError where cycles of tasks sum to more than a column holds."""
    launches = check.leaves(tasks)
    takes_none = (launches.begin == NEVER) & ~np.isin(tasks.kind, (task_kinds.LAUNCH, task_kinds.TASK))
    floors = np.where(takes_none, tasks.cycle, NEVER)
    leaves = happened(launches, floors, (tasks.places(constraints.source), tasks.places(constraints.target)))
    _check_sum(check, leaves)
    contains = stated.kind == task_kinds.NUMBERS[task_kinds.CONTAINS]
    links = tuple(tasks.places(column[contains]) for column in (stated.source, stated.target))
    return spans(tasks.places(tasks.parent), links, leaves, tasks.kind == task_kinds.COMMAND_BUFFER)


def _check_sum(check: Checked, leaves: Leaves) -> None:
    if float((leaves.end - leaves.begin).astype(np.float64).sum()) >= MAX_COUNT:
        raise check.wrong("tasks whose cycles sum to more than 2^63 - 1")
