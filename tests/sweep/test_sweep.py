"""gpuprof sweep: what is planned, what is refused, what the table says."""

import csv
import io
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from gpuprof import __version__ as version
from gpuprof.chips import load_chip
from gpuprof.chips.changes import chip_with, field_and_factor
from gpuprof.chips.fidelity.sentence import line, sentence
from gpuprof.correlate.database import ensure_database
from gpuprof.correlate.metrics import BY_NAME, launch_values
from gpuprof.errors import CompileError, UsageError
from gpuprof.report.terminal.styles import Look
from gpuprof.sweep.run_sweep import Outcome
from gpuprof.sweep.sweep_parameters import Parameter, combinations, parse_parameter
from gpuprof.sweep.sweep_plan import prepare, runs, with_values
from gpuprof.sweep.sweep_screen import lines
from gpuprof.sweep.sweep_table import build_table
from gpuprof.sweep.write_table import VERSION
from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.paths import SAMPLES
from tests.support.command import gpuprof, names, write_files
from tests.support.sweeps import KERNEL, kernel_file, plan_of


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# --- the plan


def test_every_combination_the_last_parameter_fastest():
    a, b = Parameter("chip", "sms", ("1", "2")), Parameter("define", "N", ("x", "y", "z"))
    assert list(combinations([a, b], False)) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert list(combinations([], False)) == [()]
    assert list(combinations([a, a], True)) == [(0, 0), (1, 1)]
    with pytest.raises(UsageError, match="the same number of values for each parameter: sms has 2, N has 3"):
        list(combinations([a, b], True))


def test_the_runs_of_a_plan(tmp_path):
    plan = plan_of(tmp_path, "sms=1,2", "latency.shared=30", chips=("a100", "v100"))
    planned = runs(plan)
    found = [
        (run.number, run.chip.name, run.values, run.chip.sms, run.chip.latency["shared"], run.chip.partitions)
        for run in planned
    ]
    assert found == [
        (0, "a100", (1, 30), 1, 30, 4),
        (1, "a100", (2, 30), 2, 30, 4),
        (2, "v100", (1, 30), 1, 30, 4),
        (3, "v100", (2, 30), 2, 30, 4),
    ]
    assert planned[0].chip.sources["sms"] == "chip a100 with --param sms=1 --param latency.shared=30"
    assert load_chip("a100").sms == 108  # the chip itself is as it was


@pytest.mark.parametrize(
    "name, field, factor",
    [
        ("l2_kb", "l2_nbytes", 1024),
        ("l2_mb", "l2_nbytes", 1 << 20),
        ("max_shared_kb_per_block", "max_shared_nbytes_per_block", 1024),
        ("l2_nbytes", "l2_nbytes", 1),
        ("sms", "sms", 1),
        ("latency.alu", "latency.alu", 1),
    ],
)
def test_sizes_have_convenient_names(name, field, factor):
    assert field_and_factor(name) == (field, factor)


def test_a_size_in_kilobytes():
    chip = load_chip("a100")
    assert chip_with(chip, {"l2_kb": 20480}).l2_nbytes == 20 << 20
    assert chip_with(chip, {"l2_mb": 2.5}).l2_nbytes == 5 << 19
    assert chip_with(chip, {}) is chip


