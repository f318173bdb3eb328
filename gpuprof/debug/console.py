"""Reads commands from a terminal, a pipe or a script, and prints what they say."""

from collections.abc import Callable, Iterator
from typing import TextIO

from gpuprof.debug.commands.table import parsed, run_line
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError, GpuprofError

PROMPT = "(gpuprof) "
Say = Callable[[str], None]


class Console:
    """`say` prints a line; `complain` one that tells what went wrong."""

    def __init__(self, debugger: Debugger, say: Say, complain: Say):
        self.debugger, self._say, self._complain = debugger, say, complain
        self.exit_code = 0  # of the last run
        self._last = ""

    def carry_out(self, line: str) -> bool:
        """Runs a line; whether it could be done. Raises Quit."""
        try:
            for text in run_line(self.debugger, line):
                self._say(text)
        except GpuprofError as error:
            for text in str(error).splitlines():
                self._complain(text)
            return False
        finally:
            stop = self.debugger.stop
            if stop is not None and stop.reason in ("exit", "error"):
                self.exit_code = stop.exit_code
        return True

    def script(self, lines: list[str]) -> None:
        """Runs lines; the first that cannot be done ends them, as in gdb. Raises Quit."""
        for line in lines:
            if not self.carry_out(line):
                return

    def piped(self, stream: TextIO) -> None:
        """Runs the lines of a pipe, and says each, so that the output can be read alone."""
        for line in stream:
            self._say(PROMPT + line.rstrip("\n"))
            self.carry_out(line)

    def interactive(self, lines: Iterator[str]) -> None:
        """Runs what somebody types; an empty line repeats what can be repeated."""
        for line in lines:
            if not line.strip():
                line = self._last
            else:
                self._last = repeated(line)
            self.carry_out(line)


def repeated(line: str) -> str:
    """What an empty line behind it does: nothing, for most commands."""
    try:
        command, rest = parsed(line)
    except DebugError:
        return ""
    if not command.repeats:
        return ""
    return command.name if command.name == "list" else f"{command.name} {rest}"
