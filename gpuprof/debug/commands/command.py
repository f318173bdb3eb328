"""The form of a command. Names may be abbreviated as long as they are unambiguous."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gpuprof.base.wording import suggestion
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError

_NUMBERS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


class Command(NamedTuple):
    """`run(debugger, rest)` gives the lines to print, each as soon as it is known; `rest` is the text after the
    name.
    """

    name: str
    form: str  # its arguments
    help: str
    run: Callable[[Debugger, str], Iterable[str]]
    short: tuple[str, ...] = ()
    repeats: bool = False  # an empty line in a terminal repeats it


def refused(why: str) -> Callable[[Debugger, str], list[str]]:
    """The action of a command that does not exist here."""

    def run(debugger: Debugger, rest: str) -> list[str]:
        raise DebugError(why)

    return run


def chosen(name: str, commands: Sequence[Command], what: str = "command") -> Command:
    """The command of a name or abbreviation. Raises DebugError for an unknown or ambiguous name."""
    for command in commands:
        if name in (command.name, *command.short):
            return command
    matches = [command for command in commands if command.name.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise DebugError(f'Ambiguous {what} "{name}": {", ".join(sorted(command.name for command in matches))}.')
    near = suggestion(name, [command.name for command in commands])
    raise DebugError(f'Undefined {what}: "{name:.40}".  {near.capitalize() + "  " if near else ""}Try "help".')


def count_of(text: str) -> int:
    """A repeat count; 1 for none. Raises DebugError for other text."""
    text = text.strip()
    if not text:
        return 1
    if not text.isdecimal() or int(text) < 1:
        raise DebugError(f"{text!r:.40} is not a count")
    return int(text)


def numbers_of(text: str) -> list[int]:
    """Numbers of breakpoints, such as `1 3-5`. Raises DebugError for other text."""
    numbers: list[int] = []
    for word in text.split():
        match = _NUMBERS.fullmatch(word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not match or last - first > 10_000:
            raise DebugError(f"Bad breakpoint argument: {word!r:.40}")
        numbers += range(first, last + 1)
    return numbers