@pytest.mark.parametrize(
    "flags, message",
    [
        (("--param", "l3=1"), "chip a100 with --param l3=1: unknown key 'l3'"),
        (("--param", "smss=1"), "unknown key 'smss'; did you mean sms?"),
        (("--param", "latency.shard=1"), "unknown key 'latency.shard'; did you mean latency.shared"),
        (("--param", "l2_kb=1"), "chip a100 with --param l2_kb=1: l2_nbytes is 1024, but only 16384 to"),
        (("--param", "sms=2,many"), "chip a100 with --param sms=many: sms: expected a whole number (SMs), got 'many'"),
        (("--param", "sms=2.5"), "sms: expected a whole number (SMs), got 2.5"),
        (("--param", "dram_cycles=100"), "l2_near_cycles, l2_far_cycles and dram_cycles must ascend"),
        (("--param", "sms"), "--param sms: expected NAME=VALUE,VALUE,... as in l2_kb=20480,40960"),
        (("--param", "sms=1,,2"), "expected NAME=VALUE"),
        (("--param", "sms=2,2"), "--param sms: the value 2 is given twice"),
        (("--param", "l2_kb=20480", "--param", "l2_mb=20"), "l2_kb and l2_mb cannot both be swept"),
        (("--define", "3=1"), "'3' cannot be the name of a macro"),
        (("--max-registers", "8"), "--max-registers 8: '8' is not a number of at least 16 registers"),
        (("--chips", "a100,a1000"), "unknown chip 'a1000'"),
        (("--chips", "a100,a100"), "--chips a100,a100: a100 is given twice"),
        (("--zip", "--param", "sms=1,2", "--define", "N=1"), "sms has 2, N has 1"),
        (
            ("--launch", "sums<<<1, {N}>>>()"),
            "{N} needs a --define of that name (there are: none)",
        ),
        (("--launch", "sums<<<1, 64>>>(f32[512]=none.npy, f32[8])"), "none.npy: there is no such file"),
        (("-o", "table.txt"), "-o table.txt: expected a name that ends in .csv, .json, .sqlite"),
        (("-o", "none/table.csv"), "none/table.csv: there is no folder "),
        (("--plot", "plot.gif"), "--plot plot.gif: expected a name that ends in .png, .svg"),
        (("--scheduler", "here"), "--scheduler here: expected the address that `dask scheduler` prints"),
        (
            ("--scheduler", "tcp://here:1", "--jobs", "2"),
            "--jobs 2: processes of this machine do not run with --scheduler",
        ),
    ],
)
def test_what_is_refused_before_anything_runs(tmp_path, flags, message):
    kernel_file(tmp_path)
    code, out, error = gpuprof(tmp_path, "sweep", "sums.cu", *flags)
    assert (code, out) == (2, "")
    assert message in error and error.count("\n") == 1
    assert names(tmp_path) == ["sums.cu"]


def test_what_does_nothing_is_refused(tmp_path):
    write_files(tmp_path, {"k.ptx": "", "k.gpubin": b""})
    for file, flags in (("k.ptx", ("--define", "N=1,2")), ("k.gpubin", ("--max-registers", "32,64"))):
        code, _, error = gpuprof(tmp_path, "sweep", file, *flags)
        assert code == 2 and f"{file}: is already compiled, so" in error


def test_values_in_a_launch():
    assert with_values("k<<<{N}, 2*{N}>>>({M})", {"N": "8", "M": "-1"}) == "k<<<8, 2*8>>>(-1)"


# --- preparing


def test_a_program_is_compiled_once_for_all_chips_of_an_architecture(tmp_path):
    plan = plan_of(tmp_path, "sms=1,2,3", chips=("a100", "v100"))
    tasks = prepare(plan, runs(plan))
    images = {id(task.work.image) for task in tasks}
    assert len(tasks) == 6 and len(images) == 2


@pytest.mark.long
def test_a_value_that_does_not_compile_is_the_outcome_of_its_runs(tmp_path):
    plan = plan_of(tmp_path, "sms=1", chips=("a100",))
    wrong = parse_parameter("define", "WIDTH=64,nonsense", "--define")
    both = plan.__class__(plan.file, plan.chips, (*plan.parameters, wrong))
    ready = prepare(both, runs(both))
    assert [type(each).__name__ for each in ready] == ["Task", "Outcome"]
    assert (
        ready[1].error.startswith("sums.cu does not compile: sums.cu:11:")
        and "use of undeclared identifier 'nonsense'" in ready[1].error
    )
    none = plan.__class__(plan.file, plan.chips, (parse_parameter("define", "WIDTH=nonsense,rubbish", "--define"),))
    with pytest.raises(CompileError):
        prepare(none, runs(none))


# --- the table


