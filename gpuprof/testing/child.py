"""`gpuprof` as a child process: its output is caught, and nothing of it outlives the test."""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.processes import ending_with_this, how_ended, own_program
from gpuprof.errors import OF_EXIT_CODE, GpuprofError

# This very gpuprof. -P: the folder of the test may hold another one, such as a checkout of an older one.
PARENT = str(Path(__file__).parents[2])
END_SECONDS = 10  # until a child that was interrupted is killed
FIRST_RUN = "gpuprof: first run on this machine"  # what only the very first run says
PROGRAM_ENDED = re.compile(r"^gpuprof: the program ended with exit code (\d+);", re.M)


class Ended(NamedTuple):
    """How a child ended; `code` is negative for a signal."""

    code: int
    output: str
    errors: str

    @property
    def program_code(self) -> int | None:
        """The exit code of the program that was profiled; None where the run itself failed."""
        if self.code == 0:
            return 0
        found = PROGRAM_ENDED.search(self.errors)
        return int(found[1]) if found else None


def run_gpuprof(arguments: Sequence[str], folder: Path) -> Ended:
    """Runs `gpuprof ARGUMENTS` in a folder. An interrupt of the test interrupts it, too, and waits for its end."""
    child = subprocess.Popen(
        [*own_program(), *arguments],
        cwd=folder,
        env=os.environ | {"GPUPROF_PROGRESS": "off"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=ending_with_this(),
    )
    try:
        output, errors = child.communicate()
    except BaseException:
        _end(child)
        raise
    lines = errors.decode(errors="replace").splitlines()
    said = "\n".join(line for line in lines if not line.startswith(FIRST_RUN))
    return Ended(child.returncode, output.decode(errors="replace"), said)


def _end(child: subprocess.Popen) -> None:
    """A child that is interrupted ends its compilers and programs, and removes its temporary files."""
    child.send_signal(signal.SIGINT)
    try:
        child.communicate(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def error_of(ended: Ended, arguments: Sequence[str], folder: Path) -> GpuprofError:
    """The error of a run that failed: the text that gpuprof printed, with the command to type as a note."""
    text = ended.errors.strip() or f"gpuprof ended with {how_ended(ended.code)}"
    error = OF_EXIT_CODE.get(ended.code, GpuprofError)(text.removeprefix("gpuprof: "))
    error.add_note(f"in {folder}: {shlex.join(['gpuprof', *arguments])}")
    return error
