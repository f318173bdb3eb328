"""The tables of tasks: from the rows of a recording, and what follows from them (`gpuprof.relate`)."""

import sqlite3
from collections.abc import Sequence

import numpy as np

from gpuprof.correlate.tasks.observed import observe
from gpuprof.correlate.tasks.rows import NOTHING, Accesses, Checked, Constraints, Relations, Tasks, ordered
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording
from gpuprof.relate import kinds
from gpuprof.relate.journal import VIRTUAL
from gpuprof.relate.spans import NEVER, Leaves, Spans, happened, spans
from gpuprof.relate.waste import FINDINGS, findings

AT_A_TIME = 1 << 16  # rows that are Python's at one time


def fill_relations(database: sqlite3.Connection, recording: Recording) -> None:
    """All tables of tasks. Raises FileFormatError for rows that contradict each other."""
    check = Checked(recording)
    tasks = check.tasks()
    parameters = check.parameters(tasks)
    accesses = check.accesses(tasks, parameters)
    constraints = check.constraints(tasks)
    stated = check.relations(tasks, parameters)
    _fill_tasks(database, recording, tasks, _spans(check, tasks, stated, constraints))
    database.executemany("INSERT INTO parameters VALUES (?, ?, ?, ?, ?, ?, ?, ?)", map(parameter_row, parameters))
    database.executemany(
        "INSERT INTO relation_kinds VALUES (?, ?, ?, ?)",
        ((kind.name, kind.inverse, kind.follows, kind.text) for kind in kinds.RELATIONS),
    )
    observed, works = observe(tasks, parameters, accesses)
    _fill_relations(database, stated, observed.flows)
    waits = (constraints.source, constraints.target, Words(kinds.CONSTRAINTS, constraints.kind))
    insert_columns(database, "task_constraints", waits)
    _fill_accesses(database, accesses)
    found = findings(tasks.task[tasks.kind == kinds.COPY_IN], observed, works)
    what = (Words(FINDINGS, found["kind"]), *(found[name] for name in ("task", "other", "buffer", "nbytes")))
    insert_columns(database, "task_findings", (np.arange(len(found)), *what))


def _fill_tasks(database: sqlite3.Connection, recording: Recording, tasks: Tasks, times: Spans) -> None:
    """Rows are numbered as they were first used."""
    places, firsts = np.unique(tasks.row, return_index=True)
    texts = [recording.names[place] for place in places.tolist()]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts[k] for k in np.argsort(firsts)))}
    database.executemany("INSERT INTO task_rows VALUES (?, ?)", ((number, text) for text, number in numbers.items()))
    row_of = np.array([numbers[text] for text in texts], np.int64)
    columns = (
        tasks.task,
        tasks.parent,
        Words(kinds.TASKS, tasks.kind),
        (tasks.flags & VIRTUAL != 0).astype(np.int64),
        Words(recording.names, tasks.name),
        row_of[np.searchsorted(places, tasks.row)],
        tasks.launch,
        tasks.begin,
        tasks.end,
        *times,
    )
    insert_columns(database, "tasks", columns)


def parameter_row(fields: dict) -> tuple:
    kind = kinds.PARAMETERS[fields["kind"]]
    place = (fields.get("task"), fields.get("address"), fields.get("nbytes"))
    return fields["parameter"], fields["name"], kind, fields["value"], *place, fields["begin"]


def _fill_relations(database: sqlite3.Connection, stated: Relations, flows: np.ndarray) -> None:
    """By source and target."""
    n_stated, nothing = len(stated.kind), np.zeros(len(stated.kind), np.int64)
    columns = [
        np.concatenate(pair)
        for pair in (
            (stated.source, flows["source"]),
            (stated.target, flows["target"]),
            (stated.kind, flows["kind"]),
            (stated.via, flows["buffer"]),
            (nothing, flows["nbytes"]),
        )
    ]
    order = np.lexsort(tuple(reversed(columns)))
    source, target, kind, via, nbytes = (column[order] for column in columns)
    origins = Words(kinds.ORIGINS, (order >= n_stated).astype(np.int64))
    insert_columns(database, "stored_relations", (Words(kinds.NAMES, kind), source, target, via, nbytes, origins))


def _fill_accesses(database: sqlite3.Connection, accesses: Accesses) -> None:
    is_access = accesses.flags & kinds.FREES == 0
    flags = accesses.flags[is_access]
    what = (accesses.task, accesses.parameter, accesses.first, accesses.end)
    task, parameter, first, end = (column[is_access] for column in what)
    is_exact = (flags & kinds.APPROXIMATE == 0).astype(np.int64)
    insert_columns(database, "accesses_by_task", ordered([task, parameter, flags & kinds.WRITES, first, end, is_exact]))


class Words:
    """A column of texts that are the same again and again, as numbers of them."""

    def __init__(self, texts: Sequence[str], numbers: np.ndarray):
        self._texts, self._numbers = np.array([*texts, ""], object)[:-1], numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._texts[self._numbers[rows]]


def insert_columns(database: sqlite3.Connection, table: str, columns: Sequence[np.ndarray | Words]) -> None:
    """Rows of columns. NOTHING of a column that may be NULL is NULL."""
    known = database.execute(f"PRAGMA table_info({table})").fetchall()
    marks = ", ".join("?" if not_null or key else f"NULLIF(?, {NOTHING})" for _, _, _, not_null, _, key in known)
    statement = f"INSERT INTO {table} VALUES ({marks})"
    for at in range(0, len(columns[0]), AT_A_TIME):
        some = [column[at : at + AT_A_TIME].tolist() for column in columns]
        database.executemany(statement, zip(*some, strict=True))


def _spans(check: Checked, tasks: Tasks, stated: Relations, constraints: Constraints) -> Spans:
    """Raises FileFormatError where cycles of tasks sum to more than a column holds."""
    launches = check.leaves(tasks)
    takes_none = (launches.begin == NEVER) & ~np.isin(tasks.kind, (kinds.LAUNCH, kinds.TASK))
    floors = np.where(takes_none, tasks.cycle, NEVER)
    leaves = happened(launches, floors, (tasks.places(constraints.source), tasks.places(constraints.target)))
    _check_sum(check, leaves)
    contains = stated.kind == kinds.NUMBERS[kinds.CONTAINS]
    links = tuple(tasks.places(column[contains]) for column in (stated.source, stated.target))
    return spans(tasks.places(tasks.parent), links, leaves)


def _check_sum(check: Checked, leaves: Leaves) -> None:
    if float((leaves.end - leaves.begin).astype(np.float64).sum()) >= MAX_COUNT:
        raise check.wrong("tasks whose cycles sum to more than 2^63 - 1")
