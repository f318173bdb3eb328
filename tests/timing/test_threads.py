"""Threads that run SMs: the same bytes for every number of them."""

import dataclasses
import signal
import subprocess
import time
from itertools import product

import numpy as np
import pytest

from gpuprof.base.processes import use_threads
from gpuprof.chips import altered, load_chip
from gpuprof.isa.stalls import N_REASONS
from gpuprof.records.reader import read_recording
from gpuprof.timing import crew, simulate as simulating
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import COUNTERS, EXACT_COUNTERS, Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.activity_bins import Activity
from gpuprof.timing.state.machine import power_on
from gpuprof.timing.state.stall_tables import N_BINS, ROW, add_stalls, stalls_of
from tests.paths import SAMPLES
from tests.support.command import PROGRAM, gpuprof, write_files
from tests.support.seeds import seeds
from tests.support.timing_support import launch, piece
from tests.timing.test_polls import CODE as GRID_BARRIER, rounds
from tests.timing.test_random import ToOrder, encode, job_of, random_batch, random_chip

NUMBERS = (1, 2, 3, 4)
SMS = 5
SAMPLINGS = (
    Sampling(),
    Sampling(64, counters=(*COUNTERS, *EXACT_COUNTERS)),
    Sampling(32, "all", fifo_depth=2),
    Sampling(32, "round-robin", stall="index"),
    Sampling(32, "stalled", buffer_nbytes=4096, poll_cycles=500),
    Sampling(128, stream="lsu"),
    Sampling(0, "trigger", trigger="l2_miss", every=3),
    Sampling(0, trigger="inst_issued", every=17),
)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """A batch has its threads from the first quantum on, and every quantum is handed out."""
    monkeypatch.setattr(simulating, "FIRST_QUANTA", 1)
    monkeypatch.setattr(crew, "FIRST_QUANTA", 0)
    monkeypatch.setattr(crew, "LEAST_SMS", 1)
    yield
    use_threads(None)


