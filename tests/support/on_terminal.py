"""The program on a terminal of its own, with the times at which it wrote."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.support.command import PROGRAM

TOO_LONG_SECONDS = 200.0  # for the text to come: then the test goes on, and fails
TAKEN_AWAY = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "GPUPROF_PROGRESS")


class Seen(NamedTuple):
    """What came: exit code; (seconds since the start, bytes) of each piece; and of the whole."""

    code: int
    pieces: list[tuple[float, bytes]]
    seconds: float

    @property
    def text(self) -> str:
        return b"".join(piece for _, piece in self.pieces).decode()

    @property
    def longest_silence(self) -> float:
        """In seconds, from the start to the end."""
        times = [0.0, *(when for when, _ in self.pieces), self.seconds]
        return max(after - before for before, after in pairwise(times))


def resize(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))


def on_terminal(
    folder: Path,
    *arguments,
    columns: int = 100,
    stop_after: tuple[str, float] | None = None,
    resize_after: tuple[str, float, int] | None = None,
    stderr_in_pipe: bool = False,
    **environment: str,
) -> Seen:
    """Runs the program to its end, or interrupts it. `stop_after`: (what it has to write first, seconds from then on);
    `resize_after`: the same, and columns. With `stderr_in_pipe` the pieces are those of stderr.
    """
    main, child = pty.openpty()
    resize(child, columns)
    inherited = {name: value for name, value in os.environ.items() if name not in TAKEN_AWAY}
    start = time.monotonic()
    running = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=child,
        stderr=subprocess.PIPE if stderr_in_pipe else child,
        env=inherited | {"TERM": "xterm-256color"} | environment,
    )
    os.close(child)
    streams, pieces = {main, *([running.stderr.fileno()] if stderr_in_pipe else [])}, []
    seen: dict[str, float] = {}  # when a text was written first

    def is_time(after: tuple | None) -> bool:
        if after is None:
            return False
        if after[0] not in seen and after[0].encode() in b"".join(piece for _, piece in pieces):
            seen[after[0]] = now
        return now > seen.get(after[0], TOO_LONG_SECONDS) + after[1]

    try:
        while streams:
            ready, _, _ = select.select(list(streams), [], [], 0.05)
            now = time.monotonic() - start
            if is_time(stop_after):
                running.send_signal(signal.SIGINT)
                stop_after = None
            if is_time(resize_after):
                resize(main, resize_after[2])
                resize_after = None
            for stream in ready:
                piece = _read(stream)
                if not piece:
                    streams.discard(stream)
                elif stream != main or not stderr_in_pipe:
                    pieces.append((now, piece))
        return Seen(running.wait(60), pieces, time.monotonic() - start)
    finally:
        running.kill()
        running.wait()
        os.close(main)


def _read(stream: int) -> bytes:
    try:
        return os.read(stream, 1 << 16)
    except OSError:  # how Linux says that the other side is closed
        return b""
