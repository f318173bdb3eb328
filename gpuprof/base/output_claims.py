"""One writer for a file: a second run that wants it meanwhile is refused before it works.

The claim is a lock (flock) on an empty hidden file in the output's folder. The system drops it when the process ends,
in whatever way; the hidden file of a killed run is removed when the next one ends. It holds for all users of a machine,
and on NFS for all machines. Where the file system has no locks, no run is refused.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpuprof.base.files import hidden_beginning
from gpuprof.base.interrupts import uninterrupted
from gpuprof.base.output_targets import Target, fcntl, refused
from gpuprof.errors import UsageError

FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK if fcntl else 0


@contextmanager
def claimed(target: Target) -> Iterator[None]:
    """While the block runs no other process can claim the same file. Raises UsageError when another one has claimed it,
    GpuprofError when the system refuses.
    """
    if fcntl is None or target.path is None:
        yield
        return
    path, descriptor = Path(f"{hidden_beginning(target.path)}lock"), None
    try:
        with uninterrupted():
            descriptor = _claim(target, path)
        yield
    finally:
        with uninterrupted():
            if descriptor is not None:
                _release(path, descriptor)


def _claim(target: Target, path: Path) -> int:
    try:
        return _locked(path)
    except BlockingIOError:
        raise UsageError(
            f"{target.name}: another gpuprof is writing it; wait until it ends, or give another name"
        ) from None
    except OSError as error:
        raise refused(target.name, error) from None


def _locked(path: Path) -> int:
    """The open and locked file. Raises BlockingIOError when another process has locked it."""
    while True:
        descriptor = _opened(path)
        try:
            _lock(descriptor)
            if _is_at(path, descriptor):
                return descriptor
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the one before us has removed it: what we locked has no name any more


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | FLAGS, 0o644)  # NFS locks only what may be written
    except PermissionError:
        return os.open(path, os.O_RDONLY | FLAGS)  # another user's


def _lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks
        pass


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _release(path: Path, descriptor: int) -> None:
    """Only an empty file is ours to remove."""
    with suppress(OSError):
        if os.fstat(descriptor).st_size == 0 and _is_at(path, descriptor):
            os.unlink(path)
    os.close(descriptor)
