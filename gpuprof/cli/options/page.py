"""Where a page for the browser goes: --html NAME, or --format html with -o NAME."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path

import click

from gpuprof.base.outputs import Kind
from gpuprof.cli.options.outputs import OutputPath, force_option
from gpuprof.errors import UsageError

HTML = "html"


def html_page() -> Kind:
    from gpuprof.report.html.page import MARK

    return Kind("page of a profile", ((0, MARK),))


def page_options(command: Callable) -> Callable:
    """Gives a command with `format_` the options. `output` is the file of a page, None for stdout; with it `format_` is
    "html". Raises UsageError for -o with another format.
    """

    @wraps(command)
    def with_page(*, as_html, output, format_, **others):
        if as_html is not None and output is not None:
            raise UsageError("--html and -o both name the page: give one")
        if as_html is not None and format_ not in ("text", HTML):
            raise UsageError(f"--html and --format {format_} exclude each other: give one")
        if output is not None and format_ != HTML:
            raise UsageError("-o names the file of a page: give --format html, or let the shell write what is printed")
        return command(format_=HTML if as_html is not None else format_, output=as_html or output, **others)

    for add in (
        force_option,
        click.option(
            "-o", "--output", type=OutputPath(html_page), metavar="NAME", help="With --format html: the file to write."
        ),
        click.option(
            "--html",
            "as_html",
            type=OutputPath(html_page),
            metavar="NAME",
            help="Short for --format html -o NAME: write a page that any browser opens.",
        ),
    ):
        with_page = add(with_page)
    return with_page


def write_page(text: str, output: Path) -> None:
    from gpuprof.base.files import replacing

    with replacing(output) as path:
        path.write_text(text, encoding="utf-8", newline="\n")
