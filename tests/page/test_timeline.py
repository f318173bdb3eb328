"""The time line in a browser: what is chosen, dragged over and zoomed into, beside the database."""

import sqlite3
from urllib.parse import parse_qs, urlsplit

import pytest

from gpuprof.isa.stalls import INDEX
from tests.support.drawn_database import make_drawn
from tests.support.report_database import make_database

WIDTH, GUTTER = 1280 - 2 * 16 - 2, 120  # of the canvas, and of the names in it; the whole is cycles 1,000 to 12,000
FIRST, LAST = 1000, 12000


@pytest.fixture
def database(tmp_path):
    """Two launches in a task of a script, a virtual task over the second, and a buffer from the first to the second."""
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.executemany("INSERT INTO task_rows VALUES (?, ?)", [(0, "host"), (1, "default stream")])
        db.executemany(
            "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 5000)",
            [
                (0, None, "task", 0, "step", 0, None, 0, 9, 1000, 12000, 0),
                (1, 0, "launch", 0, "transpose_naive", 1, 0, 1, 2, 1000, 6000, 5000),
                (2, None, "task", 1, "<b>frame</b>", 0, None, 3, 8, 7000, 12000, 0),
                (3, 0, "launch", 0, "transpose_naive", 1, 1, 4, 5, 7000, 12000, 5000),
            ],
        )
        db.execute("INSERT INTO relation_kinds VALUES ('produces for', 'consumes from', '', 't')")
        db.execute("INSERT INTO parameters VALUES (0, 'tiles', 'buffer', '', NULL, 4096, 256, 0)")
        db.execute("INSERT INTO stored_relations VALUES ('produces for', 1, 3, 0, 256, 'observed')")
        db.executemany("INSERT INTO activity VALUES (0, ?, ?, ?, ?)", [(0, 1000, 3000, 4000), (1, 3000, 6000, 4000)])
        selected, wait = INDEX["selected"], INDEX["wait"]
        rows = [(0, selected, 100), (0, wait, 8000), (1, wait, 600)]
        db.executemany("INSERT INTO activity_stalls VALUES (0, ?, ?, ?)", rows)
    db.close()
    return path


# Three frames: the size is known, it is drawn, it is there.
DRAWN = """() => new Promise((done) => {
    const wait = (n) => requestAnimationFrame(() => (n ? wait(n - 1) : done()));
    wait(3);
})"""


def x_of(cycle: int) -> float:
    return GUTTER + (cycle - FIRST) / (LAST - FIRST) * (WIDTH - GUTTER)


def place(shown) -> dict[str, str]:
    return place_of(shown.page.evaluate("location.href"))  # the browser's own: page.url may follow later


def place_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).fragment).items()}


def length_in(url: str) -> int:
    """Cycles that an address shows; 0 for all of them."""
    where = place_of(url)
    return int(where.get("to", 0)) - int(where.get("from", 0))


def canvas(shown):
    return shown.page.locator("canvas")


def test_sums_of_everything_and_of_a_part(show, database):
    shown = show(database, hash_="view=timeline")
    about = shown.page.locator(".about")
    assert about.locator("h2").inner_text() == "All: cycles 1,000 to 12,000, 11,000 cycles, 7.8 us"
    assert about.locator(".sums").inner_text() == "0.7 of 108 SMs active in the mean, 8,700 warp-cycles"
    assert [row.split("\t") for row in shown.texts(".about tbody tr")] == [
        ["1", "11K", "100.0%", "task", "step"],
        ["2", "10K", "90.9%", "launch", "transpose_naive"],
        ["1", "5000", "45.5%", "task", "<b>frame</b>"],
    ]
    # Half of the second bin: 300 of its 600 warp-cycles, 2,000 of its SM-cycles.
    shown.at("view=timeline&range=1000-4500")
    assert about.locator(".sums").inner_text() == "1.7 of 108 SMs active in the mean, 8,400 warp-cycles"
    assert about.locator(".bar .part").first.get_attribute("title") == "wait 98.8%, 8,300 warp-cycles"
    assert shown.errors == []


