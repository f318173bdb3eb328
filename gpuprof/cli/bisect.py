"""gpuprof bisect: the commit that made a metric grow."""

import json
import re
from pathlib import Path

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, SELECTION, Given, Option
from gpuprof.cli.options.project_keys import run_keys
from gpuprof.cli.options.project_options import PROJECT_OPTIONS

OWN = (
    Option("--metric", "metric", "The metric that grew, and its limit: cycles, or registers=4.",
           metavar="METRIC[=LIMIT]", default="cycles", usual="cycles=1%|200", group=SELECTION),
    Option("--kernel-name", "kernel_name", "Only kernels whose name matches this regular expression.", metavar="RE",
           group=SELECTION),
    *PROJECT_OPTIONS,
    format_option(group=OUTPUT, json="versioned"),
)  # fmt: skip


@click.command("bisect", cls=GroupedCommand, short_help="Find the commit that made a metric grow.")
@click.argument("good")
@click.argument("bad")
@options("bisect", *OWN)
def command(good: str, bad: str, given: Given):
    """Find the first commit after GOOD, up to BAD, at which a metric exceeds its limit over GOOD's.

    Each commit is a worktree in scratch with its own project file; the checkout stays as it is. Commits that do not
    build are passed over.

    \b
    gpuprof bisect v1.0 HEAD --metric cycles --kernel-name scan
    """

    from gpuprof.errors import NotComparable, UsageError
    from gpuprof.isa.printing.printable import printable
    from gpuprof.project.bisect_project import Wanted, bisected, lines_of, object_of
    from gpuprof.project.project_file import find_project

    try:
        pattern = re.compile(given.kernel_name or "")
    except re.error as error:
        raise UsageError(f"--kernel-name {given.kernel_name!r}: is no regular expression: {error}") from None
    file = given.project or find_project(Path())
    wanted = Wanted(pattern, given.entries, given.jobs)
    found = bisected(file, good, bad, given.metric, wanted, run_keys())
    if given.format_ == "json":
        click.echo(json.dumps(object_of(found), indent=2))
    else:
        for line in lines_of(found):
            click.echo(printable(line))
    if found.skipped:
        raise NotComparable(
            f"{len(found.skipped)} of the commits between could not be measured, so that one of them may be it"
        )
