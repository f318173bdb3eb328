"""Every mode with every trigger: the compiled trace cell takes the same records as the readable one, on random kernels and on a winding one."""

from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.records.schema import SAMPLED_COUNTERS_DTYPE, WIDE_DTYPE
from gpuprof.timing import Sampling, power_on, simulate
from gpuprof.timing.batch import Grid
from gpuprof.timing.filter import filter_of_text
from gpuprof.timing.sampling import COUNTERS, MODES
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.triggers import NAMES
from tests.readable_grids import Job, time_grids
from tests.readable_timing import time_launch
from tests.test_timing import random_kernel
from tests.test_timing_twin import CHIPS
from tests.timing_support import access, launch, make, piece, warp

EVERY = {"inst_issued": 7, "branch": 2, "divergent_branch": 1, "call": 2, "barrier": 1, "bank_conflict": 2, "l1_miss": 3, "l2_miss": 3}
RECORD_NAMES = ("cycle", "warp_slot", "pc", "stall_sm", "block", "mask", "flags", "warp", "resident")
COUNTER_NAMES = [name for name in SAMPLED_COUNTERS_DTYPE.names if name != "launch"]
FULL, LOW, HIGH = 0xFFFFFFFF, 0xFFFF, 0xFFFF0000


def settings(**more) -> list[Sampling]:
    """Every mode with every trigger."""
    found = []
    for trigger in NAMES:
        every = EVERY.get(trigger, 0)
        for mode in MODES[: 5 if every else 4]:
            phase = every // 2 if every else 13
            found.append(
                Sampling(
                    0 if every else 32,
                    mode,
                    seed=5,
                    fifo_depth=24,
                    drain_cycles=3,
                    trigger=trigger,
                    every=every,
                    phase_cycles=phase,
                    counters=tuple(COUNTERS),
                    **more,
                )
            )
    return found


def run_counting(chip, kernel, sampling):
    """The launch's timing, its records and its rows of counters."""
    instructions, warps, per_block = kernel
    got = {WIDE_DTYPE: [], SAMPLED_COUNTERS_DTYPE: []}
    job = launch(encode(instructions), blocks=len(warps) // per_block, threads=32 * per_block)
    pieces = iter([piece(warps, per_block)])
    timing = simulate(power_on(chip), job, pieces, sampling, lambda rows: got[rows.dtype].append(rows.copy()), 1 << 40)
    records, counters = ([row for rows in some for row in rows] for some in got.values())
    return timing, records, counters


def compare(tmp_path: Path, chip_name: str, kernel, samplings: list[Sampling]) -> dict[tuple[str, str], int]:
    """Checks the model against its twin; gives the number of records by (trigger, mode)."""
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS[chip_name])
    chip = load_chip(path)
    instructions, warps, per_block = kernel
    job = launch(encode(instructions))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32 * per_block, warps, samplings=samplings)
    counts = {}
    for sampling, cells in zip(samplings, twin.cells.of, strict=True):
        timing, records, counters = run_counting(chip, kernel, sampling)
        found = [tuple(int(record[name]) for name in RECORD_NAMES) for record in records]
        wanted = [(t, slot, pc, field | sm << 22, *rest) for t, sm, slot, pc, field, *rest in cells.samples]
        assert sorted(found) == sorted(wanted), sampling
        way = cells.way
        assert [(sm, *rest) for sm, _, *rest in timing.losses.tolist()] == [
            (sm, way.due[sm], way.lost_in_fifo[sm], way.lost_in_buffer[sm]) for sm in sorted(way.due)
        ], sampling
        assert (timing.samples_dropped, timing.samples_due) == (cells.dropped, cells.dropped + len(wanted)), sampling
        assert [tuple(int(row[name]) for name in COUNTER_NAMES) for row in counters] == sorted(cells.counters, key=itemgetter(0, 2)), (
            sampling
        )
        counts[sampling.trigger, sampling.mode] = len(wanted)
    return counts


@pytest.mark.parametrize("chip_name", CHIPS)
def test_random_kernels(tmp_path: Path, chip_name):
    """Two issues a cycle, half lanes, eight partitions; barriers, conflicts and misses."""
    counts = compare(tmp_path, chip_name, random_kernel(10, 24, 3), settings())
    assert all(n for (trigger, mode), n in counts.items() if "branch" not in trigger and trigger != "call" and mode == "all"), counts


