"""Shows the open stages on stderr, from a thread that wakes now and then: work that sits in one call is seen, too."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol, TextIO

from gpuprof.base.stages import Stage, notified_when_idle, open_stages
from gpuprof.cli.progress.lines import Lines
from gpuprof.cli.progress.stalls import Stalls
from gpuprof.errors import UsageError

VARIABLE, OFF = "GPUPROF_PROGRESS", "off"
TICK_SECONDS = 0.25
BAR_AFTER_SECONDS = 1.0  # of the command: quick work shows no bar


class Painter(Protocol):
    """A way to show stages: `bar.Bar`, `lines.Lines`."""

    def draw(self, stages: Sequence[Stage], now: float, shows_place: bool) -> None: ...

    def write(self, text: str) -> None: ...

    def erase(self) -> None: ...


class _Away:
    def __init__(self, lock: "threading.RLock", clear: Callable[[], None]):
        self._lock, self._clear = lock, clear

    def __enter__(self) -> None:
        self._lock.acquire()
        self._clear()

    def __exit__(self, *_) -> None:
        self._lock.release()


class Display:
    """Display of a command's stages while the `with` is open. Other output is printed inside `away`.

    `is_in_line`: the last output on stdout left its line open.
    """

    def __init__(self, stream: TextIO | None, start: float):
        """`stream` is None where stderr is closed or nothing is wanted. `start`: time.monotonic() when the command
        began.
        """
        self._stream, self._start = stream, start
        self._painter: Painter | None = None
        self._stalls = Stalls()
        self._lock = threading.RLock()  # a stage may end, and its line be erased, during output
        self._is_over = threading.Event()
        self.is_in_line = False
        self._end = ExitStack()

    def __enter__(self) -> "Display":
        if self._stream is not None:
            thread = threading.Thread(target=self._beat, name="progress", daemon=True)
            thread.start()
            self._end.callback(self._clear)
            self._end.enter_context(notified_when_idle(self._clear))
            self._end.callback(thread.join)
            self._end.callback(self._is_over.set)
        return self

    def __exit__(self, *_) -> None:
        self._end.close()

    def away(self) -> "_Away":
        """Within it nothing is drawn, and what was drawn is off the screen."""
        return _Away(self._lock, self._clear)

    def end_line(self) -> None:
        """Begins a new line on the terminal when the output on stdout left one open there."""
        if self.is_in_line and self._stream is not None and self._stream.isatty() and sys.stdout.isatty():
            self._stream.write("\n")
            self.is_in_line = False

    def _beat(self) -> None:
        while not self._is_over.wait(TICK_SECONDS):
            self.tick(time.monotonic())

    def tick(self, now: float) -> None:
        """Draws what there is to say at time.monotonic() `now`."""
        with self._lock, self._unseen_at_worst():
            stages = open_stages()
            if stages and now - self._start >= BAR_AFTER_SECONDS and not self._is_over.is_set():
                self._show(stages, now)

    def _show(self, stages: Sequence[Stage], now: float) -> None:
        if self._painter is None:
            self._painter = painter(self._stream, self._start)
        self.end_line()  # or the bar would be drawn over the kernel's words
        stall = self._stalls.look(stages, now)
        if stall.is_new:
            self._painter.write(stall.text)
        self._painter.draw(stages, now, shows_place=bool(stall.text))

    def _clear(self) -> None:
        with self._lock:
            if self._painter:
                with self._unseen_at_worst():
                    self._painter.erase()

    @contextmanager
    def _unseen_at_worst(self) -> Iterator[None]:
        """A closed terminal, a pipe without a reader, a full disk: the work continues without a display."""
        try:
            yield
        except (OSError, ValueError):  # ValueError: the stream object is closed
            self._painter = None
            self._is_over.set()


def painter(stream: TextIO, start: float) -> Painter:
    """A bar on a terminal that can move its cursor, lines elsewhere."""
    if not stream.isatty() or os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        return Lines(stream, start)
    from gpuprof.cli.progress.bar import Bar  # imports rich, which quick work does not wait for

    return Bar(stream)


def wanted_stream(stream: TextIO | None) -> TextIO | None:
    """The stream, unless the user wants no progress. Raises UsageError for what the variable cannot say."""
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", OFF):
        raise UsageError(f"{VARIABLE}={asked}: the only value is {OFF}, for no progress on stderr; unset it otherwise")
    return None if asked else stream