def test_the_table_on_the_terminal(tmp_path):
    kernel_file(tmp_path)
    (tmp_path / "slow.toml").write_text('inherits = "a100"\nclock_mhz = 705\n')
    code, out, error = gpuprof(
        tmp_path, "sweep", "sums.cu", "--chips", "a100,slow.toml", "--define", "LENGTH=1,2", "--jobs", "1"
    )
    assert (code, error) == (0, "")
    made_by, file, caches, trust, slow_trust, empty, *table = out.splitlines()
    assert [made_by, file, empty] == [f"# gpuprof    {version}, model {MODEL_VERSION}", "# file       sums.cu", ""]
    assert caches == "# caches     cold"
    of_a100 = line(sentence(load_chip("a100"), MODEL_VERSION))
    assert trust == f"# fidelity   a100: {of_a100}".replace("; ", ", ")
    assert (
        slow_trust
        == "#            slow: no published figures of this chip, no kernel was compared with timings of a real card"
    )
    heading, *rows = [line.split() for line in table]
    assert heading == ["run", "chip", "LENGTH", "cycles", "us", "speedup", "kernel"]
    assert [(row[0], row[1], row[2], row[-1]) for row in rows] == [
        (str(run), chip, length, kernel)
        for run, (chip, length) in enumerate([("a100", "1"), ("a100", "2"), ("slow", "1"), ("slow", "2")])
        for kernel in ("sums", "twice")
    ]
    cycles = [int(row[3].replace(",", "")) for row in rows]
    # At half the clock the 148 cycles that a load waits beyond the L2 are 74. `twice` has its words from there, too: a
    # launch is measured cold. Between two rows that a channel opens are 4 cycles less (dram_activate_ns).
    assert all(0 <= each - 74 - slow <= 4 for each, slow in zip(cycles[:4], cycles[4:], strict=True))
    assert cycles[2] > cycles[0]
    assert [row[5] for row in rows[:2]] == ["1.00", "1.00"]
    assert [row[5] for row in rows[4:6]] == [f"{0.5 * cycles[n] / cycles[4 + n]:.2f}" for n in (0, 1)]
    assert float(rows[0][4]) == pytest.approx(cycles[0] / 1410, abs=0.005)


