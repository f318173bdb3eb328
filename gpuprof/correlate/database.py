"""Opens databases, whoever made them, read-only."""

import itertools
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from gpuprof.base.caching.checked_files import enter, key_of, was_checked
from gpuprof.base.inputs import DATABASE, RECORDING, check_input, open_input
from gpuprof.correlate.checked_tables import in_tables
from gpuprof.correlate.schema import APPLICATION_ID, DDL, VERSION
from gpuprof.errors import FileFormatError
from gpuprof.records.schema import MAGIC

CHECKS = f"database {VERSION}, checks 1"  # raise the last number when the checks change
SQLITE_MAGIC = b"SQLite format 3\0"
MOST_VALUE_NBYTES = 256 << 20  # of one value: a module's PTX is the longest there is
# Steps of SQLite's machine before it is interrupted: seconds for a small file, and for a large one many times what
# reading all of it takes.
STEPS = 1_000_000  # between two looks
LEAST_STEPS = 1_000_000_000
STEPS_PER_BYTE = 1_000
TOO_LONG = "reading it takes longer than its size can be the reason for"


def open_database(path: Path | str) -> sqlite3.Connection:
    """A .gpudb file, read-only, whose tables hold what the schema says. A statement that runs for longer than the file
    can be the reason for is interrupted.

    Raises UsageError for a file that is not there, FileFormatError for one that is foreign, newer, or damaged.
    """
    path = Path(path)
    start = read_start(path)
    if not start.startswith(SQLITE_MAGIC):
        what = "empty" if not start else "neither a recording nor a database of gpuprof"
        raise FileFormatError(f"{path}: is {what}; expected a file of `gpuprof collect` or `gpuprof correlate`")
    check_input(path, DATABASE)
    with as_file_errors(path):
        # "immutable": a journal next to it is not read, and nothing is locked
        db = sqlite3.connect(f"file:{quote(os.fsencode(path.absolute()))}?mode=ro&immutable=1", uri=True)
        try:
            restrict(db, path.stat().st_size)
            key = key_of(path, CHECKS)
            if not was_checked(key):
                check_database(db, path)
                enter(path, CHECKS, key)
        except BaseException:
            db.close()
            raise
    return db


def restrict(database: sqlite3.Connection, nbytes: int) -> None:
    """Limit a database of `nbytes`, which may have been made to keep its reader busy for ever."""
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE_NBYTES)
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    calls = itertools.count(1)
    most = (LEAST_STEPS + STEPS_PER_BYTE * nbytes) // STEPS
    database.set_progress_handler(lambda: next(calls) > most, STEPS)


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
        check_tables(db, path)
    except FileFormatError:
        db.close()
        raise
    return db


@contextmanager
def reading(path: Path | str) -> Iterator[sqlite3.Connection]:
    """`ensure_database` for a block, at whose end it is closed. What SQLite refuses in it is the file's fault."""
    with closing(ensure_database(path)) as db, as_file_errors(Path(path)):
        yield db


@contextmanager
def as_file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        why = TOO_LONG if str(error) == "interrupted" else str(error)
        raise FileFormatError(f"{path}: is damaged ({why}); correlate the recording again") from None
    # UnicodeDecodeError: SQLite's own message quotes a damaged schema
    except (sqlite3.Error, UnicodeDecodeError, MemoryError) as error:
        why = str(error) or "it asks for more memory than there is"
        raise FileFormatError(f"{path}: is damaged ({why}); correlate the recording again") from None


def read_start(path: Path) -> bytes:
    """Raises UsageError for a file that cannot be read, or is too long for a database and for a recording."""
    with open_input(path, RECORDING) as file:
        return file.read(len(SQLITE_MAGIC))


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
    # a user's own index answers our queries, too, and only the long check compares it with its table
    check = "integrity_check" if definitions(database) - expected_definitions() else "quick_check"
    (verdict,) = database.execute(f"PRAGMA {check}(1)").fetchone()
    if verdict != "ok":
        raise FileFormatError(f"{path}: is damaged ({verdict.splitlines()[-1]}); correlate the recording again")
    missing = expected_definitions() - definitions(database)
    if missing:
        names = ", ".join(sorted(name for name, _ in missing))
        raise FileFormatError(f"{path}: lacks or has altered: {names}; correlate the recording again")
    check_tables(database, path)


def check_tables(database: sqlite3.Connection, path: Path) -> None:
    """Raise FileFormatError for tables that hold what the schema does not allow."""
    for wrong in in_tables(database):
        raise FileFormatError(f"{path}: is damaged: {wrong.text}; correlate the recording again")


def definitions(database: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


def expected_definitions() -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(DDL)
        return definitions(db)
