"""gpuprof report: where the cycles went."""

import sys
from pathlib import Path
from typing import NamedTuple

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import HTML, PAGE_OPTIONS, format_and_output, format_option, html_page, write_page
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, SELECTION, SWITCH, Given, Option
from gpuprof.cli.options.outputs import claim
from gpuprof.cli.options.table import VOCABULARY
from gpuprof.cli.options.value_types import NearChoice
from gpuprof.errors import UsageError
from gpuprof.report.pages import PAGES

PAGES_OF_TASKS = ("tasks", "relations", "timeline")
OWN = (
    Option("--page", "page", "The page to show.",
           type=NearChoice(tuple(PAGES)), group=SELECTION,
           usual="the summary, then the source of the kernel with the most cycles"),
    Option("--draw", "draw", "Show only shaders of these draws, as in 3,5-9; the first is 0.",
           metavar="N,A-B", group=SELECTION),
    Option("--stage", "stages", "Show only shaders of these stages, as in vertex,pixel.",
           metavar="NAMES", group=SELECTION),
    Option("--source-lines", "source_lines", "Show only these lines, with all their instructions.",
           metavar="A-B", group=SELECTION),
    Option("--isa", "isa", "Show the instructions under every line; on the stalls page, instead of lines.",
           form=SWITCH, group=SELECTION),
    Option("--task", "task", "Show the relations of this task or buffer; #N is task N.",
           metavar="NAME", group=SELECTION),
    Option("--sort", "sort",
           "Sort the draws of the page draws, the largest first; quads: the worst quad efficiency first.",
           type=NearChoice(["cycles", "primitives", "fragments", "overdraw", "quads"]), group=OUTPUT,
           usual="the order of the calls"),
    format_option(group=OUTPUT, csv="as Nsight Compute exports its source page", json="versioned", html="a page"),
    *PAGE_OPTIONS,
    Option("--vocabulary", "vocabulary", "Name stall reasons in the terms of this tool.",
           type=VOCABULARY, group=OUTPUT, default="ncu"),
    Option("--attribution", "attribution",
           "Show stalls at the instruction that waits, or, like Nsight Compute, those of barriers, fences and ends of "
           "warps at the next instruction.",
           type=NearChoice(["waiting", "ncu"]), group=OUTPUT, default="waiting"),
)  # fmt: skip


class Choice(NamedTuple):
    """The launches to show. `flags`: the options that choose them."""

    kernel: str | None
    launch: int | None
    shaders: object | None
    flags: tuple[str, ...]


