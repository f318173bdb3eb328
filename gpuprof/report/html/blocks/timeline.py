"""The timeline: tasks, their ties, and the activity of SMs and warps over time."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpuprof.correlate.tasks.task_queries import read_tasks
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.tables.table import Column

AT_A_TIME = 100_000  # rows

TASKS = (
    Column("task", "int", "", "Its number, in the order of the beginnings."),
    Column("parent", "int", "", "Number of the task that it is a part of; -1 none."),
    Column("kind", "text", "", "task, launch, copy to device and so on."),
    Column("name", "text", "", "A script's, the kernel's, or what was copied."),
    Column("row", "text", "", "A stream, host, or a row that a script has opened."),
    Column("is_virtual", "int", "", "1: it only has parts."),
    Column("launch", "int", "", "Number of the launch; -1 none."),
    Column("begin_cycle", "int", "cycles", "From power-on; -1 where it took place at no known time."),
    Column("end_cycle", "int", "cycles", "From power-on."),
)
RELATIONS = (
    Column("source", "int", "", "Number of the first task. Rows ascend by it."),
    Column("target", "int", "", "Number of the second task; -1: it is related to the buffer."),
    Column("kind", "text", "", "How they are related: see `relation_kinds` in gpudb.md."),
    Column("via", "text", "", "The buffer that ties them."),
    Column("nbytes", "int", "bytes", "Of it; 0 where the relation was stated."),
    Column("origin", "text", "", "stated or observed."),
)
BINS = (
    Column("launch", "int", "", "Number of the launch."),
    Column("begin_cycle", "int", "cycles", "From power-on."),
    Column("end_cycle", "int", "cycles", "From power-on."),
    Column("sm_active_cycles", "int", "SM-cycles", "In which an SM had warps of the launch."),
)
BIN_STALLS = (
    Column("bin", "int", "", "Row of `bins`."),
    Column("term", "int", "", "Row of `terms`."),
    Column("cycles", "int", "warp-cycles", "Exact."),
)


def task_columns(profile: Profile) -> Columns:
    tasks = read_tasks(profile.database)
    columns: dict[str, Any] = {column.name: tasks.columns[column.name] for column in TASKS if column.type == "int"}
    words = {name: [tasks.words[n] for n in tasks.columns[name].tolist()] for name in ("kind", "name")}
    return columns | words | {"row": [tasks.rows[n] for n in tasks.columns["row"].tolist()]}


def relation_columns(profile: Profile) -> Columns:
    rows = profile.database.execute(
        "SELECT r.source, COALESCE(r.target, -1), r.kind, COALESCE(p.name, ''), r.nbytes, r.origin "
        "FROM stored_relations r LEFT JOIN parameters p ON p.parameter = r.via "
        "ORDER BY r.source, r.target, r.kind, r.via"
    )
    columns: dict[str, list] = {column.name: [] for column in RELATIONS}
    # There may be millions: not all of them as tuples at once.
    while piece := rows.fetchmany(AT_A_TIME):
        for name, values in by_column(RELATIONS, piece).items():
            columns[name] += values
    return columns


def bin_columns(profile: Profile) -> Columns:
    return by_column(
        BINS,
        profile.database.execute(
            "SELECT launch, begin_cycle, end_cycle, sm_active_cycles FROM activity ORDER BY launch, bin"
        ),
    )


def bin_stall_columns(profile: Profile) -> Columns:
    return by_column(BIN_STALLS, bin_stall_rows(profile))


def bin_stall_rows(profile: Profile) -> Iterator[tuple[int, int, int]]:
    words, database = profile.report.vocabulary, profile.database
    places = words.numbers()
    term_of = {n: places.index(words.place(n)) for (n,) in database.execute("SELECT reason FROM stall_reasons")}
    keys = database.execute("SELECT launch, bin FROM activity ORDER BY launch, bin").fetchall()
    row_of = {key: row for row, key in enumerate(keys)}
    cycles = np.zeros((len(keys), len(places)), np.int64)
    for launch, bin_, reason, n in database.execute("SELECT launch, bin, reason, cycles FROM activity_stalls"):
        cycles[row_of[launch, bin_], term_of[reason]] += n
    rows, terms = np.nonzero(cycles)
    return zip(rows.tolist(), terms.tolist(), cycles[rows, terms].tolist(), strict=True)


TABLES = (
    PageTable("tasks", "Anything with a beginning and an end.", TASKS, task_columns),
    PageTable("relations", "What ties tasks, as it was stated or observed.", RELATIONS, relation_columns),
    PageTable("bins", "The time of each launch in parts.", BINS, bin_columns),
    PageTable("bin_stalls", "What warps did in each part.", BIN_STALLS, bin_stall_columns),
)
