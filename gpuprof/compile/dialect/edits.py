"""Changes of a source's text after which everything else is still at its line and column."""

import re
from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """The text from `start` to `end` becomes `text`."""

    start: int
    end: int
    text: str


def edited(source: str, edits: Iterable[Edit]) -> str:
    """The text with all edits; of two that overlap, the first one counts."""
    parts, at = [], 0
    for edit in sorted(set(edits)):
        if edit.start >= at:
            parts += [source[at : edit.start], edit.text]
            at = edit.end
    return "".join([*parts, source[at:]])


def blank(source: str, start: int, end: int) -> Edit:
    """Spaces in place of a text; its lines stay."""
    return Edit(start, end, re.sub(r"[^\n]", " ", source[start:end]))


def inserted(source: str, at: int, text: str) -> Edit | None:
    """Text in front of a place of the source, after which a new line has the old one's number and column. None in a
    preprocessor's directive, which has no further lines.
    """
    if in_directive(source, at):
        return None
    line = source.count("\n", 0, at) + 1
    before = source[source.rfind("\n", 0, at) + 1 : at]
    margin = re.sub(r"[^\t]", lambda character: " " * len(_bytes(character[0])), before)
    return Edit(at, at, f"{text}\n#line {line}\n{margin}")


def offset_of(source: str, line: int, column: int) -> int | None:
    """The index of a place that clang names; its columns count bytes. None if it is not there."""
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return None
    before = _bytes(lines[line - 1])[: column - 1].decode("utf-8", "surrogateescape")
    return sum(len(each) + 1 for each in lines[: line - 1]) + len(before)


def in_directive(source: str, at: int) -> bool:
    """True if a place is in a line that begins with #, or continues one."""
    start = source.rfind("\n", 0, at) + 1
    while source.endswith("\\\n", 0, start):
        start = source.rfind("\n", 0, start - 1) + 1
    return source[start:at].lstrip().startswith("#")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
