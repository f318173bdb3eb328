"""What `run`, `collect` and `replay` do with errors that checkers find: how many are shown, which are known, and the
exit code.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from gpuprof.base.compared_results import MOST_SHOWN

_FLAGS = (
    click.option(
        "--error-exitcode",
        type=click.IntRange(0, 255),
        default=0,
        show_default=True,
        metavar="N",
        help="End with N when a checker has found errors.",
    ),
    click.option(
        "--limit",
        type=click.IntRange(0),
        default=MOST_SHOWN,
        show_default=True,
        metavar="N",
        help="Show N errors of checkers at most. All are counted.",
    ),
    click.option(
        "--suppressions",
        metavar="FILE",
        help="A file of findings that are known: KIND:PATH:LINE REASON, or KIND:kernel:NAME REASON.",
    ),
)


def checking_options(command: Callable) -> Callable:
    """Gives a command --error-exitcode, --limit and --suppressions, as `error_exitcode`, `limit`, `suppressions`."""
    for flag in reversed(_FLAGS):
        command = flag(command)
    return command


def findings_of(limit: int, suppressions: str | None):
    """The trace.findings.Findings of a run. Raises UsageError for a file of no suppressions."""
    from gpuprof.trace.findings import Findings
    from gpuprof.trace.suppressions import parse

    if suppressions is None:
        return Findings((), limit)
    from gpuprof.base.inputs import SUPPRESSIONS, read_input_text
    from gpuprof.errors import UsageError

    try:
        text = read_input_text(Path(suppressions), SUPPRESSIONS)
    except UnicodeDecodeError as error:
        raise UsageError(f"{suppressions}: is no UTF-8 text: {error.reason}") from None
    return Findings(parse(text, suppressions), limit)


@contextmanager
def errors_said(terminal, settings) -> Iterator[None]:
    """Says how many errors checkers have found in the block. Where that did not come to its end, none is no news."""
    try:
        yield
    except BaseException:
        if settings.findings.n_places:
            _say_errors(terminal, settings)
        raise
    _say_errors(terminal, settings)


def _say_errors(terminal, settings) -> None:
    if any(attached.generator.is_checker for attached in settings.traces):
        for sentence in settings.findings.summary():
            terminal.notice(sentence)


def end_with(findings, error_exitcode: int) -> None:
    """Ends the process with an exit code, when there are errors and one is asked for."""
    if findings.n_errors and error_exitcode:
        sys.exit(error_exitcode)
