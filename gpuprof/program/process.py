"""The process of a program, from its start to its end."""

import os
import socket
import subprocess
from collections.abc import Sequence

from gpuprof.base.processes import ending_with_this
from gpuprof.errors import UsageError
from gpuprof.program.api_server import ApiServer
from gpuprof.program.arena import Arena
from gpuprof.program.build import Executable
from gpuprof.program.channel import Channel


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
            preexec_fn=ending_with_this(),
        )
    except OSError as error:
        raise UsageError(f"{executable.path}: cannot be executed: {error.strerror}") from None


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
