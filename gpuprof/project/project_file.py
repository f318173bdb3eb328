"""Reads a project's file: gpuprof.toml, or [tool.gpuprof] of pyproject.toml.

Whatever does not fit is a UsageError that names the file, the entry and the key.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuprof.base.inputs import PROJECT, is_regular
from gpuprof.base.toml import read_toml
from gpuprof.base.wording import suggestion
from gpuprof.check.budgets import Budget, parse_budgets
from gpuprof.check.requirements import parse_requirement
from gpuprof.check.rules import parse_rule
from gpuprof.errors import UsageError
from gpuprof.project import keys
from gpuprof.project.entry import Entry
from gpuprof.project.keys import Key

NAME, IN_PYTHON = "gpuprof.toml", "pyproject.toml"
BASELINES = "gpuprof-baselines"
MOST_ENTRIES = 10_000
ENTRY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@-]{0,99}")
MISSING = f"there is no {NAME}, and no [tool.gpuprof] in {IN_PYTHON}; `gpuprof init` writes a first one"


@dataclass(frozen=True)
class Project:
    file: Path
    entries: tuple[Entry, ...]

    @property
    def folder(self) -> Path:
        return self.file.parent


def find_project(folder: Path) -> Path:
    """The project file of a folder, or of the nearest one that it is in. Raises UsageError where there is none."""
    for each in (folder.absolute(), *folder.absolute().parents):
        if is_regular(each / NAME):
            return each / NAME
        if is_regular(each / IN_PYTHON) and has_table(each / IN_PYTHON):
            return each / IN_PYTHON
    raise UsageError(f"{folder}: {MISSING}, or name a profile: gpuprof check FILE --baseline FILE")


def read_project(file: Path, run_keys: Sequence[Key]) -> Project:
    """`run_keys`: the keys that are options of `gpuprof collect`. Raises UsageError for what does not fit, also for two
    entries of one name, and for files that include each other.
    """
    entries = tuple(_entries_of(file.absolute(), run_keys, ()))
    if len(entries) > MOST_ENTRIES:
        raise UsageError(f"{file}: has {len(entries):,} entries; at most {MOST_ENTRIES:,} are checked")
    seen: dict[str, Entry] = {}
    for entry in entries:
        if other := seen.get(entry.name):
            both = f"{other.folder / other.file}, {entry.folder / entry.file}"
            raise UsageError(f"{file}: two entries are called {entry.name!r} ({both}); give one another name")
        seen[entry.name] = entry
    if not entries:
        raise UsageError(f"{file}: has no [[entry]]; `gpuprof init` shows what one looks like")
    return Project(file.absolute(), entries)


def has_table(file: Path) -> bool:
    """True where a pyproject.toml has [tool.gpuprof]. Raises UsageError for one that is no TOML."""
    return "gpuprof" in _tables(file).get("tool", {})


def _tables(file: Path) -> dict[str, Any]:
    try:
        return read_toml(file, PROJECT)
    except ValueError as error:
        raise UsageError(f"{file}: is no TOML: {error}") from None


def _entries_of(file: Path, run_keys: Sequence[Key], including: tuple[Path, ...]) -> Iterator[Entry]:
    real = file.resolve()
    if real in including:
        circle = " -> ".join(str(each) for each in (*including[including.index(real) :], real))
        raise UsageError(f"{file}: project files include each other: {circle}; take one `include` out")
    values = _tables(file)
    if file.name == IN_PYTHON:
        values = values.get("tool", {}).get("gpuprof", {})
    reader = _Reader(file, run_keys)
    reader.check(values, {key.name: key for key in keys.PROJECT}, "")
    yield from reader.entries(values)
    for name in reader.texts(values, "include"):
        if not is_regular(file.parent / name):
            raise UsageError(f"{file}: include: there is no file {name!r}")
        yield from _entries_of(file.parent / name, run_keys, (*including, real))


class _Reader:
    """Takes the values of one file apart."""

    def __init__(self, file: Path, run_keys: Sequence[Key]):
        self.file = file
        self.run_names = {key.name for key in run_keys}
        self.of_entry, self.of_defaults = keys.entry_keys(run_keys), keys.default_keys(run_keys)

    def entries(self, values: Mapping[str, Any]) -> Iterator[Entry]:
        defaults = values.get("defaults", {})
        self.check(defaults, self.of_defaults, "[defaults]")
        baselines = self.file.parent / values.get("baselines", BASELINES)
        tables = values.get("entry", [])
        for number, table in enumerate(tables, 1):
            where = f"[[entry]] {number}"
            if not isinstance(table, dict):
                raise self.wrong(where, "is no table")
            if isinstance(name := table.get("name"), str):
                where = f"entry {name!r}"
            self.check(table, self.of_entry, where)
            yield from self.on_chips(table, defaults, baselines, where)

    def on_chips(self, table: Mapping, defaults: Mapping, baselines: Path, where: str) -> Iterator[Entry]:
        """The entry, on each of its chips."""
        values = {**defaults, **table}
        if "file" not in table:
            raise self.wrong(where, "has no file")
        name = values.get("name", Path(table["file"]).stem)
        if not ENTRY_NAME.fullmatch(name):
            raise self.wrong(where, f"the name {name!r} is no name of a file: letters, digits, and any of _ . + @ -")
        chips = self.texts(values, "chips")
        if chips and "chip" in table:
            raise self.wrong(where, "has chip and chips; leave out one")
        if len(chips) > 1 and "baseline" in values:
            raise self.wrong(where, "has several chips, and one baseline; leave out baseline")
        both = [each.get("budgets", {}) for each in (defaults, table)]
        budgets = tuple(self.budgets(both, where))
        for chip in chips or [""]:
            on_chip = {**values, "chip": chip} if chip else values
            own_name = f"{name}@{Path(chip).stem}" if len(chips) > 1 else name
            entry = self.entry(own_name, on_chip, budgets, baselines)
            self.check_texts(entry, where)
            yield entry

    def entry(self, name: str, values: Mapping, budgets: tuple[Budget, ...], baselines: Path) -> Entry:
        return Entry(
            name,
            self.file.parent,
            values["file"],
            self.texts(values, "sources"),
            tuple(map(str, self.listed(values, "arguments"))),
            {key: value for key, value in values.items() if key in self.run_names},
            self.texts(values, "checkers"),
            self.texts(values, "environment"),
            self.texts(values, "inputs"),
            self.file.parent / values["baseline"] if "baseline" in values else baselines / f"{name}.toml",
            self.texts(values, "fail-on"),
            self.texts(values, "require"),
            budgets,
            values.get("ratchet", False),
            values.get("strict-shape", False),
        )

    def budgets(self, tables: Sequence[Mapping], where: str) -> Iterator[Budget]:
        for table in tables:
            try:
                yield from parse_budgets(table)
            except UsageError as error:
                raise self.wrong(where, str(error)) from None

    def check_texts(self, entry: Entry, where: str) -> None:
        """Raises UsageError for limits and requirements that are none, before anything runs."""
        try:
            for text in entry.fail_on:
                parse_rule(text)
            for text in entry.required:
                parse_requirement(text)
        except UsageError as error:
            raise self.wrong(where, str(error)) from None
        if not is_regular(entry.folder / entry.file):
            raise self.wrong(where, f"there is no file {entry.file!r}")

    def check(self, values: Any, known: Mapping[str, Key], where: str) -> None:
        """Raises UsageError for a key that there is not, or a value of another form."""
        if not isinstance(values, dict):
            raise self.wrong(where, "is no table")
        for name, value in values.items():
            if name not in known:
                near = suggestion(name, known) or f"the keys are: {', '.join(known)}"
                raise self.wrong(where, f"unknown key {name!r}; {near}")
            if not _is_of(value, known[name].form):
                raise self.wrong(where, f"{name}: expected {keys.WORDS[known[name].form]}, not {str(value)[:60]!r}")

    def texts(self, values: Mapping, name: str) -> tuple[str, ...]:
        return tuple(self.listed(values, name))

    @staticmethod
    def listed(values: Mapping, name: str) -> list:
        value = values.get(name, [])
        return value if isinstance(value, list) else [value]

    def wrong(self, where: str, what: str) -> UsageError:
        return UsageError(": ".join(filter(None, (str(self.file), where, what))))


def _is_of(value: Any, form: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    is_one = {
        keys.TEXT: isinstance(value, str),
        keys.TEXTS: isinstance(value, str),
        keys.VALUE: isinstance(value, str) or number,
        keys.VALUES: isinstance(value, str) or number,
        keys.SWITCH: isinstance(value, bool),
        keys.BUDGETS: isinstance(value, dict),
        keys.ENTRIES: isinstance(value, list),
        keys.TABLE: isinstance(value, dict),
    }
    of_list = {keys.TEXTS: keys.TEXT, keys.VALUES: keys.VALUE}
    if isinstance(value, list) and form in of_list:
        return all(_is_of(each, of_list[form]) for each in value)
    return is_one[form]
