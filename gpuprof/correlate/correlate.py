"""A recording as a database: lines, functions and counters with the counted samples."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from pathlib import Path

from gpuprof.base.files import replacing
from gpuprof.base.stages import counted, stage
from gpuprof.correlate.advice.advice_rules import advise, fill_costs
from gpuprof.correlate.api_calls import fill_api_calls
from gpuprof.correlate.checked import check_recording
from gpuprof.correlate.findings import finding_rows
from gpuprof.correlate.program_tables import (
    frame_rows,
    function_rows,
    instruction_rows,
    live_rows,
    module_row,
    read_codes,
    source_texts,
)
from gpuprof.correlate.sample_counts import SampleCounts
from gpuprof.correlate.schema import APPLICATION_ID, DDL, VERSION
from gpuprof.correlate.stored_rows import all_rows
from gpuprof.correlate.tasks.draw_rows import fill_draws
from gpuprof.correlate.tasks.fill_tasks import fill_relations
from gpuprof.correlate.trace_tables import fill_traces
from gpuprof.errors import FileFormatError, GpuprofError
from gpuprof.isa.causes import KINDS
from gpuprof.isa.stalls import REASONS
from gpuprof.records.reader import Launch, Recording, read_recording
from gpuprof.records.schema import LAUNCH_FIELDS
from gpuprof.tables.code import (
    CAUSE_KINDS,
    FINDINGS,
    FUNCTIONS,
    INLINE_FRAMES,
    INSTRUCTIONS,
    LAUNCH_METRICS,
    LAUNCHES,
    LIVE_REGISTERS,
    META,
    MODULES,
    RESULTS,
    SOURCES,
    STALL_REASONS,
)
from gpuprof.tables.launch import NUMBERS
from gpuprof.tables.samples import SAMPLE_SIZES, SAMPLERS, SAMPLES
from gpuprof.tables.sql import insertion
from gpuprof.tables.table import Table

# Fixed, so that the file's bytes do not depend on how SQLite was built.
PRAGMAS = f"""
PRAGMA page_size = 4096;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA encoding = 'UTF-8';
PRAGMA auto_vacuum = NONE;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
"""


def _nothing(database: sqlite3.Connection) -> None:
    """Adds nothing to a database."""


def correlate(recording: Path, database: Path, add: Callable[[sqlite3.Connection], None] = _nothing) -> Recording:
    """Write the database of a recording; the same recording gives the same bytes. An error leaves no file. `add` gets
    the database when the recording is in it, for rows of other origins.

    A damaged recording is correlated up to its damage. Returns what was read of the recording, without samples and
    tasks. Raises UsageError for a recording that is not there, FileFormatError for one that cannot be read.
    """
    try:
        with replacing(Path(database)) as partial:
            partial.touch()  # where the system refuses it says why, and SQLite would not
            with closing(sqlite3.connect(partial, isolation_level=None)) as db:
                read = build_database(db, Path(recording))
                add(db)
                with stage(f"packing {Path(database).name}"):
                    db.execute("VACUUM")
    except sqlite3.OperationalError as error:
        raise GpuprofError(f"{database}: cannot be written: {error}") from None
    return read


def build_database(database: sqlite3.Connection, path: Path) -> Recording:
    """Fill an empty database from the recording at `path`; see `correlate`."""
    try:
        counts = SampleCounts()
        recording = read_recording(path, counts.add, counts.begin)
        database.executescript(PRAGMAS + DDL)
        database.execute("BEGIN")
        with stage(f"correlating {path.name}"):
            fill(database, recording, counts)
        database.execute("COMMIT")
    except sqlite3.IntegrityError as error:
        raise FileFormatError(f"{path}: contradicts itself: {error}") from None
    except UnicodeEncodeError as error:
        raise FileFormatError(
            f"{path}: a name or text in one of its modules is not valid Unicode: {error.reason}"
        ) from None
    return recording


def fill(database: sqlite3.Connection, recording: Recording, counts: SampleCounts) -> None:
    """All tables, in the order of the schema."""
    check_recording(recording)
    codes = read_codes(recording)
    sources = source_texts(recording, codes)
    numbers = {path: number for number, path in enumerate(sources)}
    insert(database, MODULES, map(module_row, codes))
    insert(database, SOURCES, ((numbers[path], path, text) for path, text in sources.items()))
    insert(database, FUNCTIONS, (row for code in codes for row in function_rows(code)))
    insert(database, INSTRUCTIONS, (row for code in codes for row in instruction_rows(code, numbers)))
    insert(database, LIVE_REGISTERS, (row for code in codes for row in live_rows(code)))
    insert(database, INLINE_FRAMES, (row for code in codes for row in frame_rows(code, numbers)))
    insert(database, STALL_REASONS, ((number, reason.name, reason.text) for number, reason in enumerate(REASONS)))
    insert(database, CAUSE_KINDS, ((number, kind.name, kind.label, kind.text) for number, kind in enumerate(KINDS)))
    insert(database, SAMPLES, counts.rows())
    insert(database, SAMPLE_SIZES, counts.sizes(recording.launches))
    kept = dict(database.execute("SELECT launch, SUM(samples) FROM samples GROUP BY launch"))
    functions = {
        (code.module, f.name): number
        for code in codes
        for number, f in enumerate(code.program.functions, code.first_function)
    }
    for number, launch in counted(sorted(recording.launches.items()), "", "launches"):
        insert(database, LAUNCHES, [launch_row(recording, launch, functions, kept.get(number, 0))])
        insert(database, LAUNCH_METRICS, metric_rows(launch))
        insert(database, SAMPLERS, sampler_rows(launch))
        for table, rows in all_rows(recording, number):
            insert(database, table, rows)
    insert(database, RESULTS, ((number, *result) for number, result in enumerate(recording.results)))
    fill_traces(database, recording)
    insert(database, FINDINGS, finding_rows(recording))
    fill_api_calls(database, recording)  # looks at the tasks, which fill_relations takes out of the recording
    fill_relations(database, recording)
    fill_draws(database, recording)
    insert(database, META, sorted(meta_items(recording, database).items()))
    add_advice(database, len(recording.findings))


def add_advice(database: sqlite3.Connection, n_findings: int) -> None:
    """Findings about performance after the `n_findings` of trace generators, when all other tables are filled."""
    fill_costs(database)
    insert(database, FINDINGS, ((number, *row) for number, row in enumerate(advise(database), n_findings)))


_insertion = cache(insertion)  # each launch has rows of many tables


def insert(database: sqlite3.Connection, table: Table, rows: Iterable[tuple]) -> None:
    database.executemany(_insertion(table), rows)


def launch_row(recording: Recording, launch: Launch, functions: dict[tuple[int, str], int], kept: int) -> tuple:
    """A row of `launches`. One that did not end has no times, and the samples there are."""
    begin = launch.begin
    key = begin["module"], begin["symbol"]
    if key not in functions:
        raise FileFormatError(
            f"{recording.path}: launch {begin['launch']} is of {begin['symbol']!r}, which module {begin['module']} "
            "does not have"
        )
    shape = (",".join(map(str, begin["grid"])), ",".join(map(str, begin["block"])))
    what = (
        begin["launch"],
        functions[key],
        begin["kernel"],
        *shape,
        begin["dynamic_shared_nbytes"],
        begin["stream"],
        begin["task"],
    )
    if launch.end is None:
        return *what, 0, 0, 0, kept, kept, 0, 0, 0
    end = launch.end
    samples = (end["samples_due"], kept, end["samples_dropped"], int(end["buffer_full"]))
    return *what, end["start_cycle"], end["end_cycle"], end["cycles"], *samples, 1


OWN_NUMBERS = {field.name for field in LAUNCH_FIELDS} & {column.name for column in NUMBERS.columns}


def metric_rows(launch: Launch) -> list[tuple]:
    """The launch's own numbers and those of the timing model, by name."""
    values = {name: launch.begin[name] for name in OWN_NUMBERS if name in launch.begin}
    values |= launch.end["counters"] if launch.end else {}
    return [(launch.begin["launch"], name, value) for name, value in sorted(values.items())]


