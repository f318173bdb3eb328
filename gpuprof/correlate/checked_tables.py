"""Checks of a database's tables, so that its numbers can be added up, divided by and printed.

SQLite stores any value in any column, and anyone can write to a .gpudb. Types, bounds, the columns that may be NULL and
the references come from the declarations of the tables. Each table is read once.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping

from gpuprof.chips.draw_units import ASKING_UNITS, BACK_UNITS, FRONT_UNITS, SHADER_STAGES
from gpuprof.correlate.checked import TEXT_METRICS, Wrong, brief, in_chip
from gpuprof.correlate.findings import wrong_severities
from gpuprof.correlate.trace_tables import wrong_tables
from gpuprof.isa.encoding import PC_END
from gpuprof.isa.stalls import N_REASONS, NAMES
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.tables.engines import ENGINES
from gpuprof.tables.order import BY_NAME, STORED
from gpuprof.tables.samples import SAMPLED_COUNTERS
from gpuprof.tables.table import FLAG, PC, Column, Table

UNREAD = {SAMPLED_COUNTERS: "no command of ours reads it, and it has a row for each sample"}
REQUIRED_META = ("tool_version", "model_version", "chip", "period_cycles", "complete", "chip_json", "damage", "marks")
NUMBERS_IN_META = ("period_cycles", "passes")
EXTENT = re.compile(r"[1-9][0-9]{0,9}(,[1-9][0-9]{0,9}){2}")  # "x,y,z"
PLAIN_NAME = re.compile(rb"[A-Za-z0-9_ ]{0,60}")
MOST_OUTSIDE = 20_000  # rows of a table whose address is in no module: each is a row of every listing
# rows that a page lists one by one; Nsight Compute has some 1,100 metrics of a launch, and a what-if is of a line
MOST_PER_LAUNCH = {"samplers": 100, "launch_metrics": 4_000, "advice": 100, "whatif": 20_000}
FEW = 16  # rows of a table that are listed in SQL, as to look each of a million up takes twice as long
MOST_TEXT = 4_000  # characters of a text that stands for a number: Python reads no integer of more digits

FIXED_UNITS = (*FRONT_UNITS, *BACK_UNITS)

MOST_WHY = 60  # characters of a parser's message
LEAST_REAL, MOST_REAL = 1e-6, 1e18  # something is divided by


def in_tables(database: sqlite3.Connection) -> Iterator[Wrong]:
    """The contradictions in a database of the schema's tables. Raises sqlite3.Error for one that cannot be read."""
    known: dict[tuple[str, str], str] = {}
    for table in STORED:
        if table not in UNREAD:
            yield from in_values(database, table, known)
    yield from in_meta(dict(database.execute("SELECT key, value FROM meta")))
    yield from in_reasons(database)
    yield from in_launches(database)
    yield from in_metrics(database)
    yield from in_names(database)
    yield from in_patterns(database)
    yield from in_activity(database)
    yield from in_draws(database)
    yield from in_operations(database)
    yield from in_changes(database)
    yield from map(Wrong, wrong_severities(database))
    yield from map(Wrong, wrong_tables(database))


def in_values(database: sqlite3.Connection, table: Table, known: dict[tuple[str, str], str]) -> Iterator[Wrong]:
    """`known`: see `referred`."""
    rules = {column.name: sound(column, referred(database, column, known)) for column in table.in_database}
    counts = [column.name for column in table.in_database if adds_up(column, table)]
    outside = "SUM(pc NOT IN (SELECT pc FROM instructions))" if is_charged(table) else "0"
    sums = "".join(f", TOTAL({name})" for name in counts)
    n_wrong, n_outside, *totals = database.execute(
        f"SELECT COUNT(CASE WHEN {' AND '.join(rules.values())} THEN NULL ELSE 1 END), {outside}{sums} "
        f"FROM {table.name}"
    ).fetchone()
    if n_wrong:
        yield from _first_wrong(database, table, rules)
    for name, total in zip(counts, totals, strict=True):
        if total >= MAX_COUNT:
            yield Wrong(f"{table.name}.{name} sums to {total:.4g}, more than 2^63 - 1")
    if (n_outside or 0) > MOST_OUTSIDE:
        yield Wrong(f"{table.name} has {n_outside:,} rows of addresses outside every module")


