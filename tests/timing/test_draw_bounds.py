"""Draws whose time is known: bound by one unit, by a shader, or by what waits for what; and quicker units."""

import random

import pytest

from gpuprof.chips.draw_units import COSTS, unit_cycles
from gpuprof.chips.fields import GRAPHICS
from gpuprof.isa.encoding import make
from tests.readable.pipeline import Draw, Item
from tests.support.timing_support import warp
from tests.timing.test_draw_pipeline import chip_of, primitives, random_draw, timed
from tests.timing.test_timing import ffma

N = 100  # items of each series
PIXELS = {
    "n_tiles": 16,
    "n_pixels": 32,
    "n_samples": 32,
    "depth_nbytes": 256,
    "n_late_samples": 32,
    "late_depth_nbytes": 256,
    "n_written": 32,
    "written_nbytes": 128,
}
FAST = {rate: 1000.0 for costs in COSTS.values() for _, rate in costs}
BOUND_CYCLES = 20_000


def long_draw(needs=lambda k: k):
    """Every stage, each of whose items needs one of the stage before, but pixels: those that are given."""
    items = {
        "vertex": [Item(None, True, {"n_indices": 96}) for _ in range(N)],
        "hull": [Item(k, True, {"n_control_points": 32}) for k in range(N)],
        "domain": [Item(k, True, {"n_tessellated": 32}) for k in range(N)],
        "geometry": [Item(k, True, {"n_emitted": 96}) for k in range(N)],
        "primitive": [primitives(k, 32, 16) for k in range(N)],
        "pixel": [Item(needs(k), True, PIXELS) for k in range(N)],
    }
    return Draw(items)


def cycles_of(draw, *kernel, **numbers):
    _, (found,), _ = timed(chip_of(**(FAST | numbers)), [draw], kernel or None)
    return found, found.end_cycle - found.start_cycle


@pytest.mark.parametrize(
    ("unit", "amount", "rate"),
    [(unit, amount, rate) for unit, costs in COSTS.items() for amount, rate in costs if unit != "write"]
    + [("write", amount, rate) for amount, rate in COSTS["write"] if rate.startswith("color")],
)
def test_a_slow_unit_decides(unit, amount, rate):
    """The draw takes as long as that unit works, and it is at work all the time but for the first and last items."""
    work = sum(item.amounts.get(amount, 0) for items in long_draw().items.values() for item in items)
    slow = work / BOUND_CYCLES
    found, cycles = cycles_of(long_draw(), **{rate: slow})
    assert found.work[amount] == work
    assert found.busy_cycles[unit] == pytest.approx(unit_cycles(unit, found.work, {**FAST, rate: slow}), rel=0.01)
    assert cycles == pytest.approx(BOUND_CYCLES, rel=0.05)


@pytest.mark.parametrize("stage", ["vertex", "pixel"])
def test_a_long_shader_decides(stage):
    """An addition of integers takes the pipe of a partition for two cycles; eight partitions take all their
    warps four times.
    """
    adds = [make("IADD3", dst=1, a=0, b=2, c=3)] * 600
    long, short = ([*adds, make("EXIT")], warp([0])), ([make("EXIT")], warp([0]))
    kernels = [long if each == stage else short for each in ("vertex", "pixel")]
    items = {series: long_draw().items[series][:1] * 4 * 96 for series in ("vertex", "primitive", "pixel")}
    _, cycles = cycles_of(Draw(items), *kernels)
    assert cycles == pytest.approx(4 * 96 * 600 * 2 / 8, rel=0.05)


@pytest.mark.parametrize(("needs", "cycles"), [(lambda k: k, BOUND_CYCLES), (lambda k: N - 1, 2 * BOUND_CYCLES)])
def test_front_and_back_end_overlap_where_they_can(needs, cycles):
    """Fetch and write take the same time. Waves that need the last primitives wait for all of the front end."""
    slow = {"indices_per_cycle": N * 96 / BOUND_CYCLES, "color_nbytes_per_cycle": N * 128 / BOUND_CYCLES}
    assert cycles_of(long_draw(needs), **slow)[1] == pytest.approx(cycles, rel=0.05)


@pytest.mark.parametrize(
    ("seed", "n_draws"),
    [(1, 1), pytest.param(6, 4, marks=pytest.mark.long), pytest.param(8, 4, marks=pytest.mark.long)],
)
def test_quicker_units_and_more_room_are_not_slower(seed, n_draws):
    """But for 2 %: warps that come sooner may come in the way of others on an SM."""
    rng = random.Random(seed)
    draws = [random_draw(rng) for _ in range(n_draws)]
    kernels = [([ffma(0, 0)] * n + [make("EXIT")], warp([0])) for n in (1, 3, 40)]
    numbers = {
        "batches_in_flight": 2,
        "control_points_in_flight": 64,
        "tessellated_vertices_in_flight": 64,
        "emitted_vertices_in_flight": 96,
        "assembled_batches": 3,
        "set_up_batches": 3,
        "scanned_waves": 2,
        "waves_in_flight": 4,
    }
    _, before, _ = timed(chip_of(**numbers), draws, kernels)
    for field in GRAPHICS:
        factor = 0.5 if field.unit == "cycles" else 2
        number = chip_of(**numbers).graphics[field.name] * factor
        _, after, _ = timed(chip_of(**(numbers | {field.name: number})), draws, kernels)
        assert after[-1].end_cycle <= 1.02 * before[-1].end_cycle, field.name
