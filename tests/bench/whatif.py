"""Rates of what-ifs against plain timing of the same stored traces, and against the timing of a normal run; a sweep
with its traces in a file against one without.

Run `python -m tests.bench.whatif` for every kind in KINDS.
"""

import resource
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.processes import use_threads
from gpuprof.records.command_stream.read import read_stream
from gpuprof.run.launching.gpu_timing import NO_LIMIT_CYCLES, nowhere
from gpuprof.run.launching.sampling_overhead import copy_of
from gpuprof.run.replay import chip_of, replay
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.stored_launches import read_launches
from gpuprof.run.subject import Subject
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.whatif.baseline import baseline_of
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.on_program import AT_ONCE
from gpuprof.whatif.search import Trial, measure_all
from gpuprof.whatif.timing_again import changed, timed
from tests.paths import SAMPLES

LAUNCH = "tiled<<<(20, 20), (16, 16)>>>(a: f32[320,320]=random, b: f32[320,320]=random, c: f32[320,320], 320)"
PAIRS = 5
SWEEP = ("--param", "l2_mb=2,4,5,8,10,16,20,40", "--jobs", "1", "--threads", "1")
# By the name of a figure: the kind, its number and its unit; each on all instructions.
KINDS = {
    "nothing": None,
    "l1_hits": ("l1_hits", 0, ""),
    "packed": ("packed", 0, ""),
    "no_conflicts": ("no_conflicts", 0, ""),
    "loaded_once": ("loaded_once", 0, ""),
    "sooner": ("sooner", AT_ONCE, ""),
    "open_barrier": ("open_barrier", 0, ""),
    "dealt": ("dealt", 0, ""),
    "twice": ("twice", 0, "dram"),
}


class Against(NamedTuple):
    """rate: what-ifs for each plain timing in the same time, of one process. timing: the part of their time that is
    the timing of what was changed; the rest changes it.
    """

    rate: float
    timing: float


def stored(folder: Path) -> tuple[Path, Subject]:
    """The recording of one launch, and its stored traces."""
    use_threads(1)
    recording = folder / "whatif.gprec"
    command = [sys.executable, "-m", "gpuprof", "collect", str(SAMPLES / "matmul.cu"), "--launch", LAUNCH]
    subprocess.run([*command, "--save-stream", "-o", str(recording)], check=True, capture_output=True)
    return recording, read_launches(recording, [0])[0]


def plain(subject: Subject) -> tuple[float, int]:
    """CPU seconds of a timing as it is, and its issue slots."""
    machine = copy_of(subject.machine)
    grids = [replace(grid, pieces=iter(some)) for grid, some in zip(subject.grids, subject.traces, strict=True)]
    began = time.process_time()
    timing = simulate_batch(machine, grids, Sampling(), nowhere, NO_LIMIT_CYCLES)[subject.number]
    return time.process_time() - began, timing.issue_slots


def in_a_run(recording: Path) -> float:
    """Issue slots a second of the timing's own thread, while the emulator feeds it."""
    clock = _Clock()
    stream = read_stream(recording)
    replay(stream, Settings(chip=chip_of(stream), observer=clock, keeper=clock))
    return clock.rate


class _Clock(Observer):
    """From the begin of a launch's timing to its report."""

    def keep(self, machine, grids):
        self._began = time.thread_time()
        return grids

    def finished(self, result) -> None:
        self.rate = result.timing.issue_slots / (time.thread_time() - self._began)


def against(subject: Subject, name: str) -> Against:
    """The medians of pairs, one after the other."""
    kind = KINDS[name]
    number_of = len(subject.machine.programs.of(subject.launch.module).inst)
    what = [Intervention(kind[0], tuple(range(number_of)), kind[1], kind[2])] if kind else []
    found = []
    for _ in range(PAIRS):
        seconds, _ = plain(subject)
        began = time.process_time()
        changed(subject, what)
        changing = time.process_time() - began
        began = time.process_time()
        timed(subject, what)
        whole = time.process_time() - began
        found.append(Against(seconds / whole, 1 - changing / whole))
    return Against(*map(statistics.median, zip(*found, strict=True)))


def jobs_factor(subject: Subject) -> float:
    """How many times as fast two processes measure eight what-ifs as one."""
    baselines = [baseline_of(subject)]
    trials = [Trial(0, (Intervention("sooner", (number,), AT_ONCE),), 0.0) for number in range(8)]

    def seconds(jobs: int) -> float:
        began = time.perf_counter()
        measure_all(baselines, trials, None, jobs)
        return time.perf_counter() - began

    return statistics.median(seconds(1) / seconds(2) for _ in range(3))


def sweep_factor(folder: Path) -> float:
    """CPU time of a sweep that emulates each of its runs, as a multiple of that of one whose traces are in a file."""

    def seconds(*words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "gpuprof", "sweep", str(SAMPLES / "matmul.cu"), *SWEEP, *words]
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    traces = ("--traces", str(folder / "matmul.gptrace"))
    seconds(*traces)
    return seconds() / seconds(*traces)


def figures(folder: Path):
    recording, subject = stored(folder)
    what = "tiled of samples/matmul.cu, 320 x 320, one thread"
    plain(subject)
    rates = [slots / seconds for seconds, slots in (plain(subject) for _ in range(PAIRS))]
    runs = [in_a_run(recording) for _ in range(3)]
    yield "whatif.run", statistics.median(runs), "warp-instructions/s", f"{what}: timed while it is emulated"
    yield "whatif.plain", statistics.median(rates), "warp-instructions/s", f"{what}: its stored trace timed"
    for name in KINDS:
        rate, timing = against(subject, name)
        yield f"whatif.{name}", round(rate, 2), "times", f"{what}: what-ifs, {name}, for a plain timing"
        yield f"whatif.{name}.timing", round(100 * timing), "%", f"{what}: of the time of {name}, that of its timing"
    sweep = "samples/matmul.cu, three products of 320 x 320, eight sizes of the L2"
    yield "whatif.sweep", round(sweep_factor(folder), 2), "times", f"{sweep}: CPU time, against that with --traces"
    yield "whatif.jobs", round(jobs_factor(subject), 2), "times as fast", f"{what}: --jobs 2, against one"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name, value, unit, what in figures(Path(folder)):
            print(f"{name:28} {value:>12,.6g} {unit:20} {what}")
