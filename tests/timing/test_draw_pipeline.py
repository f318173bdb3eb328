"""Draws: the fixed-function units by hand, and beside the readable twin on random work."""

import random
from dataclasses import astuple

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.chips.draw_units import SHADER_STAGES, unit_cycles
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import encode
from gpuprof.timing.batch import Shades
from gpuprof.timing.draw_tables import WORK, Accesses, DrawWork
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.layout import ASKING, UNIT_ACCESS
from gpuprof.timing.state.machine import power_on
from tests.readable.grids import Job
from tests.readable.pipeline import Draw, Draws, Item
from tests.support.matrices import long_from
from tests.support.timing_support import access, make, warp
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
    "graphics.tessellated_vertices_per_cycle": 1.0,
    "graphics.primitives_per_cycle": 1.0,
    "graphics.triangles_per_cycle": 1.0,
    "graphics.tiles_per_cycle": 1.0,
    "graphics.pixels_per_cycle": 16.0,
    "graphics.depth_samples_per_cycle": 16.0,
    "graphics.depth_nbytes_per_cycle": 128.0,
    "graphics.color_pixels_per_cycle": 8.0,
    "graphics.color_nbytes_per_cycle": 64.0,
}


def chip_of(**changes):
    named = {f"graphics.{name}": value for name, value in changes.items()}
    return altered(load_chip("rtx3090"), QUICK | named, "test")


PIXEL_AMOUNTS = ("n_tiles", "n_pixels", "n_samples", "depth_nbytes", "n_written", "written_nbytes")
NONE_LATE = {"n_late_samples": 0, "late_depth_nbytes": 0}


def plain(batches, waves, shades=True, **more):
    """A draw without stages between vertices and pixels. `batches`: (indices, primitives, accepted); `waves`: (last
    batch or None, and PIXEL_AMOUNTS).
    """
    items = {
        "vertex": [Item(None, True, {"n_indices": indices}) for indices, _, _ in batches],
        "primitive": [primitives(k, *numbers) for k, (_, *numbers) in enumerate(batches)],
    }
    pixels = [
        Item(needs, shades, dict(zip(PIXEL_AMOUNTS, amounts, strict=True)) | NONE_LATE) for needs, *amounts in waves
    ]
    return Draw(items | ({"pixel": pixels} if pixels else {}), **more)


def primitives(needs, n, accepted):
    return Item(needs, False, {"n_primitives": n, "n_accepted": accepted})


def work_of(draw):
    arrays = {
        series: np.array(
            [
                (
                    -1 if item.needs is None else item.needs,
                    item.is_shaded,
                    *(item.amounts[name] for name in WORK[series].names[2:]),
                )
                for item in items
            ],
            WORK[series],
        )
        for series, items in draw.items.items()
    }
    accesses = {
        unit: Accesses(
            np.array([len(item.accesses.get(unit, ())) for item in items], np.int64),
            np.array(
                [
                    (line, missing, reads, writes)
                    for item in items
                    for line, reads, writes, missing in item.accesses.get(unit, ())
                ],
                UNIT_ACCESS,
            ),
        )
        for series, unit in ASKING
        if (items := draw.items.get(series))
    }
    return DrawWork(draw.state_changes, draw.drains, arrays, accesses)


def shaders_of(draws, kernels):
    """(grids, jobs): of each draw its shaders, of which the later ones go first. A kernel is its code and the trace of
    one warp.
    """
    grids, jobs, load_base = [], [], 0x1000
    for draw in draws:
        first = len(grids)
        for priority, (series, items) in zip((5, 4, 3, 2, 1, 0), draw.items.items(), strict=False):
            n_shaded = sum(item.is_shaded for item in items)
            if not n_shaded:
                continue
            code, trace = kernels[len(grids) % len(kernels)]
            draw.jobs[series] = len(grids)
            warps = [trace] * n_shaded
            shader = {"shades": Shades(first, series, 0), "draw": work_of(draw) if len(grids) == first else None}
            made = grid(code, warps, index=len(grids), load_base=load_base, priority=priority, **shader)
            jobs.append(Job(encode(code), made.launch.function, 32, warps, priority=priority))
            grids.append(made)
            load_base += 16 * len(code)
    return grids, jobs


def timed(chip, draws, kernels=None):
    grids, jobs = shaders_of(draws, kernels or [(CHAIN, warp([0]))])
    timings = simulate_batch(power_on(chip), grids, Sampling(), lambda some: None, 1 << 40)
    return timings, [timing.draw for timing in timings if timing.draw], jobs


