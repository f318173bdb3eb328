"""gpuprof debug: a debugger for kernels, forwards and backwards."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from gpuprof.base.interrupts import Ended
from gpuprof.cli.options.arguments import WithArguments, arguments_behind
from gpuprof.cli.options.building import debug_options
from gpuprof.cli.options.inputs import InputPath
from gpuprof.cli.progress.display import Display
from gpuprof.run.build import BuildOptions

SIGINT_EXIT_CODE = 130


@click.command("debug", cls=WithArguments, short_help="Stop kernels, look into threads, step forwards and backwards.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("others", nargs=-1)
@click.option(
    "--launch",
    "launches",
    multiple=True,
    metavar="'K<<<G, B>>>(...)'",
    help="A launch. Repeatable.  [default: FILE's LAUNCH: comments]",
)
@click.option(
    "--chip", "chip_name", metavar="NAME", help="A chip of `gpuprof list chips`, or a .toml file.  [default: a100]"
)
@click.option(
    "-x",
    "--command",
    "scripts",
    multiple=True,
    type=InputPath(),
    metavar="FILE",
    help="Run the commands of a file first. Repeatable.",
)
@click.option(
    "-ex",
    "--eval-command",
    "lines",
    multiple=True,
    metavar="COMMAND",
    help="Run a command, behind those of -x. Repeatable.",
)
@click.option("--batch", is_flag=True, help="End behind the commands of -x and -ex, with the program's exit code.")
@click.option(
    "--max-cycles", type=click.IntRange(min=1), metavar="N", help="Stop a kernel after N instructions of a warp."
)
@debug_options
@click.pass_obj
def command(
    display: Display,
    file: Path,
    others: tuple[str, ...],
    launches: tuple[str, ...],
    chip_name: str | None,
    scripts: tuple[Path, ...],
    lines: tuple[str, ...],
    batch: bool,
    max_cycles: int | None,
    options: BuildOptions,
):
    """Debug the kernels of FILE, with the commands of cuda-gdb: `help` lists them.

    FILE is what `gpuprof collect` takes: a .cu, .ptx or .gpubin file with launches, a .py script, a program with its
    OTHER sources, an executable; or a recording of `collect --save-stream`.

    \b
    gpuprof debug saxpy.cu
    gpuprof debug saxpy.cu -ex 'break saxpy' -ex run -ex 'info args' --batch
    gpuprof debug app.cu io.cpp -x commands.txt -- --size 1024
    """
    from gpuprof.cli.progress.terminal import WithoutLaunches
    from gpuprof.debug.commands.table import Quit
    from gpuprof.debug.console import Console
    from gpuprof.debug.debugger import Debugger

    asked = [line for script in scripts for line in _lines_of(script)] + list(lines)
    with WithoutLaunches(display) as terminal:
        debugger = Debugger(
            file,
            others=others,
            arguments=arguments_behind(),
            launches=launches,
            chip=chip_name,
            options=options,
            max_cycles=max_cycles,
            observer=terminal,
        )
        console = Console(debugger, lambda text: terminal.output(text + "\n"), lambda text: _complain(display, text))
        with debugger:
            try:
                console.script(asked)
                if not batch:
                    _read(console, display)
            except Quit:
                pass
    sys.exit(console.exit_code if batch else 0)


def _complain(display: Display, text: str) -> None:
    from gpuprof.isa.printing.printable import printable

    with display.away():
        click.echo(printable(text), err=True)


def _lines_of(script: Path) -> list[str]:
    from gpuprof.base.inputs import COMMANDS, read_input_text
    from gpuprof.errors import UsageError

    try:
        return read_input_text(script, COMMANDS).splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{script}: is no UTF-8 text: {error.reason}") from None


def _read(console, display: Display) -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        console.piped(sys.stdin or [])
        return
    _with_history()
    console.interactive(_typed(display))


def _with_history() -> None:
    """Lines can be edited and called back, where Python has readline."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return


def _typed(display: Display) -> Iterator[str]:
    """Lines until Ctrl-D. Ctrl-C drops what is typed."""
    from gpuprof.debug.console import PROMPT

    while True:
        try:
            with display.away():
                line = input(PROMPT)
        except EOFError:
            click.echo()
            return
        except KeyboardInterrupt as error:
            if isinstance(error, Ended) and error.exit_code != SIGINT_EXIT_CODE:
                raise
            click.echo("Quit")
            continue
        yield line
