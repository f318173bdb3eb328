"""Copies, fills and host functions with their times, from a recording into the database."""

import sqlite3
from contextlib import closing

import pytest

from gpuprof.correlate.database import ensure_database, open_database
from gpuprof.correlate.tasks.task_queries import critical_path, pairs, read_tasks
from gpuprof.errors import FileFormatError
from gpuprof.records.merge import merge
from gpuprof.records.reader import read_recording
from gpuprof.relate.critical import Path as Longest
from gpuprof.relate.independent import Pair
from gpuprof.tables.tasks import CALLS, OPERATIONS
from tests.correlate.test_task_rows import checked
from tests.support.command import gpuprof
from tests.support.program_recording import PROGRAM_CALLS, PROGRAM_OPERATIONS, write_program

OPERATION_ROWS = [
    (2, "copy engine in", 1, 0, 1, 6_000, 10_000, 100_000),
    (4, "memory", 0, 0, 0, 10_000, 10_500, 4_096),
    (9, "memory", 0, 1, 0, 24_500, 25_000, 400_000),
    (12, "host", 0, 0, 0, 26_600, 30_000, 0),
    (14, "copy engine out", 0, 0, 0, 30_100, 34_000, 50_000),
]
# task, kind, begin, end, own and parts of the cycles
TIMES = [
    (0, "call", 0, 5_000, 0, 0),
    (1, "call", 5_000, 6_000, 0, 4_000),
    (2, "copy to device", 6_000, 10_000, 4_000, 0),
    (3, "call", 6_000, 7_000, 0, 500),
    (4, "fill", 10_000, 10_500, 500, 0),
    (5, "call", 7_000, 9_500, 0, 10_000),
    (6, "launch", 10_200, 20_200, 10_000, 0),
    (7, "call", 9_500, 12_000, 0, 3_500),
    (8, "launch", 22_000, 24_000, 2_000, 0),
    (9, "copy within device", 24_500, 25_000, 500, 0),
    (10, "launch", 25_500, 26_500, 1_000, 0),
    (11, "call", 12_000, 12_400, 0, 3_400),
    (12, "host function", 26_600, 30_000, 3_400, 0),
    (13, "call", 12_400, 36_000, 0, 3_900),
    (14, "copy to host", 30_100, 34_000, 3_900, 0),
    (15, "call", 50_000, 52_000, 0, 0),
]
# The same where no operation has a time: copies happen when what they wait for has ended, calls last as their launches.
UNTIMED = {
    0: (0, 0, 0, 0), 1: (0, 0, 0, 0), 2: (0, 0, 0, 0), 3: (0, 0, 0, 0), 4: (0, 0, 0, 0),
    5: (10_200, 20_200, 0, 10_000), 7: (22_000, 26_500, 0, 3_000), 9: (24_000, 24_000, 0, 0), 11: (0, 0, 0, 0),
    12: (0, 0, 0, 0), 13: (0, 0, 0, 0), 14: (0, 0, 0, 0), 15: (0, 0, 0, 0),
}  # fmt: skip
QUERY = "SELECT task, kind, begin_cycle, end_cycle, own_cycles, parts_cycles FROM tasks ORDER BY task"


def test_operations_and_calls_have_their_times(tmp_path):
    with closing(ensure_database(write_program(tmp_path / "p.gprec"))) as db:
        assert db.execute("SELECT * FROM device_operations ORDER BY task").fetchall() == OPERATION_ROWS
        assert db.execute(QUERY).fetchall() == TIMES


def test_a_recording_that_names_its_host_has_one_clock(tmp_path):
    """Its calls have their times though the GPU did nothing but launches."""
    with closing(ensure_database(write_program(tmp_path / "p.gprec", is_timed=False))) as db:
        found = {row[0]: row[2:] for row in db.execute(QUERY)}
    assert {task: found[task][:2] for task, *_ in PROGRAM_CALLS} == {row[0]: row[2:4] for row in PROGRAM_CALLS}


def test_older_recordings_stay_as_they_were(tmp_path):
    with closing(ensure_database(write_program(tmp_path / "p.gprec", is_timed=False, host=None))) as db:
        found = {row[0]: row[2:] for row in db.execute(QUERY)}
        assert db.execute("SELECT COUNT(*) FROM device_operations").fetchone() == (0,)
    of_launches = {task: tuple(rest) for task, kind, *rest in TIMES if kind == "launch"}
    assert found == UNTIMED | of_launches


