"""The time of a program on the page: lanes of its engines, times without a kernel, and their tables."""

import sqlite3

import pytest

from gpuprof.correlate.correlate import correlate
from gpuprof.correlate.database import reading
from gpuprof.report.html.page import html_of
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.queries import read_report
from tests.page.reading import tables_of
from tests.page.test_timeline import DRAWN, GUTTER, WIDTH, canvas, place
from tests.support.program_recording import write_program
from tests.support.report_database import make_database

LAST = 52_000  # cycles of the program, from 0
# The middles of the lanes: host, stream 1 and the default stream are above.
ENGINE_IN, ENGINE_OUT, MEMORY, HOST, GAPS = (32 + 9 + 26 * row for row in range(3, 8))


@pytest.fixture
def database(tmp_path):
    correlate(write_program(tmp_path / "p.gprec"), tmp_path / "p.gpudb")
    return tmp_path / "p.gpudb"


def x_of(cycle: int) -> float:
    return GUTTER + cycle / LAST * (WIDTH - GUTTER)


def told(shown, cycle: int, y: int) -> str | None:
    """The text at the pointer, over a place of the time line."""
    canvas(shown).hover(position={"x": x_of(cycle), "y": y})
    return canvas(shown).get_attribute("title")


def colour(shown, cycle: int, y: int) -> str:
    """The colour of a pixel, as #rrggbb."""
    script = """([x, y]) => {
        const context = document.querySelector("canvas").getContext("2d");
        const parts = [...context.getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data];
        return "#" + parts.slice(0, 3).map((part) => part.toString(16).padStart(2, "0")).join("");
    }"""
    shown.page.evaluate(DRAWN)
    return shown.page.evaluate(script, [x_of(cycle), y])


def rows_of(tables: dict, name: str) -> list[tuple]:
    return [tuple(row.values()) for row in tables[name]]


def test_the_data_are_those_of_the_terminals_pages(database):
    with reading(database) as opened:
        tables = tables_of(html_of([Profile(opened, read_report(opened))]))
    assert rows_of(tables, "program") == [
        ("took", "52 us"),
        ("took", "52,000 cycles at 1000 MHz"),
        ("worked", "kernels 25.0%"),
        ("worked", "copies 16.2% (0.0% together with kernels)"),
        ("worked", "fills 1.0%"),
        ("worked", "host functions 6.5%"),
        ("idle", "58.5%"),
        ("idle", "nothing asked 34.6%"),
        ("idle", "for the host 11.5%"),
        ("idle", "for a function of the host 6.5%"),
        ("idle", "for another stream 3.5%"),
        ("idle", "for the start of a request 2.3%"),
        ("moved", "copy engine in 100 KB at 25 GB/s"),
        ("moved", "copy engine out 50 KB at 12.8 GB/s"),
        ("moved", "memory 404 KB at 404 GB/s"),
    ]
    assert rows_of(tables, "engines") == [
        ("copy engine in", 1, 4000, 0.076923, 100_000, 100_000, 25.0),
        ("copy engine out", 1, 3900, 0.075, 50_000, 0, 50_000 / 3900),
        ("memory", 2, 1000, 0.019231, 404_096, 0, 404.096),
        ("host", 1, 3400, 0.065385, 0, 0, None),
    ]
    assert rows_of(tables, "operations") == [
        (0, 2, "pinned", 0, 1, 6_000, 10_000, 100_000, 25.0),
        (1, 14, "pageable", 0, 0, 30_100, 34_000, 50_000, 50_000 / 3900),
        (2, 4, "", 0, 0, 10_000, 10_500, 4_096, 8.192),
        (2, 9, "", 1, 0, 24_500, 25_000, 400_000, 800.0),
        (3, 12, "", 0, 0, 26_600, 30_000, 0, None),
    ]
    assert rows_of(tables, "waits") == [
        ("nothing asked", 1, 18_000, 0.346154, 18_000, ""),
        ("a copy", 3, 8_400, 0.161538, 4_000, "fill y"),
        ("the host", 1, 6_000, 0.115385, 6_000, "copy to device x"),
        ("a function of the host", 1, 3_400, 0.065385, 3_400, "copy to host y"),
        ("another stream", 1, 1_800, 0.034615, 1_800, "saxpy"),
        ("the start of a request", 4, 1_200, 0.023077, 500, "copy within device y"),
        ("a fill", 1, 200, 0.003846, 200, "saxpy"),
    ]
    gaps = rows_of(tables, "gaps")
    assert gaps[:3] == [
        (2, 0, 6_000, "copy to device x"),
        (1, 6_000, 10_000, "fill y"),
        (6, 10_000, 10_200, "saxpy"),
    ]
    assert (len(gaps), gaps[-1]) == (12, (0, 34_000, LAST, ""))


def test_launches_of_no_program_have_none_of_it(tmp_path):
    with reading(make_database(tmp_path / "t.gpudb")) as opened:
        tables = tables_of(html_of([Profile(opened, read_report(opened))]))
    assert [tables[name] for name in ("program", "engines", "operations", "waits", "gaps")] == [[]] * 5