def _first_wrong(database: sqlite3.Connection, table: Table, rules: Mapping[str, str]) -> Iterator[Wrong]:
    """The first row that a rule does not hold for, by its key."""
    names = table.key or ("rowid",)
    for column in table.in_database:
        row = database.execute(
            f"SELECT {column.name}, {', '.join(names)} FROM {table.name} WHERE NOT COALESCE({rules[column.name]}, "
            "0) LIMIT 1"
        ).fetchone()
        if row:
            value, *key = row
            place = ", ".join(f"{name} {brief(each)}" for name, each in zip(names, key, strict=True))
            yield Wrong(f"{table.name}.{column.name} is {brief(value)} at {place}; expected {expected(column)}")


def is_charged(table: Table) -> bool:
    """Rows are charged to an address that may be in no module."""
    return any(column.name == "pc" and not column.parent for column in table.in_database) and table.key != ("pc",)


def adds_up(column: Column, table: Table) -> bool:
    has_own_bounds = column.low is not None or column.role in BOUNDS
    return column.sql_type == "INTEGER" and not (column.parent or has_own_bounds or column.name in table.key)


def referred(database: sqlite3.Connection, column: Column, known: dict[tuple[str, str], str]) -> str:
    """SQL of what a column may refer to, "" where it refers to nothing. `known`, by parent and type, is looked up first
    and added to: many columns refer to one table, and to look at all of a large one takes long.
    """
    if not column.parent:
        return ""
    key = (column.parent, column.sql_type)
    if key not in known:
        known[key] = _among(database, column)
    return known[key]


def _among(database: sqlite3.Connection, column: Column) -> str:
    """A row number is looked up among all, where these have gaps: to compare it with the first and the last is several
    times as fast.
    """
    (key,) = BY_NAME[column.parent].key
    if column.sql_type == "INTEGER":
        # an index may not hold what its table does
        query = f"SELECT COUNT(*), MIN({key}), MAX({key}) FROM {column.parent} NOT INDEXED"
        n, low, high = database.execute(query).fetchone()
        if n and isinstance(low, int) and isinstance(high, int) and high - low + 1 == n:
            return f"BETWEEN {low} AND {high}"
    if column.sql_type == "TEXT":
        query = (
            f"SELECT CAST({key} AS BLOB) FROM {column.parent} NOT INDEXED WHERE typeof({key}) = 'text' LIMIT {FEW + 1}"
        )
        names = [name for (name,) in database.execute(query)]
        if 0 < len(names) <= FEW and all(map(PLAIN_NAME.fullmatch, names)):
            return "IN ({})".format(", ".join(f"'{name.decode()}'" for name in names))
    return f"IN (SELECT {key} FROM {column.parent})"


def sound(column: Column, among: str) -> str:
    """SQL that is true for the values that a column may have. Types first: any text is more than any number. among: see
    `referred`.
    """
    name = column.name
    rule = SOUND[column.sql_type](column)
    if among:
        rule += f" AND {name} {among}"
    return f"({name} IS NULL OR {rule})" if column.null else f"({rule})"


# The least and the most of columns that hold less than any count, by role.
BOUNDS = {FLAG: (0, 1), PC: (0, PC_END)}


def bounds(column: Column) -> tuple[float, float]:
    """The least and the most of a number."""
    if column.low is not None:
        return column.low, column.high or MAX_COUNT
    if column.sql_type == "REAL":
        return LEAST_REAL, MOST_REAL
    return BOUNDS.get(column.role, (0, MAX_COUNT))


def _integer(column: Column) -> str:
    least, most = bounds(column)
    return f"typeof({column.name}) = 'integer' AND {column.name} BETWEEN {least} AND {most}"


def _real(column: Column) -> str:
    least, most = bounds(column)
    return f"typeof({column.name}) IN ('real', 'integer') AND {column.name} BETWEEN {least} AND {most}"


def _text(column: Column) -> str:
    return f"typeof({column.name}) = 'text'"


