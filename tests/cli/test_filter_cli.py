"""`gpuprof collect --filter`, and what the report says of a filtered recording: nobody takes it for the whole."""

import csv
import io
import json
from dataclasses import replace

import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.records.reader import read_recording
from gpuprof.report.queries import read_report
from gpuprof.report.triage.kernel_rules import findings
from gpuprof.tables.launch import LEDGER
from tests.report.test_samples import LOOP, in_step
from tests.run.test_nested import ORDER
from tests.support.command import gpuprof

SOURCE = """
extern "C" __global__ void first(float *x, int n) { for (int i = 0; i < n; i++) x[threadIdx.x] += 1.0f; }
extern "C" __global__ void second(float *x, int n) { for (int i = 0; i < n; i++) x[threadIdx.x] *= 2.0f; }
// LAUNCH: first<<<4, 64>>>(x: f32[64], 4)
// LAUNCH: second<<<4, 64>>>(x, 4)
// LAUNCH: first<<<4, 64>>>(x, 4)
"""
SCRIPT = """
import gpuprof
gpu = gpuprof.Device()
module = gpu.load("k.cu")
x = gpu.device_array(64, "f4")
with gpu.sampler.only(block=0):
    module.first[4, 64](x, 4)
module.first[4, 64](x, 4)
gpu.sampler.period_cycles = 32
module.second[4, 64](x, 4)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filtered")
    (folder / "k.cu").write_text(SOURCE)
    (folder / "s.py").write_text(SCRIPT)
    return folder


def collect(folder, *flags, file="k.cu"):
    code, _, error = gpuprof(folder, "collect", file, "--period", "64", "--mode", "all", "-o", "k.gprec", *flags)
    assert code == 0, error
    return read_recording(folder / "k.gprec")


def sampled(recording):
    return [number for number, launch in sorted(recording.launches.items()) if len(launch.samples)]


def test_flags_are_in_the_recording_and_in_the_report(folder):
    everything = collect(folder)
    assert sampled(everything) == [0, 1, 2] and "filter" not in everything.meta["sampling"]
    filtered = collect(folder, "--filter", "block=1-2", "--kernel-name", "regex:^first$")
    assert (
        filtered.meta["command"]
        == "gpuprof collect k.cu --period 64 --mode all --filter block=1-2 --kernel-name 'regex:^first$'"
    )
    assert filtered.meta["sampling"]["filter"] == "block=1-2 'kernel=^first$'"
    assert sampled(filtered) == [0, 2] and set(filtered.launches[0].samples["block"]) == {1, 2}
    assert filtered.launches[1].end["samples_due"] == 0 and "sampling" not in filtered.launches[1].begin
    for number, launch in everything.launches.items():
        assert filtered.launches[number].rows[LEDGER].tobytes() == launch.rows[LEDGER].tobytes()
    code, out, error = gpuprof(folder, "report", "k.gprec", "--kernel", "first")
    assert code == 0, error
    (line,) = [line for line in out.splitlines() if line.startswith("# filter")]
    assert (
        line
        == "# filter     block=1-2 'kernel=^first$', no other samples were taken, exact numbers cover the whole run"
    )
    assert "A sampler sees" not in out
    code, out, _ = gpuprof(folder, "report", "k.gprec", "--kernel", "first", "--format", "json")
    assert json.loads(out)["header"]["filter"] == "block=1-2 'kernel=^first$'"
    code, out, _ = gpuprof(folder, "report", "k.gprec", "--format", "csv", "--page", "summary", "--kernel", "first")
    assert ["first", "filter", "block=1-2 'kernel=^first$'"] in list(csv.reader(io.StringIO(out)))
    code, out, _ = gpuprof(folder, "report", "k.gprec", "--width", "60", "--page", "launches")
    assert all(len(line) <= 60 for line in out.splitlines())
    assert "no other samples were taken" in out and "exact numbers cover the whole run" in out


@pytest.mark.parametrize(
    "flags, launches",
    [
        (("--kernel-name", "second"), [1]),
        (("--kernel-name", "regex:^fi"), [0, 2]),
        (("--launch-skip", "1"), [1, 2]),
        (("--launch-count", "2"), [0, 1]),
        (("--kernel-name", "first", "--launch-skip", "1", "--launch-count", "1"), [2]),
        (("--filter", "launch=0,2", "--launch-skip", "1"), [2]),
    ],
)
def test_the_words_of_nsight_compute(folder, flags, launches):
    assert sampled(collect(folder, *flags)) == launches


@pytest.mark.parametrize(
    "flags, message",
    [
        (("--filter", "sms=0"), "sampling filter 'sms=0': unknown key 'sms'; write one of sm=0-3,7, block=0-63,"),
        (
            ("--filter", "sm=0", "--filter", "sm=1"),
            "sampling filter 'sm=1': sm is given twice; give all values in one, as in sm=0-3,7",
        ),
        (("--filter", "sm=0,400"), "sampling filter sm=400: a100 has multiprocessors 0 to 107"),
        (("--launch-count", "0"), "invalid value for '--launch-count'"),
    ],
)
def test_what_is_no_filter(folder, flags, message):
    code, _, error = gpuprof(folder, "collect", "k.cu", "-o", "none.gprec", *flags)
    assert code == 2 and message in error.replace("\n", " ")
    assert not (folder / "none.gprec").exists()


def test_when_nothing_passes_the_report_says_so(folder):
    collect(folder, "--kernel-name", "regex:third")
    code, _, error = gpuprof(folder, "report", "k.gprec")
    assert code == 4
    assert error == (
        "gpuprof: no samples were taken: none passed the filter, kernel=third; collect with another --filter "
        "(the exact columns are complete)\n"
    )


def test_a_script_that_sets_the_sampler(folder):
    recording = collect(folder, file="s.py")
    assert sampled(recording) == [0, 1, 2] and set(recording.launches[0].samples["block"]) == {0}
    code, out, error = gpuprof(folder, "report", "k.gprec", "--page", "launches")
    assert code == 0, error
    assert "# filter     block=0 (1 launch), none (2 launches), no other" in out
    assert "# note       the sampler's period_cycles was 32 for 1 of 3 launches" in out
    rows = [line.split() for line in out.splitlines() if line and not line.startswith("#")]
    place = rows[0].index("sampler")
    assert [row[place] if len(row) > place else "" for row in rows[1:]] == ["filter=block=0", "", "period_cycles=32"]
    code, out, _ = gpuprof(folder, "report", "k.gprec", "--page", "launches", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(out)))
    assert [row["sampler"] for row in table] == ["filter=block=0", "", "period_cycles=32"]
    code, out, _ = gpuprof(folder, "report", "k.gprec", "--page", "launches", "--launch", "1")
    assert "# filter" not in out and "# note" not in out


def test_a_script_that_turns_sampling_on(folder):
    recording = collect(folder, "--period", "0", file="s.py")
    assert sampled(recording) == [2]
    code, out, error = gpuprof(folder, "report", "k.gprec", "--page", "source", "--kernel", "second")
    assert code == 0, error
    assert "period 32 cycles" in out and "no sampling" not in out


def test_launches_of_kernels_are_chosen_like_others(tmp_path):
    """Grids that a kernel launches have the filter of the moment in which the host launched it."""
    (tmp_path / "order.cu").write_text(ORDER)

    def kernels(*flags):
        flags = ("--launch", "one<<<1, 1>>>(i32[32])", "--period", "32", "--mode", "all", *flags)
        code, _, error = gpuprof(tmp_path, "collect", "order.cu", *flags)
        assert code == 0, error
        launches = read_recording(tmp_path / "order.gprec").launches.values()
        return {launch.begin["kernel"] for launch in launches if len(launch.samples)}

    everything = kernels()
    assert len(everything) > 1 and "one" in everything
    assert kernels("--kernel-name", "regex:^one$") == {"one"}
    assert kernels("--filter", "launch=1-") == everything - {"one"}


def test_a_replay_with_another_filter(folder):
    collect(folder, "--save-stream", "--filter", "launch=0-1")
    code, _, error = gpuprof(folder, "replay", "k.gprec", "-o", "again.gprec")
    assert code == 0, error
    assert sampled(read_recording(folder / "again.gprec")) == [0, 1]
    code, _, error = gpuprof(folder, "replay", "k.gprec", "--filter", "block=3", "-o", "again.gprec")
    assert code == 0, error
    again = read_recording(folder / "again.gprec")
    assert sampled(again) == [0, 1, 2] and again.meta["sampling"]["filter"] == "block=3"
    assert {int(block) for launch in again.launches.values() for block in launch.samples["block"]} == {3}


def test_no_rule_holds_filtered_samples_against_the_ledger(tmp_path):
    """A period in step with a loop is told, but not where the filter alone may have put the samples off."""
    (tmp_path / "loop.cu").write_text(LOOP)
    (tmp_path / "chip.toml").write_text('inherits = "a100"\nsms = 4\n')
    cycles = [in_step(tmp_path, 0, n)[1] for n in (100, 200)]
    (told,), _ = in_step(tmp_path, (cycles[1] - cycles[0]) // 100)
    report = read_report(ensure_database(tmp_path / "a.gprec"))
    filtered = findings(report.kernels[0], report.chip, replace(report.header, filter="block=0"))
    assert told in findings(report.kernels[0], report.chip, report.header)
    assert not {finding.rule for finding in filtered} & {"in_step", "sampled_beside_exact"}
