"""The page of draws: shares of blocks and the bottleneck by hand, sums by pass and command buffer, sorting."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpuprof.chips.draw_units import BACK_UNITS, FRONT_UNITS, SHADER_STAGES
from gpuprof.cli.report import command
from gpuprof.correlate.schema import DDL
from gpuprof.report.model import ChipFacts, Header, Report
from gpuprof.report.pages.draws import MOST_DRAWS, ORDERS, work_object
from gpuprof.report.pages.page_kind import Request, load
from gpuprof.report.tasks.draw_tasks import BLOCKS, NO_DRAWS, Shaders, read_draws
from gpuprof.report.terminal.styles import Look
from gpuprof.tables.draws import DRAW_COUNT_NAMES

PIPE = Look(None, "", False, True)
FACTS = ("draw", "task", "pass", "command_buffer", "name", "width", "height", "samples", "state_changes", "drains")


def insert_draw(db, number, start, end, units=(), waves=(), command_buffer=None, of_pass=0, **counts):
    facts = (number, None, of_pass, command_buffer, f"draw {number}", 16, 8, 1, number, 0, start, end)
    names = (*FACTS, "start_cycle", "end_cycle", *DRAW_COUNT_NAMES)
    values = (*facts, *(counts.get(name, 0) for name in DRAW_COUNT_NAMES))
    db.execute(f"INSERT INTO draws ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", values)
    for stage, launch in (("vertex", 2 * number), ("pixel", 2 * number + 1)):
        db.execute("INSERT INTO draw_launches VALUES (?, ?, ?)", (launch, number, stage))
    db.executemany("INSERT INTO draw_units VALUES (?, ?, ?, ?, 0, 0)", ((number, *unit) for unit in units))
    db.executemany("INSERT INTO draw_waves VALUES (?, ?, ?, ?, ?)", ((number, *wave) for wave in waves))


@pytest.fixture
def database():
    """Two draws of a pass that overlap, the second in a command buffer, and one that nobody timed."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(DDL)
        db.execute("INSERT INTO tasks VALUES (7, NULL, 'command buffer', 0, 'late', 0, NULL, 0, 0, NULL, NULL, 0, 0)")
        counts = {"primitives": 10, "culled": 4, "quads": 10, "helpers": 10, "passed": 64}
        vertex = [("vertex", 0, 100, 150), ("vertex", 1, 120, 170), ("vertex", 2, 150, 200)]  # two at a time
        pixel = [("pixel", 0, 200, 240)]
        insert_draw(db, 0, 100, 300, [("fetch", 80.0, 20.0), ("write", 120.0, 0.0)], vertex + pixel, **counts)
        pixels = [("pixel", 0, 250, 400), ("pixel", 1, 250, 350)]
        insert_draw(db, 1, 200, 400, [("fetch", 20.0, 0.0)], pixels, command_buffer=7, **counts | {"primitives": 30})
        insert_draw(db, 2, None, None, of_pass=1)
        db.execute("INSERT INTO draw_launches VALUES (9, 3, 'vertex')")  # of a draw that a fault ended
        yield db


def report_of(draws) -> Report:
    return replace(Report(Header.__new__(Header), ChipFacts.__new__(ChipFacts), (), False), draws=draws)


def lines_of(draws, look=PIPE, **request) -> list[str]:
    return [line.plain for line in load("draws").text(report_of(draws), look, Request("draws", **request))]


def test_every_block_has_a_place():
    assert {*FRONT_UNITS, *BACK_UNITS, *SHADER_STAGES} <= set(BLOCKS)


def test_shares_and_bottlenecks(database):
    """Stages: 150 wave-cycles with two in flight at most, of 200 cycles; and 40 with one."""
    first, second, untimed = (draw.work for draw in read_draws(database).draws)
    assert first.shares == {"fetch": 0.4, "vertex": 150 / 400, "pixel": 0.2, "write": 0.6}
    assert (first.bottleneck, first.fragments, first.quad_efficiency, first.overdraw) == ("write", 30, 0.75, 0.5)
    assert second.shares == {"fetch": 0.1, "pixel": 250 / 400} and second.bottleneck == "pixel"
    assert (untimed.cycles, untimed.shares, untimed.bottleneck, untimed.quad_efficiency) == (None, {}, "", None)


def test_sums_by_pass_and_command_buffer(database):
    """Of both draws three waves of pixels, two at a time, in 300 cycles."""
    found = read_draws(database)
    both, untimed = (group.work for group in found.passes)
    assert (both.start_cycle, both.end_cycle, both.counts["primitives"], both.overdraw) == (100, 400, 40, 1.0)
    assert both.shares == {"fetch": 1 / 3, "vertex": 150 / 600, "pixel": 290 / 600, "write": 0.4}
    assert untimed.cycles is None
    (buffer,) = found.command_buffers
    assert [draw.draw for draw in buffer.draws] == [1] and buffer.work.shares == found.draws[1].work.shares
    assert found.unfinished == 1


