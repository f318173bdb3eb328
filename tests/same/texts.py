"""Values as they are compared: masked, as numbers, or without comments."""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.same.declared import CODE, MASKED, PROSE, SAME_NAMES, Names

# A sign counts where no word, number or bracket is before it: 0.7-7.0 is a range.
_NUMBER = re.compile(r"(?:(?<![\w.)\]%-])-)?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][+-]?\d+)?")
_COMMENT = re.compile(r"[ \t]*//[^\n]*")
_VERSION = re.compile(r"\bgpuprof(?:@|\s+)\d+\.\d+\.\d+\w*")


class Item(NamedTuple):
    """One value of an artefact, and where it is."""

    place: str
    value: Any


class Side(NamedTuple):
    """How to read what one checkout has made. `folders`: those of the machine, with what replaces each."""

    folders: tuple[tuple[str, str], ...] = ()
    names: Names = SAME_NAMES

    def plain(self, data: bytes) -> bytes:
        """The bytes without folders of this machine."""
        for folder, name in self.folders:
            data = data.replace(folder.encode(), name.encode())
        return data

    def text(self, data: bytes) -> str:
        return self.plain(data).decode("utf-8", "surrogateescape")


def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a sentence in their order; the version of gpuprof is none of them."""
    return tuple(_NUMBER.findall(_VERSION.sub("gpuprof", text)))


def without_comments(text: str) -> str:
    """A source with as many lines as before, and no `//` comment on any."""
    return _COMMENT.sub("", text)


def comparable(name: str, value: Any, side: Side) -> Any:
    """The part of a value that must be the same. `name`: as declared.py has it."""
    if name in MASKED:
        return None
    if isinstance(value, float) and math.isnan(value):
        return "not a number"  # a NaN does not equal itself
    if not isinstance(value, str):
        return value
    if name in PROSE:
        return numbers(value)
    value = side.text(value.encode("utf-8", "surrogateescape"))
    if name in CODE:
        return without_comments(value)
    return side.names.of("source", side.names.of("text", value))


def leaves(value: Any, kind: str, side: Side, place: str, key: str = "") -> Iterator[Item]:
    """Each value in a JSON document, objects by their sorted keys. However deep a value is, declared.py names it
    KIND.KEY by the last key above it.
    """
    if isinstance(value, dict):
        renamed = {side.names.key(kind, old): each for old, each in value.items()}
        yield Item(f"{place} keys", sorted(renamed))
        for name in sorted(renamed):
            if f"{kind}.{name}" not in MASKED:
                yield from leaves(renamed[name], kind, side, f"{place}.{name}", name)
    elif isinstance(value, list):
        yield Item(f"{place} length", len(value))
        for index, each in enumerate(value):
            yield from leaves(each, kind, side, f"{place}[{index}]", key)
    else:
        yield Item(place, comparable(f"{kind}.{key}", value, side))
