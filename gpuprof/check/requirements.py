"""Absolute requirements: what may have been found, as `findings<=0`, `findings.uncoalesced<=0` or
`trace.mix_opcodes.warps<=1000`.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuprof.base.compared_results import ADVICE
from gpuprof.base.wording import suggestion
from gpuprof.check.finding_kinds import why_unknown
from gpuprof.correlate.advice.advice_rules import BY_NAME
from gpuprof.correlate.findings import Found
from gpuprof.correlate.trace_tables import PREFIX, read_tables
from gpuprof.errors import NotComparable, UsageError

_REQUIREMENT = re.compile(
    r"(?:findings(?:\.(?P<kind>\w+))?|trace\.(?P<table>\w+)\.(?P<column>\w+))\s*<=\s*(?P<most>-?\d+(?:\.\d+)?)"
)


class Requirement(NamedTuple):
    """`most` findings, those of `kind` or all that are no advice; or in no row of the `column` of a trace table a
    larger number.
    """

    kind: str
    table: str  # without the prefix trace_; "" for findings
    column: str
    most: float
    text: str  # as the user wrote it

    @property
    def what(self) -> str:
        """The name of the number: "findings.uncoalesced"."""
        return self.text.partition("<=")[0].strip()

    def counts(self, found: Found) -> bool:
        """True for a finding that this limits."""
        return found.kind == self.kind if self.kind else found.severity != ADVICE


class Outcome(NamedTuple):
    """The value that a requirement limits: a number of findings, or the largest value; None in a table without rows."""

    requirement: Requirement
    value: int | float | None

    @property
    def is_met(self) -> bool:
        return self.value is None or self.value <= self.requirement.most


def parse_requirement(text: str) -> Requirement:
    """Raises UsageError for any other text, and a kind that no finding can have."""
    match = _REQUIREMENT.fullmatch(text.strip())
    if not match:
        raise UsageError(
            f"--require {text!r}: expected findings<=N, findings.KIND<=N or trace.TABLE.COLUMN<=N, as in findings<=0"
        )
    if match["kind"] and (reason := why_unknown(match["kind"])):
        raise UsageError(f"--require {text!r}: {reason}")
    names = (match[name] or "" for name in ("kind", "table", "column"))
    return Requirement(*names, float(match["most"]), text.strip())


def measure_requirements(database: sqlite3.Connection, wanted: Sequence[Requirement]) -> list[Outcome]:
    """Raises NotComparable where nothing was watched or counted, or a table or column is missing."""
    return [Outcome(requirement, _measure(database, requirement)) for requirement in wanted]


def _measure(database: sqlite3.Connection, requirement: Requirement) -> int | float | None:
    if not requirement.table:
        return _findings(database, requirement)
    tables = {table.name.removeprefix(PREFIX): table for table in read_tables(database)}
    if requirement.table not in tables:
        near = suggestion(requirement.table, tables) or f"it has {', '.join(tables) or 'none'}"
        raise NotComparable(f"--require {requirement.text!r}: the profile has no table {requirement.table!r}; {near}")
    table = tables[requirement.table]
    numbers = [column.name for column in table.columns if column.type != "text"]
    if requirement.column not in numbers:
        near = suggestion(requirement.column, numbers) or f"it has {', '.join(numbers) or 'none'}"
        raise NotComparable(f"--require {requirement.text!r}: no such column of numbers; {near}")
    return database.execute(f'SELECT MAX("{requirement.column}") FROM {table.name}').fetchone()[0]


def _findings(database: sqlite3.Connection, requirement: Requirement) -> int:
    if requirement.kind in BY_NAME:
        needed, missing = "ledger", "no launch ended, so nothing was counted"
    else:
        needed, missing = (
            "trace_launches",
            ("no trace generator has watched; collect with --trace, as in `gpuprof list traces`"),
        )
    if not database.execute(f"SELECT EXISTS (SELECT 1 FROM {needed})").fetchone()[0]:
        raise NotComparable(f"--require {requirement.text!r}: {missing}")
    query = "SELECT COUNT(*) FROM findings WHERE kind = :kind OR :kind = '' AND severity != :advice"
    return database.execute(query, {"kind": requirement.kind, "advice": ADVICE}).fetchone()[0]


def outcome_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        yield f"{'required' if outcome.is_met else 'broken':10s} {outcome_line(outcome)}"


def outcome_line(outcome: Outcome) -> str:
    """ "findings<=0: 3"."""
    found = "no rows" if outcome.value is None else f"{outcome.value:g}"
    return f"{outcome.requirement.text}: {found}"


def outcome_objects(outcomes: Sequence[Outcome]) -> list[dict]:
    return [{"require": each.requirement.text, "value": each.value, "met": each.is_met} for each in outcomes]