@click.command(
    "report",
    cls=GroupedCommand,
    title="Pages",
    entries={name: entry.text for name, entry in PAGES.items()},
    short_help="Show where the cycles went.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path), required=False)
@options("report", *OWN)
def command(file: Path, other: Path | None, given: Given):
    """Show where the cycles of FILE (.gpudb, or .gprec) went: per kernel, source line, PTX line or instruction.

    With --html, OTHER may name a second profile: the page compares it with FILE.
    """
    format_, output = format_and_output(given)
    check_format(given, format_, other)
    if output is not None:
        claim(output, html_page, [file, *([other] if other else [])], given.force)
    lines = parse_lines(given.source_lines) if given.source_lines is not None else None
    check_page(given, format_)
    page = "relations" if given.task is not None else given.page
    choice = choice_of(given, page)

    from gpuprof.report.attribution import attributed
    from gpuprof.report.measured import check_lines, check_sampled
    from gpuprof.report.pages.page_kind import Request
    from gpuprof.report.terminal.report_screen import tolerant

    report, text = read_page(file, other, page, choice, given, format_)
    report = attributed(report, given.attribution)
    if lines is not None:
        check_lines(report, lines)
    tolerant(sys.stdout)
    if format_ == HTML:
        print_html(text, output)
    else:
        request = Request(page or ("source" if lines else ""), lines, given.isa, given.task, given.sort)
        PRINTERS[format_](report, request, given.width)
    if page is None or PAGES[page].needs_cycles:
        check_sampled(report)


def read_page(file: Path, other: Path | None, page: str | None, choice: Choice, given: Given, format_: str):
    """The report that a page needs, and the text of a page for the browser."""
    from dataclasses import replace

    from gpuprof.correlate.api_calls import read_api_calls
    from gpuprof.correlate.database import reading
    from gpuprof.isa.vocabularies import VOCABULARIES
    from gpuprof.report.measured import check_measured
    from gpuprof.report.queries import read_report
    from gpuprof.report.tasks.draw_tasks import read_draws
    from gpuprof.report.tasks.program_time import read_program_time
    from gpuprof.report.tasks.read_tasks import read_task_report

    with stage("reading the profile"), reading(file) as db:
        report = read_report(db, choice.kernel, choice.launch, choice.shaders, traces=page == "traces")
        report = replace(report, vocabulary=VOCABULARIES[given.vocabulary])
        chosen = {each.launch for some in report.kernels for each in some.launches} if choice.flags else None
        if page in PAGES_OF_TASKS:
            report = replace(report, related=read_task_report(db, page, given.task, chosen))
        if page == "api":
            report = replace(report, calls=tuple(read_api_calls(db)))
        if chosen is None:
            report = replace(report, program=read_program_time(db))
        if page == "draws":
            report = replace(report, draws=read_draws(db, chosen))
        check_measured(report, page is None or PAGES[page].needs_cycles)
        return report, html_text(db, report, (file, other), choice) if format_ == HTML else ""


def check_format(given: Given, format_: str, other: Path | None) -> None:
    """Raises UsageError for options that do not go with the format."""
    if other is not None and format_ != HTML:
        raise UsageError(f"{other}: two profiles make a page for a browser: give --html NAME")
    if format_ != HTML:
        return
    for row in given.options:
        if row.flags in NOT_WITH_HTML and getattr(given, row.name) not in (None, False):
            raise UsageError(
                f"{row.flags} goes with text, csv and json; leave it out: the page for a browser has every view"
            )
    if given.attribution != "waiting":
        raise UsageError(f"--attribution {given.attribution}: a page shows stalls at the instruction that waits")


NOT_WITH_HTML = ("--page", "--source-lines", "--isa", "--task", "--sort", "--width")


def check_page(given: Given, format_: str) -> None:
    """Raises UsageError for options that do not go with the page."""
    page = given.page
    if given.source_lines is not None and not takes(page, "--source-lines"):
        raise UsageError(f"--source-lines selects lines of the source page; leave it out with --page {page}")
    if given.isa and (format_ != "text" or not takes(page, "--isa")):
        raise UsageError(
            "--isa shows instructions as text, under the lines of the source page or on the stalls page; for all "
            "instructions give --page isa"
        )
    if given.task is not None and not takes(page, "--task"):
        raise UsageError(f"--task selects a task of the relations page; leave it out with --page {page}")
    if given.sort is not None and page != "draws":
        raise UsageError(f"--sort sorts the page of draws; give --page draws{f', not {page}' if page else ''}")


def choice_of(given: Given, page: str | None) -> Choice:
    """Raises UsageError for a choice of launches on a page that shows none."""
    values = {"--kernel": given.kernel, "--launch": given.launch, "--draw": given.draw, "--stage": given.stages}
    flags = tuple(flag for flag, value in values.items() if value is not None)
    if flags and page == "api":
        raise UsageError(f"{flags[0]} chooses launches, and the page api shows all calls of the run; leave it out")
    if flags and given.task is not None:
        raise UsageError(
            f"{flags[0]} chooses launches, and --task what one task or buffer is related to; give one of them"
        )
    return Choice(given.kernel, given.launch, shaders_of(given.draw, given.stages), flags)


def shaders_of(draws: str | None, stages: str | None):
    """The shaders that --draw and --stage name, as `collect` does; None where none is given."""
    given = {name: value for name, value in (("draw", draws), ("stage", stages)) if value is not None}
    if not given:
        return None
    from gpuprof.report.tasks.draw_tasks import Shaders
    from gpuprof.timing.sampling.filter import filter_of_words

    wanted = filter_of_words([f"{name}={value}" for name, value in given.items()])
    return Shaders(" ".join(f"--{name} {value}" for name, value in given.items()), wanted.draw, wanted.stage)


def takes(page: str | None, flag: str) -> bool:
    """True if a flag goes with a page, or with the default."""
    return page is None or flag in PAGES[page].flags


def html_text(database, report, files: tuple[Path, Path | None], choice: Choice) -> str:
    """The page of a report, next to that of a second file if one is given."""
    from dataclasses import replace

    from gpuprof.correlate.database import reading
    from gpuprof.report.html.page import html_of
    from gpuprof.report.html.profile_block import Profile
    from gpuprof.report.measured import check_measured
    from gpuprof.report.queries import read_report

    shown, other = Profile(database, report), files[1]
    if other is None:
        return html_of([shown])
    with reading(other) as second:
        compared = replace(
            read_report(second, choice.kernel, choice.launch, choice.shaders), vocabulary=report.vocabulary
        )
        check_measured(compared)
        return html_of([shown, Profile(second, compared)], tuple(map(str, files)))


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