def test_one_partition_and_the_index_of_the_first_reason(tmp_path: Path):
    assert sum(compare(tmp_path, "a100", random_kernel(11, 24, 3), settings(partition=1, stall="index")).values()) > 100


def test_filters(tmp_path: Path):
    """What does not pass takes no place in the FIFO, has no counter record and is not due; triggers count it all the same."""
    wanted = filter_of_text("sm=0 block=1-9 warp=0-1 cycles=100-2500 launch-cycles=200-")
    kernel = random_kernel(12, 36, 3)
    counts = compare(tmp_path, "a100", kernel, settings(filter=wanted))
    assert 100 < sum(counts.values()) < 0.5 * sum(compare(tmp_path, "a100", kernel, settings()).values())


def test_warps_that_issue_in_the_cycle_they_start(tmp_path: Path):
    """So do all but the first of each partition, of 24 blocks of one warp in eight slots: the code is there by then."""
    kernel = [make("FADD", dst=0, a=1, b=2), make("EXIT")], [warp([0])] * 24, 1
    sampling = Sampling(0, "trigger", fifo_depth=4096, drain_cycles=1, trigger="inst_issued", every=1, counters=tuple(COUNTERS))
    assert compare(tmp_path, "narrow", kernel, [sampling])["inst_issued", "trigger"] > 16


def test_counters_have_what_is_written_back(tmp_path: Path):
    """Stores to 4,096 sectors through an L2 of 512: most are written back while samples are taken."""
    path = tmp_path / "chip.toml"
    path.write_text('inherits = "v100"\nsms = 2\nl2_nbytes = 16384\n')
    stores = [make("STG.32", a=1, b=0, mods=1 << 6)] * 8 + [make("EXIT")]
    warps = [warp([0], [access(range(256 * k + 32 * j, 256 * k + 32 * (j + 1))) for j in range(8)]) for k in range(16)]
    sampling = Sampling(32, "all", counters=("dram",), fifo_depth=64, drain_cycles=1)
    timing, _, counters = run_counting(load_chip(path), (stores, warps, 4), sampling)
    seen = [int(row["dram_nbytes"]) for row in counters]
    assert timing.dram_read_nbytes == 0 and seen == sorted(seen)
    assert 32 * 2048 < seen[-1] <= timing.dram_write_nbytes


def winding_kernel():
    """A branch, a function and a loop around both; warps part at the branch, at the loop's end or nowhere, and come together in all ways."""
    code = [
        make("IADD", dst=0, a=0, b=20),
        make("BRA", guard=0, imm=16),
        make("FADD", dst=1, a=0, b=1),
        make("CALL", imm=16 * 3),
        make("FADD", dst=2, a=1, b=2),
        make("BRA", guard=1, imm=-16 * 6),
        make("EXIT"),
        make("MUFU.RCP", dst=1, a=1),
        make("RET"),
    ]
    ways = [
        [(0, FULL), (1, FULL), (2, FULL), (5, FULL), (3, FULL), (4, FULL)],
        [(0, FULL), (2, FULL), (5, FULL), (3, FULL), (4, FULL)],
        [(0, FULL), (1, LOW), (2, FULL), (5, FULL), (3, FULL), (0, HIGH), (2, HIGH), (5, HIGH), (3, HIGH), (4, FULL)],
        [(0, FULL), (1, LOW), (2, LOW), (5, LOW), (3, LOW), (2, HIGH), (5, HIGH), (3, HIGH), (4, FULL)],
    ]
    warps = [warp([b for b, _ in way], (), [mask for _, mask in way]) for way in ways]
    return code, 4 * warps, 2


def test_branches_and_calls(tmp_path: Path):
    counts = compare(tmp_path, "narrow", winding_kernel(), settings())
    # Four times: none parts in ways 0 and 1; in way 2 at the branch and at the loop's end; in way 3 at the branch. Of two warps in one cycle one counts.
    assert 0 < counts["divergent_branch", "trigger"] <= 4 * (2 + 1)
    assert 0 < counts["call", "trigger"] <= 4 * (1 + 1 + 2 + 2) // 2
    assert 0 < counts["branch", "trigger"] <= 4 * (4 + 4 + 8 + 7) // 2


# ---- settings at random -------------------------------------------------------------------------------------------------------------


