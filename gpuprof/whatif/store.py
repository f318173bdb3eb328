"""Changes that were measured, as rows of a database."""

import json
import sqlite3
from collections.abc import Sequence

from gpuprof.correlate.correlate import insert
from gpuprof.tables.measured import WHATIF
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.on_program import AT_ONCE
from gpuprof.whatif.rows import Row


def add_rows(database: sqlite3.Connection, rows: Sequence[Row]) -> None:
    insert(database, WHATIF, (_row(number, row) for number, row in enumerate(rows)))


def _row(number: int, row: Row) -> tuple:
    first = row.interventions[0]
    moved_to = json.dumps([[each.reason, round(each.share, 4)] for each in row.moved_to])
    return (
        *(row.launch, number, row.kind, _sooner_cycles(first), row.place, first.path, first.line),
        *(row.cycles_before, row.cycles_after, row.bound_cycles, moved_to),
    )


def _sooner_cycles(what: Intervention) -> int:
    return what.amount if what.kind == "sooner" and what.amount < AT_ONCE else 0
