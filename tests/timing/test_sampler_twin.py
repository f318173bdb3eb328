"""Every mode with every trigger: the compiled trace cell takes the same records as the readable one, on random kernels
and on a winding one.
"""

from operator import itemgetter
from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.tables.samples import SAMPLED_COUNTERS, WIDE
from gpuprof.timing.sampling.configuration import COUNTERS, MODES, Sampling
from gpuprof.timing.sampling.filter import filter_of_text
from gpuprof.timing.sampling.triggers import NAMES
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state.machine import power_on
from tests.readable.timing import time_launch
from tests.support.matrices import long_from
from tests.support.sampler_scenarios import COUNTER_NAMES, RECORD_NAMES, Chance, any_sampling
from tests.support.timing_support import access, basic_block_starts, launch, make, piece, warp
from tests.timing.test_timing import random_kernel
from tests.timing.test_twin import CHIPS

EVERY = {
    "inst_issued": 7,
    "branch": 2,
    "divergent_branch": 1,
    "call": 2,
    "barrier": 1,
    "bank_conflict": 2,
    "l1_miss": 3,
    "l2_miss": 3,
}
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
    got = {WIDE.dtype: [], SAMPLED_COUNTERS.dtype: []}
    job = launch(encode(instructions), blocks=len(warps) // per_block, threads=32 * per_block)
    pieces = iter([piece(warps, per_block)])
    timing = simulate(power_on(chip), job, pieces, sampling, lambda rows: got[rows.dtype].append(rows.copy()), 1 << 40)
    records, counters = ([row for rows in some for row in rows] for some in got.values())
    return timing, records, counters


def chip_file(tmp_path: Path, name: str) -> Path:
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS[name])
    return path


def compare(tmp_path: Path, chip_name: str, kernel, samplings: list[Sampling]) -> dict[tuple[str, str], int]:
    """Checks the model against its twin; gives the number of records by (trigger, mode)."""
    chip = load_chip(chip_file(tmp_path, chip_name))
    instructions, warps, per_block = kernel
    job = launch(encode(instructions))
    twin = time_launch(
        chip, job.module.code, job.module.load_base, job.function, 32 * per_block, warps, samplings=samplings
    )
    counts = {}
    for sampling, cells in zip(samplings, twin.cells.of, strict=True):
        timing, records, counters = run_counting(chip, kernel, sampling)
        found = [tuple(int(record[name]) for name in RECORD_NAMES) for record in records]
        wanted = [(t, slot, pc, field | sm << 22, *rest) for t, sm, slot, pc, field, *rest in cells.samples]
        assert sorted(found) == sorted(wanted), sampling
        way = cells.way
        assert [(sm, *rest) for sm, _, *rest in timing.losses.tolist()] == way.losses().get(0, []), sampling
        assert (timing.samples_dropped, timing.samples_due) == (cells.dropped, cells.dropped + len(wanted)), sampling
        assert [tuple(int(row[name]) for name in COUNTER_NAMES) for row in counters] == sorted(
            cells.counters, key=itemgetter(0, 2)
        ), sampling
        counts[sampling.trigger, sampling.mode] = len(wanted)
    return counts


@pytest.mark.parametrize("chip_name", long_from(1, CHIPS))
def test_random_kernels(tmp_path: Path, chip_name):
    """Two issues a cycle, half lanes, eight partitions; barriers, conflicts and misses."""
    counts = compare(tmp_path, chip_name, random_kernel(10, 24, 3), settings())
    assert all(
        n for (trigger, mode), n in counts.items() if "branch" not in trigger and trigger != "call" and mode == "all"
    ), counts


@pytest.mark.long
def test_one_partition_and_the_index_of_the_first_reason(tmp_path: Path):
    assert sum(compare(tmp_path, "a100", random_kernel(11, 24, 3), settings(partition=1, stall="index")).values()) > 100


@pytest.mark.long
def test_filters(tmp_path: Path):
    """What does not pass takes no place in the FIFO, has no counter record and is not due; triggers count it all the
    same.
    """
    wanted = filter_of_text("sm=0 block=1-9 warp=0-1 cycles=100-2500 launch-cycles=200-")
    kernel = random_kernel(12, 36, 3)
    counts = compare(tmp_path, "a100", kernel, settings(filter=wanted))
    assert 100 < sum(counts.values()) < 0.5 * sum(compare(tmp_path, "a100", kernel, settings()).values())


def test_warps_that_issue_in_the_cycle_they_start(tmp_path: Path):
    """So do all but the first of each partition, of 24 blocks of one warp in eight slots: the code is there by then."""
    kernel = [make("FADD", dst=0, a=1, b=2), make("EXIT")], [warp([0])] * 24, 1
    sampling = Sampling(
        0, "trigger", fifo_depth=4096, drain_cycles=1, trigger="inst_issued", every=1, counters=tuple(COUNTERS)
    )
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
    """A branch, a function and a loop around both; warps part at the branch, at the loop's end or nowhere, and come
    together in all ways.
    """
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
    # Four times: none parts in ways 0 and 1; in way 2 at the branch and at the loop's end; in way 3 at the branch. Of
    # two warps in one cycle one counts.
    assert 0 < counts["divergent_branch", "trigger"] <= 4 * (2 + 1)
    assert 0 < counts["call", "trigger"] <= 4 * (1 + 1 + 2 + 2) // 2
    assert 0 < counts["branch", "trigger"] <= 4 * (4 + 4 + 8 + 7) // 2


def test_every_kind_of_barrier_counts(tmp_path: Path):
    """Counted by hand: each of four warps arrives three times, and each arrival is a sample of its own instruction: two
    warps of a block share an
    SM, on two partitions, and where both arrive in one cycle that is sampled once, with the first one's record."""
    code = [make("BAR.SYNC"), make("BAR.RED.POPC", dst=3, imm=1), make("BAR.ARRIVE", imm=2 | 64 << 16), make("EXIT")]
    sampling = Sampling(
        0, "trigger", fifo_depth=4096, drain_cycles=1, trigger="barrier", every=1, counters=tuple(COUNTERS)
    )
    kernel = code, [warp(list(range(len(basic_block_starts(encode(code))))))] * 4, 2
    assert compare(tmp_path, "a100", kernel, [sampling])["barrier", "trigger"] >= 2 * 3
    _, records, _ = run_counting(load_chip(chip_file(tmp_path, "a100")), kernel, sampling)
    assert {(int(record["pc"]) - 0x1000) // 16 for record in records} == {0, 1, 2}


# ---- settings at random
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_any_settings(tmp_path: Path, seed):
    """What they have to do with each other is chance. (tests/timing/test_sampler_scenarios.py does so with several
    launches.)
    """
    chance = Chance(400 + seed)
    name, per_block = chance.of(list(CHIPS)), 1 + chance.below(4)
    kernel = random_kernel(400 + seed, 8 * per_block, per_block)
    chip = load_chip(chip_file(tmp_path, name))
    counts = compare(tmp_path, name, kernel, [any_sampling(chance, chip, False) for _ in range(32)])
    assert sum(counts.values()) > 100
