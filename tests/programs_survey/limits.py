"""Runs one command under limits of time and addresses, with all that it starts.

Time is the CPU's, of each process, so that a busy machine finds what a quiet one does.
"""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

GIB = 1 << 30
WALL_FACTOR = 10  # how much longer it may take on a busy machine, or waiting


class Ended(NamedTuple):
    """`code`: None when the time was over. `seconds`: of CPU time, all processes together."""

    code: int | None
    output: str
    seconds: float


def run_limited(command: list[str], folder: Path, seconds: int, address_gib: int) -> Ended:
    """Standard input is empty; standard output and error are one text. The commands of this Python find this checkout's
    gpuprof.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (address_gib * GIB, address_gib * GIB))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    start = _cpu_seconds()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GPUPROF_PROGRESS": "off"},
        preexec_fn=limit,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds * WALL_FACTOR)
        code: int | None = process.returncode
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            code = None
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        code = None
    return Ended(code, output.decode("utf-8", "replace"), round(_cpu_seconds() - start, 1))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