def test_the_lanes_say_what_engines_did(show, database):
    shown = show(database, hash_="view=timeline")
    assert [told(shown, *where) for where in ((8_000, ENGINE_IN), (32_000, ENGINE_OUT), (24_700, MEMORY))] == [
        "copy to device x: copy to device on stream 1, cycles 6,000 to 10,000 (4,000, 4 us); by copy engine in, 100 KB "
        "at 25 GB/s, pinned, stream 1",
        "copy to host y: copy to host on default stream, cycles 30,100 to 34,000 (3,900, 3.9 us); by copy engine out, "
        "50 KB at 12.8 GB/s, pageable, stream 0",
        "copy within device y: copy within device on default stream, cycles 24,500 to 25,000 (500, 0.5 us); by memory "
        "engine, 400 KB at 800 GB/s, stream 0, a node of a graph",
    ]
    assert told(shown, 28_000, HOST) == (
        "host function: host function on default stream, cycles 26,600 to 30,000 (3,400, 3.4 us); by host engine, "
        "stream 0"
    )
    assert told(shown, 21_000, GAPS) == "no kernel, for another stream: cycles 20,200 to 22,000, 1.8 us, before saxpy"
    assert told(shown, 40_000, GAPS) == "no kernel, for nothing asked: cycles 34,000 to 52,000, 18 us"
    assert told(shown, 15_000, GAPS) == told(shown, 40_000, ENGINE_IN) == ""
    assert shown.errors == []


def test_an_operation_by_its_engines_lane(show, database):
    """It is framed there and on its stream."""
    shown = show(database, hash_="view=timeline", color_scheme="light")
    before = [colour(shown, 6_000, y - 2) for y in (ENGINE_IN, ENGINE_IN - 52)]
    canvas(shown).click(position={"x": x_of(8_000), "y": ENGINE_IN})
    assert place(shown) == {"view": "timeline", "task": "2"}
    assert shown.page.locator(".about p").first.inner_text() == (
        "copy to device x: copy to device on stream 1, cycles 6,000 to 10,000 (4,000, 4 us); by copy engine in, 100 KB "
        "at 25 GB/s, pinned, stream 1."
    )
    after = [colour(shown, 6_000, y - 2) for y in (ENGINE_IN, ENGINE_IN - 52)]
    assert len({*before}) == len({*after}) == 1 and before != after


def test_shares_of_a_stretch(show, database):
    shown = show(database, hash_="view=timeline")
    busy = ["copy engine in 7.7%", "copy engine out 7.5%", "host engine 6.5%", "memory engine 1.9%"]
    idle = [
        *("nothing asked 34.6%", "a copy 16.2%", "the host 11.5%", "a function of the host 6.5%"),
        *("another stream 3.5%", "the start of a request 2.3%", "a fill 0.4%"),
    ]
    assert shown.texts(".about .fates li") == [*busy, *idle]
    shown.at("view=timeline&range=4000-10000")
    assert shown.texts(".about .fates li") == ["copy engine in 66.7%", "a copy 66.7%", "the host 33.3%"]


def test_page_faults_have_their_colour_and_their_word(show, database):
    with sqlite3.connect(database) as opened:
        opened.execute("UPDATE tasks SET kind = 'page faults', name = 'p' WHERE task = 2")
    opened.close()
    shown = show(database, hash_="view=timeline")
    assert shown.texts('[aria-label="Marks"] li') == ["page faults"]
    assert (colour(shown, 9_900, ENGINE_IN), colour(shown, 33_900, ENGINE_OUT)) == ("#f0e442", "#4d6a85")
    assert told(shown, 8_000, ENGINE_IN) == (
        "p: page faults on stream 1, cycles 6,000 to 10,000 (4,000, 4 us); by copy engine in, 100 KB at 25 GB/s, "
        "pinned, stream 1"
    )
    assert "page faults" in shown.page.locator(".about tbody").inner_text()


@pytest.mark.parametrize("width", [1280, 400])
def test_the_summary_has_the_program(show, database, width):
    shown = show(database, width=width)
    program = shown.page.locator("section.program")
    assert program.locator("dt").all_inner_texts() == ["took", "worked", "idle", "moved"]
    assert program.locator("dd").nth(2).inner_text().split("\n")[:2] == ["58.5%", "nothing asked 34.6%"]
    engines, waits = ([row.split("\t") for row in table.locator("tr").all_inner_texts()] for table in
        program.locator("table").all())  # fmt: skip
    name = 1 if width < 760 else -1  # where it is seen
    assert [row[name] for row in engines] == ["engine", "copy engine in", "copy engine out", "memory", "host"]
    assert sorted(engines[1]) == sorted(["4 us", "7.7%", "100 KB", "25 GB/s", "100.0%", "1", "copy engine in"])
    assert sorted(waits[2]) == sorted(["8.4 us", "16.2%", "3", "4 us", "fill y", "a copy"])
    program.get_by_role("link", name="Timeline").click()
    assert shown.page.evaluate("location.hash") == "#view=timeline" and shown.errors == []
