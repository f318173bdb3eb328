"""Verdicts as JSON: the object of one profile, or a versioned object of a project's entries."""

import json
from typing import Any

from gpuprof.check.checkout import Checkout
from gpuprof.check.render import JSON_VERSION
from gpuprof.check.verdict import CheckReport, EntryVerdict, Problem


def render(report: CheckReport, checkout: Checkout) -> str:
    values = dict(report.entries[0].json) if report.of_file else report_object(report)
    return json.dumps(values, indent=2) + "\n"


def report_object(report: CheckReport) -> dict[str, Any]:
    return {
        "version": JSON_VERSION,
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "entries": [_entry(entry) for entry in report.entries],
    }


def _entry(entry: EntryVerdict) -> dict[str, Any]:
    return {
        "name": entry.name,
        "file": entry.file,
        "verdict": entry.status,
        "exit_code": entry.exit_code,
        "cause": entry.cause or None,
        "unchanged": entry.is_cached,
        "launches": entry.n_launches,
        "update": entry.update or None,
        "problems": [_problem(problem) for problem in entry.problems],
        "profile": dict(entry.json),
    }


def _problem(problem: Problem) -> dict[str, Any]:
    kind = problem.of
    return {
        "kind": problem.kind,
        "severity": kind.severity,
        "fails": kind.fails,
        "rule": kind.rule,
        "title": problem.title,
        "message": problem.message,
        "metric": problem.metric or None,
        "old": problem.old,
        "new": problem.new,
        "limit": problem.limit or None,
        "places": [place._asdict() for place in problem.places],
        "lines": [line._asdict() | {"places": [place._asdict() for place in line.places]} for line in problem.lines],
    }
