"""Findings and results of a database, with their launches and places."""

import sqlite3
from typing import NamedTuple

from gpuprof.base.compared_results import Result
from gpuprof.check.facts import Chain, code_origins, launch_titles
from gpuprof.correlate.findings import Found, read_findings, read_results


class PlacedFinding(NamedTuple):
    """`positions`: of its code, the innermost first; of its kernel where it has no code."""

    found: Found
    title: str  # of the launch
    positions: Chain


class PlacedResult(NamedTuple):
    """`positions`: the first line of the kernel after which the array was read."""

    result: Result
    positions: Chain


def placed_findings(database: sqlite3.Connection) -> tuple[PlacedFinding, ...]:
    """All findings, the worst severity first."""
    titles = launch_titles(database)
    found = read_findings(database, titles)
    origins = code_origins(database) if found else {}
    return tuple(
        PlacedFinding(
            each,
            titles[each.launch][0],
            (*origins[each.pc].inlined, origins[each.pc].at)
            if each.pc in origins
            else tuple(filter(None, [titles[each.launch][1]])),
        )
        for each in found
    )


def placed_results(database: sqlite3.Connection) -> tuple[PlacedResult, ...]:
    """All comparisons of arrays, in the order made."""
    results = read_results(database)
    titles = launch_titles(database) if any(result.is_wrong for result in results) else {}
    return tuple(
        PlacedResult(result, tuple(filter(None, [titles.get(result.launch, ("", None))[1]]))) for result in results
    )
