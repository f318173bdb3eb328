"""Random machines, launches and samplers, for the compiled trace cell and its readable twin to record: batches of
launches, one after the other on one machine, each batch with its own registers.

    python -m tests.support.sampler_scenarios FIRST_SEED N     compares N scenarios, and says which differ
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip, load_chip
from gpuprof.isa import causes
from gpuprof.isa.encoding import encode
from gpuprof.isa.program import basic_block_starts
from gpuprof.isa.special import LAUNCH_SERVICE
from gpuprof.isa.stalls import NAMES
from gpuprof.tables.samples import SAMPLED_COUNTERS, WIDE
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import COUNTERS, MODES, Sampling
from gpuprof.timing.sampling.filter import Filter, filter_of_text
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.machine import power_on
from tests.readable.grids import Grids, Job, time_grids
from tests.readable.timing import recorded_stalls, stalls_of
from tests.support.timing_support import launch, make, piece, warp
from tests.timing.test_timing import random_kernel

CHIPS = (
    'inherits = "a100"\nsms = 2\n',
    'inherits = "v100"\nsms = 1\nwarp_slots = 16\nl1_mshrs = 16\nl2_nbytes = 16384\nmax_active_grids = 2\n',
    'inherits = "h200"\nsms = 3\nmax_active_grids = 3\n',
    'inherits = "ppu15"\nsms = 2\nl2_nbytes = 65536\n',
)
FILTERS = (
    "",
    "",
    "sm=0",
    "block=2-5",
    "warp=0",
    "cycles=500-",
    "block=1-9 launch-cycles=0-900",
    "launch-cycles=300-2500",
    "off",
)
TRIGGERS = ("cycles", "cycles", "cycles", "inst_issued", "barrier", "bank_conflict", "l1_miss", "l2_miss")
RECORD_NAMES = ("cycle", "warp_slot", "pc", "stall_sm", "block", "mask", "flags", "warp", "resident", "launch")
COUNTER_NAMES = [*(name for name in SAMPLED_COUNTERS.dtype.names if name != "launch"), "launch"]
LAUNCHES = 2  # instructions of a kernel that launch
MOST_MODULES = 3


class Kernel(NamedTuple):
    """`launches`: how often each warp launches."""

    code: np.ndarray
    warps: list
    per_block: int
    load_base: int
    launches: int


@dataclass(frozen=True)
class Launch:
    """`what_for`: what it waits for, as timing.batch.Grid and readable_grids.Job have it alike."""

    kernel: Kernel
    filter: Filter | None
    what_for: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """`samplings[b][c]`: the registers of run c in batch b. Runs that sample through the load/store unit are alone."""

    chip: Chip
    batches: list[list[Launch]]
    samplings: list[list[Sampling]]
    record_nbytes: int


class Found(NamedTuple):
    """What came out of a batch, of the engine or of the twin: all that is compared."""

    spans: list  # of each launch
    records: list
    counters: list
    losses: list  # of each launch
    ledger: dict
    stalls: dict
    causes: dict
    totals: list


# ---- at random -----------------------------------------------------------------------------------


class Chance:
    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)

    def below(self, n: int) -> int:
        return int(self.random.integers(n))

    def of(self, choices):
        return choices[self.below(len(choices))]

    def once_in(self, n: int) -> bool:
        return self.below(n) == 0


def scenario(seed: int, runs: int = 4) -> Scenario:
    chance = Chance(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chip.toml"
        path.write_text(chance.of(CHIPS))
        chip = load_chip(path)
    kernels = any_kernels(chance, seed)
    batches = [any_batch(chance, kernels) for _ in range(1 + chance.below(3))]
    disturbs = chance.once_in(3)
    samplings = [[any_sampling(chance, chip, disturbs) for _ in range(1 if disturbs else runs)] for _ in batches]
    return Scenario(chip, batches, samplings, chance.of((8, 32)) if disturbs else 32)


def any_kernels(chance: Chance, seed: int) -> list[Kernel]:
    found, load_base = [], 0x1000
    for k in range(1 + chance.below(MOST_MODULES)):
        per_block = 1 + chance.below(3)
        code, warps, _ = random_kernel(1000 * seed + k, per_block * (1 + chance.below(5)), per_block)
        launches = LAUNCHES * (k == 0 or chance.once_in(2))
        for what in [make("SYSCALL", imm=LAUNCH_SERVICE)] * launches + [make("GRIDDEP.LAUNCH"), make("GRIDDEP.WAIT")]:
            code.insert(chance.below(len(code)), what)
        encoded = encode(code)
        steps = list(range(len(basic_block_starts(encoded))))
        found.append(
            Kernel(encoded, [warp(steps, accesses) for _, accesses, _ in warps], per_block, load_base, launches)
        )
        load_base += 16 * len(code)
    return found


def any_batch(chance: Chance, kernels: list[Kernel]) -> list[Launch]:
    """Some launches of the host, on streams, and some of their kernels."""
    found: list[Launch] = []
    for number in range(1 + chance.below(5)):
        kernel = chance.of(kernels)
        filter = chance.of((None, None, filter_of_text(chance.of(FILTERS))))
        found.append(Launch(kernel, filter, what_it_waits_for(chance, found, number)))
    return found


def what_it_waits_for(chance: Chance, before: list[Launch], number: int) -> dict:
    more = {"launch_cycles": chance.of((0, 1, 50, 300, 900)), "priority": chance.of((0, 0, -1))}
    launchers = [k for k, launch in enumerate(before) if launch.kernel.launches]
    if number == 0:
        return more
    way = chance.of(("at once", "after", "dependent", "launched", "launched"))
    if way == "launched" and launchers:
        by = chance.of(launchers)
        more["launched_by"] = (by, chance.below(len(before[by].kernel.warps)), chance.below(before[by].kernel.launches))
    if way == "dependent":
        more["after_signal"] = (number - 1,)
    if way == "after" or (way == "launched" and chance.once_in(3)):
        more["after"] = tuple(sorted({chance.below(number) for _ in range(2)}))
    return more


def any_sampling(chance: Chance, chip: Chip, disturbs: bool) -> Sampling:
    """Any mode, trigger, phase, scope, filter, FIFO, drain and buffer. What it has to do with the others is chance."""
    trigger = chance.of(TRIGGERS)
    clock = trigger == "cycles"
    every = chance.of((32, 33, 65, 100, 200) if clock else (1, 2, 3, 7, 20))
    return Sampling(
        every if clock else 0,
        chance.of(MODES[: 4 if clock else 5]),
        seed=chance.of((0, 7, (1 << 63) - 1)),
        fifo_depth=chance.of((1, 2, 8, 40, 4096)),
        drain_cycles=chance.of((0, 1, 3, 33, 100)),
        filter=filter_of_text(chance.of(FILTERS)),
        stream="lsu" if disturbs and not chance.once_in(4) else "aux",
        buffer_nbytes=chance.of((32, 320, 4096, 1 << 20)),
        poll_cycles=chance.of((0, 1, 64, 333)),
        trigger=trigger,
        every=0 if clock else every,
        phase_cycles=chance.below(every),
        partition=chance.of((-1, -1, chance.below(chip.partitions))),
        stall=chance.of(("vector", "index")),
        counters=tuple(COUNTERS),
    )


# ---- both ways -----------------------------------------------------------------------------------


def of_engine(scenario: Scenario, run: int) -> Iterator[Found]:
    """What each batch gives, with the registers of run number `run`."""
    machine = power_on(scenario.chip)
    modules: dict[int, object] = {}
    for batch, samplings in zip(scenario.batches, scenario.samplings, strict=True):
        rows = {WIDE.dtype: [], SAMPLED_COUNTERS.dtype: []}
        timings = simulate_batch(
            machine,
            [grid_of(each, number, modules) for number, each in enumerate(batch)],
            samplings[run],
            lambda some, rows=rows: rows[some.dtype].append(some.copy()),
            1 << 40,
            record_nbytes=scenario.record_nbytes,
        )
        ledger = np.concatenate([timing.ledger for timing in timings])
        yield Found(
            [(timing.start_cycle, timing.end_cycle) for timing in timings],
            sorted(tuple(int(row[name]) for name in RECORD_NAMES) for some in rows[WIDE.dtype] for row in some),
            sorted(tuple(int(row[name]) for name in COUNTER_NAMES) for some in rows[SAMPLED_COUNTERS.dtype]
                for row in some),
            [[(sm, *rest) for sm, _, *rest in timing.losses.tolist()] for timing in timings],
            {(pc, NAMES[k]): int(n) for pc, row in enumerate(ledger) for k, n in enumerate(row) if n},
            recorded_stalls(*timings),
            {(k, NAMES[reason], causes.NAMES[kind], pc, cause_pc, flags): tuple(counts)
             for k, timing in enumerate(timings) for pc, cause_pc, reason, kind, flags,
             *counts in timing.causes.tolist()},
            [[getattr(timing, name) for name in TOTALS] for timing in timings],
        )  # fmt: skip


TOTALS = ("l1_sectors", "l1_hits", "l2_sectors", "l2_hits", "dram_read_nbytes", "dram_write_nbytes")


def grid_of(each: Launch, number: int, modules: dict[int, object]) -> Grid:
    """The launch for the engine. Launches of one kernel are of one module."""
    kernel = each.kernel
    found = launch(
        kernel.code, blocks=len(kernel.warps) // kernel.per_block, threads=32 * kernel.per_block, index=number
    )
    found.module.load_base = kernel.load_base
    found.module = modules.setdefault(kernel.load_base, found.module)
    return Grid(found, iter([piece(kernel.warps, kernel.per_block)]), filter=each.filter, **each.what_for)


def of_twin(scenario: Scenario) -> Iterator[list[Found]]:
    """What each batch gives, in all runs."""
    before = None
    for batch, samplings in zip(scenario.batches, scenario.samplings, strict=True):
        jobs = [job_of(each) for each in batch]
        before = time_grids(
            scenario.chip, jobs, samplings=samplings, record_nbytes=scenario.record_nbytes, before=before
        )
        yield [found_by_twin(before, jobs, cells) for cells in before.cells.of]


def job_of(each: Launch) -> Job:
    kernel = each.kernel
    threads = 32 * kernel.per_block
    function = launch(kernel.code, threads=threads).function
    return Job(
        kernel.code, function, threads, kernel.warps, filter=each.filter, load_base=kernel.load_base, **each.what_for
    )


def found_by_twin(twin: Grids, jobs: list[Job], cells) -> Found:
    losses, counts = cells.way.losses(), twin.counts
    return Found(
        [(job.start, job.end) for job in jobs],
        sorted((t, slot, pc, field | sm << 22, *rest) for t, sm, slot, pc, field, *rest in cells.samples),
        sorted(cells.counters),
        [losses.get(job.number, []) for job in jobs],
        dict(twin.ledger),
        stalls_of(twin),
        causes_by_address(twin),
        [
            [
                *(sum(counts[name, job.number, sm.number] for sm in twin.sms) for name in TOTALS[:2]),
                *(counts[name, job.number] for name in TOTALS[2:4]),
                *(32 * counts[f"dram_{way}_sectors", job.number] for way in ("read", "write")),
            ]
            for job in jobs
        ],
    )


def causes_by_address(twin: Grids) -> dict:
    """As LaunchTimings have them: launches of one module are told apart where they stall, not where they are the
    cause.
    """
    cycles, stalls = Counter(), Counter()
    for (pc, reason, kind, cause_pc, flags), (n, times) in twin.blame.rows().items():
        number = max(job.number for job in twin.jobs if job.first <= pc)
        key = number, reason, kind, twin.address(pc), twin.address(cause_pc), flags
        cycles[key] += n
        stalls[key] += times
    return {key: (n, stalls[key]) for key, n in cycles.items()}


def differences(scenario: Scenario) -> tuple[list[str], int]:
    """What differs between engine and twin, in words, and how many records there were to compare."""
    twins = list(of_twin(scenario))
    wrong, n = [], 0
    for run in range(len(scenario.samplings[0])):
        for number, (engine, twin) in enumerate(zip(of_engine(scenario, run), twins, strict=True)):
            n += len(engine.records)
            for name, ours, theirs in zip(Found._fields, engine, twin[run], strict=True):
                if ours != theirs:
                    wrong.append(
                        f"batch {number}, run {run}, {name}: {first_difference(ours, theirs)}; "
                        f"{scenario.samplings[number][run]}"
                    )
    return wrong, n


def first_difference(ours, theirs) -> str:
    if isinstance(ours, dict):
        ours, theirs = sorted(ours.items()), sorted(theirs.items())
    place = next((k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    return (
        f"{len(ours)} and {len(theirs)}, from number {place} on {ours[place : place + 1]} and "
        f"{theirs[place : place + 1]}"
    )


def main(first: int, n: int) -> None:
    bad = 0
    for seed in range(first, first + n):
        wrong, records = differences(scenario(seed))
        bad += bool(wrong)
        for text in wrong[:4]:
            print(f"seed {seed}: {text}", flush=True)
        if not wrong:
            print(f"seed {seed}: {records} records agree", flush=True)
    sys.exit(f"{bad} of {n} differ" if bad else 0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
