"""Scripts at random that launch on several streams, let kernels launch, and set the sampler's registers in between: the
recording has what the readable twin takes of the same traces, with the registers and filters that were in force by the
script. GPUPROF_FUZZ=1 tries many more."""

import os
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.device import commands as cmd
from gpuprof.emulate.trace_log.trace_entries import join_sectors
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.run.launching import gpu_timing
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.tables.launch import LOSSES
from gpuprof.tables.samples import SAMPLED_COUNTERS
from gpuprof.timing.sampling.configuration import COUNTERS, Sampling
from gpuprof.timing.sampling.control_registers import registers
from gpuprof.timing.sampling.filter import NOTHING, Filter, filter_of_text
from tests.readable.grids import Job, time_grids
from tests.support.matrices import long_from
from tests.support.sampler_scenarios import COUNTER_NAMES, FILTERS, RECORD_NAMES, Chance, any_sampling

SEEDS = range(300) if os.environ.get("GPUPROF_FUZZ") else range(3)
SOURCE = """
extern "C" __global__ void spin(float *x, int n)
{
    __shared__ float box[64];
    box[threadIdx.x] = x[threadIdx.x];
    for (int i = 0; i < n; i++) {
        __syncthreads();
        x[64 * blockIdx.x + threadIdx.x] = box[threadIdx.x * 3 % 64] * 1.5f;
    }
}
extern "C" __global__ void gather(float *x, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[(threadIdx.x * 33 + i * 257 + blockIdx.x) % 4096];
    x[threadIdx.x] = sum;
}
extern "C" __global__ void family(float *x, int n)
{
    if (threadIdx.x == 0) {
        gather<<<2, 32>>>(x, n);
        spin<<<1, 64, 0, cudaStreamFireAndForget>>>(x, n);
    }
}
"""
CHIP = 'inherits = "a100"\nsms = 2\nlaunch_cycles = 300\nl2_nbytes = 65536\nmax_active_grids = 3\n'
LAUNCHED_BY = {"family": ("gather", "spin"), "spin": (), "gather": ()}
OF_LAUNCHES = ("stream=1", "launch=2-5", "kernel=spin", "skip=1 count=2 block=0")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "spin.cu").write_text(SOURCE)
    (folder / "chip.toml").write_text(CHIP)
    device = open_device(Settings())
    return device.executor.compile(folder / "spin.cu"), device.executor._images, load_chip(folder / "chip.toml")


@dataclass
class Batch:
    """Launches that are timed together: what the script had set for them, and what the timing was given."""

    sampling: Sampling
    filters: list[Filter]
    grids: list = field(default_factory=list)
    pieces: list = field(default_factory=list)


class Script:
    """What a script does at random, and what should be in force by that."""

    def __init__(self, chance: Chance, gpu, functions, module, sampling: Sampling):
        self.chance, self.gpu, self.functions, self.module = chance, gpu, functions, module
        self.x = gpu.device_array(4096, np.float32)
        self.sampling, self.text, self.passed = sampling, "", 0
        self.n_launches = 0
        self.open: list[Filter] = []
        self.expected: list[Batch] = []

    def run(self, n: int) -> None:
        for _ in range(n):
            self.chance.of(
                (self.launch, self.launch, self.launch, self.set_all, self.set_filter, self.set_filter, self.wait)
            )()
        self.wait()

    def settle(self) -> None:
        if self.open:
            self.expected.append(Batch(self.sampling, self.open))
            self.open = []

    def wait(self) -> None:
        self.gpu.synchronize()
        self.settle()

    def set_all(self) -> None:
        found = any_sampling(self.chance, self.gpu.executor.chip, self.chance.once_in(4))
        self.gpu.sampler.set(**{name: value for name, value in registers(found).items() if name != "counters"})
        self.settle()
        self.sampling, self.text, self.passed = found, str(found.filter), 0

    def set_filter(self) -> None:
        text = self.chance.of((*FILTERS, *OF_LAUNCHES))
        self.gpu.sampler.set(filter=text)
        if filter_of_text(text) != self.sampling.filter:
            self.sampling, self.text, self.passed = replace(self.sampling, filter=filter_of_text(text)), text, 0

    def launch(self) -> None:
        name, stream = self.chance.of(("spin", "gather", "family")), self.chance.below(3)
        if stream == 0:
            self.settle()
        arguments = self.x.address.to_bytes(8, "little") + self.chance.below(12).to_bytes(4, "little")
        grid = (1 + self.chance.below(4), 1, 1) if name != "family" else (1, 1, 1)
        self.gpu.submit(
            cmd.Launch(
                self.n_launches,
                self.module,
                self.functions[name],
                grid,
                (64, 1, 1),
                0,
                arguments,
                stream,
                name,
                (1, 1, 1),
            )
        )
        for each in (name, *LAUNCHED_BY[name]):
            self.open.append(self.filter_of(each, stream))
            self.n_launches += 1
        if stream == 0:
            self.settle()

    def filter_of(self, kernel: str, stream: int) -> Filter:
        """By the few filters of OF_LAUNCHES, without what filters are made of. What a kernel launches is on its
        stream.
        """
        wanted = {
            "stream=1": stream == 1,
            "launch=2-5": 2 <= self.n_launches <= 5,
            "kernel=spin": kernel == "spin",
        }.get(self.text, True)
        if self.text == OF_LAUNCHES[3]:
            self.passed += 1
            wanted = 2 <= self.passed <= 3
        return self.sampling.filter if wanted else NOTHING


