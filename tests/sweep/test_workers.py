"""A sweep's table is the same whoever does the runs, and whatever happens to them: processes of this machine, workers
of a Dask cluster.
"""

import contextlib
import csv
import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from distributed import Client

from gpuprof.errors import GpuprofError
from gpuprof.sweep import dask_cluster
from gpuprof.sweep.dask_cluster import on_cluster
from gpuprof.sweep.run_sweep import Outcome, run_one
from gpuprof.sweep.sweep_plan import prepare, runs
from gpuprof.sweep.workers import on_this_machine
from tests.paths import ROOT
from tests.support.command import PROGRAM, gpuprof, names
from tests.support.sweeps import kernel_file, plan_of

FLAGS = (
    "sweep",
    "sums.cu",
    "--chips",
    "a100,v100",
    "--param",
    "sms=2",
    "--define",
    "WIDTH=64,128,-1",
)  # 128 reads beyond its array, -1 does not compile
# A module that makes run 1 end every process it gets into, as a system without memory would. Dask loads it twice.
DEADLY = """\
import os, gpuprof.sweep.run_sweep as run
run.alive = getattr(run, "alive", run.measure)
run.measure = lambda task: os._exit(1) if task.number == 1 else run.alive(task)
"""
FORMATS = ("csv", "json", "sqlite")

ON_TERMINAL = {name: value for name, value in os.environ.items() if name != "GPUPROF_PROGRESS"} | {"TERM": "xterm"}


def sweep_files(folder: Path, name: str, *flags: str) -> list[bytes]:
    """The three files of the sweep, as bytes, and what it printed."""
    outputs = [each for suffix in FORMATS for each in ("-o", f"{name}.{suffix}")]
    code, out, _ = gpuprof(folder, *FLAGS, *outputs, *flags)
    assert code == 1
    return [*((folder / f"{name}.{suffix}").read_bytes() for suffix in FORMATS), out.encode()]


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> tuple[Path, list[bytes]]:
    """A folder with the kernel, and what one process makes of the sweep."""
    folder = tmp_path_factory.mktemp("sweep")
    kernel_file(folder)
    made = sweep_files(folder, "alone", "--jobs", "1")
    errors = [row["error"] or "" for row in json.loads(made[1])["rows"]]
    assert (
        [error.split(":")[0] for error in errors[:2]] == ["", ""]
        and "out of bounds" in errors[2]
        and "does not compile" in errors[3]
    )
    return folder, made


# --- this machine


@pytest.mark.long
def test_two_processes_give_the_same_bytes_as_one(alone):
    folder, expected = alone
    assert sweep_files(folder, "two", "--jobs", "2") == expected


@pytest.mark.long
def test_a_process_that_dies_is_replaced_and_its_runs_done_again(tmp_path):
    plan = plan_of(tmp_path, "sms=1,2,3,4")
    tasks = prepare(plan, runs(plan))
    outcomes = on_this_machine(tasks, 2)
    found = [next(outcomes)]
    victims = multiprocessing.active_children()
    os.kill(victims[0].pid, signal.SIGKILL)
    found += outcomes
    assert len(found) == len(tasks)  # each run once, none lost
    assert sorted(found, key=lambda outcome: outcome.number) == [run_one(task) for task in tasks]
    assert multiprocessing.active_children() == []


@pytest.mark.long
def test_a_run_that_kills_its_process_fails_alone(tmp_path, monkeypatch):
    """Run 1 ends every process that it gets into, as a system without memory would end it."""
    plan = plan_of(tmp_path, "sms=1,2,3")
    tasks = prepare(plan, runs(plan))
    deadly = tmp_path / "deadly" / "sitecustomize.py"
    deadly.parent.mkdir()
    deadly.write_text(DEADLY)
    monkeypatch.setenv("PYTHONPATH", f"{deadly.parent}{os.pathsep}{ROOT}")
    found = sorted(on_this_machine(tasks, 2), key=lambda outcome: outcome.number)
    assert found[1].error == "its process died each time; was it out of memory?"
    assert [found[0], found[2]] == [run_one(tasks[0]), run_one(tasks[2])]


