"""gpuprof debug: a debugger for kernels, forwards and backwards."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from gpuprof.base.interrupts import is_ctrl_c
from gpuprof.cli.options.arguments import WithArguments, arguments_after_dashes
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.option import DEBUGGER, LIST, SWITCH, Given, Option
from gpuprof.cli.options.settings import build_options_of
from gpuprof.cli.options.value_types import InputPath
from gpuprof.cli.progress.display import Display

OWN = (
    Option("-x --command", "scripts", "Run the commands of a file first. Repeatable.",
           metavar="FILE", type=InputPath(), form=LIST, group=DEBUGGER),
    Option("-ex --eval-command", "lines", "Run a command, after those of -x. Repeatable.",
           metavar="COMMAND", form=LIST, group=DEBUGGER),
    Option("-batch --batch", "batch",
           "Exit after the -x and -ex commands, with 1 if the last one failed, else with the program's exit code.",
           form=SWITCH, group=DEBUGGER),
)  # fmt: skip


@click.command("debug", cls=WithArguments, short_help="Stop kernels, look into threads, step forwards and backwards.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("others", nargs=-1)
@options("debug", *OWN)
@click.pass_obj
def command(display: Display, file: Path, others: tuple[str, ...], given: Given):
    """Debug the kernels of FILE, with the commands of cuda-gdb: `help` lists them.

    FILE is what `gpuprof collect` takes: a .cu, .ptx or .gpubin file with launches, a .py script, a program with its
    OTHER sources, an executable; or a recording of `collect --save-stream`.

    \b
    gpuprof debug saxpy.cu
    gpuprof debug saxpy.cu -ex 'break saxpy' -ex run -ex 'info args' --batch
    gpuprof debug app.cu io.cpp -x commands.txt -- --size 1024
    """
    from gpuprof.cli.progress.terminal import WithoutLaunches
    from gpuprof.debug.commands.command_table import Quit
    from gpuprof.debug.commands.console import Console, lines_of
    from gpuprof.debug.debugger import Debugger

    scripts = [*map(lines_of, given.scripts), *([line] for line in given.lines)]
    # -O0 is the code that `collect -O0` runs
    built = replace(build_options_of(given), optimize=given.optimize or 0, for_debugger=given.optimize != 0)
    is_done = True
    with WithoutLaunches(display) as terminal:
        debugger = Debugger(
            file,
            others=others,
            arguments=arguments_after_dashes(),
            launches=given.launches,
            chip=given.chip_name,
            host=given.host_name,
            options=built,
            max_instructions=given.max_instructions,
            observer=terminal,
        )
        console = Console(debugger, lambda text: terminal.output(text + "\n"), lambda text: _complain(display, text))
        with debugger:
            try:
                is_done = _carried_out(console, scripts)
                if not given.batch:
                    _read(console, display)
            except Quit:
                pass
    code = console.exit_code
    sys.exit(0 if not given.batch else 128 - code if code < 0 else code or int(not is_done))


def _carried_out(console, scripts: list[list[str]]) -> bool:
    """Runs each script up to its first failing line. True if the last script was carried out whole."""
    is_done = True
    for lines in scripts:
        is_done = console.script(lines)
    return is_done


def _complain(display: Display, text: str) -> None:
    from gpuprof.isa.printing.printable import printable

    with display.away():
        click.echo(printable(text), err=True)


def _read(console, display: Display) -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        console.piped(sys.stdin or [])
        return
    _with_history()
    console.interactive(_typed(display, console))


def _with_history() -> None:
    """Lines can be edited, called back and completed, where Python has readline."""
    try:
        import readline
    except ImportError:
        return
    from gpuprof.debug.commands.command_table import completions

    def complete(word: str, number: int) -> str | None:
        found = completions(readline.get_line_buffer()[: readline.get_endidx()])
        return found[number] if number < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")


def _typed(display: Display, console) -> Iterator[str | None]:
    """Lines until Ctrl-D. Ctrl-C drops what is typed: a whole block, where it gives None."""
    from gpuprof.debug.commands.console import PROMPT, PROMPT_OF_BLOCK

    while True:
        try:
            with display.away():
                line = input(PROMPT_OF_BLOCK if console.is_in_block else PROMPT)
        except EOFError:
            click.echo()
            return
        except KeyboardInterrupt as error:
            if not is_ctrl_c(error):
                raise
            if not console.is_in_block:
                click.echo("Quit")
                continue
            click.echo()
            line = None
        yield line
