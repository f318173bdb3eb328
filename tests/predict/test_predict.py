"""`gpuprof predict` as people run it: a recording of one chip, other chips, and simulations of these beside it."""

import csv
import io
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from gpuprof.chips import load_chip
from gpuprof.correlate.database import reading
from gpuprof.errors import UsageError
from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.mapping import IDENTITIES
from gpuprof.predict.recorded import read_recorded
from gpuprof.predict.space.sensitivity import sensitivities
from tests.support.command import gpuprof, process

SOURCE = """\
// LAUNCH: copy<<<432, 256>>>(a: f32[110592]=random, b: f32[110592])
// LAUNCH: product<<<216, 256>>>(c: f32[55296], 160)
// LAUNCH: alone<<<1, 32>>>(d: f32[32], 200)
// LAUNCH: nothing<<<1, 1>>>()
__global__ void copy(const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
}
__global__ void product(float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i, y = x + 1, z = x + 2;
    for (int k = 0; k < n; k++) { x = x * y + z; y = y * z + x; z = z * x + y; }
    c[i] = x + y + z;
}
__global__ void alone(float *d, int n) {
    float x = threadIdx.x;
    for (int k = 0; k < n; k++) x = sqrtf(x + 1.0f);
    d[threadIdx.x] = x;
}
__global__ void nothing() {}
"""
HALF = 'inherits = "a100"\nsms = 54\ndram_gbytes_per_s = 888.0\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("predict")
    (made / "k.cu").write_text(SOURCE)
    (made / "half.toml").write_text(HALF)
    for arguments in (
        ("collect", "k.cu", "--counters", "blocks", "-o", "k.gprec"),
        ("collect", "k.cu", "--chip", "half.toml", "-o", "half.gprec"),
    ):
        code, _, error = gpuprof(made, *arguments)
        assert (code, error) == (0, "")
    return made


def rows(folder, *arguments):
    code, out, error = gpuprof(folder, "predict", "k.gprec", "--format", "csv", *arguments)
    assert (code, error) == (0, "")
    return list(csv.DictReader(io.StringIO(out)))


def recorded_cycles(folder, name):
    code, out, _ = gpuprof(folder, "report", name, "--format", "json")
    assert code == 0
    return {kernel["name"]: kernel["launches"][0]["cycles"] for kernel in json.loads(out)["kernels"]}


def test_the_reference_chip_takes_what_was_recorded(folder):
    there = recorded_cycles(folder, "k.gprec")
    found = rows(folder, "--chips", "a100", "--level", "launch")
    assert {row["name"]: round(float(row["microseconds"]) * 1410) for row in found} == there
    assert {row["score"] for row in found} == {"1.0"}
    assert [(row["launch"], row["name"]) for row in found] == [
        ("0", "copy"), ("1", "product"), ("2", "alone"), ("3", "nothing"),
    ]  # fmt: skip


def test_half_an_a100_is_predicted_as_it_is_simulated(folder):
    simulated = recorded_cycles(folder, "half.gprec")
    found = {row["name"]: row for row in rows(folder, "--chips", "half.toml", "--level", "launch")}
    for name, cycles in simulated.items():
        assert float(found[name]["microseconds"]) * 1410 == pytest.approx(cycles, rel=0.25), name
    assert found["product"]["limited_by"] == "fma"
    assert found["alone"]["limited_by"] == "latency"
    assert found["nothing"]["limited_by"] == "launch"


def test_what_does_not_fit_is_refused_by_name(folder, tmp_path):
    (tmp_path / "small.toml").write_text('inherits = "a100"\nmax_threads_per_block = 128\n')
    [row] = rows(folder, "--chips", str(tmp_path / "small.toml"))
    assert row["refused"] == "copy: a block does not fit an SM: 256 threads, the chip has 128"
    assert (row["microseconds"], row["score"], row["limited_by"]) == ("", "", "")


def test_every_combination_is_a_row(folder):
    found = rows(folder, "--chips", "a100", "--param", "sms=54:108:27", "--param", "l2_mb=20,40")
    assert [row["chip"] for row in found] == [
        f"a100 (sms={sms}, l2_mb={l2})" for sms in (54, 81, 108) for l2 in (20, 40)
    ]
    scores = [float(row["score"]) for row in found]
    assert scores == sorted(scores)