def _numeric(column: Column) -> str:
    name = column.name
    return (
        f"CASE typeof({name}) WHEN 'text' THEN length({name}) <= {MOST_TEXT} WHEN 'blob' THEN 0 "
        f"ELSE {name} BETWEEN {-MOST_REAL} AND {MOST_REAL} END"
    )


SOUND = {"INTEGER": _integer, "REAL": _real, "TEXT": _text, "NUMERIC": _numeric}


def expected(column: Column) -> str:
    """The values of a column, in words."""
    if column.parent:
        return f"one of the {column.parent}"
    least, most = bounds(column)
    return {
        "INTEGER": f"an integer, {least} to {most}",
        "REAL": f"a number, {least:g} to {most:g}",
        "TEXT": "a text",
        "NUMERIC": "a number or a short text",
    }[column.sql_type]


def in_meta(meta: Mapping[str, str]) -> Iterator[Wrong]:
    missing = [key for key in REQUIRED_META if key not in meta]
    if missing:
        yield Wrong(f"meta lacks {', '.join(missing)}")
        return
    for key in NUMBERS_IN_META:
        if key in meta and not re.fullmatch("[0-9]{1,18}", meta[key]):
            yield Wrong(f"meta.value is {brief(meta[key])} at key {key}; expected a number of at most 18 digits")
    try:
        chip = json.loads(meta["chip_json"])
    except (ValueError, RecursionError) as error:
        yield Wrong(f"meta.value is no JSON at key chip_json ({str(error)[:MOST_WHY]})")
        return
    if not isinstance(chip, dict):
        yield Wrong("meta.value is no JSON object at key chip_json")
        return
    yield from in_chip(chip)


def in_reasons(database: sqlite3.Connection) -> Iterator[Wrong]:
    """A wrong name would look plausible."""
    for number, name in database.execute("SELECT reason, name FROM stall_reasons ORDER BY reason"):
        if number >= N_REASONS or NAMES[number] != name:
            yield Wrong(f"stall_reasons.name is {brief(name)} at reason {number}, which this gpuprof does not know")


def in_launches(database: sqlite3.Connection) -> Iterator[Wrong]:
    for launch, *extents in database.execute("SELECT launch, grid, block FROM launches"):
        for name, extent in zip(("grid", "block"), extents, strict=True):
            if not EXTENT.fullmatch(extent):
                yield Wrong(f"launches.{name} is {brief(extent)} at launch {launch}; expected x,y,z")


def in_metrics(database: sqlite3.Connection) -> Iterator[Wrong]:
    names = ", ".join(f"'{name}'" for name in sorted(TEXT_METRICS))
    row = database.execute(
        f"SELECT launch, metric, value FROM launch_metrics WHERE typeof(value) = 'text' AND metric NOT IN ({names}) "
        "LIMIT 1"
    ).fetchone()
    if row:
        launch, metric, value = row
        yield Wrong(
            f"launch_metrics.value is {brief(value)} at launch {launch}, metric {brief(metric)}; expected a number"
        )


def in_names(database: sqlite3.Connection) -> Iterator[Wrong]:
    for table, most in MOST_PER_LAUNCH.items():
        row = database.execute(
            f"SELECT launch, COUNT(*) FROM {table} GROUP BY launch HAVING COUNT(*) > {most} LIMIT 1"
        ).fetchone()
        if row:
            yield Wrong(f"{table} has {row[1]:,} rows of launch {row[0]}; the limit is {most:,}")


def in_activity(database: sqlite3.Connection) -> Iterator[Wrong]:
    """Bins are looked up by their numbers, and what is in them is divided by their lengths."""
    row = database.execute(
        "SELECT launch FROM activity GROUP BY launch "
        "HAVING MAX(bin) <> COUNT(*) - 1 OR MIN(bin) < 0 OR MIN(end_cycle - begin_cycle) < 0 LIMIT 1"
    ).fetchone()
    if row:
        yield Wrong(f"activity has bins of launch {row[0]} that do not follow each other")
    row = database.execute(
        "SELECT launch, bin FROM activity_stalls EXCEPT SELECT launch, bin FROM activity LIMIT 1"
    ).fetchone()
    if row:
        yield Wrong(f"activity_stalls has bin {row[1]} of launch {row[0]}, which activity has not")


