"""gpuprof report: where the cycles went."""

import sys
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.listed_command import ListedCommand
from gpuprof.cli.options.near_choice import NearChoice
from gpuprof.cli.options.outputs import claim
from gpuprof.cli.options.page import HTML, html_page, page_options, write_page
from gpuprof.cli.options.vocabulary import VOCABULARY
from gpuprof.errors import UsageError
from gpuprof.report.pages import PAGES

PAGES_OF_TASKS = ("tasks", "relations", "timeline")


@click.command(
    "report",
    cls=ListedCommand,
    title="Pages",
    entries={name: entry.text for name, entry in PAGES.items()},
    short_help="Show where the cycles went.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path), required=False)
@click.option(
    "--page",
    type=NearChoice(tuple(PAGES)),
    help="The page to show.  [default: the summary, then the source of the kernel with the most cycles]",
)
@click.option("--kernel", metavar="RE", help="Show only kernels whose name matches this regular expression.")
@click.option("--launch", type=click.IntRange(min=0), metavar="N", help="Show only launch N; the first is 0.")
@click.option("--draw", metavar="N,A-B", help="Show only shaders of these draws, as in 3,5-9; the first is 0.")
@click.option("--stage", "stages", metavar="NAMES", help="Show only shaders of these stages, as in vertex,pixel.")
@click.option("--source-lines", metavar="A-B", help="Show only these lines, with all their instructions.")
@click.option(
    "--isa", is_flag=True, help="Show the instructions under every line; on the stalls page, instead of lines."
)
@click.option("--task", metavar="NAME", help="Show what this task or buffer is related to; #N is task N.")
@click.option(
    "--sort",
    type=NearChoice(["cycles", "primitives", "fragments", "overdraw", "quads"]),
    help="Sort the draws of the page draws, the largest first; quads: the worst quad efficiency first.  "
    "[default: as they were asked for]",
)
@format_option("html", csv="as Nsight Compute exports its source page", json="versioned")
@page_options
@click.option(
    "--vocabulary",
    type=VOCABULARY,
    default="ncu",
    show_default=True,
    help="Name stall reasons in the terms of this tool.",
)
@click.option(
    "--attribution",
    type=NearChoice(["waiting", "ncu"]),
    default="waiting",
    show_default=True,
    help="Show stalls at the instruction that waits, or, as Nsight Compute does, those of barriers, fences and ends "
    "of warps at the one behind it.",
)
@click.option("--width", type=click.IntRange(min=20), metavar="N", help="Columns per line.  [default: the terminal's]")
def command(
    file,
    other,
    page,
    kernel,
    launch,
    draw,
    stages,
    source_lines,
    isa,
    task,
    sort,
    format_,
    output,
    force,
    vocabulary,
    attribution,
    width,
):
    """Show where the cycles of FILE (.gpudb, or .gprec) went: per kernel, source line, PTX line or instruction.

    With --html, OTHER may name a second profile: the page compares it with FILE.
    """
    if format_ == HTML:
        refuse_beside_html(
            {
                "--page": page,
                "--source-lines": source_lines,
                "--isa": isa or None,
                "--task": task,
                "--sort": sort,
                "--width": width,
            }
        )
        if attribution != "waiting":
            raise UsageError(f"--attribution {attribution}: a page shows stalls at the instruction that waits")
    if other is not None and format_ != HTML:
        raise UsageError(f"{other}: two profiles make a page for a browser: give --html NAME")
    if output is not None:
        claim(output, html_page, [file, *([other] if other else [])], force)
    lines = parse_lines(source_lines) if source_lines is not None else None
    if lines is not None and not takes(page, "--source-lines"):
        raise UsageError(f"--source-lines selects lines of the source page; leave it out with --page {page}")
    if isa and (format_ != "text" or not takes(page, "--isa")):
        raise UsageError(
            "--isa shows instructions as text, under the lines of the source page or on the stalls page; for all "
            "instructions give --page isa"
        )
    if task is not None and not takes(page, "--task"):
        raise UsageError(f"--task selects a task of the relations page; leave it out with --page {page}")
    if sort is not None and page != "draws":
        raise UsageError(f"--sort sorts the page of draws; give --page draws{f', not {page}' if page else ''}")
    page = "relations" if task is not None else page
    choosing = {"--kernel": kernel, "--launch": launch, "--draw": draw, "--stage": stages}
    if given := [flag for flag, value in choosing.items() if value is not None]:
        refuse_choice(page, task, given[0])

    shaders = shaders_of(draw, stages)

    from dataclasses import replace

    from gpuprof.correlate.api_calls import read_api_calls
    from gpuprof.correlate.database import reading
    from gpuprof.isa.vocabularies import VOCABULARIES
    from gpuprof.report.attribution import attributed
    from gpuprof.report.measured import check_lines, check_measured, check_sampled
    from gpuprof.report.pages.page_kind import Request
    from gpuprof.report.queries import read_report
    from gpuprof.report.tasks.draw_tasks import read_draws
    from gpuprof.report.tasks.read_tasks import read_task_report
    from gpuprof.report.terminal.report_screen import tolerant

    with stage("reading the profile"), reading(file) as db:
        report = read_report(db, kernel, launch, shaders, traces=page == "traces")
        report = replace(report, vocabulary=VOCABULARIES[vocabulary])
        chosen = {each.launch for some in report.kernels for each in some.launches} if given else None
        if page in PAGES_OF_TASKS:
            report = replace(report, related=read_task_report(db, page, task, chosen))
        if page == "api":
            report = replace(report, calls=tuple(read_api_calls(db)))
        if page == "draws":
            report = replace(report, draws=read_draws(db, chosen))
        check_measured(report, page is None or PAGES[page].needs_cycles)
        text = html_text(db, report, other, kernel, launch, shaders) if format_ == HTML else ""
    report = attributed(report, attribution)
    if lines is not None:
        check_lines(report, lines)
    tolerant(sys.stdout)
    if format_ == HTML:
        print_html(text, output)
    else:
        PRINTERS[format_](report, Request(page or ("source" if lines else ""), lines, isa, task, sort), width)
    if page is None or PAGES[page].needs_cycles:
        check_sampled(report)


def refuse_choice(page: str | None, task: str | None, flag: str) -> None:
    """Refuses flags that choose launches where nothing of launches is shown."""
    if page == "api":
        raise UsageError(f"{flag} chooses launches, and the page api shows all calls of the run; leave it out")
    if task is not None:
        raise UsageError(f"{flag} chooses launches, and --task what one task or buffer is related to; give one of them")


def shaders_of(draws: str | None, stages: str | None):
    """The shaders that --draw and --stage name, as `collect --filter` does; None where none is given."""
    given = {name: value for name, value in (("draw", draws), ("stage", stages)) if value is not None}
    if not given:
        return None
    from gpuprof.report.tasks.draw_tasks import Shaders
    from gpuprof.timing.sampling.filter import filter_of_words

    wanted = filter_of_words([f"{name}={value}" for name, value in given.items()])
    return Shaders(" ".join(f"--{name} {value}" for name, value in given.items()), wanted.draw, wanted.stage)


def takes(page: str | None, flag: str) -> bool:
    """Whether a flag goes with a page, or with the default."""
    return page is None or flag in PAGES[page].flags


def refuse_beside_html(options: dict[str, object]) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise UsageError(
            f"{given[0]} goes with text, csv and json; leave it out: the page for a browser has every view"
        )


def html_text(database, report, other: Path | None, kernel: str | None, launch: int | None, shaders) -> str:
    """The page of a report, beside that of the profile `other` if one is given."""
    from dataclasses import replace

    from gpuprof.correlate.database import reading
    from gpuprof.report.html.page import html_of
    from gpuprof.report.html.profile_block import Profile
    from gpuprof.report.measured import check_measured
    from gpuprof.report.queries import read_report

    shown = Profile(database, report)
    if other is None:
        return html_of([shown])
    with reading(other) as second:
        beside = replace(read_report(second, kernel, launch, shaders), vocabulary=report.vocabulary)
        check_measured(beside)
        return html_of([shown, Profile(second, beside)])


def print_html(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
    else:
        write_page(text, output)


def print_text(report, request, width: int | None) -> None:
    from gpuprof.report.render import text_page
    from gpuprof.report.terminal.report_screen import console_for, look_for, write

    console = console_for(sys.stdout)
    write(text_page(report, look_for(console, width), request), console)
    sys.stdout.flush()


def print_csv(report, request, width: int | None) -> None:
    from gpuprof.report.render import csv_page

    click.echo(csv_page(report, request), nl=False)


def print_json(report, request, width: int | None) -> None:
    from gpuprof.report.render import json_page

    click.echo(json_page(report, request), nl=False)


PRINTERS = {"text": print_text, "csv": print_csv, "json": print_json}


def parse_lines(text: str) -> tuple[int, int]:
    """ "10-20" or "10". Raises UsageError."""
    first, dash, last = text.partition("-")
    if not first.isascii() or not first.isdigit() or (dash and not (last.isascii() and last.isdigit())):
        raise UsageError(f"--source-lines {text!r}: expected a line or a range of lines, as in 10 or 10-20")
    lines = int(first), int(last if dash else first)
    if lines[0] < 1 or lines[0] > lines[1]:
        raise UsageError(f"--source-lines {text!r}: the first line must be at least 1 and not after the last")
    return lines
