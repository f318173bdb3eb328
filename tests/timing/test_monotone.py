"""More of anything, or faster, never makes a program slower by more than 5 %: requests meet in another order, and
blocks on other SMs.
"""

from functools import cache
from pathlib import Path

import pytest

from tests.paths import SAMPLES
from tests.support.running import run_file

BOUND = 1.05
SAMPLE_NAMES = ("saxpy", "transpose", "spmv", "histogram")
# One number of a100 each, with about twice as much of it or half as long.
BETTER = (
    "sms = 216",
    "noc_nbytes_per_cycle = 128",
    "l1_nbytes = 393216",
    "l1_mshrs = 3072",
    "l2_nbytes = 83886080",
    "l2_slices = 160",
    "l2_slice_nbytes_per_cycle = 96.0",
    "l2_far_cycles = 206",
    "atomic_sector_cycles = 1.2",
    "dram_gbytes_per_s = 3552.0",
    "dram_channels = 80",
    "dram_banks = 64",
    "dram_row_cycle_ns = 24.0",
    "dram_cycles = 400",
    "queue_depth = 10",
    "address_cycles = 2",
    "[latency]\nmemory = 16",
    "[latency]\nfma = 2",
)


def cycles(sample: str, path: str) -> list[int]:
    return [launch.timing.cycles for launch in run_file(SAMPLES / f"{sample}.cu", chip_name=path)[1].launches]


@cache
def cycles_before(sample: str) -> list[int]:
    return cycles(sample, "a100")


@pytest.mark.long
@pytest.mark.parametrize("sample", SAMPLE_NAMES)
def test_a_better_chip_is_not_slower(tmp_path: Path, sample):
    slower = {}
    for number, line in enumerate(BETTER):
        path = tmp_path / f"better{number}.toml"
        path.write_text(f'inherits = "a100"\n{line}\n')
        ratios = [new / old for new, old in zip(cycles(sample, str(path)), cycles_before(sample), strict=True)]
        if max(ratios) > BOUND:
            slower[line] = ratios
    assert not slower


def test_some_of_it_helps(tmp_path: Path):
    """The changes reach the model: a bound that holds because nothing happens would say nothing."""
    for sample, line in (
        ("saxpy", "dram_cycles = 400"),
        ("transpose", "sms = 216"),
        ("histogram", "atomic_sector_cycles = 1.2"),
    ):
        path = tmp_path / f"{sample}.toml"
        path.write_text(f'inherits = "a100"\n{line}\n')
        assert min(new / old for new, old in zip(cycles(sample, str(path)), cycles_before(sample), strict=True)) < 0.97
