"""Fills whose time is known: the units' rate, the bandwidth of the L2 or that of the DRAM, whichever is the least."""

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.chips.draw_units import most_nbytes
from gpuprof.graphics.stages.sectors import NOT, Surface, lines_of_quads
from gpuprof.timing.batch import Shades
from gpuprof.timing.draw_tables import WORK, Accesses, DrawWork
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.layout import QUEUE, SECTOR_NBYTES, UNIT_ACCESS
from gpuprof.timing.state.machine import power_on
from tests.support.timing_support import warp
from tests.timing.test_grids import CHAIN, grid

WIDTH = 16384  # pixels
WAVE_PIXELS, TARGET = 32, 1 << 32
FAST_RASTER = {"graphics.pixels_per_cycle": 4096.0, "graphics.tiles_per_cycle": 512.0}


def accesses_of(rows, surface, samples):
    """Of waves, half a tile each, that cover so many rows of pixels, all samples."""
    tile, quad = np.arange(rows // 8 * (WIDTH // 8)), np.arange(16)
    x = (tile % (WIDTH // 8) * 8)[:, None] + quad % 4 * 2
    y = (tile // (WIDTH // 8) * 8)[:, None] + quad // 4 * 2
    x, y = x.ravel().astype(np.int32), y.ravel().astype(np.int32)
    masks = np.full(len(x), (1 << 4 * samples) - 1, np.uint16)
    found = lines_of_quads(x, y, (masks,), np.arange(8, len(x) + 1, 8), [surface], WIDTH, samples)
    lines = np.zeros(len(found.line), UNIT_ACCESS)
    for name in UNIT_ACCESS.names:
        lines[name] = getattr(found, name)
    return Accesses(found.n_lines, lines)


def fill(chip, rows, nbytes, blends=False, samples=1, times=1):
    """A draw of so many rows of pixels, `nbytes` a sample, all of it so many times; no pixel shader."""
    accesses = accesses_of(rows, Surface(TARGET, nbytes, 0 if blends else NOT, 0), samples)
    accesses = Accesses(np.tile(accesses.n_lines, times), np.tile(accesses.lines, times))
    vertex, primitive = np.zeros(1, WORK["vertex"]), np.zeros(1, WORK["primitive"])
    vertex["needs"], vertex["is_shaded"] = -1, 1
    waves = np.zeros(len(accesses.n_lines), WORK["pixel"])
    waves["n_pixels"] = waves["n_written"] = WAVE_PIXELS
    waves["written_nbytes"] = WAVE_PIXELS * samples * nbytes * (1 + blends)
    work = DrawWork(0, False, {"vertex": vertex, "primitive": primitive, "pixel": waves}, {"write": accesses})
    shader = grid(CHAIN, [warp([0])], shades=Shades(0, "vertex", 0), draw=work)
    (timing,) = simulate_batch(power_on(chip), [shader], Sampling(), lambda some: None, 1 << 40)
    return timing.draw


def rates_of(chip, draw, n_waves, nbytes, blends=False, samples=1):
    """Cycles of a fill by the rate of the raster operation units, and by those of the memories."""
    numbers = chip.graphics
    pixels, of_wave = WAVE_PIXELS * n_waves, WAVE_PIXELS * samples * nbytes * (1 + blends)
    rops = max(pixels / numbers["color_pixels_per_cycle"], n_waves * of_wave / numbers["color_nbytes_per_cycle"])
    most, traffic = most_nbytes(chip.describe()), draw.traffic["write"]
    # a channel's bus turns once for each queue of sectors that it writes between reads
    queues = traffic.dram_write_nbytes / SECTOR_NBYTES / QUEUE / chip.dram_channels if blends else 0
    return {
        "ROPs": rops,
        "L2": (traffic.l2_read_nbytes + traffic.l2_write_nbytes) / most["L2"],
        "DRAM": (traffic.dram_read_nbytes + traffic.dram_write_nbytes) / most["DRAM"]
        + queues * chip.dram_turn_ns * chip.clock_mhz / 1000,
    }


SMALL_L2 = {"l2_nbytes": 1 << 17}  # it is full soon
FILLS = [
    ("t4", "DRAM", {"nbytes": 4}),  # 64 ROPs at 1.59 GHz would write 407 GB/s
    ("t4", "DRAM", {"nbytes": 4, "blends": True}),
    ("rtx3090", "ROPs", {"nbytes": 4}),
    ("rtx3090", "DRAM", {"nbytes": 8, "blends": True}),
    ("rtx3090", "DRAM", {"nbytes": 4, "samples": 4}),
    ("v100", "ROPs", {"nbytes": 4}),
    ("v100", "DRAM", {"nbytes": 16}),
]


def check_fill(name, bound, rows, fills, **changes):
    """Within 6 %."""
    chip = altered(load_chip(name), FAST_RASTER | changes, name)
    draw = fill(chip, rows, **fills)
    n_waves = rows * WIDTH // WAVE_PIXELS * fills.get("times", 1)
    rates = rates_of(chip, draw, n_waves, **{key: value for key, value in fills.items() if key != "times"})
    assert max(rates, key=rates.get) == bound
    assert draw.end_cycle - draw.first_cycle["write"] == pytest.approx(rates[bound], rel=0.06)
    return draw.traffic["write"]


@pytest.mark.parametrize(("name", "bound", "fills"), FILLS[:4])
def test_a_fill_beyond_the_l2(name, bound, fills):
    check_fill(name, bound, 64, fills, **SMALL_L2)


@pytest.mark.long
@pytest.mark.parametrize(("name", "bound", "fills"), FILLS)
def test_a_fill_far_beyond_the_l2(name, bound, fills):
    """64 MB of 4-byte pixels; the cards' L2s have 4 and 6."""
    check_fill(name, bound, 1024, fills)


@pytest.mark.parametrize(("dram_gbytes_per_s", "bound"), [(110.0, "DRAM"), (220.0, "DRAM"), (880.0, "ROPs")])
def test_the_dram_decides_until_it_is_as_fast_as_the_units(dram_gbytes_per_s, bound):
    check_fill("t4", bound, 64, {"nbytes": 4}, dram_gbytes_per_s=dram_gbytes_per_s, **SMALL_L2)


@pytest.mark.parametrize("size, kept", [(8, 2 << 20), (32, 0)])
def test_what_is_drawn_over_within_the_l2_stays_there(size, kept):
    """T4's L2 has 4 MB and keeps an eighth of it changed. Four times 512 KB stay; four times 2 MB are written as the
    DRAM has time, as fast as the ROPs go.
    """
    traffic = check_fill("t4", "ROPs", size, {"nbytes": 4, "times": 4})
    assert traffic.l2_write_nbytes == size << 18
    assert traffic.dram_write_nbytes <= traffic.l2_write_nbytes - kept


def test_what_is_drawn_over_beyond_the_l2_leaves_it_each_time():
    """Sixteen times what an L2 of 128 KB has, twice: all but the last of it is written to the DRAM, or will be."""
    traffic = check_fill("t4", "DRAM", 32, {"nbytes": 4, "times": 2}, **SMALL_L2)
    assert traffic.dram_write_nbytes == pytest.approx((4 << 20) - (1 << 17), rel=0.01)
