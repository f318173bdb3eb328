"""A command of gpuprof as a process of its own, with limits of time, memory and output.

It leads a session: a terminal's Ctrl-C reaches only the server, and the process group ends as a whole. When its time is
up, or the call is no longer wanted, it is asked to end as by `kill`, so that it removes its temporary files and ends
its compilers; after GRACE_SECONDS it is killed. It does not outlive the server's process, however that ends (Linux).
"""

import os
import resource
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO, NamedTuple

import anyio

from gpuprof.base.confinement import confined
from gpuprof.base.processes import ending_with_this, own_program
from gpuprof.errors import UsageError
from gpuprof.mcp_server.outcome import Outcome, may_lack_memory
from gpuprof.mcp_server.shortened import Shortened
from gpuprof.mcp_server.workspace import Workspace

GRACE_SECONDS = 1.0  # clients kill a server some 2 s after they have closed its stdin
DRAIN_SECONDS = 1.0  # a process that has left the group may hold the output open
POLL_SECONDS = 0.01
PIECE_NBYTES = 1 << 16
GIB = 1 << 30
NUMBA_SETTINGS = ".numba_config.yaml"  # of the working folder: Numba would take from it what it loads and prints


class Limits(NamedTuple):
    """Limits of one call: wall time, address space of each process, and length of stdout and of stderr."""

    seconds: float
    memory_nbytes: int
    output_nbytes: int


async def run_command(words: Sequence[str], workspace: Workspace, limits: Limits) -> Outcome:
    """Runs `gpuprof WORDS` in the workspace. Raises UsageError when it cannot be started there."""
    out, errors = Shortened(limits.output_nbytes), Shortened(limits.output_nbytes)
    process = _started(words, workspace, limits)
    readers = [_reading(process.stdout, out), _reading(process.stderr, errors)]
    try:
        with anyio.move_on_after(limits.seconds) as time:
            await _ended(process)
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
        for reader in readers:
            reader.join(DRAIN_SECONDS)
    exit_code = None if time.cancelled_caught else process.returncode
    notes = _notes(exit_code, out, errors, limits)
    return Outcome(command_text(words), exit_code, out.text(), errors.text(), " ".join(notes))


def command_text(words: Sequence[str]) -> str:
    return shlex.join(("gpuprof", *words))


def _started(words: Sequence[str], workspace: Workspace, limits: Limits) -> subprocess.Popen:
    """Starts it, from the server's main thread: the child ends with the thread that starts it."""
    if os.path.lexists(workspace.root / NUMBA_SETTINGS):
        raise UsageError(f"{NUMBA_SETTINGS}: the server's folder must not have settings of Numba; remove the file")
    try:
        return subprocess.Popen(
            [*own_program(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=workspace.root,
            env=_environment(workspace, limits),
            start_new_session=True,
            preexec_fn=_limiting(limits.memory_nbytes),
        )
    except OSError as error:  # the folder has vanished, the words are too many, or there are no more processes
        raise UsageError(f"cannot run gpuprof in {workspace.root}: {error.strerror}") from None


def _environment(workspace: Workspace, limits: Limits) -> Mapping[str, str]:
    """Compilers name their limit on memory by a variable, so it is the one that holds."""
    memory = {"GPUPROF_COMPILER_GB": str(max(1, limits.memory_nbytes // GIB))}
    return {
        **os.environ,
        **memory,
        "GPUPROF_PROGRESS": "off",
        **confined(workspace.root, workspace.allows_programs),
    }


def _limiting(memory_nbytes: int) -> Callable[[], None]:
    """For a child, before it becomes the program. Systems without such limits (macOS) leave it without."""
    end_with_server = ending_with_this()

    def limit() -> None:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (memory_nbytes, memory_nbytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if end_with_server:
            end_with_server()

    return limit


def _reading(stream: IO[bytes] | None, into: Shortened) -> Thread:
    """A thread that reads a pipe to its end, and closes it. The server's own end does not wait for it."""
    assert stream, "it is a pipe"

    def read() -> None:
        with stream:
            while data := os.read(stream.fileno(), PIECE_NBYTES):
                into.add(data)

    reader = Thread(target=read, daemon=True)
    reader.start()
    return reader


async def _ended(process: subprocess.Popen) -> None:
    while process.poll() is None:
        await anyio.sleep(POLL_SECONDS)


async def _end(process: subprocess.Popen) -> None:
    """Ends the process, and whatever it has started and left."""
    if process.poll() is None:
        process.terminate()
        with anyio.move_on_after(GRACE_SECONDS):
            await _ended(process)
    with suppress(ProcessLookupError, PermissionError):  # none is left (macOS says so by EPERM)
        os.killpg(process.pid, signal.SIGKILL)
    await _ended(process)


def _notes(exit_code: int | None, out: Shortened, errors: Shortened, limits: Limits) -> list[str]:
    notes = []
    if exit_code is None:
        notes.append(f"Stopped after {limits.seconds:g} s, the server's --timeout.")
    if may_lack_memory(exit_code, errors.text()):
        notes.append(f"A process may use {limits.memory_nbytes / GIB:.3g} GiB of memory, the server's --memory.")
    for name, shortened in (("stdout", out), ("stderr", errors)):
        if shortened.n_omitted:
            notes.append(
                f"{name} is shortened to {limits.output_nbytes:,} bytes, the server's --max-output: ask for less, "
                "as one kernel, one page or a range of lines."
            )
    return notes