def test_json_says_how_far_it_may_be_off(folder):
    code, out, _ = gpuprof(folder, "predict", "k.gprec", "--format", "json", "--chips", "h200", "--param", "sms=1000")
    document = json.loads(out)
    assert code == 0
    assert (document["version"], document["reference"], document["calibration"]) == (3, "a100", [])
    known = document["validated"]["launches"]
    assert (list(document["validated"]), list(known)) == (["launches"], ["predictions", "mean_percent", "p90_percent"])
    assert any(text.startswith("sms=1000 is far outside the ") for text in document["warnings"])
    [row] = document["rows"]
    assert row["within_microseconds"] == pytest.approx(row["microseconds"] * known["p90_percent"] / 100, abs=1e-6)


def test_calibration_says_all_errors(folder):
    code, out, error = gpuprof(
        folder, "predict", "k.gprec", "--chips", "h200", "--calibrate", "half.gprec", "--width", "100"
    )
    assert (code, error) == (0, "")
    for mapping in ("identity", "fitted", "leave one chip out", "leave one test out"):
        assert out.count(mapping) == 2
    code, _, error = gpuprof(folder, "predict", "k.gprec", "--calibrate", "other.gprec")
    assert code == 2
    assert "other.gprec" in error


def test_the_front_of_a_cost_file(folder, tmp_path):
    (tmp_path / "cost.csv").write_text("number,cost\nsms,1\n")
    code, out, error = gpuprof(
        folder, "predict", "k.gprec", "--chips", "a100", "--param", "sms=20:108:8", "--cost", str(tmp_path / "cost.csv")
    )
    assert (code, error) == (0, "")
    costs = [float(line.split()[-2]) for line in out.splitlines() if line.startswith("a100 (sms=")]
    assert costs == sorted(costs)
    assert costs[0] == 20


def test_costs_of_chips_that_cannot_run_it(folder, tmp_path):
    (tmp_path / "cost.csv").write_text("number,cost\nsms,1\n")
    (tmp_path / "small.toml").write_text('inherits = "a100"\nwarp_slots = 4\n')
    code, out, error = gpuprof(
        folder, "predict", "k.gprec", "--chips", str(tmp_path / "small.toml"), "--cost", str(tmp_path / "cost.csv")
    )
    assert (code, error) == (0, "")
    assert out.splitlines()[-1].endswith("refused: copy: a block does not fit an SM: 8 warps, the chip has 4")


def test_what_cannot_run_is_neither_explained_nor_varied(folder, tmp_path):
    (tmp_path / "small.toml").write_text('inherits = "a100"\nmax_threads_per_block = 128\n')
    code, out, error = gpuprof(
        folder, "predict", "k.gprec", "--chips", str(tmp_path / "small.toml"), "--explain", "--sensitivity"
    )
    assert (code, error) == (0, "")
    assert "limited by " not in out.partition("refused: ")[2]
    assert "nan" not in out
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("sms ")] == ["-"]


def test_a_recording_without_counters_says_what_is_assumed(folder):
    code, out, error = gpuprof(folder, "predict", "half.gprec", "--chips", "a100", "--width", "200")
    assert (code, error) == (0, "")
    [warning] = [line for line in out.splitlines() if line.startswith("# warning")]
    assert warning.endswith(
        "recorded without `collect --counters blocks`: caches are assumed to hit as on the reference chip "
        "(launch 0 and others)"
    )


def test_many_warnings_are_a_few_lines(folder):
    code, out, error = gpuprof(folder, "predict", "k.gprec")
    assert (code, error) == (0, "")
    assert [line.startswith("# warning") for line in out.splitlines()].count(True) == 7
    assert "more numbers are as far outside; --format json has all" in out


def test_calibration_needs_the_same_waits(folder, tmp_path):
    shutil.copy(folder / "k.gprec", tmp_path / "k.gprec")
    code, _, error = gpuprof(tmp_path, "correlate", "k.gprec", "-o", "other.gpudb")
    assert (code, error) == (0, "")
    with closing(sqlite3.connect(tmp_path / "other.gpudb")) as db, db:
        db.execute("UPDATE launches SET stream = 7 WHERE launch = 1")
    code, _, error = gpuprof(tmp_path, "predict", "k.gprec", "--calibrate", "other.gpudb")
    assert code == 4
    assert "other.gpudb: has other streams or waits than the recording that is predicted from" in error


