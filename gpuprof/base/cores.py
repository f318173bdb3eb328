"""The cores of this machine, and how many threads and processes of ours may compute at a time.

No result depends on these numbers. They are one for the process, as the cores are.
"""

import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds of a core, and the time they are for; or "max"


def available() -> int:
    """Cores that this process may use: those that it may run on, and no more than a container's share of time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _quota(cores)))


def _quota(cores: int) -> int:
    try:
        allowed, period = QUOTA.read_text().split()
        return cores if allowed == "max" else round(int(allowed) / int(period))
    except (OSError, ValueError):
        return cores


MOST_THREADS = 1024


class _Chosen:
    """What the user asked for. None: nothing."""

    threads: int | None = None


_chosen = _Chosen()


def use_threads(n: int | None) -> None:
    """From here on `n` threads may compute at a time; None: as many as cores."""
    _chosen.threads = n


def n_threads() -> int:
    """Threads that may compute at a time, this one among them."""
    return _chosen.threads or available()


def processes(asked: int | None, most: int) -> int:
    """Processes to have at a time, of at most so many that there is work for. `asked`: by the user."""
    return max(1, min(asked or available() // (_chosen.threads or 1), most))


def threads_of_each(processes: int) -> int:
    """Threads for each of so many processes that run at a time. Together they have the cores, unless the user asked for
    more.
    """
    return _chosen.threads or max(1, available() // processes)
