"""Processes: whether one is still there, and children that do not outlive this one."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1  # sys/prctl.h


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