def test_a_task_by_click_and_its_relations(show, database):
    shown = show(database, hash_="view=timeline")
    # Rows: virtual tasks, host, default stream; 18 pixels each and 8 between.
    canvas(shown).click(position={"x": x_of(8000), "y": 32 + 26 * 2 + 9})
    assert place(shown) == {"view": "timeline", "task": "3"}
    about = shown.page.locator(".about")
    assert (
        about.locator("p")
        .first.inner_text()
        .startswith("transpose_naive: launch on default stream, cycles 7,000 to 12,000 (5,000, 3.55 us).")
    )
    assert shown.texts(".about li") == ["transpose_naive (task 1) produces for this task (tiles, 256 B, observed)"]
    about.get_by_role("link", name="transpose_naive (task 1)").click()
    assert place(shown)["task"] == "1"
    assert shown.texts(".about li") == ["this task produces for transpose_naive (task 3) (tiles, 256 B, observed)"]
    canvas(shown).click(position={"x": x_of(9000), "y": 32 + 9})
    assert shown.page.locator(".about h2").first.inner_text() == "<b>frame</b>"


def dark_pixels(shown, left: float, right: float, top: int, bottom: int) -> int:
    """Pixels of the text's colour in a part of the canvas."""
    script = """([left, right, top, bottom]) => {
        const canvas = document.querySelector("canvas"), scale = devicePixelRatio;
        const data = canvas.getContext("2d").getImageData(left * scale, top * scale, (right - left) * scale,
            (bottom - top) * scale).data;
        let n = 0;
        for (let at = 0; at < data.length; at += 4)
            n += data[at + 3] > 200 && data[at] + data[at + 1] + data[at + 2] < 200;
        return n;
    }"""
    return shown.page.evaluate(script, [left, right, top, bottom])


def test_an_arrow_between_related_tasks(show, database):
    """Between the end of the first launch and the begin of the second, above their row, nothing else is dark."""
    between = (x_of(6100), x_of(6900), 32 + 26 * 2 - 8, 32 + 26 * 2 + 16)
    shown = show(database, hash_="view=timeline&task=0", color_scheme="light")
    shown.page.evaluate(DRAWN)
    assert dark_pixels(shown, *between) == 0
    shown.at("view=timeline&task=3")
    shown.page.evaluate(DRAWN)
    assert dark_pixels(shown, *between) > 20


def test_dragging_selects_and_zooms(show, database):
    shown = show(database, hash_="view=timeline")
    shown.page.evaluate(DRAWN)
    box = canvas(shown).bounding_box()
    shown.page.mouse.move(box["x"] + x_of(3000), box["y"] + 20)
    shown.page.mouse.down()
    shown.page.mouse.move(box["x"] + x_of(5000), box["y"] + 60, steps=4)
    shown.page.mouse.up()
    begin, end = map(int, place(shown)["range"].split("-"))
    assert abs(begin - 3000) < 20 and abs(end - 5000) < 20
    shown.page.get_by_role("button", name="Zoom to the selection").click()
    shown.page.wait_for_url(lambda url: length_in(url) == end - begin)
    assert [int(place(shown)[name]) for name in ("from", "to")] == [begin, end]


def test_a_drag_over_the_names_selects_a_cycle_at_least(show, database):
    shown = show(database, hash_="view=timeline")
    shown.page.evaluate(DRAWN)
    box = canvas(shown).bounding_box()
    shown.page.mouse.move(box["x"] + 10, box["y"] + 60)
    shown.page.mouse.down()
    shown.page.mouse.move(box["x"] + 60, box["y"] + 60, steps=4)
    shown.page.mouse.up()
    assert place(shown)["range"] == "1000-1001"
    assert "NaN" not in shown.page.locator(".about").inner_text()


@pytest.mark.parametrize("range_", ["3000-3000", "4000-3000", "x-y", "3000"])
def test_a_stretch_that_is_none_is_left_out(show, database, range_):
    shown = show(database, hash_=f"view=timeline&range={range_}")
    assert shown.page.locator(".about h2").inner_text().startswith("All: cycles 1,000 to 12,000")


