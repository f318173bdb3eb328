"""Databases that somebody edited: a result, or an error that names the table, the column and the row. GPUPROF_FUZZ=1
tries many more.
"""

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gpuprof.correlate.checked_tables import UNREAD, in_tables
from gpuprof.correlate.database import MOST_VALUE_NBYTES, open_database, reading
from gpuprof.errors import FileFormatError
from gpuprof.tables.order import BY_NAME
from tests.fuzz.gpudb_fuzz import (
    BAD,
    Column,
    columns_of,
    each_bad_value,
    forget,
    judge,
    put,
    random_edits,
    write_models,
)
from tests.support.matrices import long_from
from tests.support.recordings import gpuprof
from tests.support.report_database import make_database
from tests.support.work import read_nbytes

THOROUGH = bool(os.environ.get("GPUPROF_FUZZ"))  # about an hour
N_EDITED, N_VALUES = (6_000, 10_000) if THOROUGH else (10, 10)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return write_models(tmp_path_factory.mktemp("databases"))


@pytest.fixture
def database(models, tmp_path):
    shutil.copy(models[1], tmp_path / "a.gpudb")
    return tmp_path / "a.gpudb"


def change(path: Path, *script: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in script:
            db.execute(statement)


def refusal(path: Path) -> str:
    with pytest.raises(FileFormatError) as caught:
        open_database(path)
    return str(caught.value).replace(str(path), "FILE")


DAMAGE = {
    "UPDATE ledger SET cycles = 'many' WHERE launch = 1": "ledger.cycles is 'many' at launch 1, pc 4112, reason 1; "
    "expected an integer, 0 to 9223372036854775807",
    "UPDATE launches SET cycles = -5": "launches.cycles is -5 at launch 0; expected an integer, 0 to "
    "9223372036854775807",
    "UPDATE launches SET grid = '2'": "launches.grid is '2' at launch 0; expected x,y,z",
    "UPDATE launches SET block = '0,1,1' WHERE launch = 1": "launches.block is '0,1,1' at launch 1; expected x,y,z",
    "UPDATE instructions SET line = 4294967296 WHERE pc = 4112": "instructions.line is 4294967296 at pc 4112; expected "
    "an integer, 0 to 4294967295",
    "UPDATE instructions SET text = x'00ff' WHERE pc = 4096": "instructions.text is b'\\x00\\xff' at pc 4096; expected "
    "a text",
    "UPDATE counters SET inst_executed = 0.5 WHERE launch = 0": "counters.inst_executed is 0.5 at launch 0, pc 4112; "
    "expected an integer, 0 to 9223372036854775807",
    "UPDATE samples SET reason = 99 WHERE pc = 4096 AND launch = 0": "samples.reason is 99 at launch 0, pc 4096, "
    "reason 99; expected one of the stall_reasons",
    "INSERT INTO ledger VALUES (77, 4096, 0, 1)": "ledger.launch is 77 at launch 77, pc 4096, reason 0; expected "
    "one of the launches",
    "UPDATE functions SET module = 5": "functions.module is 5 at function 0; expected one of the modules",
    "UPDATE causes SET conflict = 2 WHERE launch = 0": "causes.conflict is 2 at launch 0, pc 4112, reason 1, cause_pc "
    "4112, kind 1, other_warp 1, other_launch 0, conflict 2; expected an integer, 0 to 1",
    "UPDATE sample_sizes SET effective = 0 WHERE launch = 0": "sample_sizes.effective is 0.0 at launch 0; expected a "
    "number, 1e-06 to 1e+18",
    "UPDATE launch_metrics SET value = 'fast' WHERE metric = 'issue_slots'": "launch_metrics.value is 'fast' at launch "
    "0, metric 'issue_slots'; expected a number",
    "UPDATE launch_metrics SET value = 9e999 WHERE metric = 'issue_slots'": "launch_metrics.value is inf at launch 0, "
    "metric 'issue_slots'; expected a number or a short text",
    "UPDATE stalls SET stalls = 9223372036854775807": "stalls.stalls sums to 1.845e+19, more than 2^63 - 1",
    "UPDATE stall_reasons SET name = 'lunch' WHERE reason = 3": "stall_reasons.name is 'lunch' at reason 3, which this "
    "gpuprof does not know",
    "DELETE FROM meta WHERE key = 'chip'": "meta lacks chip",
    "UPDATE meta SET value = '1e5' WHERE key = 'period_cycles'": "meta.value is '1e5' at key period_cycles; expected a "
    "number of at most 18 digits",
    "UPDATE meta SET value = '[' WHERE key = 'chip_json'": "meta.value is no JSON at key chip_json (Expecting "
    "value: line 1 column 2 (char 1))",
    "UPDATE meta SET value = '[]' WHERE key = 'chip_json'": "meta.value is no JSON object at key chip_json",
    """UPDATE meta SET value = '{"sms": 1e99}' WHERE key = 'chip_json'""": "its chip has sms = 1e+99, and a chip has 1 "
    "to 1024 SMs",
    "INSERT INTO samplers WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT 0, i, i "
    "FROM n": "samplers has 200 rows of launch 0; the limit is 100",
    "INSERT INTO ledger WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT 0, "
    "65536 + i, 0, 1 FROM n": "ledger has 30,000 rows of addresses outside every module",
    "INSERT INTO bank_patterns VALUES (0, 4096, 0, 1, 3, 4, 2, 0, 0, 0, 1, 0, 8)": "bank_patterns has runs of no lanes "
    "at launch 0, pc 4096, pattern 0",
    "INSERT INTO bank_patterns VALUES (0, 4096, 0, 1, 3, 4, 2, 1 << 40, 1, 0, 1, 0, 8)": "bank_patterns.stride_1 is "
    "1099511627776 at launch 0, pc 4096, pattern 0; expected an integer, -2147483648 to 2147483647",
    "UPDATE trace_tables SET table_name = 'meta; --'": "trace_tables has a table 'meta; --' whose names or types are "
    "none",
    "UPDATE trace_tables SET table_name = 'trace_columns'": "trace_columns is missing, or has other columns than "
    "trace_columns says",
    "UPDATE trace_columns SET name = 'x\" FROM meta --' WHERE place = 1": "trace_tables has a table 'trace_g_t' whose "
    "names or types are none",
    "DROP TABLE trace_g_t": "trace_g_t is missing, or has other columns than trace_columns says",
    "UPDATE trace_g_t SET share = 'much'": "trace_g_t.share is of another type than trace_columns says in 2 rows",
    "UPDATE findings SET severity = 'fatal'": "findings.severity is 'fatal' at finding 0; expected one of error, "
    "warning, note, advice",
    "UPDATE whatif SET moved_to = '[' WHERE row = 2": "whatif.moved_to is '[' at launch 0, row 2; expected "
    "[[stall reason, share], ...] as JSON",
    """UPDATE whatif SET moved_to = '[["lunch", 0.5]]' WHERE row = 3""": "whatif.moved_to is '[[\"lunch\", 0.5]]' at "
    "launch 0, row 3; expected [[stall reason, share], ...] as JSON",
    """UPDATE whatif SET moved_to = '[["drain", NaN]]' WHERE row = 3""": "whatif.moved_to is '[[\"drain\", NaN]]' at "
    "launch 0, row 3; expected [[stall reason, share], ...] as JSON",
    """UPDATE whatif SET moved_to = '{"drain": 0.5}'""": "whatif.moved_to is '{\"drain\": 0.5}' at launch 0, row 0; "
    "expected [[stall reason, share], ...] as JSON",
    "INSERT INTO advice WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT 0, i, "
    "'', '', '', 0, '', '', '', '', '', 1, 1 FROM n": "advice has 200 rows of launch 0; the limit is 100",
    "UPDATE instructions SET access_nbytes = 129 WHERE pc = 4096": "instructions.access_nbytes is 129 at pc 4096; "
    "expected an integer, 0 to 128",
}  # fmt: skip


@pytest.mark.parametrize("statement", DAMAGE)
def test_the_error_names_the_place(database, statement):
    change(database, statement)
    assert refusal(database) == f"FILE: is damaged: {DAMAGE[statement]}; correlate the recording again"


def test_deep_json(database):
    with closing(sqlite3.connect(database)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'chip_json'", ("[" * 100_000,))
        db.commit()
    assert refusal(database).startswith(
        "FILE: is damaged: meta.value is no JSON at key chip_json (maximum recursion depth exceeded"
    )


def test_null_where_the_schema_has_none(database):
    assert put(database, Column("ledger", "cycles"), None, True)
    # of SQLite itself, in its own words
    assert refusal(database) == "FILE: is damaged (NULL value in ledger.cycles); correlate the recording again"


@pytest.mark.long
def test_every_column_is_checked(models, tmp_path):
    """Whatever holds a blob is refused by the column's name, but for what no command reads."""
    for column in columns_of(models[1]):
        shutil.copy(models[1], tmp_path / "a.gpudb")
        put(tmp_path / "a.gpudb", column, b"\xff", False)
        put(tmp_path / "a.gpudb", column, b"\xff", True)  # the first may be NULL; a key takes only one
        if BY_NAME.get(column.table) not in UNREAD:  # a generator's table is always read
            # SQLite itself takes no blob for an integer key
            is_refused = _refused(tmp_path / "a.gpudb")
            assert is_refused == "" or f"{column.table}.{column.name} " in is_refused, column
            assert is_refused or _is_row_number(column), column
        forget(tmp_path)


def test_a_table_is_looked_at_once_for_all_that_refer_to_it(database):
    """There may be a million tasks, and ten columns refer to them."""
    looks = []
    with closing(sqlite3.connect(database)) as db:
        db.set_trace_callback(lambda sql: looks.append(sql) if sql.startswith("SELECT COUNT(*), MIN(") else None)
        assert list(in_tables(db)) == []
    assert len(looks) == len(set(looks)) > 3


def _refused(path: Path) -> str:
    try:
        open_database(path).close()
    except FileFormatError as error:
        return str(error)
    return ""


def _is_row_number(column: Column) -> bool:
    table = BY_NAME[column.table]
    types = {each.name: each.sql_type for each in table.in_database}
    return table.key == (column.name,) and types[column.name] == "INTEGER"


def test_good_databases_are_good(models):
    for path in models:
        with reading(path) as db:
            assert list(in_tables(db)) == []


def test_lanes_may_go_down(database):
    """Stride -4: a lane's word lies before that of the lane before it."""
    change(database, "INSERT INTO bank_patterns VALUES (0, 4096, 0, 1, 3, -4, 2, 0, 1, 0, 1, 0, 8)")
    assert _refused(database) == ""


def test_text_that_is_no_utf_8_is_shown_as_such(database):
    change(database, "UPDATE functions SET display = CAST(x'61ff62' AS TEXT)")
    with reading(database) as db:
        assert db.execute("SELECT display FROM functions").fetchone() == ("a�b",)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


def test_a_view_in_the_place_of_a_table_is_not_run(database):
    change(database, "DROP VIEW lines", "DROP TABLE ledger", f"CREATE VIEW ledger AS {ENDLESS}")
    # if it ran, the limit of steps would be the reason
    assert refusal(database) == "FILE: lacks or has altered: ledger, lines; correlate the recording again"


def test_a_statement_without_end_is_interrupted(database, monkeypatch):
    monkeypatch.setattr("gpuprof.correlate.database.LEAST_STEPS", 2_000_000)
    monkeypatch.setattr("gpuprof.correlate.database.STEPS_PER_BYTE", 1)
    change(database, f"CREATE VIEW mine AS {ENDLESS}")
    with pytest.raises(FileFormatError) as caught, reading(database) as db:
        db.execute("SELECT COUNT(*) FROM mine").fetchone()
    assert str(caught.value) == (
        f"{database}: is damaged (reading it takes longer than its size can be the reason for); correlate the "
        "recording again"
    )


def test_a_value_that_is_too_long(database):
    with closing(sqlite3.connect(database)) as db:
        db.execute(f"UPDATE modules SET ptx = zeroblob({MOST_VALUE_NBYTES + 1})")
        db.commit()
    assert refusal(database).startswith("FILE: is damaged")


def test_files_beside_it_are_not_read(database):
    expected = gpuprof(database.parent, "report", "a.gpudb")
    change(database, "PRAGMA journal_mode = WAL")
    for ending in ("-wal", "-journal", "-shm"):
        database.with_name(database.name + ending).write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(5000))
    assert gpuprof(database.parent, "report", "a.gpudb") == expected
    assert sorted(path.name for path in database.parent.iterdir() if "-" in path.name) == [
        "a.gpudb-journal", "a.gpudb-shm", "a.gpudb-wal",
    ]  # fmt: skip


def test_long_and_sparse_files(database):
    small = read_nbytes(lambda: _refused(database))
    os.truncate(database, 6 << 30)

    def check() -> None:
        assert _refused(database) == ""  # SQLite goes by the header's number of pages
        os.truncate(database, 17 << 30)
        code, out, error = gpuprof(database.parent, "report", "a.gpudb")
        assert (code, out) == (2, "")
        assert error.startswith("gpuprof: a.gpudb: has 18,253,611,008 bytes; the limit for a")

    assert read_nbytes(check) <= small + (16 << 20)


def test_a_million_orphans_take_few_steps_each(tmp_path, monkeypatch):
    """With more steps, their limit would be the reason."""
    monkeypatch.setattr("gpuprof.correlate.database.LEAST_STEPS", 40_000_000)
    monkeypatch.setattr("gpuprof.correlate.database.STEPS_PER_BYTE", 0)
    path = make_database(tmp_path / "a.gpudb")
    change(
        path,
        "INSERT INTO ledger WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) "
        "SELECT 9, i, 0, 1 FROM n",
    )
    assert refusal(path).startswith("FILE: is damaged: ledger.launch is 9 at launch 9, pc 1, reason 0; expected one of")


def test_fuzz_bad_values(models):
    """Columns and values at random; thorough, nearly all of each."""
    folder = models[0].parent
    chosen = [(model, bad) for model in models for bad in each_bad_value(columns_of(model))]
    random.Random(0).shuffle(chosen)
    for number, (model, (column, value, everywhere)) in enumerate(chosen[:N_VALUES]):
        forget(folder)
        shutil.copy(model, folder / "a.gpudb")
        put(folder / "a.gpudb", column, value, everywhere)
        judge(folder, random.Random(number), 1)
    assert len(BAD) > 30


@pytest.mark.parametrize("seed", long_from(1, range(2)))
def test_fuzz_edited_databases(models, seed):
    folder = models[0].parent
    for number in range(N_EDITED):
        rng = random.Random(f"{seed}:{number}")
        random_edits(folder, models, rng)
        judge(folder, rng, 1)
