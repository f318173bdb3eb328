"""A full-screen pass with a short shader takes as long as the unit or the memory that binds it."""

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.chips.draw_units import most_nbytes
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import Pipeline
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import open_device
from gpuprof.timing.sampling.configuration import Sampling
from tests.draws.scene import vertices
from tests.paths import ROOT

PIXEL_NBYTES, TILE_PIXELS, SECTOR_NBYTES = 4, 64, 32
# One triangle over all of the target.
COVERING = [(-1, -1, 0.5, 1), (3, -1, 0.5, 1), (-1, 3, 0.5, 1)]


class Draws(Observer):
    def __init__(self):
        self.timings = []

    def finished(self, result):
        if result.timing.draw is not None:
            self.timings.append(result.timing.draw)


def pass_on(chip, width, height, path):
    """The DrawTiming of a pass that colors each pixel of a target of rgba8 once."""
    draws = Draws()
    with RecordWriter(path) as recorder:
        sampling = Sampling(period_cycles=1024)
        gpu = open_device(Settings(chip=chip, recorder=recorder, observer=draws, sampling=sampling))
        shaders = gpu.load(ROOT / "tests/draws/plain.cu")
        frame = Frame(gpu, width, height, depth=False)
        counts = frame.draw(Pipeline(shaders.placed, shaders.tinted), vertices(np.float32(COVERING), (1, 0.5, 0, 1)))
        gpu.executor.finish()
    assert counts.passed == width * height
    (timing,) = draws.timings
    return timing


def cycles_by_unit(chip, n_pixels):
    """Least cycles that so many pixels take in the fixed-function units, of the chip's rates."""
    numbers = chip.graphics
    return {
        "scan": max(n_pixels / numbers["pixels_per_cycle"], n_pixels / TILE_PIXELS / numbers["tiles_per_cycle"]),
        "ROPs": n_pixels * max(1 / numbers["color_pixels_per_cycle"], PIXEL_NBYTES / numbers["color_nbytes_per_cycle"]),
    }


def bound_of(chip, n_pixels):
    """The unit that binds the pass, and the least cycles that it takes. All pixels go through the units. Once sets have
    as many changed lines as they keep, the DRAM writes what neither the L2 nor the queues of its channels can hold.
    """
    n_posted = chip.dram_channels * chip.dram_posted_sectors * SECTOR_NBYTES // PIXEL_NBYTES
    n_kept = chip.l2_nbytes // PIXEL_NBYTES
    n_before = n_kept * chip.l2_dirty_ways // chip.l2_ways
    dram = (n_pixels - n_kept - n_posted) * PIXEL_NBYTES / most_nbytes(chip.describe())["DRAM"]
    least = cycles_by_unit(chip, n_pixels) | {"DRAM": max(cycles_by_unit(chip, n_before).values()) + dram}
    return max(least, key=least.get), max(least.values())


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "width", "height", "binding"),
    [
        ("rtx3090", 1920, 1080, "scan"),  # the ROPs are as fast
        ("v100", 1920, 1080, "scan"),
        ("t4", 1920, 1080, "ROPs"),
        ("t4", 2560, 1440, "DRAM"),
    ],
)
def test_a_full_screen_pass_takes_what_its_bound_says(name, width, height, binding, tmp_path):
    """From the first tile that is scanned to the end: never less, and at most 12 % more, since the first wave must come
    through its shader and the last one through the L2.
    """
    chip = load_chip(name)
    draw = pass_on(chip, width, height, tmp_path / "pass.gprec")
    unit, least = bound_of(chip, width * height)
    assert unit == binding
    assert 1 <= (draw.end_cycle - draw.first_cycle["scan"]) / least <= 1.12
    assert draw.traffic["write"].l2_write_nbytes == width * height * PIXEL_NBYTES
