"""Findings and results of comparisons: from a recording into the database, and out of it."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from gpuprof.base.compared_results import SEVERITIES, Result
from gpuprof.errors import FileFormatError
from gpuprof.records.reader import Recording


class Found(NamedTuple):
    """A row of `findings`; None stands for a number that it does not have."""

    launch: int
    generator: str
    kind: str
    severity: str
    text: str
    pc: int | None
    other_pc: int | None
    block: int | None
    warp: int | None
    thread: int | None
    address: int | None
    allocation: str
    count: int
    cost_cycles: int | None = None


NONE = -1  # in a recording; NULL in the database
RECORDED = tuple(name for name in Found._fields if name != "cost_cycles")  # the rest comes from the ledger
MAY_BE_NONE = ("pc", "other_pc", "block", "warp", "thread", "address")


def finding_rows(recording: Recording) -> Iterator[tuple]:
    """Rows of `findings`. Raises FileFormatError for a severity that is none."""
    for number, finding in enumerate(recording.findings):
        if finding["severity"] not in SEVERITIES:
            raise FileFormatError(f"{recording.path}: a finding of severity {finding['severity'][:40]!r}")
        yield (
            number,
            *(None if name in MAY_BE_NONE and finding[name] == NONE else finding[name] for name in RECORDED),
            None,
        )


def read_findings(database: sqlite3.Connection, launches: Collection[int]) -> tuple[Found, ...]:
    """Findings of these launches: the worst severity first, then the costliest, then in the order found."""
    query = f"SELECT {', '.join(Found._fields)} FROM findings ORDER BY finding"
    rows = [Found(*row) for row in database.execute(query)]
    wanted = [each for each in rows if each.launch in launches]
    return worst_first(wanted)


def worst_first(findings: Iterable[Found]) -> tuple[Found, ...]:
    return tuple(sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), -(each.cost_cycles or 0))))


def wrong_severities(database: sqlite3.Connection) -> Iterator[str]:
    """The findings of an unknown severity, in words."""
    marks = ", ".join("?" * len(SEVERITIES))
    for finding, severity in database.execute(
        f"SELECT finding, severity FROM findings WHERE severity NOT IN ({marks}) LIMIT 1", SEVERITIES
    ):
        yield f"findings.severity is {severity[:40]!r} at finding {finding}; expected one of {', '.join(SEVERITIES)}"


def read_results(database: sqlite3.Connection) -> list[Result]:
    """All comparisons, in the order made."""
    columns = ", ".join(Result._fields)
    return [Result(*row) for row in database.execute(f"SELECT {columns} FROM results ORDER BY result")]