def test_only_draws_of_some_launches(database):
    found = read_draws(database, {2})
    assert [draw.draw for draw in found.draws] == [1] and found.unfinished == 0
    assert found.passes[0].work.shares == found.draws[0].work.shares


def add_memory(db):
    """Of a chip of 8 bytes a cycle of the L2, and 2 of the DRAM; the second draw's pixel shader is launch 3."""
    chip = {"l2_slices": 2, "l2_slice_nbytes_per_cycle": 4.0, "dram_gbytes_per_s": 2.0, "clock_mhz": 1000.0}
    db.execute("INSERT INTO meta VALUES ('chip_json', ?)", (json.dumps(chip),))
    traffic = [(0, "fetch", 32, 0, 32, 0), (0, "write", 0, 320, 0, 64), (1, "depth", 64, 64, 64, 64)]
    db.executemany("INSERT INTO draw_traffic VALUES (?, ?, ?, ?, ?, ?)", traffic)
    metrics = [(3, "l2_sectors", 10), (3, "l2_hits", 5), (3, "dram_read_nbytes", 160), (3, "dram_write_nbytes", 32)]
    db.executemany("INSERT INTO launch_metrics VALUES (?, ?, ?)", metrics)


def test_memory_of_units_and_shaders(database):
    """Of 200 cycles each, and of 300 together. The second draw takes 320 of 400 bytes, more than its pixels' 62 %."""
    add_memory(database)
    found = read_draws(database)
    first, second, untimed = (draw.work for draw in found.draws)
    assert [dict(work.nbytes) for work in (first, second, untimed)] == [
        {"L2": 352, "DRAM": 96}, {"L2": 448, "DRAM": 320}, {}
    ]  # fmt: skip
    assert first.memory_shares == {"L2": 352 / 1600, "DRAM": 96 / 400} and first.bottleneck == "write"
    assert second.memory_shares == {"L2": 448 / 1600, "DRAM": 0.8} and second.bottleneck == "DRAM"
    assert untimed.memory_shares == {}
    both = found.passes[0].work
    assert both.memory_shares == {"L2": 800 / 2400, "DRAM": 416 / 600} and both.bottleneck == "DRAM"
    assert work_object(second)["memory"] == {
        "l2": {"nbytes": 448, "share": 0.28},
        "dram": {"nbytes": 320, "share": 0.8},
    }
    assert [line.split()[9:13] for line in lines_of(found)[1:4]] == [
        ["quads", "L2", "DRAM", "start"], ["75%", "22%", "24%", "100"], ["75%", "28%", "80%", "200"]
    ]  # fmt: skip


PAGE = """\

draw  cycles  bottleneck  prims  culled  clipped  rejected  fragments  overdraw  quads  start  fetch  vertex  pixel  write  waves             changes  pass  name
   0     200  write          10       4        0         0         30      0.50    75%    100  40+10      38     20   60+0  vertex:3,pixel:1        0     0  draw 0
   1     200  pixel          30       4        0         0         30      0.50    75%    200   10+0       -     62      -  pixel:2                 1     0  draw 1
   2       -  -               0       0        0         0          0      0.00      -      -      -       -      -      -  -                       2     1  draw 2
# 1 more draw did not finish

draws  cycles  bottleneck  prims  culled  clipped  rejected  fragments  overdraw  quads  start  fetch  vertex  pixel  write  waves             pass
    2     300  pixel          40       8        0         0         60      1.00    75%    100   33+7      25     48   40+0  vertex:3,pixel:3  0
    1       -  -               0       0        0         0          0      0.00      -      -      -       -      -      -  -                 1

draws  cycles  bottleneck  prims  culled  clipped  rejected  fragments  overdraw  quads  start  fetch  pixel  waves    command buffer
    1     200  pixel          30       4        0         0         30      0.50    75%    200   10+0     62  pixel:2  late
# of a unit: percent of the time busy + blocked; of a stage: mean waves in flight, in percent of the most; of L2 and DRAM: percent of the bytes that they could transfer
"""  # noqa: E501


def test_the_page_in_a_pipe(database):
    assert "\n".join(lines_of(read_draws(database))) + "\n" == PAGE


