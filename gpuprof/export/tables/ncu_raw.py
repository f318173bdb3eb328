"""Nsight Compute's raw page as CSV, as `ncu --page raw --csv` prints it: a row a launch, a column a metric.

The second row has the units. A cell is empty where a launch does not have the metric.
"""

import sqlite3
from pathlib import Path

from gpuprof.export.tables.ncu_values import IDENTITY, read_rows
from gpuprof.report.formats import csv_of


def write(database: sqlite3.Connection, path: Path) -> None:
    _, rows = read_rows(database)
    units = {metric.name: metric.unit for row in rows for metric, _ in row.values}
    names = sorted(units)
    table = [[*IDENTITY, *names], [*[""] * len(IDENTITY), *(units[name] for name in names)]]
    for row in rows:
        found = {metric.name: value for metric, value in row.values}
        table.append([*row.identity, *(found.get(name, "") for name in names)])
    path.write_text(csv_of(table), encoding="utf-8", newline="\n")