def any_sampling(random: np.random.Generator, partitions: int) -> Sampling:
    """Any mode, trigger, phase, scope, filter, FIFO, drain and buffer. What it has to do with the others is chance."""

    def one_of(*choices):
        return choices[int(random.integers(len(choices)))]

    trigger = one_of("cycles", "cycles", "inst_issued", "barrier", "bank_conflict", "l1_miss", "l2_miss")
    clock = trigger == "cycles"
    period = one_of(32, 33, 65, 100, 200) if clock else one_of(1, 1, 2, 3, 7, 20)
    return Sampling(
        period if clock else 0,
        one_of(*MODES[: 4 if clock else 5]),
        seed=one_of(0, 7, (1 << 63) - 1),
        fifo_depth=one_of(1, 2, 8, 40, 4096),
        drain_cycles=one_of(1, 3, 33, 100),
        filter=filter_of_text(one_of("", "", "sm=0", "block=2-5", "warp=0", "cycles=500-", "block=1-9 launch-cycles=0-900")),
        buffer_nbytes=one_of(32, 320, 4096, 1 << 20),
        poll_cycles=one_of(0, 1, 64, 333),
        trigger=trigger,
        every=0 if clock else period,
        phase_cycles=int(random.integers(period)),
        partition=one_of(-1, -1, int(random.integers(partitions))),
        stall=one_of("vector", "index"),
        counters=tuple(COUNTERS),
    )


@pytest.mark.parametrize("seed", range(3))
def test_any_settings(tmp_path: Path, seed):
    random = np.random.default_rng(400 + seed)
    name = list(CHIPS)[int(random.integers(len(CHIPS)))]
    per_block = int(random.integers(1, 5))
    kernel = random_kernel(400 + seed, 8 * per_block, per_block)
    counts = compare(tmp_path, name, kernel, [any_sampling(random, 4) for _ in range(16)])
    assert sum(counts.values()) > 100


FILTERS = ["sm=1", "block=1-4", "launch-cycles=100-900", "", "off"]


@pytest.mark.parametrize("seed", range(2))
def test_launches_that_share_the_gpu(tmp_path: Path, seed):
    """Records and losses of launches that run at the same time, each with a filter of its own or the sampling's."""
    (tmp_path / "chip.toml").write_text(CHIPS["a100"])
    chip = load_chip(tmp_path / "chip.toml")
    random = np.random.default_rng(500 + seed)
    kernels = [random_kernel(500 + 10 * seed + k, 6 * per_block, per_block) for k, per_block in enumerate((2, 1, 3))]
    how = [{}, {"launch_cycles": 50, "priority": -1}, {"after": (1,), "launch_cycles": 300}]
    filters = [None, *(filter_of_text(FILTERS[int(random.integers(len(FILTERS)))]) for _ in range(2))]
    samplings = [any_sampling(random, 4) for _ in range(8)]
    launches, jobs, base = [], [], 0x1000
    for index, ((code, warps, per_block), more) in enumerate(zip(kernels, how, strict=True)):
        launches.append(launch(encode(code), blocks=6, threads=32 * per_block, index=index))
        launches[-1].module.load_base = base
        jobs.append(Job(encode(code), launches[-1].function, 32 * per_block, warps, filter=filters[index], **more))
        base += 16 * len(code)
    twin = time_grids(chip, jobs, samplings=samplings)
    n = 0
    for sampling, cells in zip(samplings, twin.cells.of, strict=True):
        grids = [
            Grid(job, iter([piece(warps, per_block)]), filter=filter, **more)
            for job, (_, warps, per_block), filter, more in zip(launches, kernels, filters, how, strict=True)
        ]
        records = []
        timings = simulate_batch(power_on(chip), grids, sampling, lambda rows, to=records: to.append(rows.copy()), 1 << 40)
        found = [tuple(int(r[name]) for name in RECORD_NAMES) for rows in records if rows.dtype == WIDE_DTYPE for r in rows]
        wanted = [(t, slot, pc, field | sm << 22, *rest) for t, sm, slot, pc, field, *rest in cells.samples]
        assert sorted(found) == sorted(wanted), sampling
        lost = sum(timing.losses["dropped_fifo"].sum() for timing in timings), sum(t.losses["dropped_buffer"].sum() for t in timings)
        assert lost == (cells.way.lost_in_fifo.total(), cells.way.lost_in_buffer.total()), sampling
        assert sum(timing.samples_due for timing in timings) == cells.way.due.total(), sampling
        n += len(found)
    assert n > 100