def test_a_merged_recording_keeps_one_clock(tmp_path):
    """The second run comes after the first one's last call, on both clocks."""
    for n_blocks, name in ((2, "a"), (3, "b")):
        write_program(tmp_path / f"{name}.gprec", n_blocks=n_blocks)
    merge([tmp_path / "a.gprec", tmp_path / "b.gprec"], tmp_path / "both.gprec")
    rows = read_recording(tmp_path / "both.gprec").rows
    for table, column, first in (
        (OPERATIONS, "start", [row[4] for row in PROGRAM_OPERATIONS]),
        (CALLS, "begin_ns", [row[2] for row in PROGRAM_CALLS]),
    ):
        assert rows[table][column].tolist() == [*first, *(time + 52_000 for time in first)]
    with closing(ensure_database(tmp_path / "both.gprec")) as db:
        found = db.execute(QUERY).fetchall()
    n = max(row[0] for row in TIMES) + 1
    assert found == [*TIMES, *((task + n, kind, a + 52_000, b + 52_000, *own) for task, kind, a, b, *own in TIMES)]


@pytest.mark.parametrize(
    "rows, what",
    [
        ([(0, 4, 0, 0, 0, 0, 0)], "an operation of task 0"),
        ([(0, 0, 0, 0, 9, 8, 0)], "an operation of task 0"),
        ([(0, 0, 0, 0, 0, 0, 0)] * 2, "an operation of task 0"),
        ([(1, 0, 0, 0, 0, 0, 0)], "an operation of task 1"),  # a launch has its own time
        ([(2, 0, 0, 0, 0, 0, 0)], "task 2, which has an operation, which is not among its tasks"),
        ([(0, 0, 0, 0, 0, 1 << 63, 0)], f"end = {1 << 63}, more than 2^63 - 1"),
        ([(0, 0, 0, 0, 0, 0, 1 << 63)], f"nbytes = {1 << 63}, more than 2^63 - 1"),
    ],
)
def test_operations_that_contradict_themselves(rows, what):
    with pytest.raises(FileFormatError) as caught:
        checked(operations=rows)
    assert str(caught.value) == f"FILE: contradicts itself: it has {what}"


@pytest.mark.parametrize(
    "change, what",
    [
        (
            "UPDATE device_operations SET engine = 'magic' WHERE task = 2",
            "device_operations.engine is 'magic' at task 2; expected copy engine in, copy engine out, memory, host",
        ),
        (
            "UPDATE device_operations SET end_cycle = 1 WHERE task = 4",
            "device_operations has a time that ends before it begins, of task 4",
        ),
        (
            "UPDATE api_calls SET end_ns = 1 WHERE task = 13",
            "api_calls has a time that ends before it begins, of task 13",
        ),
    ],
)
def test_databases_with_wrong_operations(tmp_path, change, what):
    write_program(tmp_path / "p.gprec")
    assert gpuprof(tmp_path, "correlate", "p.gprec")[0] == 0
    with closing(sqlite3.connect(tmp_path / "p.gpudb")) as db, db:
        db.execute(change)
    with pytest.raises(FileFormatError) as caught:
        open_database(tmp_path / "p.gpudb")
    assert str(caught.value) == f"{tmp_path / 'p.gpudb'}: is damaged: {what}; correlate the recording again"


def test_copies_take_part_in_what_is_looked_for(tmp_path):
    """Chains have them with their times. One that waits for a launch could run with it, but for what its own engine
    does.
    """
    with closing(ensure_database(write_program(tmp_path / "p.gprec"))) as db:
        db.execute("INSERT INTO stored_relations VALUES ('depends on', 6, 2, NULL, 0, 'stated')")
        db.execute("INSERT INTO stored_relations VALUES ('depends on', 14, 6, NULL, 0, 'stated')")
        tasks = read_tasks(db)
        assert critical_path(db, tasks) == Longest(17_900, (2, 6, 14))
        assert critical_path(db, tasks, {0: 1}) == Longest(7_901, (2, 6, 14))
        db.execute("INSERT INTO task_constraints VALUES (4, 9, 'stream')")
        assert pairs(db, tasks, 9) == []  # the bytes were not recorded
        db.execute("INSERT INTO parameters VALUES (0, 'x', 'buffer', '', NULL, 1024, 64, 0)")
        db.execute("INSERT INTO accesses_by_task VALUES (2, 0, 1, 0, 64, 1)")
        assert pairs(db, tasks, 9) == [
            Pair(6, 8, "event", 3_800),
            Pair(8, 9, "stream", 1_000),
            Pair(9, 10, "stream", 1_000),
        ]
