"""The tables of tasks: from the rows of a recording, and what follows from them (`gpuprof.relate`)."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from gpuprof.correlate.tasks.host_clock import cycles_of
from gpuprof.correlate.tasks.observed_accesses import observe
from gpuprof.correlate.tasks.task_rows import (
    NOTHING,
    Accesses,
    Checked,
    Constraints,
    Operations,
    Relations,
    Tasks,
    ordered,
)
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording
from gpuprof.relate import task_kinds
from gpuprof.relate.journal import VIRTUAL
from gpuprof.relate.task_spans import NEVER, NO_TASK, Leaves, Spans, happened, spans
from gpuprof.relate.waste import FINDINGS, findings
from gpuprof.tables.engines import ENGINES
from gpuprof.tables.sql import index_definitions, insertion
from gpuprof.tables.table import Table
from gpuprof.tables.tasks import (
    ACCESSES_BY_TASK,
    CALLS,
    OPERATIONS,
    PARAMETERS,
    RELATION_KINDS,
    STORED_RELATIONS,
    STORED_TASKS,
    TASK_CONSTRAINTS,
    TASK_FINDINGS,
    TASK_ROWS,
)

AT_A_TIME = 1 << 14  # rows that are Python's at one time
ROWS_OF_STATEMENT = 32  # a statement has 999 parameters at most, where SQLite is old


def fill_relations(database: sqlite3.Connection, recording: Recording) -> None:
    """All tables of tasks, whose rows are taken out of the recording. Raises FileFormatError for those that contradict
    each other.
    """
    check = Checked(recording)
    tasks = check.tasks()
    parameters = check.parameters(tasks)
    stated = check.relations(tasks, parameters)
    clock_mhz = recording.host_clock_mhz  # before the operations are taken out of the recording
    operations = check.operations(tasks)
    with indexed_afterwards(database, STORED_TASKS):
        times = _timed(database, check, tasks, stated, operations)
        if clock_mhz is not None:
            put_calls(times, tasks, recording.rows[CALLS], clock_mhz)
        _fill_tasks(database, recording, tasks, times)
    _fill_operations(database, operations)
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


def _timed(
    database: sqlite3.Connection, check: Checked, tasks: Tasks, stated: Relations, operations: Operations
) -> Spans:
    """When tasks began and ended; fills the table of what waits for what."""
    constraints = check.constraints(tasks)
    waits = (constraints.source, constraints.target, Words(task_kinds.CONSTRAINTS, constraints.kind))
    insert_columns(database, TASK_CONSTRAINTS, waits)
    return _spans(check, tasks, stated, constraints, operations)


def put_calls(times: Spans, tasks: Tasks, calls: np.ndarray, clock_mhz: float) -> None:
    """A call is as long as the host took for it, not as what it requested; a task that has calls for parts holds
    these, too.
    """
    places = tasks.places(calls["task"].astype(np.int64))
    begins, ends = (cycles_of(calls[name], clock_mhz) for name in ("begin_ns", "end_ns"))
    times.begin[places], times.end[places] = begins, ends
    begin, end, above = map(memoryview, (times.begin, times.end, tasks.places(tasks.parent)))
    for place, first, last in zip(places.tolist(), begins.tolist(), ends.tolist(), strict=True):
        whole = above[place]
        while whole != NO_TASK and (begin[whole] == NEVER or first < begin[whole] or last > end[whole]):
            begin[whole] = first if begin[whole] == NEVER else min(begin[whole], first)
            end[whole] = max(end[whole], last)
            whole = above[whole]


def _fill_operations(database: sqlite3.Connection, operations: Operations) -> None:
    is_pinned, is_node = (
        (operations.flags & flag != 0).astype(np.int64) for flag in (task_kinds.IS_PINNED, task_kinds.IS_NODE)
    )
    engines = Words(ENGINES, operations.engine)
    times = (operations.start, operations.end, operations.nbytes)
    insert_columns(database, OPERATIONS, (operations.task, engines, is_pinned, is_node, operations.stream, *times))


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
    for at in range(0, len(columns[0]), AT_A_TIME):
        some = slice(at, at + AT_A_TIME) if order is None else order[at : at + AT_A_TIME]
        insert_values(database, f"INSERT INTO {table.name} VALUES", f"({marks})", [column[some] for column in columns])


def insert_values(database: sqlite3.Connection, insertion: str, marks: str, columns: Sequence[np.ndarray]) -> None:
    """Several rows a statement: to begin a statement takes as long as to insert a row."""
    width, n_rows = len(columns), len(columns[0])
    values = [None] * (width * n_rows)
    for number, column in enumerate(columns):
        values[number::width] = column.tolist()
    n_whole = n_rows // ROWS_OF_STATEMENT * ROWS_OF_STATEMENT
    for rows, first, end in ((ROWS_OF_STATEMENT, 0, n_whole), (1, n_whole, n_rows)):
        step = rows * width
        each = (values[k : k + step] for k in range(first * width, end * width, step))
        database.executemany(insertion + ", ".join([marks] * rows), each)


def _spans(check: Checked, tasks: Tasks, stated: Relations, constraints: Constraints, operations: Operations) -> Spans:
    """Raises FileFormatError where cycles of tasks sum to more than a column holds."""
    timed = check.leaves(tasks, operations)
    takes_none = (timed.begin == NEVER) & ~np.isin(tasks.kind, (task_kinds.LAUNCH, task_kinds.TASK))
    floors = np.where(takes_none, tasks.cycle, NEVER)
    leaves = happened(timed, floors, (tasks.places(constraints.source), tasks.places(constraints.target)))
    _check_sum(check, leaves)
    contains = stated.kind == task_kinds.NUMBERS[task_kinds.CONTAINS]
    links = tuple(tasks.places(column[contains]) for column in (stated.source, stated.target))
    is_copy = np.isin(tasks.task, operations.task)
    return spans(tasks.places(tasks.parent), links, leaves, tasks.kind == task_kinds.COMMAND_BUFFER, is_copy)


def _check_sum(check: Checked, leaves: Leaves) -> None:
    if float((leaves.end - leaves.begin).astype(np.float64).sum()) >= MAX_COUNT:
        raise check.wrong("tasks whose cycles sum to more than 2^63 - 1")
