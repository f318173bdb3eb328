"""Commands with several lines, up to `end`: `commands`, `define`, `document`, `if` and `while`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from gpuprof.errors import DebugError

OPENING = ("commands", "define", "document", "if", "while")
MOST_NESTED = 30
SILENT = "silent"


class Block(NamedTuple):
    """`head`: its first line."""

    head: str
    body: tuple["Item", ...]

    @property
    def name(self) -> str:
        return word_of(self.head)

    @property
    def rest(self) -> str:
        return self.head.strip()[len(self.name) :].strip()


Item: TypeAlias = "str | Block"


def word_of(line: str) -> str:
    return line.split(None, 1)[0] if line.strip() else ""


def opens(line: str) -> bool:
    return word_of(line) in OPENING


def gathered(line: str, lines: Iterator[str | None], depth: int = 0) -> Item:
    """A line, or the complete block that it begins. Raises DebugError if the lines end before the block does, or
    contain None, which cancels it.
    """
    if not opens(line):
        return line
    if depth == MOST_NESTED:
        raise DebugError("The blocks are nested too deeply.")
    body: list[Item] = []
    for each in lines:
        if each is None:
            raise DebugError("Quit")
        if each.strip() == "end":
            return Block(line, tuple(body))
        # A text of `document` may begin with any word.
        body.append(each if word_of(line) == "document" else gathered(each, lines, depth + 1))
    raise DebugError(f"{line.strip()!r:.40} has no `end`.")


def branches(body: Sequence[Item]) -> tuple[Sequence[Item], Sequence[Item]]:
    """The lines before and after `else`."""
    at = next((at for at, item in enumerate(body) if isinstance(item, str) and item.strip() == "else"), len(body))
    return body[:at], body[at + 1 :]


def is_silent(commands: Sequence[Item]) -> bool:
    return bool(commands) and isinstance(commands[0], str) and commands[0].strip() == SILENT


def texts(body: Sequence[Item], indent: str = "") -> Iterator[str]:
    """The lines as they were given."""
    for item in body:
        if isinstance(item, str):
            yield indent + item.strip()
        else:
            yield indent + item.head.strip()
            yield from texts(item.body, indent + "  ")
            yield indent + "end"
