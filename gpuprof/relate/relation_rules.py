"""Rules that make virtual tasks, for programs that cannot be changed, or that should not state the same twice.

    [[virtual]]
    name = "render target 1"
    writes = "^render target 1$"

A rule has a name and one key with a regular expression:

    kernel   all launches of a kernel whose name it matches
    writes   all tasks that write a buffer whose name it matches
    starts   a virtual task for each launch of such a kernel, with all requests from it to the next one
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gpuprof.errors import UsageError

KEYS = ("kernel", "writes", "starts")
MOST_PATTERN = 1000  # characters


class Rule(NamedTuple):
    name: str
    key: str  # one of KEYS
    pattern: str


class Candidate(NamedTuple):
    """A task that rules may make a part of a virtual one: its number, its name if it is a launch, the names of the
    buffers that it writes.
    """

    task: int
    kernel: str
    writes: tuple[str, ...]


class Group(NamedTuple):
    """A virtual task that a rule makes, and its parts."""

    name: str
    tasks: tuple[int, ...]


def checked(rule: Rule, where: str) -> Rule:
    """Raises UsageError for a key that there is not, or a pattern that is no regular expression."""
    if rule.key not in KEYS:
        raise UsageError(f"{where}: a rule has one of {', '.join(KEYS)}, not {rule.key!r}")
    if len(rule.pattern) > MOST_PATTERN:
        raise UsageError(f"{where}: a pattern has at most {MOST_PATTERN} characters")
    try:
        re.compile(rule.pattern)
    except re.error as error:
        raise UsageError(f"{where}: {rule.pattern!r} is no regular expression: {error}") from None
    return rule


def rules_of(content: dict[str, Any], where: str) -> list[Rule]:
    """The rules of a file's content. Raises UsageError for what is none."""
    tables = content.get("virtual")
    if set(content) != {"virtual"} or not isinstance(tables, list):
        raise UsageError(f"{where}: expected only tables [[virtual]]")
    return [_rule(table, f"{where}: rule {number}") for number, table in enumerate(tables, 1)]


def _rule(table: Any, where: str) -> Rule:
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise UsageError(f"{where}: expected a table of texts")
    keys = [key for key in table if key != "name"]
    if "name" not in table or len(keys) != 1:
        raise UsageError(f"{where}: expected a name and one of {', '.join(KEYS)}")
    return checked(Rule(table["name"], keys[0], table[keys[0]]), where)


def groups(rule: Rule, candidates: Sequence[Candidate]) -> Iterator[Group]:
    """The virtual tasks of a rule. Candidates are in the order of their requests."""
    fits = re.compile(rule.pattern).search
    if rule.key == "starts":
        yield from _parts(rule.name, fits, candidates)
    elif rule.key == "kernel":
        yield Group(rule.name, tuple(task.task for task in candidates if task.kernel and fits(task.kernel)))
    else:
        yield Group(rule.name, tuple(task.task for task in candidates if any(map(fits, task.writes))))


def _parts(name: str, fits: Any, candidates: Sequence[Candidate]) -> Iterator[Group]:
    starts = [index for index, task in enumerate(candidates) if task.kernel and fits(task.kernel)]
    for number, (start, end) in enumerate(pairwise([*starts, len(candidates)]), 1):
        yield Group(f"{name} {number}", tuple(task.task for task in candidates[start:end]))
