"""Edits databases as somebody with `sqlite3`, an editor of bytes and bad intentions would, and gives them to every
command that reads one. `python -m tests.fuzz.gpudb_fuzz SECONDS [SEED]` runs as long as it is told.

First each column of the schema holds each bad value, in one row and in all; then edits at random: values, rows, the
schema, bytes, files beside it.
"""

import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from gpuprof.correlate.correlate import correlate
from tests.fuzz.gprec_fuzz import CODES, READERS as RECORDING_READERS, kind_of, write_everything
from tests.support.measured_rows import add_measured
from tests.support.recordings import gpuprof
from tests.support.report_database import make_database

LONGEST_S = 20
MOST_MEMORY_NBYTES = 4 << 30
BAD = (
    None, "", "abc", "0x10", "9" * 5000, "{" * 3000, "1,2", "0,0,0", "4294967296,1,1", "1,1,1,1", "\x1b[2J\n", "x\0y",
    "\u202e", -1, 0, 1, 2, 18, 19, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 0.5, -0.0, 1e308, -1e308,
    float("inf"), float("-inf"), b"", b"\xff\xfe", b"\0" * 100, "[" * 100_000, "null", "[]", '{"sms": "x"}',
    '{"clock_mhz": 1e400}', '{"maker": 3}',
)  # fmt: skip
READERS = [
    tuple("a.gpudb" if word == "a.gprec" else word for word in command)
    for command in RECORDING_READERS
    if command[0] in ("report", "export", "quality", "check")
]
READERS += [("check", "a.gpudb", "--baseline", "good.txt"), ("report", "a.gpudb", "--kernel", "s")]


class Column(NamedTuple):
    table: str
    name: str


def write_models(folder: Path) -> list[Path]:
    """Two databases with rows in every table, and the baseline of the first."""
    write_everything(folder / "everything.gprec")
    correlate(folder / "everything.gprec", folder / "everything.gpudb")
    add_measured(folder / "everything.gpudb")
    make_database(folder / "transpose.gpudb")
    code, _, error = gpuprof(folder, "check", "transpose.gpudb", "--baseline", "good.txt", "--update")
    assert code == 0, error
    return [folder / "transpose.gpudb", folder / "everything.gpudb"]


def columns_of(path: Path) -> list[Column]:
    with closing(sqlite3.connect(path)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return [Column(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({table})")]


# Edits.


def put(path: Path, column: Column, value, everywhere: bool) -> bool:
    """Puts a value into one row or all, whatever the schema says of it; whether SQLite let us."""
    one = "" if everywhere else f"WHERE ({column.name}) IN (SELECT {column.name} FROM {column.table} LIMIT 1)"
    with (
        without_rules(path, column.table),
        closing(sqlite3.connect(path, isolation_level=None)) as db,
        suppress(sqlite3.IntegrityError, sqlite3.OperationalError),
    ):
        db.execute(f"UPDATE {column.table} SET {column.name} = ? {one}", (value,))
        return True
    return False


class without_rules:
    """Inside, a table takes NULL everywhere; behind it the schema says what it said."""

    def __init__(self, path: Path, table: str):
        self.path, self.table = path, table

    def __enter__(self):
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            (self.sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (self.table,)).fetchone()
        self.say(self.sql.replace(" NOT NULL", ""))

    def __exit__(self, *_):
        self.say(self.sql)

    def say(self, sql: str) -> None:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            db.execute("PRAGMA writable_schema = ON")
            db.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, self.table))


def edit_value(path: Path, columns: list[Column], rng: random.Random) -> None:
    put(path, rng.choice(columns), rng.choice(BAD), rng.random() < 0.3)


def edit_rows(path: Path, columns: list[Column], rng: random.Random) -> None:
    table = rng.choice(columns).table
    with closing(sqlite3.connect(path, isolation_level=None)) as db, suppress(sqlite3.Error):
        what = rng.randrange(3)
        if what == 0:
            db.execute(f"DELETE FROM {table}")
        elif what == 1:
            db.execute(f"DELETE FROM {table} WHERE random() % 2")
        else:
            width = len(db.execute(f"SELECT * FROM {table} LIMIT 0").description)
            values = [
                tuple(rng.choice((n, 0, 1, 0x1000 + 16 * (n % 50), rng.choice(BAD))) for _ in range(width))
                for n in range(rng.choice((1, 10, 3000)))
            ]
            db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * width)})", values)


SCHEMA_EDITS = (
    "DROP TABLE {table}",
    "CREATE INDEX mine ON {table} ({column})",
    "CREATE VIEW mine AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n",
    "CREATE TRIGGER mine AFTER DELETE ON {table} BEGIN DELETE FROM meta; END",
    "DROP TABLE {table}; CREATE VIEW {table} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT * FROM n",
    "ALTER TABLE {table} ADD COLUMN more TEXT",
    "ALTER TABLE {table} RENAME COLUMN {column} TO other",
    "CREATE TABLE more (x CHECK (length(printf('%*c', 100000000, 'x')) > x)); INSERT INTO more VALUES (1)",
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 1",
    "PRAGMA journal_mode = WAL",
    "PRAGMA encoding = 'UTF-16'",
)


