"""Forked processes that help this one: begun, waited for, ended.

They run only what this thread would have run: numpy and compiled code. No other thread is there in a forked process, so
a lock that one held stays taken; a helper that waits for such a lock is ended like one that takes too long.
"""

import gc
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from gpuprof.base.interrupts import SIGNALS, uninterrupted
from gpuprof.base.processes import ending_with_this
from gpuprof.jit import DISABLED

# Elsewhere a process cannot end with its parent, or a forked one may not use the system's libraries (macOS).
CAN_FORK = sys.platform == "linux" and not DISABLED
LOOK_SECONDS = 0.05  # a thread that waits for longer cannot be stopped


class Helpers:
    """A context manager: none is left after it."""

    def __init__(self) -> None:
        self._at_work: dict[int, int] = {}  # by the end of a pipe that closes with a helper's work: its process

    def __enter__(self) -> "Helpers":
        # What there is now is not looked at for garbage. That would write to each of its pages, which then is copied,
        # and helpers might end what belongs to this process, such as temporary files.
        gc.freeze()
        return self

    def __exit__(self, *_: object) -> None:
        with uninterrupted():
            self._end()
            gc.unfreeze()

    def begin(self, work: Callable[[], None]) -> None:
        """Forks one. OSError when the system has no room for it."""
        end_with_parent = ending_with_this()
        with uninterrupted(), _signals_blocked():
            over, at_work = os.pipe()
            try:
                process = _fork()
            except OSError:
                os.close(over)
                os.close(at_work)
                raise
            if process == 0:
                _help(end_with_parent, work, at_work)
            os.close(at_work)
            self._at_work[over] = process

    def wait(self, seconds: float) -> None:
        """Until their work is over, by its end or theirs, but no longer than so many seconds."""
        poll = select.poll()
        for over in self._at_work:
            poll.register(over, select.POLLIN)
        open_pipes, end = len(self._at_work), time.monotonic() + seconds
        while open_pipes and (left := end - time.monotonic()) > 0:
            for over, _ in poll.poll(1000 * min(left, LOOK_SECONDS)):
                poll.unregister(over)
                open_pipes -= 1

    def stop(self) -> None:
        """Ends those that are still at work. It takes a while until their memory is gone: `__exit__` waits for it."""
        for process in self._at_work.values():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _end(self) -> None:
        self.stop()
        while self._at_work:
            over, process = self._at_work.popitem()
            os.close(over)
            with suppress(ChildProcessError):  # where SIGCHLD is ignored, the system takes them away
                os.waitpid(process, 0)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """A helper that is forked within gets no signal: its parent does, and ends it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _fork() -> int:
    with warnings.catch_warnings():
        # Python 3.12 warns where other threads are alive, be it only numpy's; see above for why that is all right.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _help(end_with_parent: Callable[[], None] | None, work: Callable[[], None], at_work: int) -> None:
    """The life of a helper. It raises nothing: a chunk that got no outcome is carried out again, and raises there."""
    try:
        if end_with_parent is not None:
            end_with_parent()
        work()
        os.close(at_work)  # the parent does not wait until the memory is gone
    finally:
        os._exit(0)
