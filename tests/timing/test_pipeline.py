"""Draws: the fixed-function units by hand, and beside the readable twin on random work."""

import random

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import encode
from gpuprof.timing.draws import BATCH, WAVE, DrawWork
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.machine import power_on
from tests.readable.grids import Job
from tests.readable.pipeline import Draw, Draws
from tests.support.timing_support import make, warp
from tests.timing.test_grids import CHAIN, grid
from tests.timing.test_timing import ffma

QUICK = {
    "sms": 2,
    "l0i_miss_cycles": 1,
    "l1i_miss_cycles": 1,
    "block_launch_cycles": 100,
    "exit_cycles": 1,
    "graphics.draw_cycles": 40.0,
    "graphics.indices_per_cycle": 1.0,
    "graphics.primitives_per_cycle": 1.0,
    "graphics.triangles_per_cycle": 1.0,
    "graphics.tiles_per_cycle": 1.0,
    "graphics.pixels_per_cycle": 16.0,
    "graphics.depth_samples_per_cycle": 16.0,
    "graphics.color_pixels_per_cycle": 8.0,
    "graphics.color_nbytes_per_cycle": 64.0,
}


def chip_of(**changes):
    named = {f"graphics.{name}": value for name, value in changes.items()}
    return altered(load_chip("rtx3090"), QUICK | named, "test")


def work_of(draw, batches_before):
    waves = [(-1 if wave[0] is None else wave[0] - batches_before, *wave[1:]) for wave in draw.waves]
    return DrawWork(draw.state_changes, draw.drains, np.array(draw.batches, BATCH), np.array(waves, WAVE), draw.shades)


def shaders_of(draws, kernels):
    """(grids, jobs): of each draw the shader of its vertices, then that of its pixels, which goes first. A kernel is
    its code and the trace of one warp.
    """
    grids, jobs, load_base, before = [], [], 0x1000, 0
    for draw in draws:
        first = len(grids)
        parts = [(draw.batches, 1, "vertex", {"draw": work_of(draw, before)})]
        parts += [(draw.waves, 0, "pixel", {"pixels_of": (first, 0)})] if draw.waves and draw.shades else []
        for items, priority, name, what in parts:
            code, trace = kernels[len(grids) % len(kernels)]
            setattr(draw, name, len(grids))
            warps = [trace] * len(items)
            made = grid(code, warps, index=len(grids), load_base=load_base, priority=priority, **what)
            jobs.append(Job(encode(code), made.launch.function, 32, warps, priority=priority))
            grids.append(made)
            load_base += 16 * len(code)
        before += len(draw.batches)
    return grids, jobs


def timed(chip, draws, kernels=None):
    grids, jobs = shaders_of(draws, kernels or [(CHAIN, warp([0]))])
    timings = simulate_batch(power_on(chip), grids, Sampling(), lambda some: None, 1 << 40)
    return timings, [timing.draw for timing in timings if timing.draw], jobs


def test_one_triangle_by_hand():
    """Command 40; 3 indices until 43; the block starts at 143 and ends 12 cycles later; one primitive, one set up; one
    tile until 158; 4 samples of 16 a cycle; 12 cycles from 259 on; 4 pixels of 8 a cycle.
    """
    draw = Draw([(3, 1, 1)], [(0, 1, 4, 4, 0, 4, 16)])
    timings, (found,), _ = timed(chip_of(), [draw])
    assert [(t.start_cycle, t.end_cycle) for t in timings] == [(43, 155), (159, 271)]
    assert (found.start_cycle, found.end_cycle) == (40, 272)
    assert found.busy_cycles == {"fetch": 3.0, "assembly": 1.0, "setup": 1.0, "scan": 1.0, "depth": 0.25, "write": 0.5}
    assert set(found.blocked_cycles.values()) == {0.0}


def beside_the_twin(chip, draws, kernels):
    timings, found, jobs = timed(chip, draws, kernels)
    twin = Draws(chip, jobs, draws).run()
    assert [(t.start_cycle, t.end_cycle) for t in timings] == [(job.start, job.end) for job in twin.jobs]
    assert [(draw.start_cycle, draw.end_cycle) for draw in found] == twin.times()
    return found


