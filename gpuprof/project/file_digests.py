"""Digests of files' contents, each file read once.

A large file is not read again while its size, times and number are those of before, as git does it: the digests are
cached in a file. A file whose times are not older than the moment it was read may have changed within the clock's step,
so that it is read again.
"""

import hashlib
import json
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from gpuprof.base.files import replacing
from gpuprof.base.inputs import CACHED, RUN_INPUT, open_input, read_input
from gpuprof.errors import GpuprofError, UsageError

ABSENT = ""  # of what is no regular file, or cannot be read; no file has it
LARGE_NBYTES = 1 << 20
CLOCK_STEP_NS = 2_000_000_000  # of the coarsest file systems (FAT), as git assumes it
DIGEST_NBYTES = 16
MOST_KNOWN = 10_000


class FileDigests:
    """`known`: the file with the digests of large files, there or not; None where none are cached."""

    def __init__(self, known: Path | None = None):
        self._file = known
        self._large: dict[str, list] = _read(known) if known else {}
        self._digests: dict[str, str] = {}
        self._is_new = False

    def of_file(self, path: str) -> str:
        if path not in self._digests:
            self._digests[path] = self._digest(path)
        return self._digests[path]

    def of_folder(self, path: str) -> str:
        """The digest of the names in a folder."""
        try:
            return digest_of("\0".join(sorted(os.listdir(path))).encode("utf-8", "surrogateescape"))
        except OSError:
            return ABSENT

    def forget(self) -> None:
        """Files may have changed since they were read."""
        self._digests.clear()

    def _digest(self, path: str) -> str:
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                return ABSENT
            if status.st_size < LARGE_NBYTES:
                return digest_of(read_input(path, RUN_INPUT))
            marks = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
            if path in self._large and self._large[path][:-1] == marks:
                return self._large[path][-1]
            now_ns = time.time_ns()
            with open_input(path, RUN_INPUT) as file:
                digest = _digest_of_file(file)
        except (OSError, ValueError, UsageError):
            return ABSENT
        if max(status.st_mtime_ns, status.st_ctime_ns) + CLOCK_STEP_NS < now_ns:
            self._large[path] = [*marks, digest]
            self._is_new = True
        return digest

    def save(self) -> None:
        """Keeps the digests of large files. A file that cannot be written is only slower, so nothing is raised."""
        if self._file is None or not self._is_new:
            return
        newest = dict(list(self._large.items())[-MOST_KNOWN:])
        with suppress(OSError, GpuprofError), replacing(self._file) as partial:
            partial.write_text(json.dumps(newest), encoding="utf-8")


def _digest_of_file(file: BinaryIO) -> str:
    digest = hashlib.blake2b(digest_size=DIGEST_NBYTES)
    while piece := file.read(LARGE_NBYTES):
        digest.update(piece)
    return digest.hexdigest()


def digest_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=DIGEST_NBYTES).hexdigest()


def _read(known: Path) -> dict[str, list]:
    try:
        rows = json.loads(read_input(known, CACHED))
    except (UsageError, ValueError):
        return {}
    is_whole = isinstance(rows, dict) and all(isinstance(row, list) and len(row) == 5 for row in rows.values())
    return rows if is_whole else {}