def test_json_has_draws_beside_kernels(database):
    """The shader of the pixels of the first draw, alone, is known as a kernel."""
    launch = SimpleNamespace(launch=1)
    kernel = SimpleNamespace(name="lit", symbol="_lit", launches=(launch,))
    report = replace(report_of(read_draws(database)), kernels=(kernel,))
    page, request = load("draws"), Request("draws", sort="primitives")
    assert page.objects(kernel, report, request) == {"draws": [0]}
    found = page.document(report, request)
    assert [each["draw"] for each in found["draws"]] == [1, 0, 2]
    first = found["draws"][1]
    assert first.pop("counts") == dict.fromkeys(DRAW_COUNT_NAMES, 0) | {
        **{"primitives": 10, "culled": 4, "quads": 10, "helpers": 10, "passed": 64}
    }
    assert first == {
        "draw": 0, "name": "draw 0", "pass": 0, "command_buffer": None, "task": None,
        "target": {"width": 16, "height": 8, "samples": 1}, "state_changes": 0, "drains": False,
        "shaders": [{"stage": "pixel", "kernel": "lit", "symbol": "_lit", "launch": 1}],
        "start_cycle": 100, "end_cycle": 300, "cycles": 200, "bottleneck": "write",
        "fragments": 30, "overdraw": 0.5, "quad_efficiency": 0.75,
        "units": {
            "fetch": {"busy_share": 0.4, "blocked_share": 0.1},
            "write": {"busy_share": 0.6, "blocked_share": 0.0},
        },
        "stages": {
            "vertex": {"waves": 3, "most_in_flight": 2, "full_share": 0.375},
            "pixel": {"waves": 1, "most_in_flight": 1, "full_share": 0.2},
        },
        "memory": {},
    }  # fmt: skip
    untimed = found["draws"][2]
    assert [untimed[name] for name in ("start_cycle", "bottleneck", "quad_efficiency", "units", "stages")] == [
        *(None, None, None, {}, {})
    ]
    assert [(each["pass"], each["draws"], each["cycles"]) for each in found["passes"]] == [
        (0, [0, 1], 300),
        (1, [2], None),
    ]
    (buffer,) = found["command_buffers"]
    assert [buffer[name] for name in ("command_buffer", "task", "draws", "bottleneck")] == ["late", 7, [1], "pixel"]
    assert found["unfinished_draws"] == 1


def test_sorted_by_what_is_largest(database):
    found = read_draws(database)
    assert [line.split()[0] for line in lines_of(found, sort="primitives")[2:5]] == ["1", "0", "2"]
    rows = list(load("draws").rows(report_of(found), Request("draws", sort="primitives")))
    assert [row[0] for row in rows] == ["draw", 1, 0, 2] and len({len(row) for row in rows}) == 1


def test_every_order_has_its_word():
    (sort,) = (option for option in command.params if option.name == "sort")
    assert list(sort.type.choices) == list(ORDERS)


def test_a_draw_that_takes_no_time(database):
    """On a chip whose command processor takes none: units that were never busy have no share of it."""
    insert_draw(database, 5, 400, 400, [("command", 0.0, 0.0)])
    found = read_draws(database)
    assert lines_of(found)[5].split()[:3] == ["5", "0", "-"]
    head, *_, last = load("draws").rows(report_of(found), Request("draws"))
    shown = dict(zip(head, last, strict=True))
    assert [shown[name] for name in ("draw", "cycles", "command_share", "command_blocked_share")] == [5, 0, "", ""]


def test_rows_have_one_head_with_draws_and_without(database):
    with_draws, without = (
        list(load("draws").rows(report_of(found), Request("draws"))) for found in (read_draws(database), NO_DRAWS)
    )
    assert without == with_draws[:1] and len(with_draws) == 4


def test_more_ranges_of_draws_than_sqlite_compares_in_one_expression(database):
    wanted = Shaders("--draw", tuple((draw, draw) for draw in range(1, 5000, 2)))
    assert sorted(wanted.among(database)) == [2, 3, 9] and list(wanted._replace(stages=("pixel",)).among(database)) == [
        3
    ]


@pytest.mark.long
def test_ten_thousand_draws(database):
    database.execute("DELETE FROM draws")
    for number in range(10_000):
        waves = [("vertex", 0, number, number + 5)]
        insert_draw(database, 10 + number, number, number + 9, [("fetch", 4.0, 0.0)], waves)
    found = read_draws(database)
    lines = lines_of(found)
    assert sum(line.endswith(" draw 10") for line in lines) == 1 and "# 9,000 more draws (--format csv)" in lines
    assert MOST_DRAWS == 1000 and len(list(load("draws").rows(report_of(found), Request("draws")))) == 10_001


def test_a_narrow_terminal(database):
    lines = lines_of(read_draws(database), Look(40, "", True, False))
    assert max(map(len, lines)) <= 40 and any("left out at 40 columns" in line for line in lines)
