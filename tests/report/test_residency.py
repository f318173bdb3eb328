"""What one more block of an SM needs, by hand and against every smaller number."""

import pytest

from gpuprof.chips import load_chip
from gpuprof.report.html.residency import Block, Step, fits, next_steps, numbers_of, occupied, waves

A100 = numbers_of(load_chip("a100").describe())


def test_registers_run_out_first():
    """256 threads of 40 registers: 8 warps of 1,280 registers each, so 6 blocks in 65,536 registers, 48 of 64 warps.
    For 7 a partition must hold 14 warps in its 16,384 registers: 1,170 a warp, 36 a thread, of which 32 can be
    allocated, and then 8 blocks fit.
    """
    found = list(next_steps(A100, Block(256, 40, 0)))
    assert found[0] == Step("registers a thread", 40, 32, 7, 1.0, "")
    assert fits(A100, Block(256, 32, 0))["registers"] == 8
    assert all(step.theoretical > 0.75 for step in found[1:])


def test_shared_memory_runs_out_first():
    """40,000 bytes and 1,024 reserved, in steps of 128: 41,088. 167,936 bytes hold 4 of them."""
    first, *_ = next_steps(A100, Block(128, 16, 40_000))
    assert (first.what, first.now, first.blocks_per_sm) == ("bytes of shared memory a block", 40_000, 5)
    assert fits(A100, Block(128, 16, first.needed))["shared"] == 5
    assert fits(A100, Block(128, 16, first.needed + 1))["shared"] == 4


@pytest.mark.parametrize("threads, registers, shared", [(256, 40, 0), (96, 72, 9000), (1024, 33, 60_000), (64, 255, 0)])
def test_a_step_is_the_nearest(threads, registers, shared):
    """No other number between what is and what is needed is enough, and what is needed is."""
    block = Block(threads, registers, shared)
    for step in next_steps(A100, block):
        if step.what == "threads a block":
            assert occupied(A100, block._replace(threads=step.needed)) == step.theoretical > occupied(A100, block)
            between = range(min(threads, step.needed) + 1, max(threads, step.needed))
            assert all(
                occupied(A100, block._replace(threads=n)) <= occupied(A100, block) for n in between if n % 32 == 0
            )
        elif step.what == "registers a thread" and not step.also:
            blocks = [min(fits(A100, block._replace(registers=n)).values()) for n in range(step.needed, registers + 1)]
            assert blocks[0] >= step.blocks_per_sm
            assert max(blocks[1:]) < step.blocks_per_sm


def test_nothing_is_asked_of_a_full_sm():
    assert list(next_steps(A100, Block(256, 32, 0))) == []


def test_a_chip_that_lacks_a_number():
    assert numbers_of({"warp_slots": 64}) is None


@pytest.mark.parametrize(
    "blocks, per_wave, expected", [(864, 864, (1.0, 1.0)), (1296, 864, (1.5, 0.75)), (10, 0, (0.0, 0.0))]
)
def test_waves(blocks, per_wave, expected):
    assert waves(blocks, per_wave) == expected
