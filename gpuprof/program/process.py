"""The process of a program, from its start to its end."""

import ctypes
import os
import socket
import subprocess
from collections.abc import Callable, Sequence

from gpuprof.base.processes import ending_with_this
from gpuprof.errors import UsageError
from gpuprof.program.api_server import ApiServer
from gpuprof.program.arena import Arena
from gpuprof.program.build import Executable
from gpuprof.program.channel import Channel

ADDR_NO_RANDOMIZE = 0x40000  # sys/personality.h


def run_process(executable: Executable, arguments: Sequence[str], handlers: ApiServer) -> int:
    """Runs the program and serves its calls until it has ended. `arguments`: its name first, as argv has it.

    Gives its exit code, negative for a signal. Whatever happens here, the process has ended when this returns. Raises
    UsageError for what cannot be executed.
    """
    ours, theirs = socket.socketpair()
    arena = handlers.arena
    with ours:
        with theirs:
            child = _started(executable, arguments, arena, theirs.fileno())
        try:
            _serve(Channel(ours, arena.nbytes), handlers)
            return child.wait()
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()


def _started(executable: Executable, arguments: Sequence[str], arena: Arena, channel: int) -> subprocess.Popen:
    """Raises UsageError for what cannot be executed here."""
    try:
        return subprocess.Popen(
            list(arguments),
            executable=str(executable.path),
            pass_fds=(channel, arena.handle, arena.staging_handle),
            env={**_environment(executable), **arena.environment(), "GPUPROF_CHANNEL": str(channel)},
            preexec_fn=_prepared(),
        )
    except OSError as error:
        raise UsageError(f"{executable.path}: cannot be executed: {error.strerror}") from None


def _prepared() -> Callable[[], None]:
    """For Popen's preexec_fn: the process ends with this one, and has the same addresses in every run where the system
    allows that (containers may forbid it).
    """
    end_with_parent, personality = ending_with_this(), ctypes.CDLL(None).personality

    def prepare() -> None:
        if end_with_parent:
            end_with_parent()
        personality(ADDR_NO_RANDOMIZE)

    return prepare


def _environment(executable: Executable) -> dict[str, str]:
    """The program's own, with our library before others of its name."""
    if executable.library_folder is None:
        return dict(os.environ)
    folders = [str(executable.library_folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)}


def _serve(channel: Channel, handlers: ApiServer) -> None:
    while (request := channel.receive()) is not None:
        if not channel.send(handlers.serve(request)):
            return
