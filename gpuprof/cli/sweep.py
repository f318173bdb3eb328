"""gpuprof sweep: run one file on a table of chips and parameters."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.building import compiler_options, rdc_option
from gpuprof.cli.options.launching import LAUNCH_FLAG
from gpuprof.cli.options.outputs import (
    OutputPath,
    claim,
    csv_table,
    force_option,
    json_table,
    png_plot,
    sqlite_table,
    svg_plot,
)
from gpuprof.cli.options.results import check_results_flags, comparing_options
from gpuprof.cli.options.sampler import Cycles
from gpuprof.run.compile_file import DEFAULT_CHIP, BuildOptions

TABLES = {".csv": csv_table, ".json": json_table, ".sqlite": sqlite_table}
PLOTS = {".png": png_plot, ".svg": svg_plot}


@click.command("sweep", short_help="Run one file on a table of chips and parameters.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("script_args", nargs=-1)
@click.option(
    "--chips",
    "chip_names",
    default=DEFAULT_CHIP,
    show_default=True,
    metavar="NAME,...",
    help="Chips of `gpuprof list chips`, or .toml files.",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="KEY=V,...",
    help="A number of the chip: sms=54,108, l2_kb=20480,40960, latency.shared=20,30. Repeatable.",
)
@click.option(
    "--define",
    "macros",
    multiple=True,
    metavar="NAME=V,...",
    help="A macro of the source, and {NAME} in --launch. Repeatable.",
)
@click.option(
    "--max-registers", metavar="N,...", help="Largest number of registers per thread; other values are spilled."
)
@click.option(
    "--zip",
    "in_step",
    is_flag=True,
    help="Combine the first values, then the second values, and so on, instead of all combinations.",
)
@LAUNCH_FLAG
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of random data.")
@click.option(
    "--max-cycles",
    type=Cycles(1),
    metavar="N",
    help="Stop a kernel after N cycles.  [default: after 2^22 instructions of any warp]",
)
@click.option(
    "--sample-blocks",
    is_flag=True,
    help="Time blocks of a large launch until its rate settles, and extrapolate the rest.",
)
@comparing_options
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes.  [default: one per core]")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the workers of a Dask cluster, such as tcp://HOST:8786.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=OutputPath(*TABLES.values()),
    metavar="OUT",
    help="Write the table as .csv, .json or .sqlite. Repeatable.",
)
@click.option(
    "--plot",
    type=OutputPath(*PLOTS.values()),
    metavar="OUT",
    help="Plot cycles against the first parameter, as .png or .svg.",
)
@force_option
@compiler_options
@rdc_option
def command(
    file: Path,
    script_args: tuple[str, ...],
    chip_names: str,
    params: tuple[str, ...],
    macros: tuple[str, ...],
    max_registers: str | None,
    in_step: bool,
    launches: tuple[str, ...],
    seed: int,
    max_cycles: int | None,
    sample_blocks: bool,
    wanted,
    jobs: int | None,
    scheduler: str | None,
    outputs: tuple[Path, ...],
    plot: Path | None,
    force: bool,
    options: BuildOptions,
):
    """Run the kernels of FILE (.cu, .ptx, .gpubin or a .py script) on every combination of chips and values.

    A .cu file with a `main` and without launches in its comments is a whole program, with the arguments behind `--`;
    so is an executable of `nvcc -cudart shared`.

    \b
    gpuprof sweep matmul.cu --chips a100,h200 --param l2_mb=10,20,40 -o l2.csv --plot l2.svg
    gpuprof sweep app.cu --chips a100,h200 -- --size 1024
    gpuprof sweep matmul.cu --define TILE=8,16,32 \\
        --launch 'tiled<<<(256/{TILE}, 256/{TILE}), ({TILE}, {TILE})>>>(f32[65536]=random, f32[65536]=random,
        f32[65536], 256)'
    """
    from gpuprof.run.target import target_of
    from gpuprof.sweep.sweep_parameters import parse_parameter, registers_parameter
    from gpuprof.sweep.sweep_plan import Plan, prepare, runs

    target_of(file, (), script_args, launches, options=options)
    check_results_flags(file, wanted)
    _check_flags(outputs, plot, jobs, scheduler)

    parameters = (
        *(parse_parameter("chip", text, "--param") for text in params),
        *(parse_parameter("define", text, "--define") for text in macros),
        *([registers_parameter(max_registers)] if max_registers else []),
    )
    plan = Plan(
        file,
        tuple(chip_names.split(",")),
        parameters,
        in_step,
        launches,
        script_args,
        options,
        seed,
        max_cycles,
        sample_blocks,
        wanted,
    )
    planned = runs(plan)
    _claim_outputs(outputs, plot, _inputs(plan, planned), force)
    outcomes = {}
    try:
        with stage("", "runs", len(planned), each="run") as under_way:
            for outcome in _outcomes(prepare(plan, planned), jobs, scheduler):
                outcomes[outcome.number] = outcome
                under_way.done += 1
                under_way.failed += bool(outcome.error)
    except BaseException:
        _save_what_there_is(plan, planned, outcomes, outputs)
        raise
    _finish(plan, planned, outcomes, outputs, plot)


def _check_flags(outputs: Sequence[Path], plot: Path | None, jobs: int | None, scheduler: str | None) -> None:
    from gpuprof.errors import UsageError
    from gpuprof.sweep.dask_cluster import check_installed
    from gpuprof.sweep.sweep_plot import check_plot
    from gpuprof.sweep.write_table import check_output

    for output in outputs:
        check_output(output)
    if plot:
        check_plot(plot)
    if scheduler:
        check_installed()
        if jobs:
            raise UsageError(
                f"--jobs {jobs}: processes of this machine do not run with --scheduler; leave out one of them"
            )


def _claim_outputs(outputs: Sequence[Path], plot: Path | None, inputs: list[Path], force: bool) -> None:
    from gpuprof.base.outputs import check_output

    outputs = dict.fromkeys(outputs)
    _check_apart([*outputs, *map(_partial_name, outputs), *([plot] if plot else [])])
    for output in outputs:
        claim(output, TABLES[output.suffix], inputs, force)
        check_output(_partial_name(output), TABLES[output.suffix](), inputs, force)
    if plot:
        claim(plot, PLOTS[plot.suffix], inputs, force)


def _check_apart(names: Sequence[Path]) -> None:
    """Raises UsageError when two names stand for one file: the second would take the place of the first."""
    from gpuprof.base.output_targets import target_of
    from gpuprof.errors import UsageError

    found = {}
    for name in names:
        path = target_of(name).path
        if path is not None and found.setdefault(path, name) is not name:
            also = "" if found[path] == name else f"is the same file as {found[path]}, and "
            raise UsageError(f"{name}: {also}would be written twice; give another name")


def _partial_name(output: Path) -> Path:
    return output.with_name(f"{output.stem}.partial{output.suffix}")


def _inputs(plan, planned: Sequence) -> list[Path]:
    """What the command reads. A script's arguments may be files."""
    from gpuprof.device.results.plan import input_files
    from gpuprof.sweep.sweep_plan import flag_requests

    launched = flag_requests(plan, planned[0])  # the texts of the plan have names in place of values
    read = [plan.file, *input_files(launched, plan.wanted, plan.target.folder)] if launched else plan.target.inputs()
    return [*read, *map(Path, (*plan.chips, plan.options.compiler))]


