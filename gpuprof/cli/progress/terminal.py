"""Output of `collect` and `replay` while they work: the kernels' own output, and a line for each finished launch."""

import click

from gpuprof.base.cache_control import timings_text
from gpuprof.base.wording import extent_text, launch_text, plural
from gpuprof.cli.main import silence_stdout
from gpuprof.cli.progress.display import Display
from gpuprof.isa.printing.printable import printable
from gpuprof.run.run_settings import Observer


class Terminal(Observer):
    """Results go to stdout, notices to stderr."""

    def __init__(self, display: Display):
        self._display = display

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._display.is_in_line:
            self._echo("\n")

    def say(self, text: str) -> None:
        self._echo(("\n" if self._display.is_in_line else "") + printable(text) + "\n")

    def notice(self, text: str) -> None:
        with self._display.away():
            self._display.end_line()
            click.echo(f"gpuprof: {printable(text)}", err=True)

    def output(self, text: str) -> None:
        if text:
            self._echo(printable(text, keep="\n\t"))

    def finished(self, result) -> None:
        launch, timing = result.launch, result.timing
        n_instructions = int(result.counters.inst_executed.sum())
        dropped = f", {timing.samples_dropped:,} dropped" if timing.samples_dropped else ""
        sampled = f"  ({timing.extrapolation})" if timing.extrapolation else ""
        repeated = "" if timing.repetitions is None else f"  (timings: {timings_text(timing.repetitions.tolist())})"
        cluster = [f"cluster={extent_text(launch.cluster)}"] if launch.blocks_of_cluster > 1 else []
        self.say(
            f"{launch_text(launch.function.display, launch.grid, launch.block, *cluster)}  "
            f"{plural(timing.cycles, 'cycle', 'cycles')}"
            f"  {plural(n_instructions, 'warp instruction', 'warp instructions')}  "
            f"{plural(timing.samples_kept, 'sample', 'samples')}{dropped}{sampled}{repeated}"
        )

    def _echo(self, text: str) -> None:
        with self._display.away():
            self._display.is_in_line = True  # an interrupt leaves a part of the text
            try:
                click.echo(text, nl=False)
            except BrokenPipeError:  # `| head` has seen enough; the recording is wanted all the same
                silence_stdout()
            self._display.is_in_line = not text.endswith("\n")


class WithoutLaunches(Terminal):
    """Output of `run`: that of the program and its kernels, and no lines on launches."""

    def finished(self, result) -> None: ...


class OnlyOutput(WithoutLaunches):
    """Output of the program and its kernels, and notices."""

    def say(self, text: str) -> None: ...
