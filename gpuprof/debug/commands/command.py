"""What a command is. Names may be shortened as long as they say which is meant."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gpuprof.base.wording import suggestion
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError

_NUMBERS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


class Command(NamedTuple):
    """`run(debugger, rest)` gives the lines to print, each when it is known; `rest` is what stands behind the name."""

    name: str
    form: str  # its arguments
    help: str
    run: Callable[[Debugger, str], Iterable[str]]
    short: tuple[str, ...] = ()
    repeats: bool = False  # an empty line in a terminal does it again


def refused(why: str) -> Callable[[Debugger, str], list[str]]:
    """What a command does that there cannot be here."""

    def run(debugger: Debugger, rest: str) -> list[str]:
        raise DebugError(why)

    return run


def chosen(name: str, commands: Sequence[Command], what: str = "command") -> Command:
    """Raises DebugError for no name, or that of several."""
    for command in commands:
        if name in (command.name, *command.short):
            return command
    found = [command for command in commands if command.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise DebugError(f'Ambiguous {what} "{name}": {", ".join(sorted(command.name for command in found))}.')
    near = suggestion(name, [command.name for command in commands])
    raise DebugError(f'Undefined {what}: "{name:.40}".  {near.capitalize() + "  " if near else ""}Try "help".')


def count_of(text: str) -> int:
    """A number of times; 1 for none. Raises DebugError for other text."""
    text = text.strip()
    if not text:
        return 1
    if not text.isdecimal() or int(text) < 1:
        raise DebugError(f"{text!r:.40} is no number of times")
    return int(text)


def numbers_of(text: str) -> list[int]:
    """Numbers of breakpoints: `1 3-5`. Raises DebugError for other text."""
    found: list[int] = []
    for word in text.split():
        match = _NUMBERS.fullmatch(word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not match or last - first > 10_000:
            raise DebugError(f"Bad breakpoint argument: {word!r:.40}")
        found += range(first, last + 1)
    return found
