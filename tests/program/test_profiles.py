"""Profiles of whole programs: calls with their lines, ranges, which launches are timed, replays, sweeps, traces."""

import csv
import io
import re
import shutil

import pytest

from gpuprof.chips import load_chip
from gpuprof.hosts import host_named
from tests.paths import DOCS, ROOT
from tests.program.test_runs import SOURCES, WHY_NOT, gpuprof

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]
PROFILED = (SOURCES / "profiled.cu").read_text().splitlines()


def line_of(text: str) -> int:
    """The line of profiled.cu with a text."""
    (number,) = (number for number, line in enumerate(PROFILED, 1) if text in line)
    return number


def table(folder, *words) -> list[dict]:
    done = gpuprof(*words, "--format", "csv", folder=folder)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With all.gprec of profiled.cu, its stream and a trace."""
    made = tmp_path_factory.mktemp("profiles")
    shutil.copy(SOURCES / "profiled.cu", made)
    done = gpuprof("collect", "profiled.cu", "--save-stream", "--trace", "mix", "-o", "all.gprec", folder=made)
    assert done.returncode == 0, done.stderr
    (made / "all.txt").write_text(done.stdout)
    return made


def launches(text: str) -> list[str]:
    return [line for line in text.splitlines() if ">>>  " in line]


LOOP = line_of("        first<<<1, 1>>>(p);")
CALLS = [
    ("cudaMalloc", line_of("cudaMalloc(")),
    ("cudaMemset", line_of("cudaMemset(")),
    ("cudaLaunchKernel", line_of("cudaProfilerStart();") - 1),
    ("cudaProfilerStart", line_of("cudaProfilerStart();")),
    *[("cudaLaunchKernel", LOOP), ("cudaLaunchKernel", LOOP + 1)] * 3,
    ("cudaProfilerStop", line_of("cudaProfilerStop();")),
    ("cudaLaunchKernel", line_of("cudaProfilerStop();") + 1),
    ("cudaMemcpy", line_of("cudaMemcpy(")),
]


def test_calls_stand_where_the_source_has_them(folder):
    rows = table(folder, "report", "all.gprec", "--page", "api")
    assert [(row["name"], int(row["line"])) for row in rows] == CALLS
    assert {row["file"] for row in rows} == {"profiled.cu"}


def test_calls_have_times_bytes_and_directions(folder):
    rows = table(folder, "report", "all.gprec", "--page", "api")
    assert [(row["nbytes"], row["direction"]) for row in rows if row["nbytes"] != "0"] == [
        ("4", "fill"),
        ("4", "copy to host"),
    ]
    ends = [int(row["end_ns"]) for row in rows]
    assert all(int(row["begin_ns"]) >= end for row, end in zip(rows[1:], ends, strict=False))
    allocate_ns = round(host_named(load_chip("a100").host).allocate_ns)
    assert {row["duration_ns"] for row in rows if row["name"] == "cudaMalloc"} == {str(allocate_ns)}
    assert int(rows[-1]["waited_ns"]) > 1000 and rows[-1]["status"] == "0"


def test_launches_say_which_line_launched(folder):
    done = gpuprof("report", "all.gprec", "--page", "launches", "--width", "200", folder=folder)
    lines = [line for line in done.stdout.splitlines() if "profiled.cu:" in line]
    timed = [line for name, line in CALLS if name == "cudaLaunchKernel"][:-1]
    assert [int(line.rsplit(":", 1)[1]) for line in lines] == timed


def test_a_replay_has_the_same_calls_and_cycles(folder):
    done = gpuprof("replay", "all.gprec", "-o", "again.gprec", folder=folder)
    assert launches(done.stdout) == launches((folder / "all.txt").read_text())
    pages = [table(folder, "report", name, "--page", "api") for name in ("all.gprec", "again.gprec")]
    assert pages[0] == pages[1]


def test_traces_watch_programs(folder):
    done = gpuprof("report", "all.gprec", "--page", "traces", folder=folder)
    assert "mix." in done.stdout


CHOICES = {
    "": ["first", *["first", "second"] * 3],  # until cudaProfilerStop
    "--no-profile-from-start": ["first", "second"] * 3,
    "--kernel-name second --launch-skip 1 --launch-count 1": ["second"],
}


@pytest.mark.parametrize("flags", CHOICES)
def test_which_launches_are_timed(folder, flags):
    """What the others do to memory is the same: the program checks it."""
    done = gpuprof("collect", "profiled.cu", *flags.split(), "-o", "some.gprec", "--force", folder=folder)
    assert done.returncode == 0, done.stderr
    assert [line.split("<")[0] for line in launches(done.stdout)] == CHOICES[flags]


def test_flags_of_programs_are_refused_elsewhere(folder):
    (folder / "k.cu").write_text("// LAUNCH: k<<<1, 1>>>()\n__global__ void k() {}\n")
    done = gpuprof("collect", "k.cu", "--no-profile-from-start", folder=folder)
    assert (done.returncode, done.stderr) == (
        2,
        "gpuprof: --no-profile-from-start is for whole programs; leave it out\n",
    )


def test_a_program_on_two_chips(folder):
    done = gpuprof("sweep", "profiled.cu", "--chips", "a100,h100", "-o", "t.csv", "--", "a", "b", folder=folder)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((folder / "t.csv").open()))
    assert [(row["chip"], row["kernel"]) for row in rows] == [
        (chip, kernel) for chip in ("a100", "h100") for kernel in CHOICES[""]
    ]
    (folder / "wrong.cu").write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 3; }\n")
    done = gpuprof("sweep", "wrong.cu", folder=folder)
    assert done.returncode == 1 and "the program ended with exit code 3" in done.stdout + done.stderr


def test_ranges_and_stated_relations_are_tasks(tmp_path):
    done = gpuprof("collect", "ranges.cu", "-o", str(tmp_path / "r.gprec"))
    assert done.returncode == 0, done.stderr
    tasks = table(tmp_path, "report", "r.gprec", "--page", "tasks")
    names = {row["Task"]: row["Name"] for row in tasks}
    launched = [(row["Name"], names[row["Parent"]]) for row in tasks if row["Kind"] == "launch"]
    assert launched == [("add", "cudaLaunchKernel")] * 6
    calls = [(row["Row"], names.get(row["Parent"])) for row in tasks if row["Name"] == "cudaLaunchKernel"]
    assert calls == [
        ("host", "inner"),
        ("host", "outer"),
        ("host", "outer"),
        ("host thread 1", "outer"),
        ("host", "before"),
        ("host", "layer"),
    ]
    done = gpuprof("report", "r.gprec", "--page", "relations", folder=tmp_path)
    stated = [line.split("stated")[1].strip() for line in done.stdout.splitlines() if " stated " in line]
    assert sorted(stated) == [
        "add produces cudaMalloc 2",
        "beside contains cudaLaunchKernel",
        "first contains cudaLaunchKernel",
        "layer consumes cudaMalloc 1",
        "layer depends on before",
        "second contains cudaLaunchKernel",
    ]


SAMPLE = str(ROOT / "samples" / "programs" / "heat.cu")
PAGE = DOCS / "programs.md"
BLOCKS = ["--sample-blocks"]


def test_the_sample_does_what_the_docs_show(tmp_path):
    shown = re.search(r"```text\n\$ (gpuprof run samples/programs/heat.cu .*)\n((?:.*\n)*?)```", PAGE.read_text())
    done = gpuprof(*shown[1].split()[1:], folder=ROOT)
    assert (done.stdout, done.returncode) == (shown[2], 0), done.stderr
    done = gpuprof("run", SAMPLE, "--", "0", "1", folder=ROOT)
    assert (done.returncode, done.stdout, done.stderr.startswith("heat: a plate has 3 to ")) == (1, "", True)


def test_blocks_of_a_program_are_sampled_and_its_results_whole(tmp_path):
    """The cycles are those of all blocks, within the error that is told. The caches are cold, for a part of the first
    launch leaves less in the L2 than the whole.
    """
    command = ["collect", SAMPLE, "--cache", "cold", "--param", "sms=4", "-o", "heat.gprec", "--force"]
    whole, sampled = (
        launches(gpuprof(*command, *flags, "--", "600", "1", folder=tmp_path).stdout) for flags in ([], BLOCKS)
    )
    told = [
        re.search(r"  ([\d,]+) cycles.*\(timed \d+ of 1,444 blocks, cycles within ([\d.]+) %", row) for row in sampled
    ]
    assert len(told) == len(whole) == 2
    for row, found in zip(whole, told, strict=True):
        cycles, estimate = (int(text.replace(",", "")) for text in (re.search(r"([\d,]+) cycles", row)[1], found[1]))
        assert abs(estimate / cycles - 1) <= float(found[2]) / 100


def test_a_program_is_predicted_from_its_recording(tmp_path):
    """On its own chip: what the recording took, from the first launch to the end of the last, before each of its two
    waits; what the host does between them is no part of it.
    """
    done = gpuprof("collect", SAMPLE, "-o", "heat.gprec", "--", "96", "4", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    launches = table(tmp_path, "report", "heat.gprec", "--page", "launches")
    times = [(int(row["start_cycle"]), int(row["end_cycle"])) for row in launches]
    found = {row["chip"]: row for row in table(tmp_path, "predict", "heat.gprec", "--chips", "a100,h100")}
    assert len(times) == 8 and list(found) == ["a100", "h100"]
    chip = load_chip("a100")
    cycles = sum(part[-1][1] - part[0][0] + chip.launch_cycles for part in (times[:4], times[4:]))
    assert float(found["a100"]["microseconds"]) == pytest.approx(cycles / chip.clock_mhz)
    assert 1 < float(found["h100"]["score"]) < 3
