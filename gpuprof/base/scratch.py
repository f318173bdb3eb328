"""Temporary folders. Each goes with the block that uses it; those of killed processes go when the next one is made."""

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import gethostname

from gpuprof.base.interrupts import uninterrupted
from gpuprof.base.processes import is_running


@contextmanager
def temporary_folder(inside: str | None = None) -> Iterator[Path]:
    """A new folder, for this user only, in `inside` or else where temporary files go."""
    where = inside or tempfile.gettempdir()
    remove_left_folders(where)
    folder = None
    try:
        with uninterrupted():
            folder = Path(tempfile.mkdtemp(prefix=f"{_beginning()}{os.getpid()}-", dir=where))
            _folders.add(folder)
        yield folder
    finally:
        with uninterrupted():
            if folder:
                _remove(folder)


def remove_left_folders(where: str | None = None) -> None:
    """Removes the temporary folders of this user's processes that are no more."""
    where = where or tempfile.gettempdir()
    pattern = re.compile(re.escape(_beginning()) + "([0-9]{1,9})-[^/]+")
    with suppress(OSError), os.scandir(where) as entries:
        for entry in entries:
            number = pattern.fullmatch(entry.name)
            if number and not is_running(int(number[1])) and _is_own_folder(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


_folders: set[Path] = set()


def _beginning() -> str:
    # with the machine's name, since folders are shared and process numbers are not
    return f"gpuprof-{gethostname()}."


def _is_own_folder(entry: os.DirEntry) -> bool:
    if not entry.is_dir(follow_symlinks=False):
        return False
    return os.name != "posix" or entry.stat(follow_symlinks=False).st_uid == os.geteuid()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _folders.discard(folder)


@atexit.register
def remove_own_folders() -> None:
    """Removes this process's folders that still exist: the block that used one did not end before the process did."""
    for folder in list(_folders):
        _remove(folder)
