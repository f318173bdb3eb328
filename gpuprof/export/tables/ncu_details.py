"""Nsight Compute's details page as CSV, as `ncu --page details --csv` prints it: a row for each metric of a launch.

The report's advice is in the columns of rules, after the metrics of the kernel's first launch.
"""

import sqlite3
from pathlib import Path

from gpuprof.export.tables.ncu_values import IDENTITY, read_rows
from gpuprof.isa.printing.printable import printable
from gpuprof.report.formats import csv_of
from gpuprof.report.triage.kernel_rules import findings

OF_METRICS = ("Section Name", "Metric Name", "Metric Unit", "Metric Value")
OF_RULES = ("Rule Name", "Rule Type", "Rule Description")
ADVICE = "OPT"


def write(database: sqlite3.Connection, path: Path) -> None:
    report, rows = read_rows(database)
    table: list[list[object]] = [[*IDENTITY, *OF_METRICS, *OF_RULES]]
    advised = set()
    for row in rows:
        table += [
            [*row.identity, metric.section, metric.label, metric.unit, value, "", "", ""]
            for metric, value in row.values
        ]
        if row.kernel.symbol not in advised:
            advised.add(row.kernel.symbol)
            table += [
                [*row.identity, "", "", "", "", finding.rule, ADVICE, printable(finding.text)]
                for finding in findings(row.kernel, report.chip, report.header, report.vocabulary)
            ]
    path.write_text(csv_of(table), encoding="utf-8", newline="\n")
