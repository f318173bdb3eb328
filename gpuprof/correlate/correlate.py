"""A recording as a database: lines, functions and counters beside the counted samples."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import numpy as np

from gpuprof.base.files import replacing
from gpuprof.base.stages import counted, stage
from gpuprof.correlate.advice.advice_rules import advise, fill_costs
from gpuprof.correlate.api_calls import fill_api_calls
from gpuprof.correlate.checked import check_recording
from gpuprof.correlate.live_registers import live_rows
from gpuprof.correlate.program_tables import (
    frame_rows,
    function_rows,
    instruction_rows,
    module_row,
    read_codes,
    source_texts,
)
from gpuprof.correlate.sample_counts import SampleCounts
from gpuprof.correlate.schema import APPLICATION_ID, DDL, VERSION
from gpuprof.correlate.tasks.draw_rows import fill_draws
from gpuprof.correlate.tasks.fill_tasks import fill_relations
from gpuprof.correlate.traces import fill_traces, finding_rows
from gpuprof.errors import FileFormatError, GpuprofError
from gpuprof.isa.causes import CONFLICT, KINDS as CAUSE_KINDS, OTHER_LAUNCH, OTHER_WARP
from gpuprof.isa.stalls import N_REASONS, REASONS
from gpuprof.records.reader import Launch, Recording, read_recording
from gpuprof.records.schema import (
    ACCESS_COUNTERS_DTYPE,
    ACTIVITY_STALLS_DTYPE,
    COUNTERS_DTYPE,
    LOSSES_DTYPE,
    REUSE_SCOPES,
    STALL_LENGTHS_DTYPE,
    STALLS_DTYPE,
)

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

COUNTER_COLUMNS = tuple(name for name in COUNTERS_DTYPE.names if name != "reserved")
PRIMITIVE_COLUMNS = ("block", "first_primitive", "last_primitive")
LOSS_COLUMNS = tuple(name for name in LOSSES_DTYPE.names if name != "reserved")
SAMPLED_COUNTER_COLUMNS = (
    *(
        "cycle",
        "sm",
        "issued",
        "eligible",
        "active",
        "pipes_busy",
        "l1_sectors",
        "l1_hits",
        "l2_sectors",
        "l2_hits",
        "dram_nbytes",
    ),
)
COLUMNS_OF = {
    "access_counters": tuple(name for name in ACCESS_COUNTERS_DTYPE.names if name != "reserved"),
    "block_counters": (
        *("block", "sm", "warps", "start_cycle", "end_cycle", "issue_slots", "issue_cycles", "resident_cycles"),
        *("l1_sectors", "l1_hits", "l2_requests", "l2_request_cycles", "l2_sectors", "l2_hits"),
        *("dram_read_sectors", "dram_write_sectors"),
    ),
    "warp_counters": (
        *("block", "warp", "sm", "start_cycle", "end_cycle", "issue_slots", "issue_cycles"),
        *("fixed_cycles", "memory_cycles", "short_cycles", "barrier_cycles", "throttle_cycles", "fetch_cycles"),
        *("turn_cycles", "other_cycles"),
    ),
}
MAX_INTEGER = (1 << 63) - 1
LAST_BIN = 62  # of stall lengths whose least is such an integer


def correlate(recording: Path, database: Path) -> Recording:
    """Write the database of a recording; the same recording gives the same bytes. Nothing is left behind on an error.

    A damaged recording is correlated up to its damage. Returns what was read of the recording, without samples and
    tasks. Raises UsageError for a recording that is not there, FileFormatError for one that cannot be read.
    """
    try:
        with replacing(Path(database)) as partial:
            partial.touch()  # where the system refuses it says why, and SQLite would not
            with closing(sqlite3.connect(partial, isolation_level=None)) as db:
                read = build_database(db, Path(recording))
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
    insert(database, "modules", map(module_row, codes))
    insert(database, "sources", ((numbers[path], path, text) for path, text in sources.items()))
    insert(database, "functions", (row for code in codes for row in function_rows(code)))
    insert(database, "instructions", (row for code in codes for row in instruction_rows(code, numbers)))
    insert(database, "live_registers", (row for code in codes for row in live_rows(code)))
    insert(database, "inline_frames", (row for code in codes for row in frame_rows(code, numbers)))
    insert(database, "stall_reasons", ((number, reason.name, reason.text) for number, reason in enumerate(REASONS)))
    insert(
        database, "cause_kinds", ((number, kind.name, kind.label, kind.text) for number, kind in enumerate(CAUSE_KINDS))
    )
    insert(database, "samples", counts.rows())
    insert(database, "sample_sizes", counts.sizes(recording.launches))
    kept = dict(database.execute("SELECT launch, SUM(samples) FROM samples GROUP BY launch"))
    functions = {
        (code.module, f.name): number
        for code in codes
        for number, f in enumerate(code.program.functions, code.first_function)
    }
    for number, launch in counted(sorted(recording.launches.items()), "", "launches"):
        insert(database, "launches", [launch_row(recording, launch, functions, kept.get(number, 0))])
        insert(database, "launch_metrics", metric_rows(launch))
        insert(
            database,
            "samplers",
            ((number, name, value) for name, value in sorted(launch.begin.get("sampling", {}).items())),
        )
        insert(database, "sample_losses", integer_rows(recording, number, launch.losses, LOSS_COLUMNS))
        insert(
            database,
            "sampled_counters",
            integer_rows(recording, number, launch.sampled_counters, SAMPLED_COUNTER_COLUMNS),
        )
        insert(database, "reuse_distances", reuse_rows(recording, number, launch.reuse_distances))
        for table, rows in (
            ("access_counters", launch.access_counters),
            ("block_counters", launch.block_counters),
            ("warp_counters", launch.warp_counters),
        ):
            insert(database, table, integer_rows(recording, number, rows, COLUMNS_OF[table]))
        insert(database, "ledger", reason_rows(recording, number, launch.ledger, "ledger", ("pc", "reason", "cycles")))
        insert(database, "stalls", reason_rows(recording, number, launch.stalls, "stalls", STALLS_DTYPE.names))
        insert(database, "stall_lengths", length_rows(recording, number, launch.stall_lengths))
        insert(database, "activity", activity_rows(recording, number, launch))
        insert(
            database,
            "activity_stalls",
            reason_rows(recording, number, launch.activity_stalls, "activity", ACTIVITY_STALLS_DTYPE.names),
        )
        insert(
            database,
            "activity_of_sms",
            integer_rows(recording, number, launch.activity_of_sms, ("sm", "active_cycles")),
        )
        insert(database, "causes", cause_rows(recording, number, launch.causes))
        insert(database, "bank_patterns", pattern_rows(recording, number, launch.bank_patterns))
        insert(database, "counters", integer_rows(recording, number, launch.counters, COUNTER_COLUMNS))
        insert(database, "block_primitives", integer_rows(recording, number, launch.primitives, PRIMITIVE_COLUMNS))
    insert(database, "results", ((number, *result) for number, result in enumerate(recording.results)))
    fill_traces(database, recording)
    insert(database, "findings", finding_rows(recording))
    fill_api_calls(database, recording)  # looks at the tasks, which fill_relations takes out of the recording
    fill_relations(database, recording)
    fill_draws(database, recording)
    insert(database, "meta", sorted(meta_items(recording, database).items()))
    add_advice(database, len(recording.findings))


def add_advice(database: sqlite3.Connection, n_findings: int) -> None:
    """Findings about performance behind the `n_findings` of trace generators, when all other tables are filled."""
    fill_costs(database)
    insert(database, "findings", ((number, *found) for number, found in enumerate(advise(database), n_findings)))


def insert(database: sqlite3.Connection, table: str, rows: Iterable[tuple]) -> None:
    n_columns = len(database.execute(f"SELECT * FROM {table} LIMIT 0").description)
    database.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * n_columns)})", rows)


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


LAUNCH_METRICS = ("registers", "shared_nbytes", "local_nbytes", "parent", "priority", "dependent")  # fields of LNCH


def metric_rows(launch: Launch) -> list[tuple]:
    """The launch's own numbers and those of the timing model, by name."""
    values = {name: launch.begin[name] for name in LAUNCH_METRICS if name in launch.begin}
    values |= launch.end["counters"] if launch.end else {}
    return [(launch.begin["launch"], name, value) for name, value in sorted(values.items())]


