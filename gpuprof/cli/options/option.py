"""An option of the command line as a row, and the decorator that gives a command its options.

rows of a command ─ options ─> click's options; what was given of them ─> Given, the command's argument `given`
"""

from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any, NamedTuple

import click

# Titles of groups of a help page, in its order.
LAUNCHES, CHIPS, TIMES, CONTENTS = "Launches and chip", "Chips and values", "Sampling times", "Contents of a sample"
FILTER, TRANSPORT, RESULTS, RECORDING = "Sampling filter", "Sample transport", "Results", "Recording"
SELECTION, OUTPUT, CHECKERS, COMPILER = "Selection", "Output", "Checkers", "Compiler"
DEBUGGER = "Debugger"
GROUPS = (
    *(DEBUGGER, LAUNCHES, CHIPS, TIMES, CONTENTS, FILTER, TRANSPORT, RESULTS, RECORDING),
    *(SELECTION, OUTPUT, CHECKERS, COMPILER),
)
VALUE, SWITCH, LIST = "value", "switch", "list"  # takes one value; takes none; takes one each time it is given


class Option(NamedTuple):
    """`name`: of its value in `Given`. `text`: of the help. `group`: a title of the help. `commands`: those that have
    it; a row without any belongs to the command in whose file it is.

    `default`: the value of an option that is not given; `usual`: the same in words, for the help.
    `fills`: the field of Settings that it sets, "options.FIELD" of BuildOptions, or "sampling.REGISTER" of the sampler;
    `made`: makes the field's value of the option's. `recorded`: commands that write it into the recorded command line;
    `shown`: its value there.
    """

    flags: str
    name: str
    text: str
    metavar: str | None = None
    type: Any = None
    form: str = VALUE
    group: str = ""
    commands: str = ""
    is_required: bool = False
    default: Any = None
    usual: str = ""
    fills: str = ""
    made: Callable[[Any], Any] | None = None
    recorded: str = ""
    shown: Callable[[Any], str] = str


class Given(SimpleNamespace):
    """The values of a command's options, by their names. `command`: its name; `options`: its rows."""

    command: str
    options: tuple[Option, ...]


def is_given(value: Any) -> bool:
    return value is not None and value is not False and value != ()


def default_of(option: Option, command: str) -> Any:
    """The default of an option. Settings of `replay` are those of the recording."""
    return None if command == "replay" and option.fills else option.default


def options(command: str, *own: Option) -> Callable:
    """Gives a command its options, `own` and those of the table, and what was given of them as its argument `given`."""
    from gpuprof.cli.options.table import OPTIONS

    rows = (*own, *(row for row in OPTIONS if command in row.commands.split()))

    def with_options(function: Callable) -> Callable:
        @wraps(function)
        def with_given(*arguments, **values):
            given = Given(command=command, options=rows, **{row.name: values.pop(row.name) for row in rows})
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
        is_flag=row.form == SWITCH,
        required=row.is_required,
        help=row.text + (f"  [default: {known}]" if known else ""),
        **({} if default is None else {"default": default}),
    )
