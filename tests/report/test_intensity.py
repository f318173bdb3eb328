"""Operations a byte beside each line, where the trace generator counted them: worked out by hand from the source."""

import csv
import io
import json
from contextlib import closing

import pytest

from gpuprof.correlate.counts import Counters
from gpuprof.correlate.database import ensure_database
from gpuprof.correlate.works import BlockWork
from gpuprof.report.model import ChipFacts, Cost, Instruction
from gpuprof.report.pages.intensity import Intensity, intensity_of, ridge
from gpuprof.report.pages.page_kind import Request
from gpuprof.report.queries import read_report
from gpuprof.report.render import text_page
from gpuprof.report.terminal.styles import HOT, WARM, Look
from tests.support.command import gpuprof

# The barrier ends a basic block: one moves 8 bytes for 1 operation, the other 8 for 64.
SOURCE = """\
// LAUNCH: heat<<<4, 64>>>(x: f32[256]=random, y: f32[256], z: f32[256])
__global__ void heat(const float *x, float *y, float *z) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i] + 1.0f;
    __syncthreads();
    float s = ((volatile float *)y)[i];
#pragma unroll
    for (int k = 0; k < 32; k++) s = s * 1.5f + 2.5f;
    z[i] = s;
}
"""
LOAD, LOOP, STORE = 4, 8, 9


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("intensity")
    (folder / "k.cu").write_text(SOURCE)
    assert gpuprof(folder, "collect", "k.cu", "--trace", "intensity")[0] == 0
    assert gpuprof(folder, "collect", "k.cu", "-o", "plain.gprec")[0] == 0
    return folder


def by_line(folder, name: str) -> dict[int, str]:
    _, out, _ = gpuprof(folder, "report", name, "--page", "source", "--format", "csv")
    _, heading, *rows = csv.reader(io.StringIO(out))
    return {int(row[heading.index("Line")]): row[heading.index("Operations Per Byte")] for row in rows}


def test_lines_have_what_their_blocks_have_done(folder):
    found = by_line(folder, "k.gprec")
    assert float(found[LOAD]) == 1 / 8 and float(found[LOOP]) == 64 / 8
    # its address is worked out in the first block
    assert float(found[STORE]) == (1 + 64) / (8 + 8)
    assert found[6] == found[LOOP]


def test_without_the_generator_there_is_no_column(folder):
    assert set(by_line(folder, "plain.gprec").values()) == {""}
    assert "op/byte" not in gpuprof(folder, "report", "plain.gprec", "--page", "source")[1]


def test_json_has_both_numbers(folder):
    document = json.loads(gpuprof(folder, "report", "k.gprec", "--page", "source", "--format", "json")[1])
    rows = [row for section in document["kernels"][0]["sections"] for row in section["rows"]]
    found = {row["line"]: row["intensity"] for row in rows if "intensity" in row}
    assert found[LOAD] == {"operations": 256, "nbytes": 2048}
    assert found[LOOP] == {"operations": 256 * 64, "nbytes": 2048}


def test_what_memory_limits_is_hot(folder):
    """The ridge of an A100 in f32: 108 SMs of 64 lanes, two operations a cycle each at 1.41 GHz, over its DRAM. One
    line is below a tenth of it, the other below it.
    """
    with closing(ensure_database(folder / "k.gprec")) as db:
        report = read_report(db)
    assert ridge(report.chip) == pytest.approx(108 * 64 * 2 * 1.41 / report.chip.peaks["dram"].rate)
    lines = list(text_page(report, Look(200, "full", True, False), Request("source")))
    coloured = {(line.plain[span.start : span.end].strip(), span.style) for line in lines for span in line.spans}
    assert {("0.125", HOT), ("8", WARM)} <= coloured


def instruction(pc: int, executed: int) -> Instruction:
    cost = Cost(counters=Counters(inst_executed=executed))
    return Instruction(pc, "k", "", "", 0, "", "", 0, (), cost)


WORKS = (BlockWork(0x100, 10, 4), BlockWork(0x140, 6, 0))


@pytest.mark.parametrize(
    ("instructions", "found"),
    [
        ([instruction(0x130, 1)], Intensity(10, 4)),
        ([instruction(0x140, 1), instruction(0x150, 1)], Intensity(6, 0)),  # a block counts once
        ([instruction(0x130, 1), instruction(0x150, 1)], Intensity(16, 4)),
        ([instruction(0x150, 0)], None),  # of a block that has not run, and is not in the table
        ([instruction(0x90, 1)], None),
        ([], None),
    ],
)
def test_the_blocks_of_a_row(instructions, found):
    assert intensity_of(WORKS, instructions) == found


def test_no_bytes_is_infinite():
    assert Intensity(6, 0).operations_per_byte == float("inf")


def test_a_chip_without_peaks_has_no_ridge():
    assert ridge(ChipFacts("x")) is None
