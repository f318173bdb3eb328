"""OpenMetrics text (openmetrics.io, version 1.0), which Prometheus reads: exact metrics of launches as gauges."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gpuprof.correlate.metrics import METRICS, launch_values
from gpuprof.errors import NotComparable
from gpuprof.isa.printing.printable import printable

PREFIX = "gpuprof_"
ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where there is no launch."""
    path.write_text("".join(f"{line}\n" for line in lines(database)), encoding="utf-8", newline="\n")


def lines(database: sqlite3.Connection) -> Iterator[str]:
    (chip,) = database.execute("SELECT value FROM meta WHERE key = 'chip'").fetchone()
    measured = launch_values(database)
    if not measured:
        raise NotComparable("nothing to export: the file has no launches; collect again")
    labels = {}
    for launch, kernel, grid, block, task in database.execute(
        "SELECT launch, kernel, grid, block, task FROM launches ORDER BY launch"
    ):
        known = {"chip": chip, "launch": str(launch), "kernel": kernel, "grid": grid, "block": block, "task": task}
        labels[launch] = ",".join(f'{name}="{quoted(value)}"' for name, value in known.items() if value)
    for metric in METRICS:
        found = [(launch, values[metric.name]) for launch, values in measured.items() if metric.name in values]
        if found:
            name = f"{PREFIX}{metric.name}"
            yield f"# TYPE {name} gauge"
            yield f"# HELP {name} {quoted(metric.text)}; {metric.unit}"
        for launch, value in found:
            yield f"{name}{{{labels[launch]}}} {value}"
    yield "# EOF"


def quoted(text: str) -> str:
    return "".join(ESCAPED.get(letter, letter) for letter in printable(text))
