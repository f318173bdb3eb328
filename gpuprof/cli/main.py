"""The command line: `gpuprof COMMAND`. Commands are imported only when they run, so that help is quick."""

import importlib
import os
import sys
import time
from contextlib import suppress
from typing import TextIO

import click

from gpuprof.base.interrupts import Ended
from gpuprof.base.processes import fill_closed_streams
from gpuprof.base.wording import suggestion
from gpuprof.cli.options.renamed import new_spelling, owner
from gpuprof.errors import CompileError, GeneratorError, GpuprofError, ScriptError, UsageError

# Order of the table is the order of the work, and of the help page.
COMMANDS = {
    "init": "Write a first gpuprof.toml from a folder's files.",
    "compile": "Compile CUDA C++ or PTX to a gpubin (ELF).",
    "disasm": "Print the instructions of a gpubin.",
    "collect": "Run kernels on the emulated GPU and record a profile.",
    "run": "Run a CUDA program on the emulated GPU, without a profile.",
    "debug": "Stop kernels, look into threads, step forwards and backwards.",
    "replay": "Run a saved command stream again, with other settings.",
    "merge": "Join recordings: passes add up, others follow each other.",
    "records": "Print a recording, one record per line.",
    "correlate": "Turn a recording into a database (SQLite).",
    "import": "Read a profile of a card that another tool measured.",
    "report": "Show where the cycles went.",
    "view": "Show a profile in the browser.",
    "relate": "Show which launches could run at the same time, and measure it.",
    "export": "Write a profile in another tool's format.",
    "quality": "Show the error of the samples, by period.",
    "check": "Compare with committed baselines; exit 3 on a regression.",
    "bisect": "Find the commit that made a metric grow.",
    "diff": "Show how two profiles differ, by lines, reasons and causes.",
    "advise": "Say what to change next, with the measured gain of each.",
    "whatif": "Measure what a change would bring, on the same emulation.",
    "sweep": "Run one file on a table of chips and parameters.",
    "vary": "Find the best block size, macros, registers and options of a kernel.",
    "predict": "Predict times, scores and bottlenecks on other chips.",
    "mcp": "Serve tools for agents that tune kernels (MCP).",
    "fidelity": "Compare the model with published measurements.",
    "list": "List chips, stalls, causes, triggers, metrics, samples.",
    "explain": "Explain a word of the reports: a reason, column, metric, ...",
}


class Interrupted(BaseException):
    """Carries a KeyboardInterrupt, its cause, through click, which would print an empty line for one."""


class LazyGroup(click.Group):
    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        if name not in COMMANDS:
            near = suggestion(name, COMMANDS)
            raise click.UsageError(f"No such command {name!r}{f'; {near}' if near else ''}", ctx)
        return importlib.import_module(f"gpuprof.cli.{name}").command

    # A closed pipe is handled here, since click itself would exit with 1.

    def make_context(self, *arguments, **others):
        try:
            return super().make_context(*arguments, **others)
        except BrokenPipeError:  # of a help page
            silence_stdout()
            raise click.exceptions.Exit(0) from None
        except KeyboardInterrupt as error:
            raise Interrupted from error

    def invoke(self, ctx):
        from gpuprof.cli.progress.display import Display, wanted_stream

        try:
            with Display(wanted_stream(sys.stderr), time.monotonic()) as ctx.obj:
                return super().invoke(ctx)
        except BrokenPipeError:
            silence_stdout()
        except KeyboardInterrupt as error:
            raise Interrupted from error

    def format_commands(self, ctx, formatter):
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gpuprof")
@click.pass_context
def cli(context):
    """Profile GPU kernels on a machine that has no GPU.

    \b
    gpuprof collect kernel.cu      run its launches, record kernel.gprec
    gpuprof report kernel.gprec    show where the cycles went
    gpuprof check kernel.gprec --baseline baseline.txt    for CI
    """
    if os.environ.get("NO_COLOR"):
        context.color = False


def _complain(error: GpuprofError) -> int:
    """Prints the error. If stderr cannot be written, only the exit code reports it."""
    with suppress(OSError):
        _print_error(error)
    return error.exit_code


def _print_error(error: GpuprofError) -> None:
    from gpuprof.isa.printing.printable import printable

    if isinstance(error, CompileError | GeneratorError | ScriptError) and error.diagnostics:
        click.echo(printable(error.diagnostics.rstrip("\n"), keep="\n\t"), err=True)
    click.echo(f"gpuprof: {printable(str(error), keep=chr(10))}", err=True)


def _in_our_words(error: click.UsageError) -> UsageError:
    """Click's message about options and arguments, as one line like all other errors."""
    where = error.ctx.command_path if error.ctx else "gpuprof"
    message = _one_line(error).rstrip(".")
    return UsageError(f"{message[:1].lower()}{message[1:]}{'' if message.endswith('?') else ';'} see `{where} --help`")


def _one_line(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        if error.ctx and (new := new_spelling(error.ctx.command.name or "", error.option_name)):
            return f"{error.option_name} is now {new}"
        if error.ctx and (other := owner(error.ctx.command.name or "", error.option_name)):
            return f"{error.option_name} is an option of {other}"
        near = suggestion(error.option_name, error.possibilities or ())
        return f"no such option {error.option_name!r}{f'; {near}' if near else ''}"
    return " ".join(error.format_message().split())  # click lists choices one a line


def silence_stdout() -> None:
    """Drops further output after its reader has closed the pipe (`| head`), without a complaint of Python at exit."""
    _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)


def main():
    """The entry point of `gpuprof.__main__`. Exit codes: 0 fine, 1 the run failed, 2 wrong usage, 3 a regression, 4 not
    comparable, 130 interrupted. Signals that `base.interrupts` handles are raised.
    """
    fill_closed_streams()
    code = _exit_code()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # said already, or it cannot be said
            _silence(stream)
    sys.exit(code)


def _exit_code() -> int:
    try:
        code = cli(prog_name="gpuprof", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except GpuprofError as error:
        return _complain(error)
    except click.exceptions.NoArgsIsHelpError as error:
        with suppress(OSError):
            error.show()
        return 2
    except click.UsageError as error:
        return _complain(_in_our_words(error))
    except (Interrupted, click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, Ended):
            raise error.__cause__ from None
        with suppress(OSError):
            click.echo("gpuprof: interrupted", err=True)
        return 130
    except BrokenPipeError:
        silence_stdout()
        return 0
    except OSError as error:  # a full disk under stdout; files that commands open have errors of their own
        silence_stdout()
        what = f"{error.filename}: " if error.filename else "cannot write the output: "
        return _complain(GpuprofError(f"{what}{error.strerror}"))