def test_pages_of_text_alone_are_not_asked_for_as_a_table(folder):
    code, out, error = gpuprof(folder, "predict", "k.gprec", "--explain", "--format", "csv")
    assert (code, out) == (2, "")
    assert "--sensitivity and --explain print only text" in error


def test_explain_and_sensitivity_name_unit_and_number(folder):
    code, out, error = gpuprof(
        folder, "predict", "k.gprec", "--chips", "half.toml", "--explain", "--sensitivity", "--level", "launch"
    )
    assert (code, error) == (0, "")
    [product] = [line for line in out.splitlines() if line.startswith("product (launch 1)")]
    assert product.startswith("product (launch 1) on half: limited by fma (lanes.fma, lanes.imad), from ")
    assert "clock_mhz" in out


def test_what_a_number_changes_of_a_test(folder):
    """`launch_cycles`, which all launches of a test begin after, is one of them."""
    with reading(folder / "k.gprec") as db:
        recorded = read_recorded(db)
    gains = {each.number: each.gain[0] for each in sensitivities(recorded, numbers_of([load_chip("a100")]), IDENTITIES)}
    assert gains["launch_cycles"] < -0.01 and gains["clock_mhz"] > 0.01


def test_too_many_points_to_explain(folder):
    with pytest.raises(UsageError, match="take at most 64 points"):
        from click.testing import CliRunner

        from gpuprof.cli.predict import command

        CliRunner().invoke(
            command,
            [str(folder / "k.gprec"), "--chips", "a100", "--param", "sms=1:100:1", "--explain"],
            catch_exceptions=False,
            standalone_mode=False,
        )


def test_a_recording_without_draws(folder):
    why = (
        "the recording has no draw to predict (recordings have draws from version 7 on); --level test shows what it has"
    )
    assert gpuprof(folder, "predict", "k.gprec", "--chips", "a100", "--level", "draw") == (4, "", f"gpuprof: {why}\n")


PROGRAM = """\
__global__ void add(float *a) { a[threadIdx.x] += 1; }
int main() {
    float *a; cudaMalloc(&a, 512);
    cudaStream_t s, t; cudaStreamCreate(&s); cudaStreamCreate(&t);
    cudaEvent_t e; cudaEventCreate(&e);
    add<<<1, 64, 0, s>>>(a);
    cudaEventRecord(e, s); cudaStreamWaitEvent(t, e, 0);
    add<<<1, 64, 0, t>>>(a); add<<<1, 64, 0, s>>>(a + 32);
    cudaDeviceSynchronize();
    add<<<1, 64>>>(a);
}
"""


@pytest.mark.long
def test_command_buffers_of_a_program(tmp_path):
    """A stream that waits for another one's event begins none; the host's wait begins some."""
    (tmp_path / "app.cu").write_text(PROGRAM)
    assert gpuprof(tmp_path, "collect", "app.cu", "--counters", "blocks", "-o", "app.gprec")[0] == 0
    with reading(tmp_path / "app.gprec") as db:
        recorded = read_recorded(db)
    first, second = (recorded.launches[place].stream for place in (0, 1))
    assert [(each.name, each.launches) for each in recorded.buffers] == [
        (f"stream {first}", (0, 2)),
        (f"stream {second}", (1,)),
        ("stream 0 after 1 wait", (3,)),
    ]


def test_it_starts_without_numba_and_emulator(folder):
    code, _, error = process(folder, "correlate", "k.gprec", "-o", "k.gpudb")
    assert (code, error) == (0, "")
    script = (
        "import sys\nfrom gpuprof.cli.predict import command\n"
        "command(['k.gpudb', '--format', 'csv', '--chips', 'h200'], standalone_mode=False)\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert (
        loaded & {"numba", "llvmlite", "gpuprof.emulate.run", "gpuprof.compile.cuda", "gpuprof.timing.engine"} == set()
    )
