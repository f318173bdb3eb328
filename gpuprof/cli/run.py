"""gpuprof run: run a whole CUDA program on the emulated GPU, without a profile."""

import sys
from pathlib import Path

import click

from gpuprof.cli.options.arguments import WithArguments, arguments_behind
from gpuprof.cli.options.building import compiler_options, rdc_option
from gpuprof.cli.options.checking import checking_options, end_with, errors_said, findings_of
from gpuprof.cli.options.launching import CHIP_FLAG
from gpuprof.cli.options.recording import TRACE_FLAG, trace_settings
from gpuprof.cli.progress.display import Display
from gpuprof.run.compile_file import BuildOptions


@click.command("run", cls=WithArguments, short_help="Run a CUDA program on the emulated GPU, without a profile.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@CHIP_FLAG
@click.option("--timed", is_flag=True, help="Time the launches, so that events and clocks show how long they take.")
@click.option(
    "--max-cycles", type=click.IntRange(min=1), metavar="N", help="Stop a kernel after N instructions of a warp."
)
@TRACE_FLAG
@checking_options
@compiler_options
@rdc_option
@click.pass_obj
def command(
    display: Display,
    files: tuple[Path, ...],
    chip_name: str | None,
    timed: bool,
    max_cycles: int | None,
    traces: tuple[str, ...],
    error_exitcode: int,
    limit: int,
    suppressions: str | None,
    options: BuildOptions,
):
    """Build the program of FILES (.cu, .cpp, .c), run it with the arguments behind `--`, and end with its exit code.

    \b
    gpuprof run app.cu -- --size 1024
    gpuprof run app.cu --trace memcheck --trace racecheck --error-exitcode 1
    gpuprof run main.cu kernels.cu io.cpp -I include
    """
    from gpuprof.cli.progress.terminal import WithoutLaunches
    from gpuprof.run.run_settings import Settings
    from gpuprof.run.target import program_of

    program = program_of(files, arguments_behind())
    findings = findings_of(limit, suppressions)
    with WithoutLaunches(display) as terminal:
        settings = Settings(
            chip_name=chip_name,
            is_timed=timed,
            max_cycles=max_cycles,
            options=options,
            observer=terminal,
            findings=findings,
            **trace_settings(traces),
        )
        with errors_said(terminal, settings):
            code = program.run(settings).code
        end_with(findings, error_exitcode)
    sys.exit(code if code >= 0 else 128 - code)
