"""All relations that were stated and observed, one a row, with the names of tasks and buffers."""

import csv
import sqlite3
from pathlib import Path

from gpuprof.errors import NotComparable
from gpuprof.isa.printing.printable import printable

HEADINGS = ("kind", "from", "to", "via", "nbytes", "origin", "from_name", "to_name", "via_name")
ROWS = """
SELECT r.kind, r.source, r.target, r.via, r.nbytes, r.origin, s.name, t.name, p.name
FROM stored_relations r JOIN tasks s ON s.task = r.source LEFT JOIN tasks t ON t.task = r.target
    LEFT JOIN parameters p ON p.parameter = r.via
UNION ALL
SELECT 'contains', a.parent, a.task, NULL, 0, 'stated', b.name, a.name, NULL
FROM tasks a JOIN tasks b ON b.task = a.parent
ORDER BY 2, 3, 1, 4
"""


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where there are no tasks. Tasks that are not related give only the headings."""
    if database.execute("SELECT 1 FROM tasks LIMIT 1").fetchone() is None:
        raise NotComparable("nothing to export: the file has no tasks; collect again")
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADINGS)
        for row in database.execute(ROWS):
            writer.writerow([printable(each) if isinstance(each, str) else each for each in row])
