"""gpuprof run: run a whole CUDA program on the emulated GPU, without a profile."""

import sys
from pathlib import Path

import click

from gpuprof.cli.options.arguments import WithArguments, arguments_after_dashes
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.option import LAUNCHES, SWITCH, Given, Option
from gpuprof.cli.options.results import end_with, errors_said
from gpuprof.cli.options.settings import findings_of, settings_of
from gpuprof.cli.progress.display import Display
from gpuprof.errors import UsageError

TIMED = Option(
    "--timed",
    "is_timed",
    "Time the launches, so that events and clocks show how long they take. A program that calls "
    "cudaEventElapsedTime is timed without it.",
    form=SWITCH,
    group=LAUNCHES,
    fills="is_timed",
)
UNTIMED = Option(
    "--no-timed",
    "is_untimed",
    "Time no launches, which is several times as quick. Events and clocks then show that they take no time.",
    form=SWITCH,
    group=LAUNCHES,
    fills="is_timed",
    made=lambda _: False,
)


@click.command("run", cls=WithArguments, short_help="Run a CUDA program on the emulated GPU, without a profile.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options("run", TIMED, UNTIMED)
@click.pass_obj
def command(display: Display, files: tuple[Path, ...], given: Given):
    """Build the program of FILES (.cu, .cpp, .c), run it with the arguments after `--`, and end with its exit code.

    \b
    gpuprof run app.cu -- --size 1024
    gpuprof run app.cu --trace memcheck --trace racecheck --error-exitcode 1
    gpuprof run main.cu kernels.cu io.cpp -I include
    """
    from gpuprof.cli.progress.terminal import WithoutLaunches
    from gpuprof.run.run_settings import Settings
    from gpuprof.run.target import program_of

    if given.is_timed and given.is_untimed:
        raise UsageError("--timed and --no-timed contradict each other; leave out one of the two")
    program = program_of(files, arguments_after_dashes())
    findings = findings_of(given)
    with WithoutLaunches(display) as terminal:
        settings = settings_of(given, Settings(is_timed=None, observer=terminal, findings=findings))
        with errors_said(terminal, settings):
            code = program.run(settings).code
        end_with(findings, given.error_exitcode)
    sys.exit(code if code >= 0 else 128 - code)
