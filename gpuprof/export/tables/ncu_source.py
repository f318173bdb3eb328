"""Nsight Compute's source page as CSV: what `gpuprof report --page source --format csv` prints."""

import sqlite3
from pathlib import Path

from gpuprof.export.tables.ncu_values import report_of
from gpuprof.report.pages.page_kind import Request
from gpuprof.report.render import csv_page


def write(database: sqlite3.Connection, path: Path) -> None:
    path.write_text(csv_page(report_of(database), Request("source")), encoding="utf-8", newline="\n")
