"""The compiled model and its readable twin agree cycle for cycle: ledger, samples and counters, on random kernels and chips."""

from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.timing import Sampling
from tests.readable_timing import ledger_of, time_launch
from tests.test_timing import random_kernel
from tests.timing_support import launch, run

CHIPS = {
    "a100": 'inherits = "a100"\nsms = 2\n',
    "narrow": 'inherits = "v100"\nsms = 1\nwarp_slots = 8\nl1_mshrs = 16\nl2_nbytes = 16384\nprefetch_lines = 1\nl0i_lines = 2\n',
    "ppu15": 'inherits = "ppu15"\nsms = 2\n',
}


@pytest.mark.parametrize("chip_name", CHIPS)
@pytest.mark.parametrize("seed", range(3))
def test_same_ledger_and_samples(tmp_path: Path, chip_name, seed):
    path = tmp_path / f"{chip_name}.toml"
    path.write_text(CHIPS[chip_name])
    chip = load_chip(path)
    instructions, warps, per_block = random_kernel(10 + seed, 24, 3)
    sampling = Sampling(32, "all", fifo_depth=24, drain_cycles=3)
    timing, records = run(chip, instructions, warps, warps_per_block=per_block, sampling=sampling)
    job = launch(encode(instructions))
    twin = time_launch(
        chip, job.module.code, job.module.load_base, job.function, 32 * per_block, warps, period=32, every_warp=True, fifo_depth=24, drain=3
    )
    assert ledger_of(timing) == dict(twin.ledger)
    assert (timing.end_cycle, timing.samples_dropped, timing.issue_slots) == (twin.end, twin.dropped, twin.counts["issue_slots"])
    names = ("l1_sectors", "l1_hits", "l2_sectors", "l2_hits")
    assert [getattr(timing, name) for name in names] == [twin.counts[name] for name in names]
    assert timing.dram_write_nbytes == 32 * twin.counts["dram_write_sectors"]
    found = [
        (int(r["cycle"]), int(r["stall_sm"]) >> 22, int(r["warp_slot"]), int(r["pc"]), int(r["stall_sm"]) & 0x3FFFFF, int(r["block"]),
         int(r["mask"]), int(r["flags"]), int(r["warp"]))
        for r in records
    ]  # fmt: skip
    assert found == sorted(twin.samples)
