"""Draws: from a recording into the database, and out of it."""

import sqlite3
from collections.abc import Iterator

import numpy as np

from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.correlate.checked import Wrong
from gpuprof.correlate.checked_tables import in_draws, in_values
from gpuprof.errors import FileFormatError
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording
from gpuprof.tables.draws import (
    DRAW_COUNT_NAMES,
    DRAW_COUNTS,
    DRAW_LAUNCHES,
    DRAW_TRAFFIC,
    DRAW_UNITS,
    DRAW_WORK,
    DRAWS,
    WAVES,
)
from gpuprof.tables.order import STORED
from gpuprof.tables.sql import insertion

OTHERS = tuple(column.name for column in DRAWS.columns if column not in DRAW_COUNTS)


def fill_draws(database: sqlite3.Connection, recording: Recording) -> None:
    """All tables of draws, after those of tasks. Raises FileFormatError for draws that contradict the rest."""
    launches = ((number, launch.begin) for number, launch in sorted(recording.launches.items()))
    of_draws = ((number, begin["draw"], begin["stage"]) for number, begin in launches if "draw" in begin)
    database.executemany(insertion(DRAW_LAUNCHES), of_draws)
    for fields in (fields for _, fields in sorted(recording.draws.items())):
        database.execute(insertion(DRAWS), _row(database, recording, fields))
        draw = fields["draw"]
        database.executemany(insertion(DRAW_UNITS), ((draw, *unit) for unit in fields["units"]))
        database.executemany(insertion(DRAW_TRAFFIC), ((draw, *unit) for unit in fields.get("traffic", ())))
        database.executemany(insertion(DRAW_WORK), ((draw, *item) for item in sorted(fields["work"].items())))
    _fill_waves(database, recording)
    for wrong in wrong_draws(database):
        raise FileFormatError(f"{recording.path}: contradicts itself: {wrong.text}")


def wrong_draws(database: sqlite3.Connection) -> Iterator[Wrong]:
    known: dict[tuple[str, str], str] = {}
    for table in STORED:
        if table.name.startswith("draw"):
            yield from in_values(database, table, known)
    yield from in_draws(database)


def _row(database: sqlite3.Connection, recording: Recording, fields: dict) -> tuple:
    """A row of `draws`."""
    counts = fields["counts"]
    if counts.keys() != set(DRAW_COUNT_NAMES):
        raise _wrong(recording, f"draw {fields['draw']} with other counts than draws have")
    # a task that did not end has no row in a recording that was stopped
    places = [fields.get(name) for name in ("task", "buffer")]
    task, buffer = (place if _has_task(database, place) else None for place in places)
    if recording.complete and [task, buffer] != places:
        raise _wrong(recording, f"draw {fields['draw']}, of a task that is not there")
    own = {**fields, "task": task, "command_buffer": buffer, "drains": int(fields["drains"])}
    return *(own.get(name) for name in OTHERS), *(counts[name] for name in DRAW_COUNT_NAMES)


def _has_task(database: sqlite3.Connection, task: int | None) -> bool:
    return task is not None and database.execute("SELECT 1 FROM tasks WHERE task = ?", (task,)).fetchone() is not None


def _fill_waves(database: sqlite3.Connection, recording: Recording) -> None:
    """Waves are numbered by draw and stage."""
    waves = recording.rows[WAVES]
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
    columns = (waves[name][order].tolist() for name in WAVES.dtype.names)
    rows = zip(*columns, number.tolist(), strict=True)
    database.executemany(
        insertion(WAVES),
        ((draw, SHADER_STAGES[stage], wave, start, end) for draw, stage, start, end, wave in rows),
    )


def _wrong(recording: Recording, what: str) -> FileFormatError:
    return FileFormatError(f"{recording.path}: contradicts itself: it has {what}")
