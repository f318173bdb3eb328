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

WIDTH, HEIGHT = 1920, 1080
N_PIXELS, PIXEL_NBYTES, TILE_PIXELS = WIDTH * HEIGHT, 4, 64
# One triangle over all of the target.
COVERING = [(-1, -1, 0.5, 1), (3, -1, 0.5, 1), (-1, 3, 0.5, 1)]


class Draws(Observer):
    def __init__(self):
        self.timings = []

    def finished(self, result):
        if result.timing.draw is not None:
            self.timings.append(result.timing.draw)


def pass_on(chip, path):
    """The DrawTiming of a pass that colors each pixel of a target of rgba8 once."""
    draws = Draws()
    with RecordWriter(path) as recorder:
        sampling = Sampling(period_cycles=1024)
        gpu = open_device(Settings(chip=chip, recorder=recorder, observer=draws, sampling=sampling))
        shaders = gpu.load(ROOT / "tests/draws/plain.cu")
        frame = Frame(gpu, WIDTH, HEIGHT, depth=False)
        counts = frame.draw(Pipeline(shaders.placed, shaders.tinted), vertices(np.float32(COVERING), (1, 0.5, 0, 1)))
        gpu.executor.finish()
    assert counts.passed == N_PIXELS
    (timing,) = draws.timings
    return timing


def cycles_by_unit(chip, n_pixels):
    """Least cycles that so many pixels take in the fixed-function units, of the chip's rates."""
    numbers = chip.graphics
    return {
        "scan": max(n_pixels / numbers["pixels_per_cycle"], n_pixels / TILE_PIXELS / numbers["tiles_per_cycle"]),
        "ROPs": n_pixels * max(1 / numbers["color_pixels_per_cycle"], PIXEL_NBYTES / numbers["color_nbytes_per_cycle"]),
    }


def bound_of(chip):
    """Least cycles of the pass. Nothing leaves the L2 before it is full; then as many bytes leave it as come, by the
    DRAM's rate or that of the units.
    """
    n_kept = chip.l2_nbytes // PIXEL_NBYTES
    rest = N_PIXELS - n_kept
    dram = {"DRAM": rest * PIXEL_NBYTES / most_nbytes(chip.describe())["DRAM"]}
    fills, spills = cycles_by_unit(chip, n_kept), cycles_by_unit(chip, rest) | dram
    return max(fills, key=fills.get), max(spills, key=spills.get), max(fills.values()) + max(spills.values())


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "filling", "spilling"),
    [("rtx3090", "scan", "scan"), ("v100", "scan", "scan"), ("t4", "ROPs", "DRAM")],  # rtx3090: the ROPs are as fast
)
def test_a_full_screen_pass_takes_what_its_bound_says(name, filling, spilling, tmp_path):
    """From the first tile that is scanned to the end: never less, and at most 12 % more, since the first wave must come
    through its shader and the last one through the L2.
    """
    chip = load_chip(name)
    draw = pass_on(chip, tmp_path / "pass.gprec")
    *units, least = bound_of(chip)
    assert units == [filling, spilling]
    assert 1 <= (draw.end_cycle - draw.first_cycle["scan"]) / least <= 1.12
    assert draw.traffic["write"].l2_write_nbytes == N_PIXELS * PIXEL_NBYTES
