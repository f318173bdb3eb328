"""What is read of a database: executions and passes of accesses are those of its tables, whether counted or assumed."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.correlate.database import reading
from gpuprof.errors import NotComparable
from gpuprof.predict.output.prediction_screen import STOPPED, warnings_of
from gpuprof.predict.recorded import read_recorded
from tests.importers.test_ncu_csv import DETAILS
from tests.support.command import gpuprof
from tests.support.predictions import predict

SOURCE = """\
// LAUNCH: strided<<<4, 64>>>(a: f32[8192]=random, b: f32[256])
__global__ void strided(const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[32 * i];
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("counters")
    (made / "k.cu").write_text(SOURCE)
    for name, flags in (("with", ("--counters", "blocks")), ("without", ())):
        assert gpuprof(made, "collect", "k.cu", *flags, "-o", f"{name}.gprec")[0] == 0
    return made


@pytest.mark.parametrize("name", ["with", "without"])
def test_instructions_are_those_of_the_counters(folder, name):
    with reading(folder / f"{name}.gprec") as db:
        [launch] = read_recorded(db).launches
        rows = db.execute("SELECT pc, inst_executed, l1_tag_requests_global FROM counters ORDER BY pc").fetchall()
    found = launch.executed
    assert list(zip(found.pc.tolist(), found.warps.tolist(), found.lines.tolist(), strict=True)) == rows


def test_passes_are_those_that_were_counted(folder):
    """A load of 32 lines by each of 8 warps: eight lines in each of the four tag banks, 32 lookups; a word a lane in a
    bank.
    """
    with reading(folder / "with.gprec") as db:
        [launch] = read_recorded(db).launches
        expected = dict(db.execute("SELECT pc, tag_passes FROM access_counters"))
    found = dict(zip(launch.executed.pc.tolist(), launch.executed.tag_passes.tolist(), strict=True))
    assert {pc: found[pc] for pc in expected} == expected
    load = int(np.argmax(launch.executed.lines))
    assert launch.executed.warps[load] == 8
    assert launch.executed.lines[load] == launch.executed.tag_lookups[load] == 8 * 32
    assert launch.reuse.is_known


def test_without_counters_caches_hit_as_on_the_reference_chip(folder):
    with reading(folder / "without.gprec") as db:
        [launch] = read_recorded(db).launches
    assert (launch.reuse.is_known, launch.is_counted) == (False, False)
    assert launch.executed.tag_passes.max() == 8 * 32 / 4


@pytest.fixture
def changed(folder, tmp_path):
    """The path of the recording's database after a statement."""

    def make(statement):
        assert gpuprof(folder, "correlate", "without.gprec", "-o", str(tmp_path / "k.gpudb"))[0] == 0
        with closing(sqlite3.connect(tmp_path / "k.gpudb")) as db, db:
            db.execute(statement)
        return tmp_path / "k.gpudb"

    return make


@pytest.mark.parametrize(
    "statement, message",
    [
        (
            "DELETE FROM launch_metrics WHERE metric = 'l2_hits'",
            "need l2_hits of each launch, and launch 0 has none; record it by",
        ),
        ("UPDATE launch_metrics SET value = 0 WHERE metric = 'warps_launched'", "launch 0 has nothing of it"),
        ("DELETE FROM counters", "launch 0 has nothing of it"),
        ("UPDATE instructions SET opcode = 'XYZZY'", "launch 0 has an instruction 'XYZZY' that this version"),
    ],
)
def test_a_launch_without_what_is_needed_is_refused(changed, statement, message):
    with reading(changed(statement)) as db, pytest.raises(NotComparable) as caught:
        read_recorded(db)
    assert message in str(caught.value)


def test_a_recording_that_was_stopped_inside_a_launch_says_so(changed):
    path = changed("DELETE FROM launch_metrics WHERE metric = 'warps_launched'")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'complete'")
    with reading(path) as db, pytest.raises(NotComparable, match="launch 0 has none; the recording was stopped early"):
        read_recorded(db)


def test_a_recording_with_a_fault_says_so(changed):
    path = changed("DELETE FROM launch_metrics WHERE metric = 'warps_launched'")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE launches SET complete = 0")
    with reading(path) as db, pytest.raises(NotComparable, match="launch 0 has none; a fault ended launches early"):
        read_recorded(db)


def test_a_recording_that_was_stopped_between_launches_is_warned_of(changed):
    """Its launches are whole, but the test is a part."""
    path = changed("UPDATE meta SET value = '0' WHERE key = 'complete'")
    assert STOPPED in warnings_of(predict(path, [load_chip("a100")]))


def test_a_profile_of_a_card_is_refused(tmp_path):
    (tmp_path / "p.csv").write_text(DETAILS)
    assert gpuprof(tmp_path, "import", "p.csv")[0] == 0
    code, out, error = gpuprof(tmp_path, "predict", "p.gpudb", "--chips", "a100")
    assert (code, out) == (4, "")
    assert error.startswith("gpuprof: predictions need all numbers of the chip: ")
    assert error.endswith("; record it by `gpuprof collect --counters blocks` of this version\n")


def test_a_chip_that_is_named_twice_has_one_row(changed):
    path = changed("UPDATE meta SET value = '1' WHERE key = 'complete'")
    once, twice = (
        gpuprof(path.parent, "predict", path.name, "--chips", chips, "--format", "csv")
        for chips in ("a100,h200", "a100,h200,a100")
    )
    assert once[0] == 0
    assert twice == once
