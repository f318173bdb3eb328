"""Formats that commands print: --format; for a page of the browser --html NAME, or --format html with -o NAME."""

from pathlib import Path

from gpuprof.base.outputs import Kind
from gpuprof.cli.options.option import OUTPUT, Given, Option
from gpuprof.cli.options.outputs import OutputPath
from gpuprof.cli.options.value_types import NearChoice
from gpuprof.errors import UsageError

TEXT, HTML = "text", "html"


def format_option(*, group: str = "", **formats: str) -> Option:
    """The option, by default text. `formats`: each other format, with the words on it in the help."""
    meanings = ", ".join(f"{name} ({meaning})" for name, meaning in formats.items())
    text = f"How to print: text, {meanings}."
    return Option("--format", "format_", text, type=NearChoice((TEXT, *formats)), default=TEXT, group=group)


def html_page() -> Kind:
    from gpuprof.report.html.page import MARK

    return Kind("page of a profile", ((0, MARK),))


PAGE_OPTIONS = (
    Option("--html", "as_html", "Short for --format html -o NAME: write a page that any browser opens.",
           metavar="NAME", type=OutputPath(html_page), group=OUTPUT),
    Option("-o --output", "output", "With --format html: the file to write.",
           metavar="NAME", type=OutputPath(html_page), group=OUTPUT),
)  # fmt: skip


def format_and_output(given: Given) -> tuple[str, Path | None]:
    """The format that PAGE_OPTIONS and --format choose, and the file of a page, None for stdout. Raises UsageError for
    -o with another format.
    """
    as_html, output, format_ = given.as_html, given.output, given.format_
    if as_html is not None and output is not None:
        raise UsageError("--html and -o both name the page: give one")
    if as_html is not None and format_ not in (TEXT, HTML):
        raise UsageError(f"--html and --format {format_} exclude each other: give one")
    if output is not None and format_ != HTML:
        raise UsageError("-o names the file of a page: give --format html, or let the shell write what is printed")
    return (format_ if as_html is None else HTML), as_html or output


def write_page(text: str, output: Path) -> None:
    from gpuprof.base.files import replacing

    with replacing(output) as path:
        path.write_text(text, encoding="utf-8", newline="\n")
