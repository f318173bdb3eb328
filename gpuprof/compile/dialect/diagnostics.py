"""Clang's messages, with what their notes say of other places."""

import re
from typing import NamedTuple

_MESSAGE = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): (?:fatal )?(?P<kind>error|note|warning): (?P<text>.*)$",
    re.M,
)


class Place(NamedTuple):
    file: str
    line: int
    column: int


class Diagnostic(NamedTuple):
    """An error, and its notes: their places and texts."""

    place: Place
    text: str
    notes: tuple[tuple[Place, str], ...] = ()


def errors_in(messages: str) -> list[Diagnostic]:
    """The errors among a compiler's messages."""
    errors: list[Diagnostic] = []
    is_error = False
    for match in _MESSAGE.finditer(messages):
        place = Place(match["file"], int(match["line"]), int(match["column"]))
        if match["kind"] == "error":
            errors.append(Diagnostic(place, match["text"]))
        elif match["kind"] == "note" and is_error:
            errors[-1] = errors[-1]._replace(notes=(*errors[-1].notes, (place, match["text"])))
        is_error = match["kind"] == "error" or (is_error and match["kind"] == "note")
    return errors
