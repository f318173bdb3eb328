"""Targets of outputs: the name of an output leads to a regular file, which may exist, or to an open file that bytes go
into.

A link leads to its target, and stays a link. Folders, devices, FIFOs and sockets are refused, except the null device.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gpuprof.errors import GpuprofError, UsageError

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None

MOST_LINKS = 40  # Linux: MAXSYMLINKS
OTHER_TYPES = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a link",  # where a link itself would be replaced
}


class Target(NamedTuple):
    """`path`: the regular file that all links lead to, which is made or replaced; `status`: that of an existing file.

    Without a path the bytes go into the open file `descriptor` of this process, or without that into nothing.
    """

    name: Path  # as it was given, for messages
    path: Path | None
    status: os.stat_result | None = None
    descriptor: int | None = None

    def open(self) -> BinaryIO:
        """A file that is written into, of a target without a path."""
        if self.descriptor is None:
            return open(os.devnull, "wb", buffering=0)
        return open(os.dup(self.descriptor), "wb", buffering=0)


def target_of(name: Path) -> Target:
    """Raises UsageError for what is never written, or in a folder that is not there, GpuprofError where the system
    refuses.
    """
    descriptor = _descriptor(name)
    if descriptor is not None:
        _check_open(name, descriptor)
        return Target(name, None, descriptor=descriptor)
    status = _status(name)
    if status is not None and _is_null(status):
        return Target(name, None)
    if status is not None:
        check_regular(name, status)
    path = Path(os.path.realpath(name))
    _check_folder(name, path.parent)
    return Target(name, path, status)


def check_regular(name: Path, status: os.stat_result) -> None:
    """Raises UsageError for a folder, a device, a FIFO, a socket."""
    if not stat.S_ISREG(status.st_mode):
        what = OTHER_TYPES.get(stat.S_IFMT(status.st_mode), "no regular file")
        raise UsageError(f"{name}: is {what}; give a file name")


def refused(name: Path, error: OSError) -> GpuprofError:
    return GpuprofError(f"{name}: cannot be written: {error.strerror}")


def _status(name: Path) -> os.stat_result | None:
    """The status of the file that a name leads to; None when there is none."""
    try:
        return os.stat(name)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refused(name, error) from None


def _is_null(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == os.stat(os.devnull).st_rdev


def _check_folder(name: Path, folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{name}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise GpuprofError(f"{name}: cannot be written: the folder {folder} is not writable")


def _descriptor(name: Path) -> int | None:
    """The descriptor that /dev/stdout, /dev/fd/N, /proc/self/fd/N, or a link to one of them, names.

    It may be of a regular file, which is open already and must not be replaced.
    """
    numbers = os.path.realpath("/dev/fd")
    path = os.path.join(os.getcwd(), name)
    for _ in range(MOST_LINKS):
        folder, last = os.path.split(path)
        if last.isascii() and last.isdecimal() and os.path.realpath(folder) == numbers:
            return int(last)
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


def _check_open(name: Path, descriptor: int) -> None:
    try:
        access = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    except (OSError, OverflowError):
        raise UsageError(f"{name}: is not open; redirect it to a file or a pipe") from None
    if access == os.O_RDONLY:
        raise UsageError(f"{name}: is not open for writing; redirect it to a file or a pipe")
