"""All commands, and how a line is run."""

from collections.abc import Iterator

from gpuprof.debug.commands import cuda_focus, general, info, running, settings, show_values, stack_frames, stops
from gpuprof.debug.commands.command import Command, chosen
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError


class Quit(Exception):
    """The session is over."""


def _quit(debugger: Debugger, rest: str) -> list[str]:
    raise Quit


def _help(debugger: Debugger, rest: str) -> list[str]:
    name, _, second = rest.strip().partition(" ")
    if not name:
        return _listed(COMMANDS)
    command = chosen(name, COMMANDS)
    if command.name == "info":
        return _listed(info.INFOS if not second else cuda_focus.TABLES)
    shorts = f" ({', '.join(command.short)})" if command.short else ""
    return [f"{command.name} {command.form}".rstrip() + shorts, command.help]


def _listed(commands: tuple[Command, ...]) -> list[str]:
    names = [", ".join((command.name, *command.short)) for command in commands]
    width = max(map(len, names))
    return [f"{name:<{width}}  {command.help}" for name, command in zip(names, commands, strict=True)]


COMMANDS = (
    *running.COMMANDS,
    *stops.COMMANDS,
    *show_values.COMMANDS,
    *stack_frames.COMMANDS,
    *cuda_focus.COMMANDS,
    *info.COMMANDS,
    *settings.COMMANDS,
    *general.COMMANDS,
    Command("help", "[COMMAND]", "List the commands, or explain one.", _help, ("h",)),
    Command("quit", "", "End the session.", _quit, ("q", "exit")),
)


def parsed(line: str) -> tuple[Command, str]:
    """A line's command and the rest of the line. Raises DebugError for no command."""
    line = line.strip()
    end = next((at for at, char in enumerate(line) if not (char.isalnum() or char in "_-")), len(line))
    if not end:
        raise DebugError(f'Undefined command: "{line:.40}".  Try "help".')
    refused = next((each for each in general.REFUSALS if each.name == line[:end]), None)
    return refused or chosen(line[:end], COMMANDS), line[end:].strip()


def completions(line: str) -> list[str]:
    """The possible completions of a line's last word, each followed by a space."""
    *before, word = line.lstrip().split(" ")
    names = [command.name for command in COMMANDS]
    if before:
        first = next((each for each in COMMANDS if before[0] in (each.name, *each.short)), None)
        inner = {"info": info.INFOS, "help": COMMANDS, "show": settings.SETTINGS, "set": settings.SETTINGS}
        tables = {("info", 1): inner["info"], ("info", 2): cuda_focus.TABLES if before[-1] == "cuda" else ()}
        name = first.name if first else ""
        chosen_from = tables.get((name, len(before)), inner.get(name, ()) if len(before) == 1 else ())
        names = [each.name for each in chosen_from]
    return sorted(f"{name} " for name in names if name.startswith(word))


def run_line(debugger: Debugger, line: str) -> Iterator[str]:
    """The lines that a command prints. Raises DebugError for one that fails, and Quit."""
    if not line.strip() or line.lstrip().startswith("#"):
        return
    command, rest = parsed(line)
    try:
        yield from command.run(debugger, rest)
    except (OverflowError, RecursionError, MemoryError, ValueError) as error:
        raise DebugError(f"{line.strip()!r:.60}: {type(error).__name__}") from None
