"""gpuprof quality: how far off the sampled profile is, at this period and others."""

import sys
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import Given
from gpuprof.errors import UsageError


@click.command("quality", cls=GroupedCommand, short_help="Show the error of the samples, by period.")
@click.argument("recording", metavar="FILE.gprec", type=click.Path(path_type=Path))
@options("quality", format_option(group="Output", csv="a row per period", json="versioned"))
def command(recording: Path, given: Given):
    """Compare the samples of a recording with its exact ledger, at its period and at others, 2^5 to 2^20.

    Longer periods are simulated by dropping samples; shorter ones are predicted. docs/sampling.md says more.

    \b
    Columns, as shares:
      mix         error of the stall reasons: half the sum of differences
      counted     mix, if every sample counts as one
      formula     mix of as many independent samples
      worst line  largest error of a line's share
      ranked      lines of 1% and more at their right place
      hottest     recordings that find the hottest line
      from        recorded, thinned (samples dropped) or predicted
    """
    from gpuprof.report.quality import csv_text, json_text, page
    from gpuprof.report.terminal.report_screen import console_for, look_for, tolerant, write

    quality, format_ = judge(recording, given.kernel, given.launch), given.format_
    tolerant(sys.stdout)
    if format_ != "text":
        click.echo({"csv": csv_text, "json": json_text}[format_](quality), nl=False)
        return
    console = console_for(sys.stdout)
    write(page(quality, look_for(console, given.width)), console)
    sys.stdout.flush()


def judge(recording: Path, kernel: str | None, launch: int | None):
    """The `Quality` of the launches that were chosen."""
    from gpuprof.correlate.database import read_start, reading
    from gpuprof.correlate.profile import read_profile
    from gpuprof.correlate.thinning import rows_of
    from gpuprof.records.schema import MAGIC
    from gpuprof.report.estimates import effective_of
    from gpuprof.report.measured import check_measured, check_sampled
    from gpuprof.report.quality import Quality
    from gpuprof.report.queries import read_report

    if not read_start(recording).startswith(MAGIC[:5]):
        raise UsageError(
            f"{recording}: quality needs the samples of a recording (.gprec); a database does not have them"
        )
    with stage("reading the profile"), reading(recording) as db:
        report = read_report(db, kernel, launch)
        check_measured(report)
        check_sampled(report)
        launches = [each for k in report.kernels for each in k.launches]
        samples, truth, period_cycles, can_thin = read_profile(recording, db, sorted(each.launch for each in launches))
    size = effective_of(launches)
    effective = len(samples.line) if size is None else size
    return Quality(
        report.header,
        effective,
        rows_of(samples, truth, period_cycles, effective, can_thin),
        notes(report.header, size, can_thin),
    )


def notes(header, size: float | None, can_thin: bool) -> list[str]:
    found = []
    if size is None:
        found.append(
            "compact records have no cycle and no weight: each sample counts as one, as if it were independent of the "
            "others"
        )
    if not can_thin:
        found.append("longer periods are predicted, too: these records cannot be thinned")
    if header.dropped:
        found.append(
            f"{header.dropped:,} samples were dropped; recordings with longer periods would have dropped fewer than "
            "their rows show"
        )
    return found
