"""Findings and results of a database, with their launches and places."""

import sqlite3
from typing import NamedTuple

from gpuprof.base.compared_results import Result
from gpuprof.check.facts import Chain, Origins, Position, code_origins, launch_titles
from gpuprof.correlate.findings import Found, read_findings, read_results


class PlacedFinding(NamedTuple):
    """`positions`: of its code, the innermost first; of its kernel where it has no code."""

    found: Found
    title: str  # of the launch
    positions: Chain


class PlacedResult(NamedTuple):
    """`positions`: the first line of the kernel after which the array was read; empty for one that is as expected."""

    result: Result
    positions: Chain


def placed_findings(database: sqlite3.Connection) -> tuple[PlacedFinding, ...]:
    """All findings, the worst severity first."""
    found = read_findings(database, {launch for (launch,) in database.execute("SELECT launch FROM findings")})
    if not found:
        return ()
    origins = code_origins(database)
    titles = launch_titles(database, origins)
    return tuple(_placed(each, *titles[each.launch], origins) for each in found)


def _placed(found: Found, title: str, kernel: Position | None, origins: Origins) -> PlacedFinding:
    origin = origins.get(found.pc) if found.pc is not None else None
    if origin is None:
        return PlacedFinding(found, title, (kernel,) if kernel else ())
    return PlacedFinding(found, title, (*origin.inlined, origin.at))


def placed_results(database: sqlite3.Connection) -> tuple[PlacedResult, ...]:
    """All comparisons of arrays, in the order made."""
    results = read_results(database)
    if not any(result.is_wrong for result in results):
        return tuple(PlacedResult(result, ()) for result in results)
    titles = launch_titles(database, code_origins(database))
    return tuple(PlacedResult(result, tuple(filter(None, titles.get(result.launch, ())[1:]))) for result in results)