def sampler_rows(launch: Launch) -> list[tuple]:
    """The sampler's registers for the launch, by name."""
    return [(launch.begin["launch"], *item) for item in sorted(launch.begin.get("sampling", {}).items())]


# Rows whose pc is in no module: they stay in their tables, and here is how many they are.
OUTSIDE = {
    "samples_outside": "SELECT COALESCE(SUM(samples), 0) FROM samples WHERE pc NOT IN (SELECT pc FROM instructions)",
    "ledger_cycles_outside": "SELECT COALESCE(SUM(cycles), 0) FROM ledger WHERE pc NOT IN (SELECT pc FROM "
    "instructions)",
}


def meta_items(recording: Recording, database: sqlite3.Connection) -> dict[str, str]:
    """Keys of the `meta` table: the META chunk with `sampling` flattened, the chip's description, and how well it was
    read.
    """
    items = {name: value for name, value in recording.meta.items() if isinstance(value, (str, int, float))}
    items |= recording.meta["sampling"]
    items["chip_json"] = json.dumps(recording.chip, sort_keys=True)
    items["complete"] = int(recording.complete)
    items["damage"] = recording.damage or ""
    items["marks"] = "\n".join(mark["text"] for mark in recording.marks)
    items |= {name: database.execute(query).fetchone()[0] for name, query in OUTSIDE.items()}
    return {name: str(value) for name, value in items.items()}
