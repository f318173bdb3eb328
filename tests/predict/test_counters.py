"""What is read of a database: executions and passes of accesses are those of its tables, whether counted or assumed."""

import numpy as np
import pytest

from gpuprof.correlate.database import reading
from gpuprof.predict.recorded import read_recorded
from tests.support.command import gpuprof

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
    assert not launch.reuse.is_known
    assert launch.executed.tag_passes.max() == 8 * 32 / 4