@pytest.mark.long
def test_metrics_are_those_of_collect(tmp_path):
    """The numbers of a run are those of a recording of the same chip, made by the other command."""
    kernel_file(tmp_path)
    (tmp_path / "small.toml").write_text('inherits = "h200"\nsms = 2\nl2_nbytes = 1048576\n')
    assert gpuprof(tmp_path, "collect", "sums.cu", "--chip", "small.toml", "--period", "0")[0] == 0
    assert (
        gpuprof(
            tmp_path, "sweep", "sums.cu", "--chips", "h200", "--param", "sms=2", "--param", "l2_mb=1", "-o", "t.csv"
        )[0]
        == 0
    )
    with closing(ensure_database(tmp_path / "sums.gprec")) as db:
        expected = launch_values(db)
    rows = rows_of((tmp_path / "t.csv").read_text())
    assert len(rows) == len(expected) == 2
    for row in rows:
        measured = {name: int(value) for name in BY_NAME if (value := row[name])}  # of draws there is nothing
        assert measured == expected[int(row["launch"])]
    assert [row["grid"] for row in rows] == ["8,1,1", "8,1,1"] and rows[0]["chip_l2_mb"] == "1"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A sweep in which one of three runs fails, in every format; its exit code and what it complains of."""
    folder = tmp_path_factory.mktemp("sweep")
    kernel_file(folder)
    launch = "sums<<<4, {WIDTH}>>>(f32[8192]=random, f32[4])"
    code, out, error = gpuprof(
        folder, "sweep", "sums.cu", "--define", "WIDTH=32,2048,64", "--launch", launch, "--jobs", "1",
        "-o", "t.csv", "-o", "t.json", "-o", "t.sqlite",
    )  # fmt: skip
    return folder, code, out, error


@pytest.mark.long
def test_a_run_that_fails_is_a_row(written):
    folder, code, out, error = written
    why = "--launch: sums: the block's x extent is 2048; it must be 1 to 1024"
    assert code == 1
    assert error.startswith(f"gpuprof: 1 of 3 runs failed, first run 1 (a100, WIDTH=2048): {why}")
    rows = rows_of((folder / "t.csv").read_text())
    assert [(row["run"], row["define_WIDTH"], bool(row["cycles"]), row["error"][: len(why)]) for row in rows] == [
        ("0", "32", True, ""),
        ("1", "2048", False, why),
        ("2", "64", True, ""),
    ]
    assert f"failed: {why}" in out.splitlines()[7]


@pytest.mark.long
def test_all_formats_say_the_same(written):
    folder, *_ = written
    rows = rows_of((folder / "t.csv").read_text())
    document = json.loads((folder / "t.json").read_text())
    assert document["version"] == VERSION and document["meta"]["file"] == "sums.cu"
    assert [column["name"] for column in document["columns"]] == list(rows[0])
    as_text = [{name: "" if value is None else str(value) for name, value in row.items()} for row in document["rows"]]
    assert as_text == rows
    with closing(sqlite3.connect(folder / "t.sqlite")) as db:
        db.row_factory = sqlite3.Row
        assert [dict(row) for row in db.execute("SELECT * FROM sweep")] == document["rows"]
        assert dict(db.execute("SELECT key, value FROM meta").fetchall()) == document["meta"]
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'sweep'").fetchone()
    assert "    define_WIDTH INTEGER, -- macro of the source\n" in sql
    assert "    cycles INTEGER, -- cycles: duration of the launch\n" in sql


def test_a_narrow_terminal(tmp_path):
    """The least important columns go first, the last one is cut."""
    plan = plan_of(tmp_path, "sms=1,2")
    planned = runs(plan)
    table = build_table(plan, planned, {0: Outcome(0, (), "the fault takes some words to tell")})
    wide = [line.plain for line in lines(table, Look(None, "", True, True))]
    assert wide[2:] == [
        "# fidelity   a100: no published figures of this chip, no kernel was compared with timings of a real card",
        "",
        "run  chip  sms  cycles  us  speedup  kernel",
        "  0  a100    1       -   -        -  failed: the fault takes some words to tell",
        "  1  a100    2       -   -        -  failed: not run: interrupted",
    ]
    narrow = [line.plain for line in lines(table, Look(34, "", True, False))]
    assert narrow[-6:] == [
        "chip  sms  cycles  kernel",
        "a100    1       -  failed: the fa…",
        "a100    2       -  failed: not ru…",
        "left out at 34 columns: run, us,",
        "speedup (a wider terminal, or -o",
        "NAME.csv)",
    ]


def test_blocks_may_be_left_out(tmp_path):
    """On 2 SMs the launch is many waves: it is extrapolated. On 64 it is one, and timed whole. Table, files and plot
    say so.
    """
    launch = "saxpy<<<1024, 256>>>(262144, 2.0, f32[262144]=random, f32[262144])"
    command = ("sweep", str(SAMPLES / "saxpy.cu"), "--launch", launch, "--param", "sms=2,64", "--jobs", "1")
    code, whole, _ = gpuprof(tmp_path, *command, "-o", "whole.json")
    assert code == 0 and "within" not in whole
    code, out, _ = gpuprof(tmp_path, *command, "--sample-blocks", "-o", "t.csv", "-o", "t.json", "--plot", "t.svg")
    assert code == 0
    (one, few), (one_whole, few_whole) = (
        json.loads((tmp_path / name).read_text())["rows"] for name in ("t.json", "whole.json")
    )
    assert (one_whole["cycles_within"], few_whole["cycles_within"], few["cycles_within"]) == (None, None, None)
    assert few["cycles"] == few_whole["cycles"]
    assert 0 < one["cycles_within"] <= 8
    assert abs(one["cycles"] / one_whole["cycles"] - 1) <= min(0.03, one["cycles_within"] / 100)
    assert (
        one["fidelity"]
        == few["fidelity"]
        == "no published figures of this chip; kernel cycles not compared with hardware"
    )
    note = f"1 launch extrapolated from part of the blocks: cycles within {one['cycles_within']:.1f} %"
    assert note in out
    svg = (tmp_path / "t.svg").read_text()
    assert note in svg and "a100: no published figures of this chip" in svg


# --- other kinds of files


@pytest.mark.long
def test_ptx_gpubin_and_registers(tmp_path):
    """The same numbers from the source, its PTX and its gpubin; arrays beside them travel."""
    kernel_file(tmp_path)
    np.save(tmp_path / "x.npy", np.arange(512, dtype=np.float32))
    launch = ("--launch", "sums<<<8, 64>>>(f32[512]=x.npy, f32[8])")
    assert gpuprof(tmp_path, "compile", "sums.cu", "--emit", "ptx")[0] == 0
    assert gpuprof(tmp_path, "compile", "sums.cu")[0] == 0
    found = []
    for file in ("sums.cu", "sums.ptx", "sums.gpubin"):
        code, out, error = gpuprof(tmp_path, "sweep", file, *launch, "--param", "sms=1,2", "--jobs", "1")
        assert (code, error) == (0, "")
        found.append(out.splitlines()[3:])  # below the name of the file
    assert found[0] == found[1] == found[2]
    wrong = tmp_path / "wrong.cu"
    wrong.write_text(KERNEL.replace("sums<<<8, 64>>>(", "sums<<<8, 64>>>(1, "))
    code, out, _ = gpuprof(tmp_path, "sweep", str(wrong), "--jobs", "1")
    # and no folder
    assert code == 1 and "failed: wrong.cu:7: sums takes 2 parameters (const float *, float *) but 3 were given" in out
    code, out, _ = gpuprof(tmp_path, "sweep", "sums.gpubin", "--jobs", "1")
    assert code == 0 and out.count("\n") == 8  # the launches of the comments that the gpubin carries
    code, _, _ = gpuprof(
        tmp_path, "sweep", "sums.cu", *launch, "--max-registers", "16,64", "-o", "r.json", "--jobs", "1"
    )
    records = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert (
        code == 0
        and [record["max_registers"] for record in records] == [16, 64]
        and all(r["registers"] <= 16 for r in records[:1])
    )


SCRIPT = """\
import sys
import gpuprof
gpu = gpuprof.Device("v100")  # what the sweep says goes before it
kernels = gpu.load("sums.cu")
x = gpu.device_array(512, "float32")
print("printed", sys.stdin.read())
if gpu.chip.sms == 3:
    raise ValueError("three is too many")
