"""Opens databases, whoever made them, read-only."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from gpuprof.base.files import unreadable
from gpuprof.correlate.schema import APPLICATION_ID, DDL, VERSION
from gpuprof.errors import FileFormatError
from gpuprof.records.schema import MAGIC

SQLITE_MAGIC = b"SQLite format 3\0"


def open_database(path: Path | str) -> sqlite3.Connection:
    """A .gpudb file, read-only.

    Raises UsageError for a file that is not there, FileFormatError for one that is foreign, newer, or damaged.
    """
    path = Path(path)
    start = read_start(path)
    if not start.startswith(SQLITE_MAGIC):
        what = "empty" if not start else "neither a recording nor a database of gpuprof"
        raise FileFormatError(f"{path}: is {what}; expected a file of `gpuprof collect` or `gpuprof correlate`")
    db = sqlite3.connect(f"file:{quote(os.fsencode(path.absolute()))}?mode=ro&immutable=1", uri=True)
    try:
        check_database(db, path)
    except sqlite3.DatabaseError as error:
        db.close()
        raise FileFormatError(f"{path}: is damaged ({error}); correlate the recording again") from None
    except FileFormatError:
        db.close()
        raise
    return db


def ensure_database(path: Path | str) -> sqlite3.Connection:
    """A database from either kind of file: a .gpudb is opened, a .gprec is correlated into memory. The content decides,
    not the name.

    Raises what `open_database` and `correlate` raise.
    """
    path = Path(path)
    if not read_start(path).startswith(MAGIC[:5]):
        return open_database(path)
    from gpuprof.correlate.correlate import build_database  # the reader of modules is only needed here

    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        build_database(db, path)
    except FileFormatError:
        db.close()
        raise
    return db


def read_start(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(len(SQLITE_MAGIC))
    except OSError as error:
        raise unreadable(path, error) from None


def check_database(database: sqlite3.Connection, path: Path) -> None:
    """Raise FileFormatError unless it is one of ours, of a version we know, with the tables of that version;
    sqlite3.DatabaseError when damaged.
    """
    (application_id,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application_id != APPLICATION_ID:
        raise FileFormatError(
            f"{path}: is a SQLite file of another program, not a .gpudb that `gpuprof correlate` made"
        )
    if version > VERSION:
        raise FileFormatError(
            f"{path}: has schema version {version}, and this gpuprof reads up to {VERSION}: use a newer gpuprof"
        )
    (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise FileFormatError(f"{path}: is damaged ({verdict.splitlines()[-1]}); correlate the recording again")
    missing = expected_definitions() - definitions(database)
    if missing:
        names = ", ".join(sorted(name for name, _ in missing))
        raise FileFormatError(f"{path}: lacks or has altered: {names}; correlate the recording again")


def definitions(database: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


def expected_definitions() -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(DDL)
        return definitions(db)