def tee(pieces, to: list):
    for piece in pieces:
        to.append(piece)
        yield piece


def recorded(path, program, chance: Chance, monkeypatch):
    """The recording of a script, what it should be, and what the timing was given."""
    compiled, images, chip = program
    given: list[Batch] = []

    def watched(simulate, first_grids):
        def run(*arguments, **more):
            arguments = list(arguments)
            grids, sampling = arguments[first_grids : first_grids + 2]
            batch = Batch(sampling, [grid.filter for grid in grids], grids, [[] for _ in grids])
            given.append(batch)
            arguments[first_grids] = [
                replace(grid, pieces=tee(grid.pieces, to)) for grid, to in zip(grids, batch.pieces, strict=True)
            ]
            return simulate(*arguments, **more)

        return run

    monkeypatch.setattr(gpu_timing, "simulate_batch", watched(gpu_timing.simulate_batch, 1))
    monkeypatch.setattr(gpu_timing, "simulate_twice", watched(gpu_timing.simulate_twice, 2))
    sampling = Sampling(64, "all", fifo_depth=4096, drain_cycles=1, counters=tuple(COUNTERS))
    with RecordWriter(path) as recorder:
        gpu = open_device(Settings(chip=chip, sampling=sampling, recorder=recorder))
        gpu.executor._images |= images
        script = Script(
            chance,
            gpu,
            {function.name: function for function in compiled.functions},
            gpu.submit(cmd.Load(compiled)),
            sampling,
        )
        script.run(10)
        gpu.executor.finish()
    return read_recording(path), script.expected, given


def traces(pieces) -> list:
    """The warps' traces as the twin has them, from the pieces of a launch."""
    found: dict[int, tuple[list, list, list]] = {}
    for piece in pieces:
        for row in range(len(piece.step_start) - 1):
            blocks, accesses, masks = found.setdefault(piece.first_block * piece.warps_per_block + row, ([], [], []))
            steps = piece.steps[piece.step_start[row] : piece.step_start[row + 1]]
            blocks += [int(step) for step in steps["block"]]
            masks += [int(mask) for mask in steps["mask"]]
            at = int(piece.sector_start[row])
            for record in piece.accesses[piece.access_start[row] : piece.access_start[row + 1]]:
                n = int(join_sectors(record["n_sectors"], record["more_sectors"]))
                accesses.append((tuple(int(value) for value in record), piece.sectors[at : at + n].tolist()))
                at += n
    return [(blocks, accesses, masks) for _, (blocks, accesses, masks) in sorted(found.items())]


def job_of(grid, pieces) -> Job:
    launch = grid.launch
    waits = {
        name: getattr(grid, name)
        for name in ("filter", "after", "after_signal", "priority", "launch_cycles", "launched_by")
    }
    threads = int(np.prod(launch.block))
    return Job(launch.module.code, launch.function, threads, traces(pieces), load_base=launch.module.load_base, **waits)


def records_of(cells, number: int) -> list[tuple]:
    """The twin's records of one launch, as they are read from a file: a stall that is told by its number has one bit of
    the vector.
    """
    own = [record[:-1] for record in cells.samples if record[-1] == number]
    index = cells.sampling.stall == "index"
    return sorted(
        (t, slot, pc, (1 << bits if index else bits) | sm << 22, *rest) for t, sm, slot, pc, bits, *rest in own
    )


def rows_of(rows: np.ndarray, names) -> list[tuple]:
    return sorted(tuple(int(row[name]) for name in names) for row in rows)


@pytest.mark.long
@pytest.mark.parametrize("seed", long_from(1, SEEDS))
def test_fuzz(tmp_path, program, monkeypatch, seed):
    recording, expected, given = recorded(tmp_path / "s.gprec", program, Chance(seed), monkeypatch)
    assert [(batch.sampling, batch.filters) for batch in given] == [
        (batch.sampling, batch.filters) for batch in expected
    ]
    assert len(recording.launches) == sum(len(batch.grids) for batch in given)
    before = None
    for batch in given:
        jobs = [job_of(grid, pieces) for grid, pieces in zip(batch.grids, batch.pieces, strict=True)]
        before = time_grids(program[2], jobs, samplings=[batch.sampling], before=before)
        (cells,) = before.cells.of
        losses = cells.way.losses()
        for job, grid in zip(jobs, batch.grids, strict=True):
            there = recording.launches[grid.launch.index]
            counted = sorted(row[:-1] for row in cells.counters if row[-1] == job.number)
            assert (there.end["start_cycle"], there.end["end_cycle"]) == (job.start, job.end)
            assert rows_of(there.samples, RECORD_NAMES[:-1]) == records_of(cells, job.number), batch.sampling
            assert rows_of(there.rows[SAMPLED_COUNTERS], COUNTER_NAMES[:-1]) == counted, batch.sampling
            lost = [(sm, *rest) for sm, _, *rest in there.rows[LOSSES].tolist()]
            assert lost == losses.get(job.number, []), batch.sampling
