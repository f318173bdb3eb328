"""SQL from the declarations: the tables of the database in their order, their definitions, and statements to fill them.

The order decides the bytes of the file.
"""

from collections.abc import Iterable, Iterator

from gpuprof.tables import blocks, code, draws, launch, samples, tasks
from gpuprof.tables.table import Column, Table

STORED: tuple[Table, ...] = (
    *(code.META, code.MODULES, code.SOURCES, code.FUNCTIONS, code.INSTRUCTIONS, code.LIVE_REGISTERS),
    *(code.INLINE_FRAMES, code.LAUNCHES, code.LAUNCH_METRICS, code.RESULTS),
    *(code.TRACE_LAUNCHES, code.TRACE_TABLES, code.TRACE_COLUMNS, code.FINDINGS, code.STALL_REASONS),
    *(samples.SAMPLES, samples.SAMPLE_SIZES, samples.SAMPLERS, launch.LOSSES, samples.SAMPLED_COUNTERS),
    *(blocks.ACCESS_COUNTERS, blocks.REUSE_DISTANCES, blocks.BLOCK_COUNTERS, blocks.WARP_COUNTERS),
    *(launch.LEDGER, launch.ACTIVITY, launch.ACTIVITY_STALLS, launch.ACTIVITY_OF_SMS),
    *(launch.STALLS, launch.STALL_LENGTHS, code.CAUSE_KINDS, launch.CAUSES, launch.BANK_PATTERNS, launch.COUNTERS),
    *(tasks.TASK_ROWS, tasks.STORED_TASKS, tasks.PARAMETERS, tasks.RELATION_KINDS, tasks.STORED_RELATIONS),
    *(tasks.TASK_CONSTRAINTS, tasks.ACCESSES_BY_TASK, tasks.TASK_FINDINGS, tasks.CALLS),
    *(draws.DRAWS, draws.DRAW_LAUNCHES, draws.DRAW_UNITS, draws.DRAW_WORK, draws.DRAW_TRAFFIC, draws.WAVES),
    draws.PRIMITIVES,
)
BY_NAME = {table.name: table for table in STORED}


def ddl(tables: Iterable[Table] = STORED) -> str:
    """The statements that create the tables. The comments stay in the schema that SQLite stores."""
    return "".join(line + "\n" for table in tables for line in (*_definition(table), *_indexes(table)))


def _definition(table: Table) -> Iterator[str]:
    columns = table.in_database
    yield f"CREATE TABLE {table.name} ( -- {table.text}"
    last = None if len(table.key) > 1 else columns[-1]
    for column in columns:
        comma = "" if column is last else ","
        yield f"    {column.name} {rules(table, column)}{comma} -- {comment(column)}"
    if len(table.key) > 1:
        yield f"    PRIMARY KEY ({', '.join(table.key)})"
    yield f"){' WITHOUT ROWID' if _has_no_rowid(table) else ''};"


def rules(table: Table, column: Column) -> str:
    """Type and constraints of a column."""
    words = [column.sql_type]
    if table.key == (column.name,):
        words.append("PRIMARY KEY")
    elif not column.null:
        words.append("NOT NULL")
    words.append(column.sql)
    if column.parent:
        words.append(f"REFERENCES {column.parent}")
    return " ".join(filter(None, words))


def comment(column: Column) -> str:
    return f"{column.text} [{column.unit}]" if column.unit else column.text


def _has_no_rowid(table: Table) -> bool:
    """The primary key is no row number: it has several columns, or a text."""
    types = {column.name: column.sql_type for column in table.in_database}
    return bool(table.key) and [types[name] for name in table.key] != ["INTEGER"]


def _indexes(table: Table) -> Iterator[str]:
    return (f"CREATE INDEX {name} ON {table.name} ({column});" for name, column in table.indexes)


def insertion(table: Table) -> str:
    """The statement that inserts a row."""
    return f"INSERT INTO {table.name} VALUES ({','.join('?' * len(table.in_database))})"
