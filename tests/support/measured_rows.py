"""Rows as `gpuprof advise` and `gpuprof whatif` add them, of launches 0 and 1 of a database that has these."""

import sqlite3
from contextlib import closing
from pathlib import Path

FILE = "samples/transpose.cu"
AT_13, AT_14, NOWHERE = (("transpose.cu:13", FILE, 13), ("transpose.cu:14", FILE, 14), ("kernel", "", 0))
LOADS = '[["long_scoreboard", 0.25], ["drain", 0.125]]'
ADVICE = (
    (0, 1, "coalesce", *AT_14, "9 sectors where 3 would do", "Pack them.", "out[i] = 1;", "sectors stay above 3",
     "packed", 5000, 2500),
    (1, 1, "bank_conflicts", *NOWHERE, "8-way conflicts", "Pad <b>rows</b>.", "", "they stay 8-way", "no_conflicts",
     5000, 2000),
)  # fmt: skip
WHATIF = (
    (0, 0, "free", 0, *AT_14, 5000, 1000, 4500, '[["barrier", 0.5]]'),
    (0, 1, "twice dram", 0, "dram unit", "", 0, 5000, 6250, 0, "[]"),
    (0, 2, "sooner 100", 100, *AT_13, 5000, 4000, 1000, LOADS),
    (0, 3, "sooner 200", 200, *AT_13, 5000, 3125, 2500, LOADS),
    (0, 4, "sooner", 0, *AT_13, 5000, 2000, 5000, LOADS),
    (0, 5, "sooner", 0, *AT_14, 5000, 5000, 0, "[]"),
    (0, 6, "packed + perfect_l1", 0, "transpose.cu:14 + kernel", FILE, 14, 5000, 1250, 4000, "[]"),
)


def add_measured(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as db:
        for table, rows in (("advice", ADVICE), ("whatif", WHATIF)):
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        db.commit()
    return path
