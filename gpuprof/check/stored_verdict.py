"""Verdicts as JSON values, all of them, so that one can be stored and read again.

EntryVerdict ─ entry_object ─> dict ─ entry_of_object ─> the same EntryVerdict
"""

from collections.abc import Iterable, Mapping
from typing import Any

from gpuprof.check.verdict import KINDS, BlamedLine, EntryVerdict, LaunchNumbers, Place, Problem


def entry_object(entry: EntryVerdict) -> dict[str, Any]:
    return vars(entry) | {
        "problems": [_problem_object(problem) for problem in entry.problems],
        "launches": [vars(launch) | {"metrics": dict(launch.metrics)} for launch in entry.launches],
        "json": dict(entry.json),
    }


def _problem_object(problem: Problem) -> dict[str, Any]:
    return vars(problem) | {"lines": [line._asdict() for line in problem.lines]}


def entry_of_object(values: Mapping[str, Any]) -> EntryVerdict:
    """The verdict that `entry_object` made the values of. Raises KeyError, TypeError or ValueError for other values."""
    fields: dict[str, Any] = dict(values)
    fields["problems"] = tuple(map(_problem, values["problems"]))
    fields["launches"] = tuple(LaunchNumbers(**launch) for launch in values["launches"])
    for name in ("requirements", "details"):
        fields[name] = tuple(values[name])
    return EntryVerdict(**fields)


def _problem(values: Mapping[str, Any]) -> Problem:
    if values["kind"] not in KINDS:
        raise ValueError(f"{values['kind']!r} is no kind of problem")
    fields: dict[str, Any] = dict(values)
    fields["places"] = _places(values["places"])
    fields["lines"] = tuple(map(_line, values["lines"]))
    return Problem(**fields)


def _line(values: Mapping[str, Any]) -> BlamedLine:
    fields: dict[str, Any] = dict(values)
    fields["places"] = _places(values["places"])
    return BlamedLine(**fields)


def _places(rows: Iterable[Iterable[Any]]) -> tuple[Place, ...]:
    return tuple(Place(*row) for row in rows)
