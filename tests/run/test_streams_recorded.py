"""What a recording says of launches that ran at the same time: each has its own sums, and the launches page shows who
ran beside whom.
"""

import json
import sqlite3

from gpuprof.chips import load_chip
from gpuprof.records.reader import read_recording
from gpuprof.report.model import ChipFacts, Launch
from gpuprof.report.number_text import duration
from gpuprof.report.totals import span_fact
from tests.support.command import gpuprof

OVERHEAD_CYCLES = load_chip("a100").grid_overhead_cycles
SOURCE = """
__global__ void chain(float *x, int n)
{
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < n; i++) v = v * 1.5f + 0.5f;
    x[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
__global__ void stream(const float *x, float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] += x[blockIdx.x * blockDim.x + threadIdx.x]; }
// LAUNCH: chain<<<256, 128, 0, 1>>>(a: f32[32768]=random, 200)
// LAUNCH: stream<<<2048, 128, 0, 2>>>(b: f32[262144]=random, c: f32[262144]=random)
// LAUNCH: chain<<<64, 256, 0, 3>>>(d: f32[16384]=random, 300)
// LAUNCH: stream<<<64, 128>>>(b, c)
"""  # noqa: E501


def test_sums_of_launches_that_overlap(tmp_path):
    (tmp_path / "k.cu").write_text(SOURCE)
    for words in (("collect", "k.cu", "--period", "32", "--mode", "all"), ("correlate", "k.gprec")):
        code, _, error = gpuprof(tmp_path, *words)
        assert code == 0, error
    code, out, _ = gpuprof(tmp_path, "report", "k.gpudb", "--page", "launches", "--format", "json")
    assert code == 0
    launches = {launch["launch"]: launch for kernel in json.loads(out)["kernels"] for launch in kernel["launches"]}
    spans = [(launches[k]["start_cycle"], launches[k]["end_cycle"]) for k in range(4)]
    assert all(one[0] < other[1] and other[0] < one[1] for one in spans[:3] for other in spans[:3])
    assert spans[3][0] > max(end for _, end in spans[:3])
    with sqlite3.connect(tmp_path / "k.gpudb") as db:
        for k, launch in launches.items():
            assert launch["cycles"] == launch["end_cycle"] - launch["start_cycle"] + OVERHEAD_CYCLES
            (ledger,) = db.execute("SELECT SUM(cycles) FROM ledger WHERE launch = ?", (k,)).fetchone()
            (samples,) = db.execute("SELECT SUM(samples) FROM samples WHERE launch = ?", (k,)).fetchone()
            assert ledger == launch["metrics"]["resident_warp_cycles"]
            assert samples == launch["samples_kept"] == launch["samples_due"] - launch["samples_dropped"]
    code, out, _ = gpuprof(tmp_path, "report", "k.gpudb", "--page", "launches")
    rows = [line.split() for line in out.splitlines() if line.strip()]
    header = next(k for k, row in enumerate(rows) if row[0] == "launch")
    columns = [rows[header].index(name) for name in ("launch", "start", "end", "beside", "stream")]
    shown = [tuple(int(row[column].replace(",", "")) for column in columns) for row in rows[header + 1 : header + 5]]
    assert shown == [
        (k, *spans[k], beside, stream) for k, (beside, stream) in enumerate([(2, 1), (2, 2), (2, 3), (0, 0)])
    ]
    code, out, _ = gpuprof(tmp_path, "report", "k.gpudb", "--page", "summary", "--width", "1000")
    facts = [
        line.partition("some at the same time: ")[2] for line in out.splitlines() if "some at the same time" in line
    ]
    mhz = read_recording(tmp_path / "k.gprec").chip["clock_mhz"]
    whole, of_chain = spans[3][1] - spans[0][0], max(spans[0][1], spans[2][1]) - spans[0][0]
    expected = [
        f"{duration(cycles, mhz)}, {cycles:,} cycles from the first start to the last end"
        for cycles in (whole, of_chain)
    ]
    # Of all launches, and of `chain`: those of `stream` ran one after the other.
    assert len(facts) == 2 and all(fact.startswith(start) for fact, start in zip(facts, expected, strict=True))


def test_a_span_is_of_launches_that_ended():
    """Two that ran at the same time, from cycle 200 to 700; one that did not end has no cycles, and moves nothing.
    Those in a row have no span.
    """

    def launch(number, start, end, complete=True):
        return Launch(
            number, "k", (1, 1, 1), (32, 1, 1), 0, 0, "", start, end, end - start, 0, 0, 0, False, complete, {}
        )

    chip = ChipFacts("a chip that says nothing of its clock")
    together = [launch(0, 300, 700), launch(1, 200, 400)]
    expected = "some at the same time: 500 cycles from the first start to the last end"
    assert span_fact(together, chip) == span_fact([*together, launch(2, 0, 0, complete=False)], chip) == expected
    assert span_fact([launch(0, 200, 400), launch(1, 400, 700)], chip) == ""


SCRIPT = """
import gpuprof
gpu = gpuprof.Device("h100")
work = gpu.load("k.ptx")["work"]
usual, first = gpu.stream(), gpu.stream(priority=-3)
work[2, 32, usual]()
work[2, 32, usual, "dependent"]()
work[2, 32, first]()
"""
PTX = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry work()\n{\n ret;\n}\n"


def test_priorities_and_dependent_launches_are_marked(tmp_path):
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "s.py").write_text(SCRIPT)
    assert gpuprof(tmp_path, "collect", "s.py", "--save-stream")[0] == 0
    assert gpuprof(tmp_path, "replay", "s.gprec", "-o", "again.gprec")[0] == 0
    for name in ("s.gprec", "again.gprec"):
        begins = [launch.begin for launch in read_recording(tmp_path / name).launches.values()]
        assert [(begin.get("priority"), begin.get("dependent")) for begin in begins] == [
            (None, None),
            (None, True),
            (-3, None),
        ]
    code, out, _ = gpuprof(tmp_path, "report", "s.gprec", "--page", "launches")
    rows = [line.split() for line in out.splitlines() if line.strip()]
    header = next(k for k, row in enumerate(rows) if row[0] == "launch")
    columns = [rows[header].index(name) for name in ("stream", "priority", "dependent")]
    shown = [tuple(row[column] for column in columns) for row in rows[header + 1 :]]
    assert code == 0 and shown == [("1", "0", "-"), ("1", "0", "yes"), ("2", "-3", "-")]
