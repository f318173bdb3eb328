"""Reads commands from a terminal, a pipe or a script, and prints what they say."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from gpuprof.base.inputs import COMMANDS, read_input_text
from gpuprof.base.interrupts import is_ctrl_c
from gpuprof.debug.commands.command import numbers_of
from gpuprof.debug.commands.command_blocks import SILENT, Block, Item, branches, gathered, opens, word_of
from gpuprof.debug.commands.command_table import parsed, run_line
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError, GpuprofError, UsageError

PROMPT, PROMPT_OF_BLOCK = "(gpuprof) ", ">"
MOST_TURNS = 100_000  # iterations of a `while`
MOST_NESTED = 60  # blocks, files, and calls of commands that users have defined
Say = Callable[[str], None]


class Console:
    """`say` prints a line; `complain` prints an error."""

    def __init__(self, debugger: Debugger, say: Say, complain: Say):
        self.debugger, self._say, self._complain = debugger, say, complain
        self.exit_code = 0  # of the last run
        self.defined: dict[str, tuple[Item, ...]] = {}
        self.documented: dict[str, str] = {}
        self.is_in_block = False  # the next line belongs to a block
        self._last, self._depth = "", 0
        self._seen: object = None  # the state at the last stop whose commands were carried out

    def carry_out(self, item: Item) -> bool:
        """Runs a line or a block, and the commands of the breakpoints that it reaches; True on success. Raises Quit."""
        try:
            self._run(item)
            while commands := self._attached():
                self._run_all([each for each in commands if each != SILENT], ends_with_stop=True)
        except GpuprofError as error:
            for text in str(error).splitlines():
                self._complain(text)
            return False
        finally:
            stop = self.debugger.stop
            if stop is not None and stop.reason in ("exit", "error"):
                self.exit_code = stop.exit_code
        return True

    def _attached(self) -> Sequence[Item]:
        """The commands of a stop that has not been examined yet."""
        stop = self.debugger.stop
        state = stop.state if stop is not None else None
        if state is None or state is self._seen:
            return ()
        self._seen = state
        return [each for point in self.debugger.points.stopped(stop.points) for each in point.commands]

    def _run_all(self, items: Iterable[Item], ends_with_stop: bool = False) -> None:
        """`ends_with_stop`: commands after one that resumed the program are skipped, as in gdb. Ctrl-C skips all."""
        stop = self.debugger.stop
        for item in items:
            self._run(item)
            if not self._has_run_on(stop):
                continue
            if self.debugger.stop is not None and self.debugger.stop.reason == "interrupt":
                raise DebugError("Quit")
            if ends_with_stop:
                return

    def _has_run_on(self, before) -> bool:
        stop = self.debugger.stop
        return stop is not before and (stop is None or before is None or stop.state is not before.state)

    def _run(self, item: Item) -> None:
        if isinstance(item, Block):
            with self._deeper(item.name):
                BLOCKS[item.name](self, item)
        elif word_of(item) in self.defined:
            with self._deeper(word_of(item)):
                self._run_all(_given(each, item.split()[1:]) for each in self.defined[word_of(item)])
        elif word_of(item) == "source":
            with self._deeper("source"):
                self._source(item.split(None, 1)[1:])
        else:
            for text in self._explained(item) or run_line(self.debugger, item):
                self._say(text)

    @contextmanager
    def _deeper(self, name: str) -> Iterator[None]:
        if self._depth == MOST_NESTED:
            raise DebugError(f"{name} is nested too deeply.")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def _source(self, names: list[str]) -> None:
        """Raises DebugError where a line of the file cannot be carried out."""
        if not names:
            raise DebugError("Give a file of commands.")
        if not self.script(lines_of(Path(names[0].strip()))):
            raise DebugError(f"{names[0].strip()}: the remaining lines are skipped.")

    def _explained(self, line: str) -> list[str]:
        """The help of a user-defined command."""
        name, _, rest = line.strip().partition(" ")
        if name == "help" and rest.strip() in self.defined:
            return self.documented.get(rest.strip(), "User-defined.").split("\n")
        return []

    # Blocks

    def _commands(self, block: Block) -> None:
        points = self.debugger.points.all
        if not points and not block.rest:
            raise DebugError("No breakpoints specified.")
        for number in numbers_of(block.rest) if block.rest else list(points)[-1:]:
            if number not in points:
                raise DebugError(f"No breakpoint number {number}.")
            points[number].commands = tuple(each.strip() if isinstance(each, str) else each for each in block.body)

    def _define(self, block: Block) -> None:
        if not block.rest.replace("-", "_").isidentifier():
            raise DebugError(f"{block.rest!r:.40} is not a valid command name.")
        self.defined[block.rest] = block.body

    def _document(self, block: Block) -> None:
        self.documented[block.rest] = "\n".join(map(str, block.body))

    def _if(self, block: Block) -> None:
        chosen, other = branches(block.body)
        self._run_all(chosen if self.debugger.evaluate(block.rest).number else other)

    def _while(self, block: Block) -> None:
        for _ in range(MOST_TURNS):
            if not self.debugger.evaluate(block.rest).number:
                return
            self._run_all(block.body)
        raise DebugError(f"{block.head.strip()!r:.40} has been repeated {MOST_TURNS:,} times.")

    # Sources of lines

    def script(self, lines: Iterable[str]) -> bool:
        """Runs lines up to the first that fails, as in gdb; True if none failed. Raises Quit."""
        return self._all(iter(lines), ends_with_error=True)

    def piped(self, stream: TextIO) -> None:
        """Runs the lines of a pipe, and prints each, so that the output is complete without the input."""

        def said() -> Iterator[str]:
            for line in stream:
                self._say(PROMPT + line.rstrip("\n"))
                yield line.rstrip("\n")

        self._all(said(), ends_with_error=False)

    def _all(self, lines: Iterator[str], ends_with_error: bool) -> bool:
        is_done = True
        for line in lines:
            is_done = self._taken(line, lines)
            if ends_with_error and not is_done:
                return False
        return is_done

    def _taken(self, line: str, lines: Iterator[str]) -> bool:
        self.is_in_block = opens(line)
        try:
            item = gathered(line, lines)
        except DebugError as error:
            self._complain(str(error))
            return False
        finally:
            self.is_in_block = False
        return self.carry_out(item)

    def interactive(self, lines: Iterator[str | None]) -> None:
        """Runs the lines that the user types; an empty line repeats the last command if that can be repeated. Ctrl-C
        interrupts the current one.
        """
        for line in lines:
            if not line.strip():
                line = self._last
            else:
                self._last = repeated(line)
            try:
                self._taken(line, lines)
            except KeyboardInterrupt as error:
                # The second Ctrl-C for a kernel that does not stop ends the debugger.
                if not is_ctrl_c(error) or (self.debugger.is_running and self.debugger.timeline.is_interrupted):
                    raise
                self._complain("Quit")


BLOCKS: dict[str, Callable[[Console, Block], None]] = {
    "commands": Console._commands,
    "define": Console._define,
    "document": Console._document,
    "if": Console._if,
    "while": Console._while,
}


def lines_of(script: Path) -> list[str]:
    """The lines of a file of commands. Raises UsageError if it is not such a text."""
    try:
        return read_input_text(script, COMMANDS).splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{script}: is no UTF-8 text: {error.reason}") from None


def _given(item: Item, arguments: list[str]) -> Item:
    """A line of a user-defined command with its arguments in place of `$arg0`, `$argc`."""
    if isinstance(item, Block):
        return Block(_given(item.head, arguments), tuple(_given(each, arguments) for each in item.body))
    for number in range(len(arguments) - 1, -1, -1):
        item = item.replace(f"$arg{number}", arguments[number])
    return item.replace("$argc", str(len(arguments)))


def repeated(line: str) -> str:
    """The command that an empty line after `line` repeats; "" for most commands."""
    try:
        command, rest = parsed(line)
    except DebugError:
        return ""
    if not command.repeats:
        return ""
    return command.name if command.name == "list" else f"{command.name} {rest}"
