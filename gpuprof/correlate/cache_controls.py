"""How the launches of a database were measured: what the caches held, and how often they were timed."""

import sqlite3
from collections.abc import Mapping

from gpuprof.base.cache_control import KEEP, CacheControl


def cache_controls(database: sqlite3.Connection) -> dict[int, CacheControl]:
    """By launch; those that are left out are measured as the program leaves the caches, once."""
    values: dict[int, dict[str, int | str]] = {}
    query = "SELECT launch, metric, value FROM launch_metrics WHERE metric IN ('cache', 'repeat')"
    for launch, name, value in database.execute(query):
        values.setdefault(launch, {})[name] = value
    return {launch: control_of(metrics) for launch, metrics in values.items()}


def control_of(metrics: Mapping[str, int | float | str]) -> CacheControl:
    """How a launch with these metrics was measured."""
    return CacheControl(str(metrics.get("cache", KEEP)), int(metrics.get("repeat", 1)))


def read_repetitions(database: sqlite3.Connection) -> dict[int, tuple[int, ...]]:
    """Cycles of each timing of the launches that were timed several times."""
    cycles: dict[int, tuple[int, ...]] = {}
    for launch, each in database.execute("SELECT launch, cycles FROM repetitions ORDER BY launch, repetition"):
        cycles[launch] = (*cycles.get(launch, ()), each)
    return cycles
