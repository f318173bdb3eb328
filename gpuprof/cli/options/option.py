"""An option of the command line as a row, and the values that a command was given."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

# Titles of groups of a help page, in its order.
LAUNCHES, CHIPS, TIMES, CONTENTS = "Launches and chip", "Chips and values", "Sampling times", "Contents of a sample"
FILTER, TRANSPORT, RESULTS, RECORDING = "Sampling filter", "Sample transport", "Results", "Recording"
SELECTION, OUTPUT, CHECKERS, COMPILER = "Selection", "Output", "Checkers", "Compiler"
DEBUGGER, LIMITS = "Debugger", "Limits"
GROUPS = (
    *(DEBUGGER, LAUNCHES, CHIPS, TIMES, CONTENTS, FILTER, TRANSPORT, RESULTS, RECORDING),
    *(SELECTION, OUTPUT, CHECKERS, COMPILER, LIMITS),
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