def test_one_triangle_by_hand():
    """Command 40; 3 indices until 43; the block starts at 143 and ends 12 cycles later; one primitive, one set up; one
    tile until 158; 4 samples of 16 a cycle, 32 bytes of 128; 10 cycles from 259 on,
    where the line of code is there; 4 pixels of 8 a cycle.
    """
    draw = plain([(3, 1, 1)], [(0, 1, 4, 4, 32, 4, 16)])
    timings, (found,), _ = timed(chip_of(), [draw])
    assert [(t.start_cycle, t.end_cycle) for t in timings] == [(43, 155), (159, 269)]
    assert (found.start_cycle, found.end_cycle) == (0, 270)
    busy = {"command": 40.0, "fetch": 3.0, "assembly": 1.0, "setup": 1.0, "scan": 1.0, "depth": 0.25, "write": 0.5}
    assert found.busy_cycles == busy
    assert found.blocked_cycles == dict.fromkeys(busy, 0.0)
    assert units_of(found) == {
        "command": (0, 40),
        "fetch": (40, 43),
        "assembly": (155, 156),
        "setup": (156, 157),
        "scan": (157, 158),
        "depth": (158, 159),
        "write": (269, 270),
    }
    assert waves_of(found) == [(143, "vertex", 155), (259, "pixel", 269)]
    assert found.work == {
        "state_changes": 0,
        "n_indices": 3,
        "n_primitives": 1,
        "n_accepted": 1,
        "n_tiles": 1,
        "n_pixels": 4,
        "n_samples": 4,
        "depth_nbytes": 32,
        "n_late_samples": 0,
        "late_depth_nbytes": 0,
        "n_written": 4,
        "written_nbytes": 16,
    }
    assert {unit: unit_cycles(unit, found.work, chip_of().graphics) for unit in busy} == busy


def units_of(found):
    return {unit: (first, found.last_cycle[unit]) for unit, first in found.first_cycle.items()}


def waves_of(found):
    return [(start, SHADER_STAGES[stage], end) for stage, start, end in found.waves.tolist()]


def beside_the_twin(chip, draws, kernels):
    timings, found, jobs = timed(chip, draws, kernels)
    twin = Draws(chip, jobs, draws).run()
    assert [(t.start_cycle, t.end_cycle) for t in timings] == [(job.start, job.end) for job in twin.jobs]
    seen = [(draw.start_cycle, draw.end_cycle, ledger_of(draw), sorted(waves_of(draw))) for draw in found]
    assert seen == twin.times()
    assert [traffic_of(draw) for draw in found] == [twin.traffic(number) for number in range(len(draws))]
    return found


