"""A lock that processes of one machine share, on a file. The system frees it when its holder ends, however it ends."""

import errno
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without it: every process does the work itself
    fcntl = None

BUSY = (errno.EAGAIN, errno.EACCES)


class Lock:
    """A lock that one process at a time holds. Where the file cannot be made or locked (some network file systems),
    every process gets it: work is then done more than once, and no process waits for ever.
    """

    def __init__(self, path: Path):
        self.path = path
        self._handle: int | None = None

    def take(self) -> bool:
        """Takes the lock if it is free; returns True when this process holds it. Does not wait."""
        if fcntl is None or self._handle is not None:
            return True
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            return error.errno not in BUSY
        self._handle = handle
        return True

    @property
    def handles(self) -> tuple[int, ...]:
        """The descriptors that a child process inherits (Popen's pass_fds) to hold the lock, too, until it ends."""
        return () if self._handle is None else (self._handle,)

    def give_up(self) -> None:
        """This process holds it no more."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
