"""The decorator that gives a command its options.

rows of a command ─ options ─> click's options; their values ─> Given, the command's argument `given`
"""

from collections.abc import Callable
from functools import wraps

import click

from gpuprof.base.processes import use_threads
from gpuprof.cli.options.option import LIST, SWITCH, Given, Option, default_of
from gpuprof.cli.options.table import OPTIONS


def options(command: str, *own: Option) -> Callable:
    """Gives a command its options, `own` and those of the table, and what was given of them as its argument `given`."""
    rows = (*own, *(row for row in OPTIONS if command in row.commands.split()))

    def with_options(function: Callable) -> Callable:
        @wraps(function)
        def with_given(*arguments, **values):
            given = Given(command=command, options=rows, **{row.name: values.pop(row.name) for row in rows})
            use_threads(getattr(given, "threads", None))  # of the whole process, like its cores
            return function(*arguments, given=given, **values)

        decorated = with_given
        for row in reversed(rows):
            decorated = _click_option(row, command)(decorated)
        decorated.options = rows
        return decorated

    return with_options


def _click_option(row: Option, command: str) -> Callable:
    default = default_of(row, command)
    known = "" if command == "replay" and row.fills else row.usual or ("" if default is None else str(default))
    return click.option(
        *row.flags.split(),
        row.name,
        type=row.type,
        metavar=row.metavar,
        multiple=row.form == LIST,
        is_flag=row.form == SWITCH or None,  # False has a meaning of its own: a value that may be left out
        required=row.is_required,
        help=row.text + (f"  [default: {known}]" if known else ""),
        **({} if default is None else {"default": default}),
    )
