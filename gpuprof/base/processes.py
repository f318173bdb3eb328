"""Processes: whether one is still there, how one ended, and children that do not outlive this one."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1  # sys/prctl.h

# Signals that host code dies by, and what they come from.
_CAUSES = {
    signal.SIGSEGV: "its host code used an address that is not there: look for a null or freed pointer, an index past "
    "the end, or too small a stack (`ulimit -s`)",
    signal.SIGBUS: "its host code used an address that is not there: look for a file that shrank while it was mapped, "
    "or a full /dev/shm",
    signal.SIGABRT: "its host code gave up: look for abort, a failed assert, or an exception that nobody catches",
    signal.SIGFPE: "its host code divided an integer by 0",
    signal.SIGILL: "its host code has an instruction that this processor does not know, or a trap of the compiler",
    signal.SIGKILL: "something else ended it, most often because memory ran out: try a smaller problem",
}


def is_running(process: int) -> bool:
    """Whether there is a process of this number, of whoever. Where it cannot be known it may well be."""
    if os.name != "posix":  # elsewhere signal 0 is no question
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def ending_with_this() -> Callable[[], None] | None:
    """For Popen's preexec_fn: the child is killed when the thread that starts it ends, also by SIGKILL. None where the
    system has no such thing.
    """
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def end_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before we asked
            os._exit(1)

    return end_with_parent


def how_ended(code: int) -> str:
    """`code`: the exit code of a program, negative for a signal."""
    if code >= 0:
        return f"exit code {code}"
    return f"signal {-code} ({signal.Signals(-code).name})" if -code in set(signal.Signals) else f"signal {-code}"


def why_died(program: str, code: int) -> str:
    """A sentence on a program that a signal has ended, with what to look for.

    "" for one that has ended by itself, or for want of a reader of its output, as in `| head -1`: no fault of it.
    """
    if code >= 0 or -code == signal.SIGPIPE:
        return ""
    cause = _CAUSES.get(-code, "")
    return f"{program}: the program was ended by {how_ended(code)}{f': {cause}' if cause else ''}"
