"""The keys of a project's file, declared once: its reader, its JSON schema, the list of keys and the page derive from
them.

A key that is an option of `gpuprof collect` has the option's name and takes its values: `max-registers = 64`. The
command line gives these keys, since it declares the options.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

TEXT, TEXTS, VALUE, VALUES, SWITCH, BUDGETS, ENTRIES, TABLE = (
    "text", "texts", "value", "values", "switch", "budgets", "entries", "table",
)  # fmt: skip
# A value of an option may be a number; the option's own type reads it from its text. A list of one may be left out.
TYPES: Mapping[str, Mapping[str, Any]] = {
    TEXT: {"type": "string"},
    TEXTS: {"type": ["string", "array"], "items": {"type": "string"}},
    VALUE: {"type": ["string", "number"]},
    VALUES: {"type": ["string", "number", "array"], "items": {"type": ["string", "number"]}},
    SWITCH: {"type": "boolean"},
    BUDGETS: {"type": "object", "additionalProperties": {"type": "object"}},
    ENTRIES: {"type": "array"},
    TABLE: {"type": "object"},
}
WORDS = {
    TEXT: "a text",
    TEXTS: "a text, or a list of texts",
    VALUE: "a text or a number",
    VALUES: "a text or a number, or a list of them",
    SWITCH: "true or false",
    BUDGETS: "tables of budgets by kernel",
    ENTRIES: "tables",
    TABLE: "a table",
}


class Key(NamedTuple):
    """`form`: a key of TYPES. `flag`: the option of `gpuprof collect` that the key is, if it is one."""

    name: str
    form: str
    text: str
    flag: str = ""


# Of an entry and of [defaults]. A list of an entry replaces that of [defaults]; budgets are added to each other.
SHARED = (
    Key("chips", TEXTS, "Chips to check each entry on; the entry is then NAME@CHIP."),
    Key("checkers", TEXTS, "Checkers to run, such as memcheck and racecheck; an error that one finds fails the entry."),
    Key("fail-on", TEXTS, "Limits to growth, METRIC=LIMIT as in `gpuprof check --fail-on`."),
    Key("require", TEXTS, "Requirements, as in `gpuprof check --require`."),
    Key("ratchet", SWITCH, "An improvement fails, too, until the baseline has it."),
    Key("strict-shape", SWITCH, "A launch of another shape is another launch."),
    Key("budgets", BUDGETS, 'Limits without a baseline, by kernel: "gemm_*" = { registers = "<=128", spills = 0 }.'),
    Key("environment", TEXTS, "Variables that the run depends on: NAME takes the caller's, NAME=VALUE sets it."),
    Key("inputs", TEXTS, "More files that the run depends on, as patterns: data/*.bin."),
)
ENTRY = (
    Key("name", TEXT, "Names the entry and its baseline; the file's name without its ending if left out."),
    Key("file", TEXT, "What `gpuprof collect` runs: .cu, .ptx, .gpubin, or a .py script."),
    Key("sources", TEXTS, "More sources of a whole program."),
    Key("arguments", VALUES, "Arguments of a program or script."),
    Key("baseline", TEXT, "The entry's baseline; baselines/NAME.toml if left out."),
)
PROJECT = (
    Key("baselines", TEXT, "The folder of baselines; gpuprof-baselines if left out."),
    Key("include", TEXTS, "More project files, whose entries are this project's, too."),
    Key("defaults", TABLE, "Values of all entries that have none of their own."),
    Key("entry", ENTRIES, "What is checked: [[entry]] tables."),
)


def entry_keys(run_keys: Iterable[Key]) -> dict[str, Key]:
    """By name: all keys of an [[entry]]. `run_keys`: those that are options."""
    return {key.name: key for key in (*ENTRY, *SHARED, *run_keys)}


def default_keys(run_keys: Iterable[Key]) -> dict[str, Key]:
    """By name: all keys of [defaults]."""
    return {key.name: key for key in (*SHARED, *run_keys)}


def schema(run_keys: Iterable[Key]) -> dict[str, Any]:
    """A JSON schema (draft 2020-12) of the file."""
    run_keys = tuple(run_keys)
    entry = _object(entry_keys(run_keys).values()) | {"required": ["file"]}
    special = {"entry": {"type": "array", "items": entry}, "defaults": _object(default_keys(run_keys).values())}
    properties = {key.name: special.get(key.name, dict(TYPES[key.form])) | {"description": key.text} for key in PROJECT}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "gpuprof.toml", "type": "object"}
    return head | {"additionalProperties": False, "properties": properties}


def _object(keys: Iterable[Key]) -> dict[str, Any]:
    properties = {key.name: dict(TYPES[key.form]) | {"description": key.text} for key in keys}
    return {"type": "object", "additionalProperties": False, "properties": properties}