def random_draw(rng, batches_before):
    batches = [(rng.randint(1, 96), n := rng.randint(0, 32), rng.randint(0, n)) for _ in range(rng.randint(1, 9))]
    needs = sorted(rng.randrange(len(batches)) for _ in range(rng.choice([0, 1, 5, 20])))
    waves = [
        (
            batches_before + need,
            rng.randint(1, 9),
            rng.randint(1, 32),
            rng.randint(0, 128),
            rng.choice([0, 0, 70]),
            n := rng.randint(0, 32),
            4 * n,
        )
        for need in needs
    ]
    return Draw(batches, waves, state_changes=rng.randrange(3), drains=rng.random() < 0.3, shades=rng.random() < 0.8)


@pytest.mark.parametrize("seed", range(12))
def test_random_draws_beside_the_twin(seed):
    rng = random.Random(seed)
    draws = []
    for _ in range(rng.randint(1, 5)):
        draws.append(random_draw(rng, sum(len(draw.batches) for draw in draws)))
    chip = chip_of(
        batches_in_flight=rng.choice([1, 2, 8, 100]),
        assembled_batches=rng.choice([1, 3, 100]),
        set_up_batches=rng.choice([1, 3, 100]),
        scanned_waves=rng.choice([1, 2, 50]),
        waves_in_flight=rng.choice([1, 4, 100]),
        draw_cycles=rng.choice([0.0, 40.0, 333.3]),
    )
    kernels = [([ffma(0, 0)] * n + [make("EXIT")], warp([0])) for n in (1, 3, 40)]
    beside_the_twin(chip, draws, kernels)


CROWD = Draw([(3, 1, 1)], [(0, 1, 4, 4, 0, 4, 16)] * 90)
CROWDED = [(CHAIN, warp([0])), ([ffma(0, 0)] * 400 + [make("EXIT")], warp([0]))]


def test_more_warps_than_blocks_on_an_sm():
    """The card holds 16 blocks and 48 warps an SM. Those of draws are no blocks: two SMs run more than 32 at once."""
    chip = chip_of(tiles_per_cycle=100.0, waves_in_flight=100)
    (_, pixels), (found,), _ = timed(chip, [CROWD], CROWDED)
    assert (chip.max_blocks, pixels.blocks_per_sm) == (16, 48)
    assert pixels.resident_warp_cycles > 40 * (pixels.end_cycle - pixels.start_cycle)
    assert found.blocked_cycles["depth"] == 0


@pytest.mark.long
def test_more_warps_than_blocks_beside_the_twin():
    beside_the_twin(chip_of(tiles_per_cycle=100.0, waves_in_flight=100), [CROWD], CROWDED)


def test_a_full_buffer_stops_the_unit_before_it():
    """One wave in flight: the second leaves the depth test when the write begins with the first."""
    draw = Draw([(3, 1, 1)], [(0, 1, 4, 4, 0, 4, 16)] * 2)
    _, (found,), _ = timed(chip_of(waves_in_flight=1), [draw])
    assert found.blocked_cycles["depth"] == 271 - 159.25


def test_a_draw_that_drains_begins_behind_the_last_write():
    draws = [Draw([(3, 1, 1)], [(0, 1, 4, 4, 0, 4, 16)]), Draw([(3, 1, 0)], [], drains=True)]
    _, found, _ = timed(chip_of(), draws)
    assert [(draw.start_cycle, draw.end_cycle) for draw in found] == [(40, 272), (311, 315 + 100 + 12 + 1)]


def test_part_of_a_launch_is_no_part_of_a_draw():
    """--sample-blocks leaves out blocks of launches whose rate is steady, but units wait for each of a draw."""
    grids, _ = shaders_of([Draw([(3, 1, 0)] * 6000, [])], [([ffma(0, 0)] * 400 + [make("EXIT")], warp([0]))])
    chip = chip_of(indices_per_cycle=300.0, batches_in_flight=1000)
    (timing,) = simulate_batch(power_on(chip), grids, Sampling(), lambda some: None, 1 << 40, sample_blocks=True)
    assert timing.extrapolation is None and timing.draw.end_cycle >= timing.end_cycle


def test_a_chip_without_graphics():
    with pytest.raises(
        UsageError, match=r"^a100: the chip draws nothing: its file has no table \[graphics\]; name one that has"
    ):
        timed(load_chip("a100"), [Draw([(3, 1, 1)], [])])
