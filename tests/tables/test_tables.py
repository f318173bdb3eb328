"""Declared tables: layouts, columns of the database, and the versions of both formats."""

import zlib
from dataclasses import fields

import numpy as np
import pytest

from gpuprof.correlate import schema as stored
from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES
from gpuprof.records import schema as recorded
from gpuprof.records.encoding import LaunchRows, MalformedPayload, decode, encode_rows
from gpuprof.tables.launch import CAUSES, COUNTERS, NUMBERS
from gpuprof.tables.order import RECORDED, STORED
from gpuprof.tables.sql import ddl, insertion
from gpuprof.tables.table import FLAG, KEY, LAUNCH, LAUNCH_OF_ROW, MAX, PC, RESERVED, SUM, Column, Table
from gpuprof.timing.state.launch_timing import LaunchTiming

NEW = Column("seen", "<u8", "", "added later", since=9)
TABLE = Table(
    "things",
    "things of a launch",
    (
        Column("pc", "<u4", "", "where", PC),
        Column("launch", "<u4", "", "launch index", LAUNCH),
        Column("flags", "<u2", "", "bits", FLAG),
        Column("reserved", "<u2", "", "zero", RESERVED),
        Column("longest", "<u8", "cycles", "the longest", MAX),
        Column("n", "<u8", "things", "how many"),
    ),
    chunk=b"THNG",
    grain="launch pc is_far",
    stored=("n pc", Column("is_far", "integer", "", "bit 1", FLAG), ...),
    indexes=(("things_n", "n"),),
)


def test_columns_of_the_database():
    """Those that `stored` lists, and the rest in their order; no launch index twice, and no reserved one."""
    assert TABLE.in_database[0] is LAUNCH_OF_ROW
    assert [column.name for column in TABLE.in_database] == ["launch", "n", "pc", "is_far", "flags", "longest"]


def test_sql():
    assert ddl([TABLE]) == (
        "CREATE TABLE things ( -- things of a launch\n"
        "    launch INTEGER NOT NULL REFERENCES launches, -- the launch in which it was measured\n"
        "    n INTEGER NOT NULL, -- how many [things]\n"
        "    pc INTEGER NOT NULL, -- where\n"
        "    is_far INTEGER NOT NULL, -- bit 1\n"
        "    flags INTEGER NOT NULL, -- bits\n"
        "    longest INTEGER NOT NULL, -- the longest [cycles]\n"
        "    PRIMARY KEY (launch, pc, is_far)\n"
        ") WITHOUT ROWID;\n"
        "CREATE INDEX things_n ON things (n);\n"
    )
    assert insertion(TABLE) == "INSERT INTO things VALUES (?,?,?,?,?,?)"
    table = Table("names", "names", (Column("name", "text", "", "its name", KEY, null=True),))
    assert ddl([table]) == "CREATE TABLE names ( -- names\n    name TEXT -- its name\n);\n"


def test_amounts():
    assert TABLE.names(SUM, MAX) == ("longest", "n")
    rows = np.array([(1, 0, 1, 0, 0, 0), (1, 0, 0, 0, 5, 0), (2, 0, 0, 0, 0, 1)], TABLE.dtype)
    assert TABLE.has_amounts(rows).tolist() == [False, True, True]


def test_rows_of_an_older_version():
    """A column that was added later is 0 in them."""
    table = Table("things", "", (TABLE.columns[0], NEW), chunk=b"THNG")
    chunk = recorded.Chunk(b"THNG", "array", "", table=table)
    older = np.array([(7,), (8,)], table.dtype_of(8))
    read = decode(chunk, encode_rows(3, older), version=8)
    assert isinstance(read, LaunchRows) and read.rows.tolist() == [(7, 0), (8, 0)] and not read.rows.flags.writeable
    newer = np.array([(7, 1 << 40)], table.dtype)
    assert decode(chunk, encode_rows(3, newer), version=9).rows.tolist() == [(7, 1 << 40)]
    with pytest.raises(MalformedPayload, match="says 2 rows, which take 32 bytes, and has 16"):
        decode(chunk, encode_rows(3, older), version=9)
    assert table.newest == 9


# CRC-32 of the layouts, which decide which files can be read. Where one differs, a column or table has changed: a new
# one has `since=` the next version, which has another line here; others do not change.
LAYOUTS = {11: 0xDD2D1D54}
DEFINITIONS = {12: 0xF3F6C23C}


def layout() -> str:
    return "\n".join(f"{table.chunk} {table.dtype.descr}" for table in RECORDED)


def test_a_change_of_rows_is_a_version_of_recordings():
    assert (recorded.VERSION, zlib.crc32(layout().encode())) in LAYOUTS.items()


def test_a_change_of_tables_is_a_version_of_databases():
    assert (stored.VERSION, zlib.crc32(stored.DDL.encode())) in DEFINITIONS.items()


@pytest.mark.parametrize("table", STORED, ids=lambda table: table.name)
def test_columns_are_declared_in_full(table):
    """Names differ, keys and parents exist, and every column has a meaning of its own."""
    names = [column.name for column in table.in_database]
    assert len(set(names)) == len(names) and set(table.key) <= set(names)
    assert {column.parent for column in table.in_database} <= {"", *(each.name for each in STORED)}
    assert all(column.text and column.text != column.name for column in table.in_database)


def test_numbers_of_a_launch_are_declared():
    """All that a timing gives, but for fields of their own."""
    of_timing = {field.name for field in fields(LaunchTiming) if field.type in (int, str, bool, int | None)}
    own = {field.name for field in recorded.LAUNCH_END_FIELDS}
    assert of_timing - own < {column.name for column in NUMBERS.columns}


def test_counters_of_the_emulator_are_declared():
    assert COUNTERS.names(SUM) == COUNTER_NAMES


def test_each_table_has_a_chunk_of_its_own():
    chunks = [table.chunk for table in RECORDED]
    assert len(set(chunks)) == len(chunks) and all(len(chunk) == 4 for chunk in chunks)
    assert {table for table in STORED if table.chunk} <= set(RECORDED)
    assert (COUNTERS.chunk, CAUSES.chunk) == (b"CNTR", b"CAUS")
