"""Files of numbers that each have a source, `{ value = 108, source = "..." }`: those of chips and those of hosts.

NAME or FILE.toml ─ Family.read ─> entries by name ─ number ─> a value that is checked, and its source
"""

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gpuprof.base.confinement import check_inside
from gpuprof.base.inputs import Kind, is_missing
from gpuprof.base.toml import read_toml
from gpuprof.errors import UsageError

MOST_ANCESTORS = 16


class Field(NamedTuple):
    """`kind` is "int", "float", "bool" or "text". Numbers outside `low`..`high` are refused."""

    name: str
    kind: str
    unit: str
    low: float
    high: float
    meaning: str


class Family(NamedTuple):
    """The files of one kind of thing. `word`: what one is ("chip"); `folder`: of those that come with gpuprof;
    `example`: the name of one; `kind`: how long a file may be.
    """

    word: str
    folder: Path
    example: str
    kind: Kind

    def names(self) -> tuple[str, ...]:
        """Names of those that come with gpuprof, in alphabetical order."""
        return tuple(sorted(path.stem for path in self.folder.glob("*.toml")))

    def path_of(self, name: str | Path) -> Path:
        """The file of a name in any case, or of a path that ends in .toml. Raises UsageError for another name."""
        text = str(name)
        return Path(text) if text.endswith(".toml") else self.path_of_name(text)

    def path_of_name(self, name: str) -> Path:
        """The file of one that comes with gpuprof. Raises UsageError for any other name."""
        known = self.names()
        if name.lower() in known:
            return self.folder / f"{name.lower()}.toml"
        near = difflib.get_close_matches(name.lower(), known, 3, cutoff=0.7)
        hint = f"did you mean {' or '.join(near)}? K" if near else "k"
        raise UsageError(
            f"unknown {self.word} {name!r}; {hint}nown {self.word}s: {', '.join(known)}, or the path of a .toml file"
        )

    def read(
        self,
        path: Path,
        check: Callable[[Path, dict[str, Any]], None],
        joined: Callable[[Path, dict[str, Any], dict[str, Any]], dict[str, Any]],
        seen: tuple[Path, ...] = (),
    ) -> dict[str, Any]:
        """The file's entries, laid over those it inherits by `joined`; `check` refuses unknown ones. Raises
        UsageError, with the file's name in front.
        """
        real = Path(os.path.realpath(path))
        if real in seen:
            raise UsageError(f"{path}: inherits itself, through {' and '.join(p.name for p in seen)}")
        if len(seen) > MOST_ANCESTORS:
            raise UsageError(f"{path}: the chain of `inherits` is longer than {MOST_ANCESTORS} {self.word} files")
        if is_missing(path):
            raise UsageError(f"{path}: there is no such {self.word} file")
        try:
            data = read_toml(path, self.kind)
        except ValueError as error:
            raise UsageError(f"{path}: cannot be read as a {self.word} file: {error}") from None
        check(path, data)
        base = data.pop("inherits", None)
        if base is None:
            return data
        if not isinstance(base, str) or "\0" in base:
            raise UsageError(f"{path}: inherits: expected a {self.word}'s name or file, got {base!r}")
        if base.endswith(".toml"):
            parent_path = path.parent / base
            check_inside(parent_path)
        else:
            parent_path = self.path_of(base)
        return joined(path, data, self.read(parent_path, check, joined, (*seen, real)))

    def number(
        self,
        path: Path,
        name: str,
        field: Field,
        data: Mapping[str, Any],
        sources: dict[str, str],
        prefix: str = "",
    ) -> Any:
        """The value of an entry of `data`, checked; its source goes into `sources`. Raises UsageError for one that is
        missing or wrong.
        """
        full = prefix + name
        if name not in data:
            raise UsageError(
                f"{path}: {full} is missing ({field.meaning}; {field.unit or UNITLESS[field.kind]}): give it, or "
                f'inherit it from a {self.word}, as in inherits = "{self.example}"'
            )
        entry = data[name]
        source = str(path.name)
        if isinstance(entry, dict):
            if set(entry) != {"value", "source"}:
                raise UsageError(f"{path}: {full}: expected a number or {{ value = ..., source = ... }}, got {entry!r}")
            entry, source = entry["value"], str(entry["source"])
        sources[full] = source
        return checked(path, full, field, entry)


UNITLESS = {"text": "a text", "bool": "true or false", "int": "a whole number", "float": "a number"}
TYPES: dict[str, tuple[type, ...]] = {"text": (str,), "bool": (bool,), "int": (int,), "float": (int, float)}


def checked(path: Path | str, name: str, field: Field, value: Any) -> Any:
    """The value of a field, a float for a "float". Raises UsageError for one of another type, or out of range."""
    if not isinstance(value, TYPES[field.kind]) or (isinstance(value, bool) and field.kind != "bool"):
        unit = f" ({field.unit})" if field.unit else ""
        raise UsageError(f"{path}: {name}: expected {UNITLESS[field.kind]}{unit}, got {value!r}")
    if field.kind in ("text", "bool"):
        return value
    if not field.low <= value <= field.high:
        raise UsageError(
            f"{path}: {name} is {value}, but only {field.low:.12g} to {field.high:.12g} {field.unit} make sense "
            f"({field.meaning})"
        )
    return float(value) if field.kind == "float" else value


def similar(name: str, known: Iterable[str]) -> str:
    """Words on the known names that are like an unknown one; "" where none is."""
    names = list(known)
    found = [full for full in names if full.endswith(f".{name}")] or difflib.get_close_matches(name, names, 3)
    return f"; did you mean {' or '.join(found)}?" if found else ""
