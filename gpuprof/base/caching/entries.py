"""Entries of the cache that are files: what a compiler or the assembler made, named by a digest of all that decides it.

First line of a file: SHA-256 of the rest, so that a damaged entry is no entry. The folders are those of `folders`. A
cache that cannot be written (no home, a full disk) is only slower.
"""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import get_native_id

from gpuprof.base.folders import cache_folder
from gpuprof.base.inputs import CACHED, read_input
from gpuprof.base.processes import is_running
from gpuprof.errors import UsageError

MODULES, FUNCTIONS = "ptx", "functions"  # folders: modules of compilers, functions of the assembler
MOST_ENTRIES = 500
MOST_NBYTES = 1 << 29  # of a folder's entries together; the oldest go first
_NEW = ".new-"  # and the numbers of the process and the thread that write it


def folder(name: str) -> Path:
    """Raises OSError when there is none that can be used."""
    return cache_folder(name, is_executed=False).path


def digest(parts: Iterable[bytes]) -> str:
    """One digest for a list of byte strings; their lengths are part of it."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()


def stored(name: str, key: str) -> bytes | None:
    """The bytes that `store` stored under a key of the folder `name`, if they are whole."""
    try:
        checksum, _, payload = read_input(folder(name) / key, CACHED).partition(b"\n")
    except (OSError, UsageError):  # OSError: no home to look in
        return None
    return payload if hashlib.sha256(payload).hexdigest().encode() == checksum else None


def store(name: str, key: str, payload: bytes) -> None:
    """Writes an entry. Raises nothing when it cannot be written."""
    with suppress(OSError):
        entries = folder(name)
        write(entries / key, hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)
        _prune(entries)


def write(path: Path, data: bytes) -> None:
    """Writes a file as a whole: readers see the old one or the new one. Raises OSError."""
    new = path.with_name(f"{_NEW}{os.getpid()}-{get_native_id()}")
    try:
        new.write_bytes(data)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def _prune(entries: Path) -> None:
    """Removes the oldest entries beyond the limits, and unfinished ones of killed processes."""
    for path in entries.glob(f"{_NEW}*"):
        if not is_running(int(path.name.removeprefix(_NEW).partition("-")[0])):
            path.unlink(missing_ok=True)
    nbytes = 0
    for number, path in enumerate(sorted(entries.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True), 1):
        nbytes += path.stat().st_size
        if number > MOST_ENTRIES or nbytes > MOST_NBYTES:
            path.unlink(missing_ok=True)
