"""Draws: from a recording into the database, and out of it."""

import sqlite3
from collections.abc import Iterator
from functools import cache

import numpy as np

from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.correlate.checked import Wrong
from gpuprof.correlate.checked_tables import declared_tables, in_draws, in_values
from gpuprof.errors import FileFormatError
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording

# columns that are fields, too
OWN = (
    *("draw", "pass", "name", "width", "height", "samples"),
    *("state_changes", "start_cycle", "end_cycle"),
)
BESIDE = ("task", "command_buffer", "drains")


@cache
def count_columns() -> tuple[str, ...]:
    """Columns of `draws` that come from the counts of a draw."""
    (table,) = (table for table in declared_tables() if table.name == "draws")
    others = (*OWN, *BESIDE)
    return tuple(column.name for column in table.columns if column.name not in others)


def fill_draws(database: sqlite3.Connection, recording: Recording) -> None:
    """All tables of draws, behind those of tasks. Raises FileFormatError for draws that contradict the rest."""
    launches = ((number, launch.begin) for number, launch in sorted(recording.launches.items()))
    of_draws = ((number, begin["draw"], begin["stage"]) for number, begin in launches if "draw" in begin)
    database.executemany("INSERT INTO draw_launches VALUES (?, ?, ?)", of_draws)
    names = (*OWN, *BESIDE, *count_columns())
    statement = f"INSERT INTO draws ({', '.join(names)}) VALUES ({', '.join(['?'] * len(names))})"
    for fields in (fields for _, fields in sorted(recording.draws.items())):
        database.execute(statement, _row(database, recording, fields))
        units = ((fields["draw"], *unit) for unit in fields["units"])
        database.executemany("INSERT INTO draw_units VALUES (?, ?, ?, ?, ?, ?)", units)
        traffic = ((fields["draw"], *unit) for unit in fields.get("traffic", ()))
        database.executemany("INSERT INTO draw_traffic VALUES (?, ?, ?, ?, ?, ?)", traffic)
        work = ((fields["draw"], name, value) for name, value in sorted(fields["work"].items()))
        database.executemany("INSERT INTO draw_work VALUES (?, ?, ?)", work)
    _fill_waves(database, recording)
    for wrong in wrong_draws(database):
        raise FileFormatError(f"{recording.path}: contradicts itself: {wrong.text}")


def wrong_draws(database: sqlite3.Connection) -> Iterator[Wrong]:
    known: dict[tuple[str, str], str] = {}
    for table in declared_tables():
        if table.name.startswith("draw"):
            yield from in_values(database, table, known)
    yield from in_draws(database)


def _row(database: sqlite3.Connection, recording: Recording, fields: dict) -> tuple:
    """Values of OWN, BESIDE and counts."""
    counts = fields["counts"]
    if counts.keys() != set(count_columns()):
        raise _wrong(recording, f"draw {fields['draw']} with other counts than draws have")
    # a task that did not end has no row in a recording that was stopped
    places = [fields.get(name) for name in ("task", "buffer")]
    known = [place if _has_task(database, place) else None for place in places]
    if recording.complete and known != places:
        raise _wrong(recording, f"draw {fields['draw']}, of a task that is not there")
    own = [fields.get(name) for name in OWN]
    return *own, *known, int(fields["drains"]), *(counts[name] for name in count_columns())


def _has_task(database: sqlite3.Connection, task: int | None) -> bool:
    return task is not None and database.execute("SELECT 1 FROM tasks WHERE task = ?", (task,)).fetchone() is not None


def _fill_waves(database: sqlite3.Connection, recording: Recording) -> None:
    """Waves are numbered by draw and stage."""
    waves = recording.waves
    numbers = np.fromiter(recording.draws, np.int64, len(recording.draws))
    for name in ("start_cycle", "end_cycle"):
        if int(waves[name].max(initial=0)) > MAX_COUNT:
            raise _wrong(recording, f"a wave with {name} beyond 2^63 - 1")
    if int(waves["stage"].max(initial=0)) >= len(SHADER_STAGES):
        raise _wrong(recording, f"a wave of stage {waves['stage'].max()}")
    if not np.isin(waves["draw"], numbers).all():
        raise _wrong(recording, "a wave of a draw that is not there")
    groups = waves["draw"].astype(np.int64) * len(SHADER_STAGES) + waves["stage"]
    order = np.argsort(groups, kind="stable")
    _, firsts, counts = np.unique(groups[order], return_index=True, return_counts=True)
    number = np.arange(len(waves)) - np.repeat(firsts, counts)
    columns = (waves[name][order].tolist() for name in ("draw", "stage", "start_cycle", "end_cycle"))
    rows = zip(*columns, number.tolist(), strict=True)
    database.executemany(
        "INSERT INTO draw_waves VALUES (?, ?, ?, ?, ?)",
        ((draw, SHADER_STAGES[stage], wave, start, end) for draw, stage, start, end, wave in rows),
    )


def _wrong(recording: Recording, what: str) -> FileFormatError:
    return FileFormatError(f"{recording.path}: contradicts itself: it has {what}")
