"""gpuprof sweep: run one file on a table of chips and parameters."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import CHIPS, LAUNCHES, LIST, OUTPUT, SWITCH, Given, Option
from gpuprof.cli.options.outputs import (
    OutputPath,
    claim,
    csv_table,
    json_table,
    png_plot,
    sqlite_table,
    svg_plot,
    traces,
)
from gpuprof.cli.options.results import check_results_flags
from gpuprof.cli.options.settings import build_options_of, wanted_of
from gpuprof.run.compile_file import DEFAULT_CHIP

TABLES = {".csv": csv_table, ".json": json_table, ".sqlite": sqlite_table}
PLOTS = {".png": png_plot, ".svg": svg_plot}
OWN = (
    Option("--chips", "chip_names", "Chips of `gpuprof list chips`, or .toml files.",
           metavar="NAME,...", group=CHIPS, default=DEFAULT_CHIP),
    Option("--param", "params",
           "A number of the chip: sms=54,108, l2_kb=20480,40960, latency.shared=20,30. Repeatable.",
           metavar="KEY=V,...", form=LIST, group=CHIPS),
    Option("--define", "macros", "A macro of the source, and {NAME} in --launch. Repeatable.",
           metavar="NAME=V,...", form=LIST, group=CHIPS),
    Option("--max-registers", "register_numbers", "Largest number of registers per thread; other values are spilled.",
           metavar="N,...", group=CHIPS),
    Option("--zip", "in_step",
           "Combine the first values, then the second values, and so on, instead of all combinations.",
           form=SWITCH, group=CHIPS),
    Option("--seed", "seed", "Seed of random data.",
           metavar="N", type=click.IntRange(min=0), group=LAUNCHES, default=0),
    Option("--jobs", "jobs", "Worker processes.",
           metavar="N", type=click.IntRange(min=1), group=CHIPS, usual="one per core"),
    Option("-o --output", "outputs", "Write the table as .csv, .json or .sqlite. Repeatable.",
           metavar="OUT", type=OutputPath(*TABLES.values()), form=LIST, group=OUTPUT),
    Option("--plot", "plot", "Plot cycles against the first parameter, as .png or .svg.",
           metavar="OUT", type=OutputPath(*PLOTS.values()), group=OUTPUT),
    Option("--traces", "trace_file", "Emulate each program once, for all chips: take the traces of its launches from a "
           "file, which gets what is missing.",
           metavar="NAME.gptrace", type=OutputPath(traces), group=OUTPUT),
)  # fmt: skip


@click.command("sweep", cls=GroupedCommand, short_help="Run one file on a table of chips and parameters.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("script_args", nargs=-1)
@options("sweep", *OWN)
def command(file: Path, script_args: tuple[str, ...], given: Given):
    """Run the kernels of FILE (.cu, .ptx, .gpubin or a .py script) on every combination of chips and values.

    A .cu file with a `main` and without launches in its comments is a whole program, with the arguments after `--`;
    so is an executable of `nvcc -cudart shared`.

    \b
    gpuprof sweep matmul.cu --chips a100,h200 --param l2_mb=10,20,40 -o l2.csv --plot l2.svg
    gpuprof sweep app.cu --chips a100,h200 -- --size 1024
    gpuprof sweep matmul.cu --define TILE=8,16,32 \\
        --launch 'tiled<<<(256/{TILE}, 256/{TILE}), ({TILE}, {TILE})>>>(f32[65536]=random, f32[65536]=random,
        f32[65536], 256)'
    """
    from gpuprof.sweep.sweep_plan import prepare, runs

    plan = _plan(file, script_args, given)
    check_results_flags(plan.target.file, given)
    outputs, plot, jobs, scheduler = given.outputs, given.plot, given.jobs, given.scheduler
    _check_flags(outputs, plot, jobs, scheduler)
    if given.trace_file:
        _check_traces(plan, scheduler)
    planned = runs(plan)
    _claim_outputs(outputs, plot, given.trace_file, _inputs(plan, planned), given.force)
    outcomes = {}
    try:
        with stage("", "runs", len(planned), each="run") as under_way:
            for outcome in _outcomes(prepare(plan, planned), jobs, scheduler, given.trace_file):
                outcomes[outcome.number] = outcome
                under_way.done += 1
                under_way.failed += bool(outcome.error)
    except BaseException:
        _save_what_there_is(plan, planned, outcomes, outputs)
        raise
    _finish(plan, planned, outcomes, outputs, plot)


def _plan(file: Path, script_args: tuple[str, ...], given: Given):
    """The plan that the options make. Raises UsageError for a parameter that is none."""
    from gpuprof.sweep.sweep_parameters import parse_parameter, registers_parameter
    from gpuprof.sweep.sweep_plan import Plan

    registers = given.register_numbers
    return Plan(
        file,
        chips=tuple(given.chip_names.split(",")),
        host=given.host_name,
        parameters=(
            *(parse_parameter("chip", text, "--param") for text in given.params),
            *(parse_parameter("define", text, "--define") for text in given.macros),
            *([registers_parameter(registers)] if registers else []),
        ),
        in_step=given.in_step,
        launches=given.launches,
        script_args=script_args,
        options=build_options_of(given),
        seed=given.seed,
        max_cycles=given.max_cycles,
        max_instructions=given.max_instructions,
        sample_blocks=given.sample_blocks,
        cache=given.cache,
        repeat=given.repeat,
        wanted=wanted_of(given),
    )


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


def _check_traces(plan, scheduler: str | None) -> None:
    """Raises UsageError for what cannot be timed from a file."""
    from gpuprof.errors import UsageError
    from gpuprof.run.target import Launches

    if not isinstance(plan.target, Launches):
        raise UsageError(
            f"{plan.file}: its host code reads what the launches compute, and --traces has only their traces; leave it "
            "out"
        )
    for flag, is_there in (("--scheduler", scheduler), ("--sample-blocks", plan.sample_blocks)):
        if is_there:
            why = "its workers may not see the file" if scheduler else "a file has the traces of all blocks"
            raise UsageError(f"{flag} and --traces: {why}; leave out one of them")


def _claim_outputs(
    outputs: Sequence[Path], plot: Path | None, trace_file: Path | None, inputs: list[Path], force: bool
) -> None:
    from gpuprof.base.outputs import check_output
    from gpuprof.run.trace_file.read import holds_traces

    outputs = dict.fromkeys(outputs)
    _check_apart([*outputs, *map(_partial_name, outputs), *filter(None, [plot, trace_file])])
    for output in outputs:
        claim(output, TABLES[output.suffix], inputs, force)
        check_output(_partial_name(output), TABLES[output.suffix](), inputs, force)
    if plot:
        claim(plot, PLOTS[plot.suffix], inputs, force)
    if trace_file and not holds_traces(trace_file):
        claim(trace_file, traces, inputs, force)


def _check_apart(names: Sequence[Path]) -> None:
    """Raises UsageError when two names are those of one file: the second output would replace the first."""
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
    """The files that the command reads. A script's arguments may be files."""
    from gpuprof.device.results.plan import input_files
    from gpuprof.sweep.sweep_plan import flag_requests

    launched = flag_requests(plan, planned[0])  # the texts of the plan have names in place of values
    read = [plan.file, *input_files(launched, plan.wanted, plan.target.folder)] if launched else plan.target.inputs()
    return [*read, *map(Path, (*plan.chips, plan.host or "", plan.options.compiler))]


def _outcomes(ready: Sequence, jobs: int | None, scheduler: str | None, trace_file: Path | None) -> Iterator:
    """Outcomes as they come; those that are known before anything runs come first."""
    from gpuprof.isa.printing.printable import printable
    from gpuprof.sweep.dask_cluster import on_cluster
    from gpuprof.sweep.run_sweep import Task
    from gpuprof.sweep.workers import on_this_machine

    tasks = [each for each in ready if isinstance(each, Task)]
    yield from (each for each in ready if not isinstance(each, Task))
    if trace_file:
        from gpuprof.sweep.stored_traces import with_traces

        def notice(text: str) -> None:
            click.echo(printable(f"gpuprof: {text}"), err=True)

        yield from with_traces(tasks, trace_file, lambda some: on_this_machine(some, jobs), notice)
        return
    yield from on_cluster(tasks, scheduler) if scheduler else on_this_machine(tasks, jobs)


def _save_what_there_is(plan, planned: Sequence, outcomes: dict, outputs: Sequence[Path]) -> None:
    """After Ctrl-C, or when a cluster is lost: writes the runs that are done, next to the table's name."""
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
