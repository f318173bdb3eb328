"""A large database is checked once: until it changes."""

import os
import shutil
from pathlib import Path

import pytest

from gpuprof.base.caching import checked_files
from gpuprof.base.caching.checked_files import LEAST_AGE_NS, LEAST_NBYTES, key_of
from gpuprof.correlate import database
from gpuprof.correlate.correlate import correlate
from gpuprof.errors import FileFormatError
from tests.support.many_tasks import write_many_tasks


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A database, in a cache of its own; any counts as large, and as written long ago."""
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(checked_files, "LEAST_NBYTES", 0)
    monkeypatch.setattr(checked_files, "LEAST_AGE_NS", 0)
    write_many_tasks(tmp_path / "it.gprec", 100)
    correlate(tmp_path / "it.gprec", tmp_path / "it.gpudb")
    return tmp_path / "it.gpudb"


@pytest.fixture
def checks(monkeypatch) -> list[Path]:
    """The paths of the databases that are checked."""
    found: list[Path] = []
    check = database.check_database

    def noting(opened, path):
        found.append(path)
        check(opened, path)

    monkeypatch.setattr(database, "check_database", noting)
    return found


def test_a_database_is_checked_once(path, checks):
    for _ in range(3):
        database.open_database(path).close()
    assert checks == [path]


def test_a_file_that_changed_is_checked_again(path, checks):
    database.open_database(path).close()
    os.utime(path, ns=(1, 1))
    database.open_database(path).close()
    shutil.copy(path, path.with_name("copy.gpudb"))
    database.open_database(path.with_name("copy.gpudb")).close()
    assert checks == [path, path, path.with_name("copy.gpudb")]


def test_a_damaged_file_is_refused_each_time(path, checks):
    data = bytearray(path.read_bytes())
    data[5000:9000] = b"\xff" * 4000
    path.write_bytes(data)
    for _ in range(2):
        with pytest.raises(FileFormatError, match="damaged"):
            database.open_database(path)
    assert checks == [path, path]


def test_a_file_of_this_moment_is_not_entered(path, checks, monkeypatch):
    monkeypatch.setattr(checked_files, "LEAST_AGE_NS", LEAST_AGE_NS)
    os.utime(path)
    for _ in range(2):
        database.open_database(path).close()
    assert checks == [path, path]


def test_small_files_are_not_entered(path, checks, monkeypatch):
    monkeypatch.setattr(checked_files, "LEAST_NBYTES", LEAST_NBYTES)
    assert key_of(path, database.CHECKS) == ""
    for _ in range(2):
        database.open_database(path).close()
    assert checks == [path, path]
