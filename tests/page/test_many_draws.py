"""A frame of 5,000 draws: how long the page is, and how long a frame of the time line takes with its pipeline."""

import sqlite3
from random import Random

from gpuprof.tables.draws import DRAW_COUNT_NAMES
from tests.page.test_many_tasks import FRAMES, MOST_FRAME_SECONDS, Clock
from tests.support.drawn_database import DRAW, make_drawn

DRAWS = 5_000
MOST_NBYTES = 2_000_000
UNITS = ("command", "fetch", "assembly", "setup", "scan", "depth", "write")


def many(path):
    """Each draw begins 40 cycles after the one before, and is in a unit for up to 120; it has five waves."""
    make_drawn(path)
    random = Random(1)
    with sqlite3.connect(path) as db:
        for draw in range(2, DRAWS):
            start = 5000 + 40 * draw
            times = (start, start + 1000)
            db.execute(
                "INSERT INTO tasks VALUES (?, 0, 'task', 0, ?, 0, NULL, ?, ?, ?, ?, 0, 0)",
                (draw + 1, f"draw {draw % 50}", 2 * draw, 2 * draw + 1, *times),
            )
            values = (draw, draw + 1, 0, f"draw {draw % 50}", 16, 8, 1, 0, 0, *times, *[0] * len(DRAW_COUNT_NAMES))
            marks = ", ".join("?" * len(values))
            db.execute(f"{DRAW.format(', '.join(DRAW_COUNT_NAMES))} VALUES ({marks})", values)
            units = []
            for number, unit in enumerate(UNITS):
                begin = start + 100 * number + random.randrange(40)
                units.append((draw, unit, random.randrange(1, 40), 0, begin, begin + 40 + random.randrange(80)))
            db.executemany("INSERT INTO draw_units VALUES (?, ?, ?, ?, ?, ?)", units)
            waves = [(draw, "vertex", n, start + 150 + n, start + 300 + random.randrange(90)) for n in range(3)]
            waves += [(draw, "pixel", n, start + 500 + n, start + 700 + random.randrange(90)) for n in range(2)]
            db.executemany("INSERT INTO draw_waves VALUES (?, ?, ?, ?, ?)", waves)
    db.close()
    return path


def test_five_thousand_draws(show, browser, tmp_path):
    shown = show(many(tmp_path / "many.gpudb"), hash_="view=timeline", width=1600, height=1000)
    assert shown.path.stat().st_size <= MOST_NBYTES
    clock, per_frame = Clock(browser), []
    for keys in (["0", "-"] * 12, ["+"] * 12, ["ArrowRight"] * 24):
        clock.lap()
        shown.page.evaluate(FRAMES, keys)
        per_frame.append(clock.lap() / len(keys))
    print(f"\n{shown.path.stat().st_size:,} bytes, frames of {per_frame} s")
    assert max(per_frame) <= MOST_FRAME_SECONDS, per_frame
    shown.at("view=draws&draw=4000")
    assert shown.page.locator(".about, main").first.inner_text().count("Draw 4000: draw 0") == 1
    rows = shown.page.get_by_role("region", name="Draws", exact=True).locator("tbody tr")
    assert rows.count() < 200  # only those in sight
    assert shown.errors == []
