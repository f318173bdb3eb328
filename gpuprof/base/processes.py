"""Processes: whether one is still running, how one ended, children that do not outlive this one, standard streams that
were closed, and the cores that processes of ours and their threads share. No result depends on how many there are.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1  # sys/prctl.h

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds of a core, and the time they are for; or "max"
MOST_THREADS = 1024
STREAMS = ("stdin", "stdout", "stderr")
# The opposite of what each is for: a file that is to be written to stdout finds that it is closed.
OPPOSITE_MODES = (os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)

# The folder that this package is in.
_PARENT = Path(__file__).parents[2]

# Signals that host code dies by, and what they come from.
_CAUSES = {
    signal.SIGSEGV: "its host code used an address that is not there: look for a null or freed pointer, an index past "
    "the end, or too small a stack (`ulimit -s`)",
    signal.SIGBUS: "its host code used an address that is not there: look for a file that shrank while it was mapped, "
    "or a full /dev/shm",
    signal.SIGABRT: "its host code gave up: look for abort, a failed assert, or an exception that is not caught",
    signal.SIGFPE: "its host code divided an integer by 0",
    signal.SIGILL: "its host code has an instruction that this processor does not know, or a trap of the compiler",
    signal.SIGKILL: "something else ended it, most often because memory ran out: try a smaller problem",
}


def host_memory_nbytes() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def own_program() -> list[str]:
    """The words that start this very gpuprof, to be followed by a command's. -P: a file of the working folder must not
    replace a module of the same name. A checkout goes before a gpuprof that is installed, too.
    """
    is_installed = _PARENT.name in ("site-packages", "dist-packages")
    add = f"sys.path.{'append(' if is_installed else 'insert(0, '}{str(_PARENT)!r})"
    return [sys.executable, "-P", "-c", f"import sys; {add}; from gpuprof.__main__ import main; main()"]


def is_running(process: int) -> bool:
    """True when there is a process of this number, of any user, and where it cannot be known."""
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


def fill_closed_streams() -> None:
    """Opens /dev/null for each standard stream that was closed (`>&-`): what is printed there is dropped, and no file
    of ours gets its number. Call it before any file is opened.
    """
    for number, (name, flags) in enumerate(zip(STREAMS, OPPOSITE_MODES, strict=True)):
        if not _is_open(number):
            os.open(os.devnull, flags)  # takes the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


class _Chosen:
    """The number that the user named; None: none."""

    threads: int | None = None


_chosen = _Chosen()


def cores() -> int:
    """Cores that this process may use: those that it may run on, and no more than a container's share of time."""
    n = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(n, _quota(n)))


def _quota(n: int) -> int:
    try:
        allowed, period = QUOTA.read_text().split()
        return n if allowed == "max" else round(int(allowed) / int(period))
    except (OSError, ValueError):
        return n


def use_threads(n: int | None) -> None:
    """From here on `n` threads may compute at a time; None: as many as cores."""
    _chosen.threads = n


def n_threads() -> int:
    """Threads that may compute at a time, this one among them."""
    return _chosen.threads or cores()


def processes(asked: int | None, most: int) -> int:
    """Processes to have at a time, of at most so many that there is work for. `asked`: by the user."""
    return max(1, min(asked or cores() // (_chosen.threads or 1), most))


def threads_of_each(processes: int) -> int:
    """Threads for each of so many processes at a time: they share the cores, unless the user named a number."""
    return _chosen.threads or max(1, cores() // processes)
