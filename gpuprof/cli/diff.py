"""gpuprof diff: how two profiles differ, line by line."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import click

from gpuprof.base.outputs import Kind
from gpuprof.base.stages import stage
from gpuprof.cli.options.arguments import WithArguments, arguments_after_dashes
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import HTML, TEXT, html_page
from gpuprof.cli.options.option import OUTPUT, SELECTION, SWITCH, Given, Option
from gpuprof.cli.options.outputs import OutputPath, claim
from gpuprof.cli.options.sources import collect, collecting_words, is_source
from gpuprof.cli.options.value_types import NearChoice
from gpuprof.errors import UsageError

STDOUT = Path("-")


def text_file() -> Kind:
    return Kind("text", suffixes=(".txt",))


def json_file() -> Kind:
    return Kind("JSON", suffixes=(".json",))


def markdown_file() -> Kind:
    return Kind("Markdown", suffixes=(".md",))


class Format(NamedTuple):
    """`suffix`: of the files that are written in it; `kind`: what such a file may replace."""

    text: str
    suffix: str
    kind: Callable[[], Kind]


FORMATS = {
    TEXT: Format("text", ".txt", text_file),
    "json": Format("versioned", ".json", json_file),
    "markdown": Format("for a comment on a change", ".md", markdown_file),
    HTML: Format("a page", ".html", html_page),
}
OWN = (
    Option("--kernel", "kernel", "Compare only kernels whose name matches this regular expression.",
           metavar="RE", group=SELECTION),
    Option("--with", "partner", "Compare the kernel of --kernel with this one, of B, or of A where no B is given.",
           metavar="RE", group=SELECTION),
    Option("--isa", "isa", "Show every instruction of kernels whose code changed, not only those near a change.",
           form=SWITCH, group=OUTPUT),
    Option("-o --output", "output", "The file to write; - is stdout.",
           metavar="NAME", type=OutputPath(*(each.kind for each in FORMATS.values())), usual="stdout", group=OUTPUT),
    Option("--format", "format_",
           "How to print: " + ", ".join(name if name == TEXT else f"{name} ({each.text})"
                                        for name, each in FORMATS.items()) + ".",
           type=NearChoice(tuple(FORMATS)), usual="by the extension of NAME, else text", group=OUTPUT),
)  # fmt: skip


@click.command("diff", cls=WithArguments, short_help="Show how two profiles differ, by lines, reasons and causes.")
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="[B]", type=click.Path(path_type=Path), required=False)
@options("diff", *OWN)
def command(before: Path, after: Path | None, given: Given):
    """Compare the profiles A and B: recordings (.gprec), databases (.gpudb), or files that `collect` runs.

    Kernels are paired by name, launches by their shape, lines by what they say. A file that is no profile is collected
    first, with the options of `collect` below; programs get the arguments after `--`. Exit code 0, also where they
    differ; 4 where there is nothing to compare.

    \b
    gpuprof diff before.gprec after.gprec
    gpuprof diff blur.cu blur_padded.cu --chip h100
    gpuprof diff transpose.gprec --kernel naive --with padded
    """
    check_flags(before, after, given)
    format_ = format_of(given)
    files = (before, after or before)
    if given.output not in (None, STDOUT):
        claim(given.output, FORMATS[format_].kind, files, given.force)
    arguments = arguments_after_dashes()
    with profiles(files, given, arguments) as paths:
        text = read(paths, tuple(map(str, files)), given, format_)
    write(text, given.output)


def check_flags(before: Path, after: Path | None, given: Given) -> None:
    """Raises UsageError for a comparison of a file with itself, and for half a pair of kernels."""
    if given.partner is not None and given.kernel is None:
        raise UsageError("--with names the partner of a kernel: give --kernel, too")
    if after is None and given.partner is None:
        raise UsageError(
            f"give a second file to compare {before} with, or two of its kernels, with --kernel A --with B"
        )


def format_of(given: Given) -> str:
    """Raises UsageError for options that do not go with the format."""
    named = {each.suffix: name for name, each in FORMATS.items()}
    format_ = given.format_ or named.get(given.output.suffix if given.output else "", TEXT)
    for flag, value in (("--isa", given.isa), ("--width", given.width)):
        if value and format_ != TEXT:
            raise UsageError(f"{flag} is for text; leave it out: --format {format_} has every instruction and column")
    return format_


@contextmanager
def profiles(files: Sequence[Path], given: Given, arguments: Sequence[str]) -> Iterator[list[Path]]:
    """The profiles of the files: sources are collected into a folder, each once."""
    from gpuprof.base.scratch import temporary_folder

    words = collecting_words(given)
    sources = [file for file in dict.fromkeys(files) if is_source(file)]
    if not sources and (words or arguments):
        what = words[0] if words else "what follows --"
        raise UsageError(f"{what} is for files that are collected, and both are profiles; leave it out")
    with temporary_folder() as folder:
        collected = {file: collect(file, words, arguments, folder / f"{n}.gprec") for n, file in enumerate(sources)}
        yield [collected.get(file, file) for file in files]


def read(paths: Sequence[Path], names: tuple[str, str], given: Given, format_: str) -> str:
    """The difference in a format."""
    from gpuprof.correlate.database import reading
    from gpuprof.report.differences.read_sides import Choice, read_difference

    with ExitStack() as opened, stage("comparing the profiles"):
        old, new = (opened.enter_context(reading(path)) for path in paths)
        compared = read_difference(old, new, names, Choice(given.kernel, given.partner))
        if format_ == HTML:
            return page(compared, (old, new), given)
    return RENDERERS[format_](compared, given)


def page(compared, databases: tuple, given: Given) -> str:
    """The page of both profiles: of all launches, or of those that --kernel chooses."""
    from gpuprof.report.html.page import html_of
    from gpuprof.report.html.profile_block import Profile
    from gpuprof.report.queries import read_report

    sides = [[each.old for each in compared.difference.kernels], [each.new for each in compared.difference.kernels]]
    chosen = [{launch.launch for kernel in side for launch in kernel.launches} for side in sides]
    profiles = [
        Profile(database, read_report(database, launches=None if given.kernel is None else launches))
        for database, launches in zip(databases, chosen, strict=True)
    ]
    return html_of(profiles, (compared.old.name, compared.new.name), given.partner is not None)


def render_text(compared, given: Given) -> str:
    """Text as wide, and as colourful, as where it goes."""
    import io

    from gpuprof.report.differences.text import lines
    from gpuprof.report.terminal.report_screen import console_for, look_for, tolerant, write

    out = sys.stdout if given.output in (None, STDOUT) else io.StringIO()
    tolerant(sys.stdout)
    console = console_for(out)
    written = lines(compared, look_for(console, given.width), given.isa)
    if out is sys.stdout:
        write(written, console)
        return ""
    return "".join(f"{line.plain}\n" for line in written)


def render_json(compared, given: Given) -> str:
    from gpuprof.report.differences.json_text import text

    return f"{text(compared)}\n"


def render_markdown(compared, given: Given) -> str:
    from gpuprof.report.differences.markdown import lines

    return "".join(f"{line}\n" for line in lines(compared))


RENDERERS = {TEXT: render_text, "json": render_json, "markdown": render_markdown}


def write(text: str, output: Path | None) -> None:
    from gpuprof.base.files import replacing

    if output in (None, STDOUT):
        click.echo(text, nl=False)
        sys.stdout.flush()
        return
    with replacing(output) as path:
        path.write_text(text, encoding="utf-8", newline="\n")
