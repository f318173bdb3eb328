"""What warps do over time: by hand, beside the readable twin, and sums that are the ledger's."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.isa.stalls import INDEX, N_REASONS, NAMES
from gpuprof.timing.state.activity_bins import MOST_BINS, SM_HAS_WARPS, Activity, bins_of, coarser, extended
from gpuprof.timing.state.machine import power_on
from tests.readable.grids import Job, time_grids
from tests.readable.timing import time_launch
from tests.support.matrices import long_from
from tests.support.seeds import seeds
from tests.support.timing_support import launch, make, run, warp
from tests.timing.test_grids import CHAIN, batch, chain, chip_of, grid
from tests.timing.test_timing import random_kernel
from tests.timing.test_twin import CHIPS

# How a wait for one's turn splits is known, and where in the wait the parts were is not (units/ledger.py).
TURN = {"not_selected", "dispatch_stall", *(name for name in NAMES if name.endswith("_throttle"))}


def by_bin(timing) -> dict:
    """(bin, reason, "turn" or "SMs"): cycles, of a LaunchTiming."""
    names = [*("turn" if name in TURN else name for name in NAMES), "SMs"]
    found = Counter()
    for bin_, row in enumerate(timing.activity.cycles.tolist()):
        for name, cycles in zip(names, row, strict=True):
            found[bin_, name] += cycles
    return +found


def twins(spent: Counter, number: int, timing) -> dict:
    """The same of what the readable twin counted cycle by cycle for grid `number`."""
    found = Counter()
    for (cycle, whose, name), cycles in spent.items():
        if whose == number:
            bin_ = (cycle - timing.start_cycle) // timing.activity.bin_cycles
            found[bin_, "turn" if name in TURN else name] += cycles
    return found


def test_a_chain_by_hand(tmp_path: Path):
    """One warp from cycle 100 on: its first instruction waits for its fetch until 102, the next two for operands, and
    the exit issues in 111. Before, the block is on its way. A bin is a cycle.
    """
    (timing,), _ = batch(chip_of(tmp_path), [chain(1)])
    bin_cycles, cycles = timing.activity
    assert bin_cycles == 1 and len(cycles) == 112 and not cycles[:100].any()
    rows = [["SMs" if k == SM_HAS_WARPS else NAMES[k] for k in np.flatnonzero(row)] for row in cycles[100:]]
    fetch, wait, issue = (sorted([name, "SMs"], key=[*NAMES, "SMs"].index) for name in
                          ("no_instructions", "wait", "selected"))  # fmt: skip
    assert rows == [fetch, fetch, issue, wait, wait, wait, issue, wait, wait, wait, issue, issue]
    assert cycles.max() == 1


@pytest.mark.parametrize("chip_name", long_from(1, CHIPS))
@pytest.mark.parametrize("seed", seeds(2, 1))
def test_every_bin_is_the_twins(tmp_path: Path, chip_name, seed):
    path = tmp_path / "chip.toml"
    path.write_text(CHIPS[chip_name])
    chip = load_chip(path)
    instructions, warps, per_block = random_kernel(40 + seed, 24, 3)
    timing, _ = run(chip, instructions, warps, warps_per_block=per_block)
    job = launch(encode(instructions))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32 * per_block, warps)
    assert timing.activity.bin_cycles > 1, "a kernel that never needs longer bins"
    found, expected = by_bin(timing), twins(twin.spent, 0, timing)
    # Where the warps before it end, a block that is about to start counts for its SM; the twin counts warps that run.
    # So only bins with a cycle in which nothing runs may differ, and they are full here.
    full = timing.activity.bin_cycles * chip.sms
    for key in [key for key in found if key[1] == "SMs" and found[key] != expected[key]]:
        assert found.pop(key) == full > expected.pop(key, 0)
    assert found == expected


@pytest.mark.parametrize("n_grids", [2, pytest.param(40, marks=pytest.mark.long)])
def test_grids_that_run_together(tmp_path: Path, n_grids):
    """Each has bins of its own from its own start on; of many each has fewer."""
    chip = chip_of(tmp_path)
    instructions, warps, per_block = random_kernel(7, 8, 2)
    grids, jobs = [], []
    for index in range(n_grids):
        how = {"launch_cycles": 90 * index}
        grids.append(grid(instructions, warps, per_block=per_block, index=index, **how))
        function = launch(encode(instructions)).function
        jobs.append(Job(encode(instructions), function, 32 * per_block, warps, load_base=0x1000, **how))
    timings, _ = batch(chip, grids)
    twin = time_grids(chip, jobs)
    assert (
        max(len(timing.activity.cycles) for timing in timings) <= bins_of(n_grids) <= MOST_BINS // (n_grids // 16 or 1)
    )
    for number, timing in enumerate(timings):
        assert by_bin(timing) == twins(twin.spent, number, timing)


def test_sums_and_bins_of_a_long_launch(tmp_path: Path):
    """2^16 cycles of sleep and more: the bins are as few as they may be, and hold what the ledger holds."""
    chip = chip_of(tmp_path)
    code = [*[make("NANOSLEEP", imm=20_000, slot="b")] * 4, *CHAIN]
    machine = power_on(chip)
    for _ in range(2):  # the second batch finds the table as new
        timing, _ = run(chip, code, [warp([0])] * 6, machine=machine)
        bin_cycles, cycles = timing.activity
        assert (cycles[:, :N_REASONS].sum(axis=0) == timing.ledger.sum(axis=0)).all()
        assert int(cycles[:, SM_HAS_WARPS].sum()) == timing.sm_active_cycles
        n_cycles = timing.end_cycle - timing.start_cycle
        assert len(cycles) == -(-n_cycles // bin_cycles) and MOST_BINS // 2 <= len(cycles) <= MOST_BINS
        middle = cycles[len(cycles) * 3 // 8]  # of the second of four sleeps
        assert middle[INDEX["sleeping"]] == 6 * bin_cycles and middle[SM_HAS_WARPS] == 2 * bin_cycles


def activity_of_rows(*rows: int) -> Activity:
    """`selected` has these cycles in bins of 4."""
    cycles = np.zeros((len(rows), N_REASONS + 1), np.uint64)
    cycles[:, 0] = rows
    return Activity(4, cycles)


def test_coarser():
    bin_cycles, cycles = coarser(activity_of_rows(1, 2, 3, 4, 5), 2)
    assert (bin_cycles, cycles[:, 0].tolist()) == (16, [10, 5])
    same = activity_of_rows(1, 2, 3, 4, 5)
    assert coarser(same, 5) is same


@pytest.mark.parametrize(
    "cycles, bin_cycles, expected",
    [
        (10, 4, [1, 2, 17]),
        (12, 4, [1, 2, 17]),
        (21, 4, [1, 2, 3, 5, 4, 5]),
        (24, 4, [1, 2, 3, 5, 4, 5]),
        (4 * 1024 + 12, 8, [3, 3, *[0] * 512]),
    ],
)
def test_what_was_not_timed_is_spread_behind(cycles, bin_cycles, expected):
    """20 cycles of `selected` in all, of which 6 were timed in 3 bins of 4 cycles. The last of these may be short."""
    whole = np.zeros(N_REASONS, np.uint64)
    whole[0] = 20
    found = extended(activity_of_rows(1, 2, 3), whole, 0, cycles)
    assert found.bin_cycles == bin_cycles and len(found.cycles) == len(expected)
    assert found.cycles[:, 0].sum() == 20
    if len(expected) < 10:
        assert found.cycles[:, 0].tolist() == expected