def test_by_keys_alone(show, database):
    shown = show(database, hash_="view=timeline")
    canvas(shown).focus()
    for _ in range(20):
        shown.page.keyboard.press("+")
    # The address follows a little later, and may be in between until then.
    shown.page.wait_for_url(lambda url: length_in(url) == 8)  # to a cycle's width
    shown.page.keyboard.press("0")
    shown.page.wait_for_url(lambda url: "from=" not in url)
    seen = []
    for key in "nnnp":
        shown.page.keyboard.press(key)
        seen.append(place(shown)["task"])
    assert seen == ["0", "1", "2", "1"]
    shown.page.keyboard.press("Escape")
    assert "task" not in place(shown)


def test_launches_without_tasks(show, tmp_path):
    """As of a card's profile: each on the row of its stream, without a strip of activity."""
    shown = show(make_database(tmp_path / "t.gpudb"), hash_="view=timeline&task=1")
    text = shown.page.locator(".about p").first.inner_text()
    assert text.startswith("transpose_naive: launch on stream 0, cycles 7,000 to 12,000")
    assert shown.page.locator(".about .sums").count() == 0 and shown.errors == []


# Of the frame of two draws: fetch is half busy from 1,000 to 2,000, and all of the time to 2,600.
PIPELINE, LANE = 32, 22  # pixels: of the first lane's top, and of a lane


def x_of_draws(cycle: int) -> float:
    return GUTTER + (cycle - FIRST) / (5000 - FIRST) * (WIDTH - GUTTER)


def heights(shown, lane: int, cycles: list[int]) -> list[int]:
    """Pixels of a lane's colour above each other, at some cycles."""
    script = """([x, top]) => {
        const context = document.querySelector("canvas").getContext("2d");
        const data = context.getImageData(x, top, 1, 18).data;
        return [...Array(18).keys()].filter((at) => data[4 * at + 3] > 200).length;
    }"""
    return [shown.page.evaluate(script, [round(x_of_draws(cycle)), PIPELINE + LANE * lane]) for cycle in cycles]


def test_lanes_of_the_pipeline(show, tmp_path):
    """Fetch, vertex, scan, pixel; 18 pixels high, away from the lines of the axis at 500 cycles each."""
    shown = show(make_drawn(tmp_path / "d.gpudb"), hash_="view=timeline")
    shown.page.evaluate(DRAWN)
    assert heights(shown, 0, [1250, 2250, 2750]) == [9, 18, 0]
    assert heights(shown, 1, [1250, 1750, 2250, 2750]) == [0, 18, 9, 0]
    assert heights(shown, 3, [2750, 3250, 4750]) == [0, 18, 18]
    assert shown.texts(".about .fates li") == [
        *("fetch 28% busy", "vertex 0.4 waves", "scan 8% busy", "pixel 0.5 waves")
    ]
    shown.at("view=timeline&range=1500-2500")
    assert shown.texts(".about .fates li") == ["fetch 75% busy", "vertex 1.5 waves", "scan 15% busy"]
    assert shown.errors == []


def test_a_draw_by_its_lane(show, tmp_path):
    """What is there is told, and a click chooses the draw, which is framed in its row and marked in the lanes."""
    shown = show(make_drawn(tmp_path / "d.gpudb"), hash_="view=timeline")
    shown.page.evaluate(DRAWN)
    place_ = {"x": x_of_draws(2250), "y": PIPELINE + 9}
    canvas(shown).hover(position=place_)
    assert canvas(shown).get_attribute("title") == "fetch: 100% busy; draw 1 (draw 1)"
    canvas(shown).click(position=place_)
    assert place(shown) == {"view": "timeline", "task": "2"}
    shown.page.evaluate(DRAWN)
    marks = (x_of_draws(3100), x_of_draws(3400), PIPELINE + 3 * LANE + 18, PIPELINE + 3 * LANE + 21)
    assert dark_pixels(shown, *marks) > 100
    shown.page.get_by_role("link", name="Draw", exact=True).click()
    shown.page.wait_for_selector(".view-draws")
    assert place(shown) == {"view": "draws", "draw": "1"}