if gpu.chip.sms == 4:
    import os
    os._exit(9)
for _ in range(int(sys.argv[1])):
    kernels.twice[8, 64](x)
"""


@pytest.mark.long
def test_a_script(tmp_path):
    """It runs once per chip, in a process of its own, which may end as it likes."""
    write_files(tmp_path, {"sums.cu": KERNEL, "run.py": SCRIPT})
    code, out, error = gpuprof(tmp_path, "sweep", "run.py", "--param", "sms=1,3,4", "--jobs", "1", "--", "2")
    assert code == 1 and "2 of 3 runs failed" in error
    rows = out.partition("\n\n")[2].splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["0", "0", "1", "2"] and rows[0].endswith("twice")
    assert rows[2].endswith("failed: run.py: the script ended with ValueError: three is too many")
    assert rows[3].endswith("failed: run.py: its process ended with exit code 9")


@pytest.mark.long
def test_the_samples_say_how(tmp_path):
    """A sample as it stands."""
    code, out, _ = gpuprof(tmp_path, "sweep", str(SAMPLES / "saxpy.cu"), "--chips", "a100,h200", "--jobs", "1")
    assert code == 0 and [line.split()[1] for line in out.partition("\n\n")[2].splitlines()[1:]] == ["a100", "h200"]


@pytest.mark.parametrize(
    ("outputs", "error"),
    [
        (("a.csv", "link.csv"), "link.csv: is the same file as a.csv, and would be written twice"),
        # what is left of a.csv by Ctrl-C
        (("a.csv", "a.partial.csv"), "a.partial.csv: would be written twice"),
    ],
)
def test_two_names_for_one_table(tmp_path, outputs, error):
    (tmp_path / "k.cu").write_text("")
    (tmp_path / "link.csv").symlink_to("a.csv")
    words = [word for output in outputs for word in ("-o", output)]
    code, out, found = gpuprof(tmp_path, "sweep", "k.cu", *words)
    assert (code, out, found) == (2, "", f"gpuprof: {error}; give another name\n")
    assert not (tmp_path / "a.csv").exists()