def traffic_of(found):
    """Sectors, as the twin counts them."""
    return {unit: tuple(nbytes // 32 for nbytes in astuple(each)) for unit, each in found.traffic.items()}


def ledger_of(found):
    """Of each unit its first and last cycle, and those at work and blocked, which are no more than between these."""
    assert all(
        found.busy_cycles[unit] + found.blocked_cycles[unit] <= last - first
        for unit, (first, last) in units_of(found).items()
    )
    return {
        unit: (*times, found.busy_cycles[unit], found.blocked_cycles[unit]) for unit, times in units_of(found).items()
    }


def random_draw(rng):
    """Any stages, each of which makes fewer or more items of those of the stage before."""
    n = rng.randint(1, 9)
    items = {"vertex": [Item(None, True, {"n_indices": rng.randint(1, 96)}) for _ in range(n)]}
    if rng.random() < 0.4:
        items["hull"] = [Item(k, True, {"n_control_points": rng.randint(1, 32)}) for k in needed(rng, n, (1, 4, 9))]
        n = len(items["hull"])
        items["domain"] = [Item(k, True, {"n_tessellated": rng.randint(1, 32)}) for k in needed(rng, n, (0, 3, 12))]
        n = len(items["domain"])
    if n and rng.random() < 0.4:
        items["geometry"] = [Item(k, True, {"n_emitted": rng.choice([32, 96])}) for k in needed(rng, n, (1, 5, 12))]
        n = len(items["geometry"])
    items["primitive"] = [primitives(k, m := rng.randint(0, 32), rng.randint(0, m)) for k in needed(rng, n, (0, n, 14))]
    shades, n = rng.random() < 0.8, len(items["primitive"])
    items["pixel"] = [
        Item(
            k,
            shades,
            {
                "n_tiles": rng.randint(1, 9),
                "n_pixels": rng.randint(1, 32),
                "n_samples": rng.randint(0, 128),
                "depth_nbytes": rng.choice([0, 400, 1400]),
                "n_late_samples": rng.choice([0, 0, 70]),
                "late_depth_nbytes": rng.choice([0, 500]),
                "n_written": (written := rng.randint(0, 32)),
                "written_nbytes": 4 * written,
            },
        )
        for k in needed(rng, n, (0, 1, 5, 20))
    ]
    return Draw(items, state_changes=rng.randrange(3), drains=rng.random() < 0.3)


def needed(rng, n, sizes):
    """Which of `n` items each item of the next series needs last; None stands for the draw's command alone."""
    needs = sorted(rng.randrange(n) for _ in range(rng.choice(sizes))) if n else []
    return [None if rng.random() < 0.05 else k for k in needs]


@pytest.mark.parametrize("seed", long_from(3, range(8)))
def test_random_draws_beside_the_twin(seed):
    rng = random.Random(seed)
    draws = [random_draw(rng) for _ in range(rng.randint(1, 5))]
    chip = chip_of(
        batches_in_flight=rng.choice([1, 2, 8, 100]),
        control_points_in_flight=rng.choice([32, 64, 1000]),
        tessellated_vertices_in_flight=rng.choice([32, 100]),
        emitted_vertices_in_flight=rng.choice([32, 200]),
        assembled_batches=rng.choice([1, 3, 100]),
        set_up_batches=rng.choice([1, 3, 100]),
        scanned_waves=rng.choice([1, 2, 50]),
        waves_in_flight=rng.choice([1, 4, 100]),
        draw_cycles=rng.choice([0.0, 40.0, 333.3]),
    )
    kernels = [([ffma(0, 0)] * n + [make("EXIT")], warp([0])) for n in (1, 3, 40)]
    beside_the_twin(chip, draws, kernels)


SMALL_L2 = {"l2_nbytes": 16 * 1024, "l2_slices": 4}  # 128 lines, in 8 sets


def random_accesses(rng, lines):
    """Of some units of an item: lines of which it reads and writes sectors, or parts of these."""
    found = []
    for line in rng.sample(range(lines), rng.choice([0, 1, 4, 9])):
        reads, writes = rng.choice([(15, 0), (15, 15), (6, 4), (0, 15), (0, 9), (1, 14)])
        in_part = [place for place in range(4) if writes & ~reads & 1 << place and rng.random() < 0.3]
        missing = sum(rng.choice([0xF0, 0x0F, 0x81]) << 8 * place for place in in_part)
        found.append((line, reads, writes, missing))
    return found


@pytest.mark.parametrize("seed", long_from(3, range(6)))
def test_random_traffic_beside_the_twin(seed):
    """Units and shaders share few lines, of which some do not fit the L2."""
    rng = random.Random(seed)
    draws = [random_draw(rng) for _ in range(rng.randint(1, 4))]
    for draw in draws:
        for series, unit in ASKING:
            for item in draw.items.get(series, ()):
                item.accesses[unit] = random_accesses(rng, rng.choice([20, 400]))
    changes = {"graphics.writes_in_flight": rng.choice([1, 3, 100]), "graphics.waves_in_flight": rng.choice([2, 50])}
    changes["dram_masks_writes"] = rng.choice([0, 1])
    changes["l2_far_cycles"] = rng.choice([250, 400])
    chip = altered(chip_of(), SMALL_L2 | changes, "small")
    load = [make("LDG.32", dst=0, a=20, mods=1 << 6), ffma(1, 0), make("EXIT")]
    kernels = [
        ([ffma(0, 0)] * 3 + [make("EXIT")], warp([0])),
        (load, warp([0], [access([4 * k for k in range(0, 30, 3)])])),
    ]
    found = beside_the_twin(chip, draws, kernels)
    assert any(sum(sectors) for draw in found for sectors in traffic_of(draw).values())


CROWD = plain([(3, 1, 1)], [(0, 1, 4, 4, 32, 4, 16)] * 90)
CROWDED = [(CHAIN, warp([0])), ([ffma(0, 0)] * 150 + [make("EXIT")], warp([0]))]


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
    draw = plain([(3, 1, 1)], [(0, 1, 4, 4, 32, 4, 16)] * 2)
    _, (found,), _ = timed(chip_of(waves_in_flight=1), [draw])
    assert found.blocked_cycles["depth"] == 269 - 159.25


def test_a_draw_that_drains_begins_behind_the_last_write():
    draws = [plain([(3, 1, 1)], [(0, 1, 4, 4, 32, 4, 16)]), plain([(3, 1, 0)], [], drains=True)]
    _, found, _ = timed(chip_of(), draws)
    assert [(draw.start_cycle, draw.end_cycle) for draw in found] == [(0, 270), (269, 313 + 100 + 12 + 1)]


def test_part_of_a_launch_is_no_part_of_a_draw():
    """--sample-blocks leaves out blocks of launches whose rate is steady, but units wait for each of a draw."""
    grids, _ = shaders_of([plain([(3, 1, 0)] * 6000, [])], [([ffma(0, 0)] * 400 + [make("EXIT")], warp([0]))])
    chip = chip_of(indices_per_cycle=300.0, batches_in_flight=1000)
    (timing,) = simulate_batch(power_on(chip), grids, Sampling(), lambda some: None, 1 << 40, sample_blocks=True)
    assert timing.extrapolation is None and timing.draw.end_cycle >= timing.end_cycle


def test_a_chip_without_graphics():
    with pytest.raises(
        UsageError, match=r"^a100: the chip draws nothing: its file has no table \[graphics\]; name one that has"
    ):
        timed(load_chip("a100"), [plain([(3, 1, 1)], [])])
