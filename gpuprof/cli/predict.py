"""gpuprof predict: times on chips that were not simulated, from one recording."""

import sys
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import CHIPS, LIST, OUTPUT, SWITCH, Given, Option
from gpuprof.cli.options.value_types import InputPath

LEVELS = ("test", "buffer", "draw", "launch")


OWN = (
    Option("--chips", "chip_names", "Chips of `gpuprof list chips`, or .toml files.",
           metavar="NAME,...", usual="all", group=CHIPS),
    Option("--param", "params",
           "A number of the chips: sms=54,108 or sms=80:140:4, l2_mb=20,40, latency.shared=20,30. Repeatable.",
           metavar="KEY=V,...", form=LIST, group=CHIPS),
    Option("--level", "level",
           "Rows to show: the whole test, its command buffers (a stream between host waits), draws, or launches.",
           type=click.Choice(LEVELS), default=LEVELS[0], group=OUTPUT),
    Option("--cost", "cost_file", "Cost of each unit of a chip's number (columns number,cost): show the Pareto front.",
           metavar="CSV", type=InputPath(), group=OUTPUT),
    Option("--sensitivity", "sensitivity", "Show how much the score depends on each number of the chips.",
           form=SWITCH, group=OUTPUT),
    Option("--explain", "explain", "Show which unit limits each launch and draw, and why.", form=SWITCH, group=OUTPUT),
    Option("--calibrate", "calibration",
           "A recording of the same launches on another chip: fit the mapping functions. Repeatable.",
           metavar="FILE", type=InputPath(), form=LIST, group=CHIPS),
    format_option(csv="a row per chip", json="versioned", group=OUTPUT),
)  # fmt: skip


@click.command("predict", cls=GroupedCommand, short_help="Predict times, scores and bottlenecks on other chips.")
@click.argument("file", type=click.Path(path_type=Path))
@options("predict", *OWN)
def command(file: Path, given: Given):
    """Predict FILE (.gprec or .gpudb), recorded on one chip, for other chips. Nothing is run.

    docs/prediction.md says how, and how far predictions are off.

    \b
    gpuprof predict saxpy.gprec --chips a100,h200,mine.toml
    gpuprof predict saxpy.gprec --chips a100 --param sms=80:140:4 --param l2_mb=20,40 --cost cost.csv
    """
    from gpuprof.chips import list_chips, load_chip
    from gpuprof.correlate.database import reading
    from gpuprof.predict.calibrate import calibrated, read_others
    from gpuprof.predict.output.prediction_screen import calibration_lines
    from gpuprof.predict.recorded import read_recorded
    from gpuprof.predict.space.design_points import points_of
    from gpuprof.predict.space.pareto import read_costs
    from gpuprof.report.terminal.report_screen import console_for, look_for, tolerant, write
    from gpuprof.sweep.sweep_parameters import check_names, parse_parameter

    format_, level, sensitivity, explain = given.format_, given.level, given.sensitivity, given.explain
    if given.scheduler:
        _check_installed()
    parameters = [parse_parameter("chip", text, "--param") for text in given.params]
    check_names(parameters)
    chips = [load_chip(name) for name in (_unique(given.chip_names) or list_chips())]
    points = points_of(chips, parameters)
    if sensitivity or explain:
        _check_more(len(points), format_)
    costs = read_costs(given.cost_file) if given.cost_file else None
    with stage("reading the profile"), reading(file) as db:
        recorded = read_recorded(db)
        others = read_others(recorded, given.calibration)
    fitted = calibrated({file.name: (recorded, others)})
    tolerant(sys.stdout)
    console = console_for(sys.stdout)
    look = look_for(console, given.width)
    found = _predicted(recorded, points, fitted.mappings, costs, given.scheduler)
    if format_ != "text":
        _print_rows(found, level, costs, format_, fitted if given.calibration else None)
    else:
        _print_pages(found, file, level, costs, look, console, fitted.mappings)
        if given.calibration:
            write(calibration_lines(fitted, look), console)
        if sensitivity or explain:
            _print_more(recorded, points, fitted.mappings, sensitivity, explain, look, console)
    sys.stdout.flush()


MOST_WITH_UNITS = 2048  # points whose bottlenecks are worked out, which takes as long as 15 predictions


def _unique(names: str | None) -> list[str]:
    return list(dict.fromkeys(names.split(","))) if names else []


def _check_installed() -> None:
    from gpuprof.sweep.dask_cluster import check_installed

    check_installed()


def _predicted(recorded, points, mappings, costs, scheduler):
    """With costs, bottlenecks are those of the front."""
    from gpuprof.predict.prediction import predicted
    from gpuprof.predict.space.dask_points import Part, predicted_on_cluster

    with stage("predicting", "points", len(points)) as under_way:
        with_units = costs is None and len(points) <= MOST_WITH_UNITS

        def done(n: int) -> None:
            under_way.done = n

        if scheduler:
            return predicted_on_cluster(Part(recorded, points, mappings, with_units), scheduler, done)
        return predicted(recorded, points, mappings, with_units, done)


def _rows(found, level, costs):
    """With the cost of each row's chip, where costs are known."""
    from gpuprof.predict.output.prediction_screen import rows_of
    from gpuprof.predict.space.pareto import costs_of

    rows = rows_of(found, level)
    if costs is None:
        return rows
    each = costs_of(found.chips, costs).tolist()
    return [row._replace(cost=each[k % len(each)]) for k, row in enumerate(rows)]


def _print_rows(found, level, costs, format_, fitted) -> None:
    from gpuprof.predict.output.prediction_tables import csv_text, json_text

    click.echo({"csv": csv_text, "json": json_text}[format_](found, _rows(found, level, costs), fitted), nl=False)


def _print_pages(found, file, level, costs, look, console, mappings) -> None:
    from rich.text import Text

    from gpuprof.predict.output.prediction_plot import scatter
    from gpuprof.predict.output.prediction_screen import page
    from gpuprof.predict.prediction import predicted
    from gpuprof.predict.space.pareto import costs_of, front
    from gpuprof.report.terminal.report_screen import write

    if costs is None:
        write(page(found, _rows(found, level, costs), file.name, level, look), console)
    else:
        each = costs_of(found.chips, costs)
        best = front(each, found.score)
        write(map(Text, scatter(each, found.score, best, look.width)), console)
        shown = found  # where no chip can run it, all are refused
        if len(best):
            shown = predicted(found.recorded, found.chips.chosen(best), mappings)
        write(page(shown, _rows(shown, level, costs), file.name, level, look), console)


def _print_more(recorded, points, mappings, sensitivity, explain, look, console) -> None:
    from gpuprof.predict.output.prediction_screen import explained_draw_lines, explained_lines, sensitivity_lines
    from gpuprof.predict.space.explain_draws import explained_draws
    from gpuprof.predict.space.explain_space import explained
    from gpuprof.predict.space.sensitivity import sensitivities
    from gpuprof.report.terminal.report_screen import write

    if explain:
        write(explained_lines(list(explained(recorded, points)), look), console)
        write(explained_draw_lines(list(explained_draws(recorded, points)), look), console)
    if sensitivity:
        write(sensitivity_lines(sensitivities(recorded, points, mappings), points.names, look), console)


MOST_EXPLAINED = 64


def _check_more(points: int, format_: str) -> None:
    from gpuprof.errors import UsageError

    if format_ != "text":
        raise UsageError(f"--sensitivity and --explain print only text: leave out --format {format_}, or both of them")
    if points > MOST_EXPLAINED:
        raise UsageError(f"--sensitivity and --explain take at most {MOST_EXPLAINED} points, not {points:,}")
