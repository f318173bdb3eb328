"""Launches at random, on streams, dependent, and by kernels, each with filters of its own, in batches with registers of
their own: engine and twin record the same, and count the same. GPUPROF_FUZZ=1 (`make fuzz`) tries many more."""

import os

import pytest

from tests.support.matrices import long_from
from tests.support.sampler_scenarios import differences, scenario

SEEDS = range(2000) if os.environ.get("GPUPROF_FUZZ") else range(4)


@pytest.mark.long
@pytest.mark.parametrize("seed", long_from(1, SEEDS))
def test_fuzz(seed):
    wrong, _ = differences(scenario(seed))
    assert not wrong


def test_fuzz_has_all_kinds_of_them():
    """Of some scenarios at random: what is in them, and what the launches there wait for."""
    kinds = set()
    for seed in range(40):
        found = scenario(seed)
        kinds |= {kind for batch in found.batches for launch in batch for kind in launch.what_for}
        kinds |= {
            (sampling.stream, len(batch) > 1)
            for batch, some in zip(found.batches, found.samplings, strict=True)
            for sampling in some
        }
        kinds |= {len(found.batches)}
    assert kinds >= {"after", "after_signal", "launched_by", ("lsu", True), ("aux", True), 1, 2, 3}


@pytest.mark.parametrize("seed", long_from(1, [8, 28]))
def test_what_once_differed(seed):
    """Warps that wait for a grid, and grids that wait for room in the pool, whose end is seen out of order: SMs run one
    after the other in a quantum.
    """
    assert not differences(scenario(seed, runs=1))[0]
