"""What `collect` shows while it works: a progress bar on a terminal, the kernels' own output, a line per finished
launch.
"""

import sys
import time

import click

from gpuprof.base.wording import extent_text, launch_text, plural
from gpuprof.cli.main import silence_stdout
from gpuprof.isa.printing.printable import printable
from gpuprof.run.settings import Observer

BAR_AFTER_SECONDS = 0.7
BAR_WIDTH = 30


def compiling_text(seconds: float) -> str:
    return f"compiling the timing model: {seconds:.0f} s"


class Terminal(Observer):
    """Results go to stdout; the bar goes to stderr, only when that is a terminal, and only for work that takes a
    while.
    """

    def __init__(self):
        self._show_bar = sys.stderr.isatty()
        self._bar_length = 0
        self._since = time.monotonic()
        self._in_line = False  # a kernel's output ended without a newline

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._erase()
        if self._in_line:
            self._echo("\n")

    def say(self, text: str) -> None:
        self._echo(("\n" if self._in_line else "") + printable(text) + "\n")

    def notice(self, text: str) -> None:
        self._erase()
        click.echo(f"gpuprof: {printable(text)}", err=True)

    def progress(self, launch, blocks_done: int) -> None:
        if not self._show_bar or time.monotonic() - self._since < BAR_AFTER_SECONDS:
            return
        filled = BAR_WIDTH * blocks_done // launch.n_blocks
        text = (
            f"{printable(launch.function.display)[:30]} [{'#' * filled}{'.' * (BAR_WIDTH - filled)}] "
            f"{blocks_done:,}/{launch.n_blocks:,} blocks"
        )
        self._draw(text)

    def compiling(self, seconds: float) -> None:
        if self._show_bar:
            self._draw(compiling_text(seconds))
        self._since = time.monotonic()

    def _draw(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._bar_length))
        sys.stderr.flush()
        self._bar_length = len(text)

    def output(self, text: str) -> None:
        if text:
            self._echo(printable(text, keep="\n\t"))

    def finished(self, result) -> None:
        self._since = time.monotonic()
        launch, timing = result.launch, result.timing
        n_instructions = int(result.counters.inst_executed.sum())
        dropped = f", {timing.samples_dropped:,} dropped" if timing.samples_dropped else ""
        sampled = f"  ({timing.extrapolation})" if timing.extrapolation else ""
        cluster = [f"cluster={extent_text(launch.cluster)}"] if launch.blocks_of_cluster > 1 else []
        self.say(
            f"{launch_text(launch.function.display, launch.grid, launch.block, *cluster)}  "
            f"{timing.cycles:,} cycles"
            f"  {n_instructions:,} warp instructions  "
            f"{plural(timing.samples_kept, 'sample', 'samples')}{dropped}{sampled}"
        )

    def _echo(self, text: str) -> None:
        self._erase()
        self._in_line = not text.endswith("\n")
        try:
            click.echo(text, nl=False)
        except BrokenPipeError:  # `| head` has seen enough; the recording is wanted all the same
            silence_stdout()

    def _erase(self) -> None:
        if self._bar_length:
            sys.stderr.write("\r" + " " * self._bar_length + "\r")
            sys.stderr.flush()
            self._bar_length = 0


class SweepBar:
    """How many runs of a sweep are done, on stderr when that is a terminal."""

    def __init__(self, n_runs: int):
        self._n_runs = n_runs
        self._length = 0

    def __enter__(self):
        self.show(0, 0)
        return self

    def __exit__(self, *_):
        self.erase()

    def show(self, n_done: int, n_failed: int) -> None:
        filled = BAR_WIDTH * n_done // self._n_runs
        failed = f", {n_failed:,} failed" if n_failed else ""
        self._draw(f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {n_done:,}/{self._n_runs:,} runs{failed}")

    def compiling(self, seconds: float) -> None:
        self._draw(compiling_text(seconds))

    def erase(self) -> None:
        if self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()
            self._length = 0

    def _draw(self, text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._length))
            sys.stderr.flush()
            self._length = len(text)