def plain(value):
    """A value of LaunchTiming that compares."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return (value.bin_cycles, value.cycles.tobytes()) if isinstance(value, Activity) else value


def timed(number, chip, grids, sampling):
    """All that `number` threads make of a batch: every field of its timings, and its records."""
    use_threads(number)
    records = []
    timings = simulate_batch(power_on(chip), grids, sampling, lambda some: records.append(some.tobytes()), 1 << 40)
    fields = [{field.name: plain(getattr(each, field.name)) for field in dataclasses.fields(each)} for each in timings]
    return records, fields


@pytest.mark.parametrize(("seed", "sampling"), list(product(seeds(1, 1), SAMPLINGS)))
def test_random_batches(seed, sampling):
    """Grids that wait for each other, by their ends and by their signals, in traces that come in pieces."""
    random = np.random.default_rng(500 + seed)
    chip = altered(random_chip(random), {"sms": SMS}, "test")
    specs, found = random_batch(random, 4), []
    for number in NUMBERS:
        grids, load_base = [], 0x1000
        cut = np.random.default_rng(seed)
        for index, (code, warps, per_block, how) in enumerate(specs):
            pieces = ToOrder(cut, chip, code, warps, per_block)
            grids.append(
                Grid(job_of(index, code, warps, per_block, load_base), iter(pieces), order=pieces.order, **how)
            )
            load_base += 16 * len(code)
        found.append(timed(number, chip, grids, sampling))
    assert found == found[:1] * len(NUMBERS)


def test_warps_that_poll():
    chip = altered(load_chip("a100"), {"sms": SMS}, "test")
    warps, found = rounds({2: (0,), 7: (1, 2)}, 10, 3), []
    for number in NUMBERS:
        job = launch(encode(GRID_BARRIER), blocks=10)
        found.append(timed(number, chip, [Grid(job, iter([piece(warps)]))], Sampling(32)))
    assert found == found[:1] * len(NUMBERS)


SOURCE = """\
// LAUNCH: counted<<<40, 128>>>(data: u32[5000]=random, 5000, bins: u32[64])
// LAUNCH: parent<<<6, 32>>>(x: i32[64])
// LAUNCH: meets<<<12, 64>>>(data, 5000, sums: u32[64])
__global__ void counted(const unsigned *data, int n, unsigned *bins)
{
    __shared__ unsigned counts[64];
    if (threadIdx.x < 64) counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[data[i] % 64], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
__global__ void child(int *x, int k) { atomicAdd(&x[threadIdx.x], k); }
__global__ void parent(int *x)
{
    x[32 + threadIdx.x % 7] = blockIdx.x;  // a race
    if (threadIdx.x == 0) child<<<3, 32>>>(x, blockIdx.x);
}
__global__ void meets(const unsigned *data, int n, unsigned *sums)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) sums[threadIdx.x % 64] += __reduce_add_sync(~0u, data[i]);
    __threadfence();
}
"""
WRONG = """\
// LAUNCH: steps<<<20, 64>>>(x: i32[1280], 0)
// LAUNCH: steps<<<20, 64>>>(x, HOW)
__global__ void steps(int *x, int how)
{
    for (int i = 0; i < 50; i++) x[blockIdx.x * 64 + threadIdx.x] += i;
    if (blockIdx.x == 11 && how == 1) __trap();
    if (blockIdx.x == 11 && how > 1) x[how] = 1;
}
"""
SOURCES = {
    "source.cu": SOURCE,
    "trap.cu": WRONG.replace("HOW", "1"),
    "fault.cu": WRONG.replace("HOW", "268435456"),
    "chip.toml": f'inherits = "a100"\nsms = {SMS}\n',
}


def recordings(folder, *words) -> list[tuple]:
    """Output and recording of a command, for each number of threads."""
    found = []
    for number in NUMBERS:
        use_threads(None)
        code, out, error = gpuprof(folder, *words, "--threads", str(number), "-o", "made.gprec", "--force")
        found.append((code, out, error, (folder / "made.gprec").read_bytes()))
        (folder / "made.gprec").unlink()
    return found


@pytest.mark.parametrize(
    ("file", "code"), [("source.cu", 0), ("trap.cu", 1), ("fault.cu", 1)], ids=["runs", "traps", "faults"]
)
def test_recordings(tmp_path, file, code):
    """Atomics, a race, launches by kernels; a trap and a fault in the middle."""
    write_files(tmp_path, SOURCES)
    found = recordings(tmp_path, "collect", file, "--chip", "chip.toml", "--counters", "blocks,waves", "--period", "64")
    assert found[0][0] == code
    assert found == found[:1] * len(NUMBERS)


@pytest.mark.long
@pytest.mark.parametrize(
    "file", ["matmul.cu", "histogram.cu", "reduction.cu", "spmv.cu", "transpose.cu", "hills/hills.py"]
)
def test_recordings_of_samples(tmp_path, file):
    found = recordings(tmp_path, "collect", str(SAMPLES / file))
    assert found[0][0] == 0
    assert found == found[:1] * len(NUMBERS)


LONG = """\
// LAUNCH: spin<<<64, 128>>>(x: i32[8192], 100000000)
__global__ void spin(volatile int *x, int n)
{
    for (int i = 0; i < n; i++) x[blockIdx.x * 128 + threadIdx.x] = i;
}
"""


def test_ctrl_c(tmp_path):
    """The process ends soon, with what was recorded until then."""
    write_files(tmp_path, {"long.cu": LONG})
    command = [*PROGRAM, "collect", "long.cu", "--threads", "4"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        recording = tmp_path / "long.gprec"
        # The first records are written when the machine has been at work for a while.
        while child.poll() is None and not (recording.is_file() and recording.stat().st_size > 1 << 20):
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 130, child.stdout.read()
    assert read_recording(recording).launches


def test_others_take_part(monkeypatch):
    """Other threads than the first one run a part of a launch that lasts."""
    parts = []
    merge = crew.Crew.merge
    monkeypatch.setattr(
        crew.Crew, "merge", lambda self: (parts.extend(int(v.own.ledger.sum()) for v in self.views), merge(self))
    )
    from tests.bench.timing import timing_rate

    timing_rate("compute", blocks=216, n_threads=3)
    assert len(parts) >= 2
    assert max(parts) > 0


def test_stalls_are_added():
    """Rows that both have, and those that only one of them has."""
    first, second = (
        {"stall_row": np.zeros((3, N_REASONS), np.int32), "stalls": np.zeros((9, ROW), np.int64)} for _ in range(2)
    )
    for tables, rows in ((first, {(0, 1): 5, (2, 4): 7}), (second, {(2, 4): 9, (1, 0): 3})):
        for number, ((pc, reason), longest) in enumerate(rows.items(), 1):
            tables["stall_row"][pc, reason] = number
            tables["stalls"][number, [2, N_BINS]] = (longest, longest)
    n = add_stalls(first["stall_row"], first["stalls"], 2, second["stall_row"], second["stalls"])
    found = stalls_of(first["stall_row"], first["stalls"])
    assert n == 3
    rows = zip(found["instruction"], found["reason"], found["longest_cycles"], found["bins"][:, 2], strict=True)
    assert list(rows) == [(0, 1, 5, 5), (1, 0, 3, 3), (2, 4, 9, 16)]