def reason_rows(
    recording: Recording, number: int, rows: np.ndarray, what: str, columns: tuple[str, ...]
) -> Iterable[tuple]:
    """(launch, *columns) of rows that have a stall reason."""
    if len(rows) and int(rows["reason"].max()) >= N_REASONS:
        raise FileFormatError(
            f"{recording.path}: the {what} of launch {number} has reason {rows['reason'].max()}; there are {N_REASONS}"
        )
    return integer_rows(recording, number, rows, columns)


def length_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    if len(rows) and int(rows["bin"].max()) > LAST_BIN:
        raise FileFormatError(f"{recording.path}: launch {number} has stalls of 2^{rows['bin'].max()} cycles and more")
    found = reason_rows(recording, number, rows, "stall lengths", STALL_LENGTHS_DTYPE.names)
    return ((launch, pc, reason, 1 << bin_, stalls) for launch, pc, reason, bin_, stalls in found)


def activity_rows(recording: Recording, number: int, launch: Launch) -> Iterable[tuple]:
    """Rows of `activity`. Raises FileFormatError where bins do not follow each other within the launch."""
    rows = launch.activity
    if launch.end is None:
        return
    if not len(rows):
        if len(launch.activity_stalls):
            raise FileFormatError(f"{recording.path}: launch {number} lacks the bins of its activity")
        return
    begins = [*rows["cycle"].tolist(), launch.end["end_cycle"]]
    lengths = rows["bin_cycles"].tolist()
    each = zip(begins[:-2], lengths[:-1], begins[1:-1], strict=True)
    follow = all(begin + length == after for begin, length, after in each)
    inside = launch.end["start_cycle"] <= begins[0] and begins[-2] <= begins[-1]
    if not follow or not inside or int(launch.activity_stalls["bin"].max(initial=0)) >= len(rows):
        raise FileFormatError(f"{recording.path}: launch {number} has bins of time that do not follow each other")
    for bin_, sm_cycles in enumerate(rows["sm_active_cycles"].tolist()):
        yield number, bin_, begins[bin_], begins[bin_ + 1], sm_cycles