@pytest.mark.long
def test_ctrl_c_keeps_what_is_done(tmp_path):
    """The bar says when a run is done. That run is kept beside the table's place, the others say that they were not
    run; no process stays.
    """
    kernel_file(tmp_path)
    (tmp_path / "t.csv").write_text("an earlier table\n")
    command = [
        *PROGRAM,
        "sweep",
        "sums.cu",
        "--define",
        "LENGTH=1,200000,200001",
        "--launch",
        "sums<<<64, 64>>>(f32[4096], f32[64])",
    ]
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*command, "--jobs", "2", "-o", "t.csv"],
        cwd=tmp_path,
        env=ON_TERMINAL | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        start_new_session=True,
    ) as child:
        os.close(theirs)
        seen = read_until(ours, b"1 of 3 runs")
        os.killpg(child.pid, signal.SIGINT)
        seen += read_until(ours, b"")
    assert child.returncode == 130
    assert b"1 of 3 runs are done -> t.partial.csv" in seen and b"gpuprof: interrupted" in seen
    assert (
        names(tmp_path) == ["sums.cu", "t.csv", "t.partial.csv"]
        and (tmp_path / "t.csv").read_text() == "an earlier table\n"
    )
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.partial.csv").read_text())))
    assert [(row["define_LENGTH"], bool(row["cycles"]), row["error"]) for row in rows] == [
        ("1", True, ""),
        ("200000", False, "not run: interrupted"),
        ("200001", False, "not run: interrupted"),
    ]
    with pytest.raises(ProcessLookupError):
        for _ in range(100):  # a process that was told to end may take a moment
            os.killpg(child.pid, 0)
            time.sleep(0.1)


def read_until(terminal: int, text: bytes) -> bytes:
    """What a terminal shows up to `text`, or up to its end where that is empty or never comes."""
    seen = b""
    with contextlib.suppress(OSError):  # what reading gives when the other side is closed
        while not text or text not in seen:
            seen += (piece := os.read(terminal, 4096))
            if not piece:
                break
    return seen


# --- a Dask cluster

PRELOAD_OTHER_MODEL = "import gpuprof.timing.state.model_version as version\nversion.MODEL_VERSION = '0.5'\n"
PRELOAD_NO_GPUPROF = "import sys\nsys.modules['gpuprof'] = None\n"


class Cluster:
    """Dask's own scheduler and workers, each in a process as its command line starts it."""

    def __init__(self, folder: Path, n_workers: int, preload: str = "", **environment: str):
        self.environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
        self.file = folder / "scheduler.json"
        self.preload = []
        if preload:
            (folder / "preloaded.py").write_text(preload)
            self.preload = ["--preload", str(folder / "preloaded.py")]
        self.processes = [self._start("scheduler", "--host", "127.0.0.1", "--port", "0")]
        self.workers = [self.add_worker() for _ in range(n_workers)]
        deadline = time.monotonic() + 60
        while not self.file.exists() or not self.file.read_text():
            assert time.monotonic() < deadline and self.processes[0].poll() is None
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=60)

    def add_worker(self) -> subprocess.Popen:
        """Without a nanny: a worker that is killed stays away."""
        self.processes.append(self._start("worker", "--nthreads", "2", "--no-nanny", *self.preload))
        return self.processes[-1]

    def _start(self, what: str, *flags: str) -> subprocess.Popen:
        code = f"from distributed.cli.dask_{what} import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", code, "--scheduler-file", str(self.file), "--no-dashboard", *flags],
            cwd=self.file.parent, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster_of(tmp_path_factory):
    """Starts clusters, and ends them after the test."""
    started = []

    def start(n_workers: int, preload: str = "", **environment: str) -> Cluster:
        started.append(Cluster(tmp_path_factory.mktemp("dask"), n_workers, preload, **environment))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.mark.long
def test_a_cluster_gives_the_same_bytes_and_does_the_runs_of_a_lost_worker_again(alone, cluster_of, tmp_path):
    folder, expected = alone
    two = cluster_of(2)
    assert sweep_files(folder, "dask", "--scheduler", two.address) == expected

    plan = plan_of(tmp_path, *["sms=1,2,3,4,5,6,7,8", "l2_mb=10,20"])
    tasks = prepare(plan, runs(plan))
    outcomes = on_cluster(tasks, two.address)
    found = [next(outcomes)]
    with Client(two.address, set_as_default=False) as client:
        pids = client.run(os.getpid)
        held = {address: {*client.processing()[address], *client.has_what()[address]} for address in pids}
        victim = max(held, key=lambda address: len(held[address]))
        lost = {key for key in held[victim] if "gpuprof-sweep" in str(key)}
    os.kill(pids[victim], signal.SIGKILL)
    found += outcomes
    assert lost and len(found) == len(tasks)  # it had runs, done or not, and none is missing or there twice
    assert sorted(found, key=lambda outcome: outcome.number) == [run_one(task) for task in tasks]