def _outcomes(ready: Sequence, jobs: int | None, scheduler: str | None) -> Iterator:
    """Outcomes as they come; those that are known before anything runs come first."""
    import os

    from gpuprof.sweep.dask_cluster import on_cluster
    from gpuprof.sweep.run_sweep import Task
    from gpuprof.sweep.workers import on_this_machine

    tasks = [each for each in ready if isinstance(each, Task)]
    yield from (each for each in ready if not isinstance(each, Task))
    yield from on_cluster(tasks, scheduler) if scheduler else on_this_machine(tasks, jobs or os.cpu_count() or 1)


def _save_what_there_is(plan, planned: Sequence, outcomes: dict, outputs: Sequence[Path]) -> None:
    """After Ctrl-C, or when a cluster is lost: the runs that are done, beside where the table would have been."""
    from gpuprof.isa.printing.printable import printable
    from gpuprof.sweep.sweep_table import build_table
    from gpuprof.sweep.write_table import write

    for output in outputs if outcomes else ():
        partial = _partial_name(output)
        write(build_table(plan, planned, outcomes), partial)
        text = f"gpuprof: {len(outcomes)} of {len(planned)} runs are done -> {partial}"
        click.echo(printable(text), err=True)


def _finish(plan, planned: Sequence, outcomes: dict, outputs: Sequence[Path], plot: Path | None) -> None:
    """Everything that is to be shown and written. Raises GpuprofError when a run failed, afterwards."""
    from gpuprof.errors import GpuprofError
    from gpuprof.sweep.sweep_table import build_table, describe_run
    from gpuprof.sweep.write_table import write

    table = build_table(plan, planned, outcomes)
    for output in outputs:
        write(table, output)
    if plot:
        from gpuprof.sweep.series import figure_of
        from gpuprof.sweep.sweep_plot import write_plot

        write_plot(figure_of(table), plot)
    _print(table)
    if failures := table.failures():
        first = failures[0]
        raise GpuprofError(
            f"{len(failures)} of {len(planned)} runs failed, first "
            f"{describe_run(first, table.parameters)}: {first['error']}"
        )


def _print(table) -> None:
    import sys

    from gpuprof.report.terminal.report_screen import console_for, look_for, tolerant, write as write_lines
    from gpuprof.sweep.sweep_screen import lines

    tolerant(sys.stdout)
    console = console_for(sys.stdout)
    write_lines(lines(table, look_for(console)), console)
