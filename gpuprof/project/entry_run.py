"""Runs an entry: `gpuprof collect` in a process of its own, as a user would start it, and its recording's database."""

import os
import subprocess
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gpuprof.base.dependencies.opened_files import VARIABLE, read_log
from gpuprof.base.folders import roots
from gpuprof.base.interrupts import Stopped
from gpuprof.base.processes import ending_with_this, how_ended, own_program
from gpuprof.base.scratch import temporary_folder
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.project.entry import Entry
from gpuprof.project.inputs import changed_since, inputs_of
from gpuprof.project.run_cache import RunCache

WITHOUT_SAMPLES = ("--period", "0")  # verdicts are about exact numbers
MOST_LINES = 20  # of what a run that failed has printed
SAYS = "gpuprof: "
THE_PART_BEFORE = "; the part before can be read"
OUTPUT_NBYTES = 64 << 10  # of the end of it that is read


class Collected(NamedTuple):
    """The run of an entry. `database`: None where it failed, and `failure` says how; `details`: what was printed
    before, such as a compiler's errors. `is_cached`: it is that of an earlier run; else `changed` is an input that is
    another than then, "" where there was no such run.
    """

    entry: Entry
    database: Path | None
    failure: str = ""
    details: tuple[str, ...] = ()
    is_cached: bool = False
    changed: str = ""


class Children:
    """The processes that run entries now, each with so many threads. `stop` ends them, and lets none begin."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._running: set[subprocess.Popen] = set()
        self._is_stopped = False
        self._lock = threading.Lock()

    @contextmanager
    def started(self, words: list[str], **how: Any) -> Generator[subprocess.Popen]:
        """Raises Stopped after `stop`."""
        with self._lock:
            if self._is_stopped:
                raise Stopped
            child = subprocess.Popen(words, preexec_fn=ending_with_this(), **how)
            self._running.add(child)
        try:
            with child:
                yield child
        finally:
            self._running.discard(child)

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            for child in self._running:
                child.kill()


def collect(
    entry: Entry, command: Sequence[str], cache: RunCache, scratch: Path, children: Children, changed: str = ""
) -> Collected:
    """`scratch`: a folder for what the cache does not take. Raises UsageError for an entry that is no command of
    `gpuprof collect`, Stopped where `children` were stopped.
    """
    with temporary_folder(str(scratch)) as folder:
        log, recording, temporary = folder / "opened", folder / "run.gprec", folder / "tmp"
        temporary.mkdir()
        variables = {**os.environ, **entry.set_variables(), VARIABLE: str(log), "TMPDIR": str(temporary)}
        start_ns = time.time_ns()
        code, output = _run(
            [*own_program(), *_with_output(command, recording, children.threads)],
            entry.folder,
            variables,
            folder,
            children,
        )
        if code == UsageError.exit_code:
            raise UsageError(f"entry {entry.name!r}: {_last_line(output)}")
        if not recording.is_file():
            return _failed(entry, code, output, changed)
        database = scratch / f"{entry.name}.gpudb"
        try:
            _correlate(recording, database)
        except GpuprofError as error:
            return Collected(entry, None, str(error), changed=changed)
        if code and not _has_wrong_results(database):
            return _failed(entry, code, output, changed)
        opened = read_log(log)
        outside = [scratch, *roots(), *([cache.folder] if cache.folder else [])]
        inputs = inputs_of(entry, command, opened, cache.digests, outside)
        if not changed_since(inputs, entry.folder, start_ns):
            database = cache.store(entry, list(command), inputs, database)
    return Collected(entry, database, changed=changed)


def _with_output(command: Sequence[str], recording: Path, threads: int) -> list[str]:
    """The words of the command, options before the arguments of a program."""
    at = command.index("--") if "--" in command else len(command)
    return [*command[:at], *WITHOUT_SAMPLES, "--threads", str(threads), "-o", str(recording), *command[at:]]


def _run(
    words: list[str], folder: Path, variables: dict[str, str], scratch: Path, children: Children
) -> tuple[int, str]:
    """The exit code, and the end of what was printed."""
    with open(scratch / "output", "w+b") as output:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        with children.started(words, cwd=folder, env=variables, **streams) as child:
            code = child.wait()
        output.seek(max(0, output.seek(0, os.SEEK_END) - OUTPUT_NBYTES))
        return code, output.read().decode("utf-8", "replace")


def _failed(entry: Entry, code: int, output: str, changed: str) -> Collected:
    """The error is the last line of gpuprof's own, without the recording that goes now; the rest are details."""
    lines = output.strip().splitlines()
    said = [line for line in lines if line.startswith(SAYS)]
    if not said:
        return Collected(
            entry, None, f"`gpuprof collect` ended with {how_ended(code)}", tuple(lines[-MOST_LINES:]), changed=changed
        )
    details = [line for line in lines if not line.startswith(SAYS)][-MOST_LINES:]
    return Collected(
        entry, None, said[-1].removeprefix(SAYS).partition(THE_PART_BEFORE)[0], tuple(details), changed=changed
    )


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or ["wrong usage"])[-1].removeprefix(SAYS)


def _correlate(recording: Path, database: Path) -> None:
    from gpuprof.correlate.correlate import correlate

    correlate(recording, database)


def _has_wrong_results(database: Path) -> bool:
    from gpuprof.correlate.database import reading
    from gpuprof.correlate.findings import read_results

    with reading(database) as opened:
        return any(result.is_wrong for result in read_results(opened))