@pytest.mark.long
def test_predictions_on_a_cluster_are_the_same_bytes(cluster_of, tmp_path):
    """5,000 points of two chips: three parts."""
    kernel_file(tmp_path)
    assert gpuprof(tmp_path, "collect", "sums.cu", "-o", "sums.gprec")[0] == 0
    flags = ("predict", "sums.gprec", "--chips", "a100,v100", "--param", "sms=1:100:1", "--param", "l2_mb=1:25:1")
    one = cluster_of(1)
    here, there = (
        gpuprof(tmp_path, *flags, "--format", "csv"),
        gpuprof(tmp_path, *flags, "--format", "csv", "--scheduler", one.address),
    )
    assert here == there
    assert (here[0], here[1].count("\n"), here[2]) == (0, 5001, "")


@pytest.mark.long
def test_a_run_that_kills_its_worker_fails_alone(cluster_of, tmp_path):
    """Of three workers one is left: the first to run it and the one that ran it again are gone."""
    three = cluster_of(3, DEADLY, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    plan = plan_of(tmp_path, "sms=1,2")
    tasks = prepare(plan, runs(plan))
    found = {outcome.number: outcome for outcome in on_cluster(tasks[1:], three.address)}
    assert found == {1: Outcome(1, (), "its worker died each time; was it out of memory?")}
    assert list(on_cluster(tasks[:1], three.address)) == [run_one(tasks[0])]
    assert [worker.poll() for worker in three.workers].count(None) == 1


@pytest.mark.long
def test_a_mistake_of_ours_on_a_worker_is_told(cluster_of, tmp_path):
    one = cluster_of(1, "import gpuprof.sweep.run_sweep as run\nrun.measure = lambda task: 1 // 0\n")
    plan = plan_of(tmp_path, "sms=1")
    with pytest.raises(GpuprofError, match=r"(?s)Traceback.*ZeroDivisionError"):
        list(on_cluster(prepare(plan, runs(plan)), one.address))


@pytest.mark.long
def test_a_scheduler_that_goes_away(cluster_of, tmp_path, monkeypatch, capfd):
    """One error, and none of Dask's own messages."""
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_CONNECT", 2)
    one = cluster_of(1)
    plan = plan_of(tmp_path, "sms=1,2,3,4,5,6,7,8", "l2_mb=10,20")
    outcomes = on_cluster(prepare(plan, runs(plan)), one.address)
    next(outcomes)
    one.processes[0].kill()
    with pytest.raises(GpuprofError, match="the scheduler went away"):
        list(outcomes)
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_a_worker_with_another_model_is_an_error(cluster_of, tmp_path):
    kernel_file(tmp_path)
    other = cluster_of(1, PRELOAD_OTHER_MODEL)
    code, out, error = gpuprof(
        tmp_path, "sweep", "sums.cu", "--param", "sms=1,2", "--scheduler", other.address, "-o", "t.csv"
    )
    assert (code, out) == (1, "")
    assert "has timing model 0.5, not" in error and "install the same gpuprof everywhere" in error
    assert names(tmp_path) == ["sums.cu"]


@pytest.mark.long
def test_a_worker_without_gpuprof_is_an_error(cluster_of, tmp_path):
    kernel_file(tmp_path)
    without = cluster_of(1, PRELOAD_NO_GPUPROF)
    code, _, error = gpuprof(tmp_path, "sweep", "sums.cu", "--scheduler", without.address)
    assert code == 1 and "cannot import gpuprof" in error


def test_a_scheduler_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_CONNECT", 1)
    plan = plan_of(tmp_path, "sms=1")
    with pytest.raises(GpuprofError, match=r"--scheduler tcp://127.0.0.1:1: no Dask scheduler answers there"):
        list(on_cluster(prepare(plan, runs(plan)), "tcp://127.0.0.1:1"))
