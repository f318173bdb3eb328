"""Kinds of values that a parameter of a tool takes: the JSON schema of each, and the word that a command line has for
a value.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gpuprof.base.wording import suggestion
from gpuprof.errors import UsageError
from gpuprof.mcp_server.workspace import Workspace

KERNELS = (".cu", ".cuh", ".ptx", ".gpubin")  # files of kernels, which the emulator runs
RECORDING = ".gprec"
PROFILES = (RECORDING, ".gpudb")
MOST_CHARACTERS = 10_000  # of a text: the longest launch that makes sense has some hundreds
MOST_SHOWN = 100  # characters of a value, in a message


class Kind(Protocol):
    """`schema`: of a value. `word` raises UsageError for a value that is not of the kind, or not allowed."""

    @property
    def schema(self) -> dict[str, Any]: ...

    def word(self, value: Any, workspace: Workspace) -> str: ...


@dataclass(frozen=True)
class Text:
    """A text that matches a regular expression as a whole. `what` it is, for messages."""

    pattern: str
    what: str

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$", "maxLength": MOST_CHARACTERS}

    def word(self, value: Any, workspace: Workspace) -> str:
        text = _text(value)
        if len(text) > MOST_CHARACTERS or not re.fullmatch(self.pattern, text):
            raise UsageError(f"{_shown(text)} is not {self.what}")
        return text


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.words)}

    def word(self, value: Any, workspace: Workspace) -> str:
        if value not in self.words:
            near = suggestion(str(value), self.words)
            raise UsageError(f"{_shown(value)} is not one of {', '.join(self.words)}{f'; {near}' if near else ''}")
        return value


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    least: int
    most: int

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def word(self, value: Any, workspace: Workspace) -> str:
        if type(value) is not int or not self.least <= value <= self.most:  # True is an int, too
            raise UsageError(f"{_shown(value)} is not a whole number from {self.least:,} to {self.most:,}")
        return str(value)


@dataclass(frozen=True)
class Tolerance:
    """A finite number from 0 on."""

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": 0}

    def word(self, value: Any, workspace: Workspace) -> str:
        if type(value) not in (int, float) or not 0 <= value < math.inf:
            raise UsageError(f"{_shown(value)} is not a finite number from 0 on")
        return f"{value!r}"


@dataclass(frozen=True)
class Switch:
    """True or false; "" for false, since then the command line has no word."""

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def word(self, value: Any, workspace: Workspace) -> str:
        if type(value) is not bool:
            raise UsageError(f"{_shown(value)} is neither true nor false")
        return "true" if value else ""


@dataclass(frozen=True)
class InFolder:
    """A file or folder of the workspace, with one of these suffixes, or with any where there are none."""

    suffixes: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": MOST_CHARACTERS}

    def word(self, value: Any, workspace: Workspace) -> str:
        name = _text(value)
        if self.suffixes and not name.endswith(self.suffixes):
            raise UsageError(f"{name}: expected the name of a {_either(self.suffixes)} file")
        return workspace.inside(name)


@dataclass(frozen=True)
class Source:
    """A file that is run, or one of `others`: kernels with launches; where programs are allowed, whatever runs."""

    others: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": MOST_CHARACTERS}

    def word(self, value: Any, workspace: Workspace) -> str:
        name = _text(value)
        known = (*KERNELS, *self.others)
        if not (workspace.allows_programs or name.endswith(known)):
            raise UsageError(
                f"{name}: expected a {_either(known)} file: scripts, programs and their sources run host code on this "
                "machine, which only `gpuprof mcp --allow-programs` permits"
            )
        return workspace.inside(name)


@dataclass(frozen=True)
class Chip:
    """A chip's name, or a .toml file of the workspace."""

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": MOST_CHARACTERS}

    def word(self, value: Any, workspace: Workspace) -> str:
        name = _text(value)
        if name.endswith(".toml"):
            return workspace.inside(name)
        return Text(r"[A-Za-z0-9][A-Za-z0-9-]*", "the name of a chip, such as h100, or of a .toml file").word(
            name, workspace
        )


def _either(words: Sequence[str]) -> str:
    """a, b or c."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{_shown(value)} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair, which no command line can have
        raise UsageError(f"{ascii(value)[:MOST_SHOWN]} is not Unicode") from None
    return value


def _shown(value: Any) -> str:
    """A value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def listed(schema: Mapping[str, Any], most: int) -> dict[str, Any]:
    """The schema of a list of values."""
    return {"type": "array", "items": dict(schema), "maxItems": most}
