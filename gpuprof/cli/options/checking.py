"""The end of a run whose checkers have found errors: how many there are, and the exit code."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def errors_said(terminal, settings) -> Iterator[None]:
    """Prints how many errors checkers have found in the block. Where the block did not end well, none is no news."""
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
    """Ends the process with an exit code, when there are errors and one is requested."""
    if findings.n_errors and error_exitcode:
        sys.exit(error_exitcode)