PATTERN_COLUMNS = (
    *("pc", "warps", "mask", "stride_0", "lanes_0", "stride_1", "lanes_1", "stride_2", "lanes_2", "first", "end"),
)


def pattern_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    """Rows of `bank_patterns`: numbered from 0 for each instruction. Raises FileFormatError for runs of no lanes."""
    ordered = rows[rows["mask"] != 0]
    if any(len(ordered) and int(ordered[name].min()) == 0 for name in ("lanes_0", "lanes_1", "lanes_2")):
        raise FileFormatError(f"{recording.path}: launch {number} has a pattern of shared memory with runs of no lanes")
    seen: dict[int, int] = {}
    for launch, pc, *rest in integer_rows(recording, number, rows, PATTERN_COLUMNS):
        seen[pc] = seen.get(pc, -1) + 1
        yield launch, pc, seen[pc], *rest


def reuse_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    """Rows of `reuse_distances`. Raises FileFormatError for a scope that there is not."""
    if len(rows) and int(rows["scope"].max()) >= len(REUSE_SCOPES):
        raise FileFormatError(f"{recording.path}: launch {number} has reuse distances of scope {rows['scope'].max()}")
    if len(rows) and int(rows["least_lines"].min()) < FIRST_ACCESS:
        raise FileFormatError(
            f"{recording.path}: launch {number} has reuse distances of {rows['least_lines'].min()} lines"
        )
    columns = ("scope", "least_lines", "lines", "sectors", "store_sectors")
    found = integer_rows(recording, number, rows, columns)
    return ((launch, REUSE_SCOPES[scope], *rest) for launch, scope, *rest in found)


FIRST_ACCESS = -1
FLAGS = (OTHER_WARP, OTHER_LAUNCH, CONFLICT)


def cause_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    if len(rows) and int(rows["kind"].max()) >= len(CAUSE_KINDS):
        raise FileFormatError(
            f"{recording.path}: launch {number} has a cause of kind {rows['kind'].max()}; there are {len(CAUSE_KINDS)}"
        )
    found = reason_rows(
        recording, number, rows, "causes", ("pc", "reason", "cause_pc", "kind", "flags", "cycles", "stalls")
    )
    return ((*row[:5], *(int(row[5] & flag != 0) for flag in FLAGS), *row[6:]) for row in found)


def integer_rows(recording: Recording, number: int, rows: np.ndarray, columns: tuple[str, ...]) -> Iterable[tuple]:
    """(launch, *columns) of a structured array; raises FileFormatError for a number that SQLite cannot hold."""
    for name in columns:
        if len(rows) and int(rows[name].max()) > MAX_INTEGER:
            raise FileFormatError(
                f"{recording.path}: {name} of launch {number} is {rows[name].max()}, more than 2^63 - 1"
            )
    return zip([number] * len(rows), *(rows[name].tolist() for name in columns), strict=True)


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