def edit_schema(path: Path, columns: list[Column], rng: random.Random) -> None:
    column = rng.choice(columns)
    script = rng.choice(SCHEMA_EDITS).format(table=column.table, column=column.name)
    with closing(sqlite3.connect(path, isolation_level=None)) as db, suppress(sqlite3.Error):
        db.executescript(script)


def edit_bytes(path: Path, columns: list[Column], rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    what = rng.randrange(5)
    if what == 0:
        del data[rng.randrange(len(data)) :]
    elif what == 1:
        data[:100] = bytes(rng.randrange(256) if rng.random() < 0.05 else each for each in data[:100])
    else:
        for _ in range(rng.choice((1, 3, 30))):
            at = rng.randrange(len(data))
            data[at] = rng.choice((0, 0xFF, 0x7F, 0x80, rng.randrange(256)))
    path.write_bytes(data)


def edit_beside(path: Path, columns: list[Column], rng: random.Random) -> None:
    path.with_name(path.name + rng.choice(("-wal", "-journal", "-shm"))).write_bytes(rng.randbytes(5000))


EDITS = (edit_value, edit_value, edit_value, edit_rows, edit_rows, edit_schema, edit_bytes, edit_bytes, edit_beside)


def each_bad_value(columns: list[Column]) -> Iterator[tuple[Column, object, bool]]:
    """Every column with every bad value, in one row and in all."""
    for column in columns:
        for value in BAD:
            yield column, value, False
            yield column, value, True


# What becomes of them.


def run(folder: Path, command: tuple[str, ...]) -> int:
    """The exit code. Raises for anything but an exit, one that takes too long or that does not say why."""
    began = time.perf_counter()
    code, out, error = gpuprof(folder, *command)
    seconds = time.perf_counter() - began
    assert seconds < LONGEST_S, f"{command[0]} took {seconds:.0f} s"
    assert code in CODES, f"{command[0]} exits with {code}"
    assert code == 0 or (out and code in (3, 4)) or error.startswith("gpuprof: "), f"{command[0]} says {error[:80]!r}"
    assert "Traceback" not in error
    return code


def judge(folder: Path, rng: random.Random, most: int = len(READERS)) -> str:
    """How the file a.gpudb is taken: "read" or "refused"."""
    codes = {run(folder, command) for command in [READERS[0], *rng.sample(READERS, min(most, len(READERS)))]}
    return "read" if 0 in codes else "refused"


def forget(folder: Path) -> None:
    for path in folder.glob("a.gpudb*"):
        path.unlink()


def random_edits(folder: Path, models: list[Path], rng: random.Random) -> str:
    forget(folder)
    model = rng.choice(models)
    shutil.copy(model, folder / "a.gpudb")
    edits = [rng.choice(EDITS) for _ in range(rng.choice((1, 1, 2, 3)))]
    columns = columns_of(model)
    for edit in edits:
        with suppress(sqlite3.Error, UnicodeDecodeError, TypeError):  # damaged before, so that SQLite has it no more
            edit(folder / "a.gpudb", columns, rng)
    return ", ".join(edit.__name__ for edit in edits)


def keep_findings(folder: Path, seconds: float, seed: int, report: Callable[[str], None]) -> None:
    """Each new kind of finding once, with its file in build/fuzz."""
    kept = Path("build/fuzz").absolute()
    kept.mkdir(parents=True, exist_ok=True)
    models = write_models(folder)
    counts, seen, number = {"read": 0, "refused": 0, "FOUND": 0}, set(), 0
    end = time.monotonic() + seconds
    chosen = list(each_bad_value(columns_of(models[1])))
    random.Random(seed).shuffle(chosen)
    while time.monotonic() < end:
        rng = random.Random(f"{seed}:{number}")
        if number % 2 and chosen:
            column, value, everywhere = chosen.pop()
            forget(folder)
            shutil.copy(models[number // 2 % 2], folder / "a.gpudb")
            put(folder / "a.gpudb", column, value, everywhere)
            what = f"{column.table}.{column.name} = {str(value)[:30]!r}"
        else:
            what = random_edits(folder, models, rng)
        try:
            outcome = judge(folder, rng, 6)
        except Exception as error:
            outcome = "FOUND"
            kind = kind_of(error)
            if kind not in seen:
                seen.add(kind)
                shutil.copy(folder / "a.gpudb", kept / f"{seed}-{number}.gpudb")
                report(f"{kept / f'{seed}-{number}.gpudb'}: {what}: {kind}: {str(error)[:160]}")
        counts[outcome] += 1
        number += 1
    report(f"{number} databases: {counts}; {len(seen)} kinds of findings; {len(chosen)} single values are left")


def main(seconds: float, seed: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_NBYTES, MOST_MEMORY_NBYTES))  # MemoryError is a finding
    with tempfile.TemporaryDirectory() as folder:
        keep_findings(Path(folder), seconds, seed, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
