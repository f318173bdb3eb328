"""Outputs of a check: --output FORMAT=PATH, several at once, and --format F, short for --output F=-.

    options ─ chosen_outputs ─> Outputs ─ claim_outputs ─> they may be written; a report ─ write_outputs ─> they are

Stdout has the text, unless another format is requested for it. On GitHub's runners annotations and the job's summary
come without a request.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from gpuprof.check.renderers import RENDERERS
from gpuprof.cli.options.option import LIST, OUTPUT, Given, Option
from gpuprof.cli.options.outputs import STDOUT, OutputPath, check_format, claim
from gpuprof.cli.options.value_types import NearChoice
from gpuprof.errors import UsageError

TEXT = "text"
DASH = Path("-")  # stdout
KINDS = {name: check_format(name) for name in RENDERERS}


class Output(NamedTuple):
    format_: str  # a key of RENDERERS
    path: Path  # DASH: stdout


class CheckOutput(OutputPath):
    """The type of --output: FORMAT=PATH, as an Output."""

    name = "output"

    def convert(self, value, param, ctx):
        format_, equals, path = value.partition("=")
        if not equals:
            self.fail(f"{value!r} names no file; give FORMAT=PATH, as in junit=gpuprof.xml, or FORMAT=-", param, ctx)
        return Output(
            NearChoice(tuple(RENDERERS)).convert(format_.strip(), param, ctx), super().convert(path, param, ctx)
        )


def output_options() -> tuple[Option, Option]:
    formats = ", ".join(f"{name} ({renderer.text})" for name, renderer in RENDERERS.items())
    return (
        Option("--output", "outputs", f"Write a format to a file, or with - to stdout: {formats}. Repeatable.",
               metavar="FORMAT=PATH", type=CheckOutput(*KINDS.values()), form=LIST, group=OUTPUT),
        Option("--format", "format_", "Short for --output FORMAT=-.",
               type=NearChoice(tuple(RENDERERS)), usual=TEXT, group=OUTPUT),
    )  # fmt: skip


def chosen_outputs(given: Given) -> list[Output]:
    """The outputs; text on stdout is one unless stdout has another format. Raises UsageError for two of one path."""
    outputs: dict[Path, Output] = {}
    for output in (*given.outputs, *([Output(given.format_, DASH)] if given.format_ else [])):
        path = _file(output.path)
        if path in outputs:
            raise UsageError(
                f"--output {output.format_}={output.path}: {outputs[path].format_} goes there, too; give each format a "
                "file of its own"
            )
        outputs[path] = output if path != DASH else Output(output.format_, DASH)
    return list(outputs.values() if DASH in outputs else (*outputs.values(), Output(TEXT, DASH)))


def _file(path: Path) -> Path:
    """The same for all names of one file, links among them."""
    from gpuprof.base.output_targets import target_of

    if path == DASH:
        return DASH
    target = target_of(path)
    return DASH if target.descriptor == STDOUT else target.path or path


def claim_outputs(outputs: Iterable[Output], inputs: Sequence[Path], force: bool) -> None:
    """Checks, before any work, that the files may be written. Raises UsageError where one may not."""
    for output in outputs:
        if output.path != DASH:
            claim(output.path, KINDS[output.format_], inputs, force)


def write_outputs(report, outputs: Sequence[Output], has_text: bool = True, folder: Path = Path()) -> None:
    """Writes a CheckReport. Without `has_text` there is no text on stdout: an error says it all. `folder`: the one that
    recorded paths are relative to.
    """
    from gpuprof.base.files import replacing
    from gpuprof.check.checkout import find_checkout
    from gpuprof.check.renderers.rendering import rendered

    checkout = find_checkout(os.environ, folder)
    is_on_runner = os.environ.get("GITHUB_ACTIONS") == "true"
    for output in outputs:
        if output.path != DASH:
            with replacing(output.path) as path:
                path.write_text(rendered(report, output.format_, checkout), encoding="utf-8", newline="\n")
    of_stdout = next(output.format_ for output in outputs if output.path == DASH)
    if of_stdout != TEXT:
        click.echo(rendered(report, of_stdout, checkout), nl=False)
    elif has_text:
        _print_text(report, is_on_runner)
    if is_on_runner:
        _annotate(report, of_stdout, checkout)
        _append_summary(report)


def _print_text(report, is_on_runner: bool) -> None:
    from rich.text import Text

    from gpuprof.check.renderers.github import without_commands
    from gpuprof.check.renderers.text import text_lines
    from gpuprof.report.terminal.report_screen import console_for, look_for, tolerant, write

    tolerant(sys.stdout)
    console = console_for(sys.stdout)
    lines = text_lines(report, look_for(console))
    write((Text(without_commands(line.plain)) for line in lines) if is_on_runner else lines, console)
    sys.stdout.flush()  # an error on stderr follows


def _annotate(report, of_stdout: str, checkout) -> None:
    """The runner reads commands from stderr as well, where they do not get into a format that a program reads."""
    from gpuprof.check.renderers.rendering import rendered

    if of_stdout != "github":
        click.echo(rendered(report, "github", checkout), nl=False, err=of_stdout != TEXT)


def _append_summary(report) -> None:
    """A summary that cannot be written changes no verdict."""
    from gpuprof.check.renderers.markdown import MOST_NBYTES, summary

    name = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not name:
        return
    try:
        with open(name, "ab") as file:
            text = summary(report, MOST_NBYTES - os.fstat(file.fileno()).st_size)
            file.write(text.encode())
        if not text:
            click.echo("gpuprof: no room in $GITHUB_STEP_SUMMARY, which may have 1 MiB", err=True)
    except OSError as error:
        click.echo(f"gpuprof: no summary: $GITHUB_STEP_SUMMARY cannot be written: {error.strerror}", err=True)
