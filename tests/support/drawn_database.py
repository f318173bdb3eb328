"""A database of two draws, by hand."""

import sqlite3
from contextlib import closing

from gpuprof.tables.draws import DRAW_COUNT_NAMES
from tests.support.report_database import make_database

FACTS = "draw, task, pass, name, width, height, samples, state_changes, drains, start_cycle, end_cycle"
DRAW = f"INSERT INTO draws ({FACTS}, {{}}) "
UNITS = [  # draw, unit, busy and blocked cycles, when it began and ended
    (0, "fetch", 500.0, 250.0, 1000, 2000),
    (0, "scan", 300.0, 0.0, 2000, 3000),
    (1, "fetch", 600.0, 0.0, 2000, 2600),
    (1, "depth", 0.0, 0.0, 2600, 2600),
]
WAVES = [  # draw, stage, number, begin and end
    (0, "vertex", 0, 1500, 2500),
    (0, "vertex", 1, 1500, 2000),
    (1, "pixel", 0, 3000, 5000),
]


def make_drawn(path):
    """Two draws, of cycles 1,000 to 3,000 and 2,000 to 5,000, with their tasks in one of a script. The kernel is the
    first one's shader.
    """
    make_database(path, launches=1)
    names = DRAW_COUNT_NAMES
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO task_rows VALUES (0, 'default stream')")
        task = "INSERT INTO tasks VALUES (?, ?, 'task', 0, ?, 0, ?, ?, ?, ?, ?, ?, 4000)"
        db.execute(task, (0, None, "frame", 0, 0, 1, 1000, 5000, 4000))
        for draw, start, end in ((0, 1000, 3000), (1, 2000, 5000)):
            db.execute(task, (draw + 1, 0, f"draw {draw}", None, 2 * draw + 2, 2 * draw + 3, start, end, 0))
            facts = (draw, draw + 1, 0, f"draw {draw}", 16, 8, 1, 0, 0, start, end)
            marks = ", ".join("?" * (len(facts) + len(names)))
            db.execute(f"{DRAW.format(', '.join(names))} VALUES ({marks})", (*facts, *[0] * len(names)))
        db.execute("INSERT INTO draw_launches VALUES (0, 0, 'vertex')")
        db.executemany("INSERT INTO draw_units VALUES (?, ?, ?, ?, ?, ?)", UNITS)
        db.executemany("INSERT INTO draw_waves VALUES (?, ?, ?, ?, ?)", WAVES)
    return path