def in_draws(database: sqlite3.Connection) -> Iterator[Wrong]:
    """Stages and units are looked up by their names, and times are divided by."""
    yield from _unknown_names(database)
    row = database.execute("SELECT draw FROM draws WHERE samples < 1 LIMIT 1").fetchone()
    if row:
        yield Wrong(f"draws.samples is 0 at draw {row[0]}; a pixel has 1 sample at least")
    for table in ("draw_units", "draw_waves"):
        row = database.execute(
            f"SELECT draw FROM {table} JOIN draws d USING (draw) WHERE d.start_cycle IS NULL LIMIT 1"
        ).fetchone()
        if row:
            yield Wrong(f"{table} has times of draw {row[0]}, which has none as a whole")
    spans = (("draws", "start_cycle", "end_cycle"), ("draw_waves", "start_cycle", "end_cycle"))
    for table, first, last in (*spans, ("draw_units", "first_cycle", "last_cycle")):
        # NULL is not NULL gives 0, and a number is not NULL 1
        row = database.execute(
            f"SELECT draw FROM {table} WHERE {first} > {last} OR ({first} IS NULL) <> ({last} IS NULL) LIMIT 1"
        ).fetchone()
        if row:
            yield Wrong(f"{table} has a time that ends before it begins, of draw {row[0]}")


def in_operations(database: sqlite3.Connection) -> Iterator[Wrong]:
    """Engines are looked up by their names."""
    marks = ", ".join("?" * len(ENGINES))
    row = database.execute(
        f"SELECT task, engine FROM device_operations WHERE engine NOT IN ({marks}) LIMIT 1", ENGINES
    ).fetchone()
    if row:
        yield Wrong(f"device_operations.engine is {brief(row[1])} at task {row[0]}; expected {', '.join(ENGINES)}")
    row = database.execute("SELECT task FROM device_operations WHERE start_cycle > end_cycle LIMIT 1").fetchone()
    if row:
        yield Wrong(f"device_operations has a time that ends before it begins, of task {row[0]}")
    row = database.execute("SELECT task FROM api_calls WHERE begin_ns > end_ns LIMIT 1").fetchone()
    if row:
        yield Wrong(f"api_calls has a time that ends before it begins, of task {row[0]}")


def in_changes(database: sqlite3.Connection) -> Iterator[Wrong]:
    """Stall reasons are looked up by their names."""
    for launch, number, text in database.execute("SELECT launch, row, moved_to FROM whatif ORDER BY launch, row"):
        if not _are_shares(text):
            yield Wrong(
                f"whatif.moved_to is {brief(text)} at launch {launch}, row {number}; expected [[stall reason, share], "
                "...] as JSON"
            )
            return


def _are_shares(text: str) -> bool:
    try:
        pairs = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(pairs, list) and all(map(_is_share, pairs))


def _is_share(pair: object) -> bool:
    match pair:
        case [str(name), int() | float() as share]:
            return name in NAMES and 0 <= share <= 1
    return False


def _unknown_names(database: sqlite3.Connection) -> Iterator[Wrong]:
    names = {
        ("draw_launches", "stage"): SHADER_STAGES,
        ("draw_waves", "stage"): SHADER_STAGES,
        ("draw_units", "unit"): FIXED_UNITS,
        ("draw_traffic", "unit"): ASKING_UNITS,
    }
    for (table, column), known in names.items():
        marks = ", ".join("?" * len(known))
        query = f"SELECT {column} FROM {table} WHERE {column} NOT IN ({marks}) LIMIT 1"
        row = database.execute(query, known).fetchone()
        if row:
            yield Wrong(f"{table}.{column} is {brief(row[0])}; expected one of {', '.join(known)}")


def in_patterns(database: sqlite3.Connection) -> Iterator[Wrong]:
    """Places of lanes are worked out by dividing by the lanes of a run."""
    row = database.execute(
        "SELECT launch, pc, pattern FROM bank_patterns WHERE mask <> 0 AND lanes_0 * lanes_1 * lanes_2 = 0 LIMIT 1"
    ).fetchone()
    if row:
        launch, pc, pattern = row
        yield Wrong(f"bank_patterns has runs of no lanes at launch {launch}, pc {pc}, pattern {pattern}")
