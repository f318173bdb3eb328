"""What units of draws read and write: lines and sectors beside brute force, and whole draws whose bytes are known."""

import random

import numpy as np
import pytest

from gpuprof.device.graphics_state.draw_state import Buffers, DepthState, StencilSide
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import ADD, LESS, Pipeline
from gpuprof.graphics.stages.sectors import NOT, Surface, lines_of_quads
from gpuprof.records.writer import RecordWriter
from gpuprof.run.drawing.target_traffic import fetched
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.draws.scene import SHADERS, vertices
from tests.draws.test_timed import Results, chip_of

FIRST = 1 << 32


def slow_lines(x, y, masks, last, surfaces, width, samples):
    """Of each item, by line: sectors read and written, and words of these that are neither read nor written whole."""
    found = [{} for _ in last]
    for surface in surfaces:
        for q, item in enumerate(np.searchsorted(last, range(len(x)), side="right").tolist()):
            for bit in range(4 * samples):
                pixel, sample = divmod(bit, samples)
                place = ((y[q] + pixel // 2) * width + x[q] + pixel % 2) * samples + sample
                start = surface.address + place * surface.nbytes
                for byte in range(start, start + surface.nbytes):
                    for kind, mask in (("reads", surface.reads), ("writes", surface.writes)):
                        if mask != NOT and masks[mask][q] >> bit & 1:
                            lines = found[item].setdefault(
                                byte // 128, {"reads": set(), "writes": set(), "whole": set()}
                            )
                            lines[kind].add(byte % 128)
                            if kind == "writes" and surface.nbytes >= 4 and not surface.is_partial:
                                lines["whole"].add(byte % 128)
    return [{line: in_numbers(**each) for line, each in lines.items()} for lines in found]


def in_numbers(reads, writes, whole):
    """Bytes of a line."""
    reads, writes = ({byte // 32 for byte in each} for each in (reads, writes))
    words = {k for k in range(32) if set(range(4 * k, 4 * k + 4)) <= whole}
    missing = {k for k in range(32) if k // 8 in writes - reads} - words
    return tuple(sum(1 << k for k in each) for each in (reads, writes, missing))


@pytest.mark.parametrize("seed", range(6))
def test_lines_of_random_quads(seed):
    rng = random.Random(seed)
    samples, width, n = rng.choice([1, 4]), rng.choice([3, 33, 64, 100]), 24
    x = np.array([rng.randrange(0, width, 2) for _ in range(n)], np.int32)
    y = np.array([rng.randrange(0, 40, 2) for _ in range(n)], np.int32)
    masks = [np.array([rng.getrandbits(4 * samples) for _ in range(n)], np.uint16) for _ in range(2)]
    last = np.array([*sorted(rng.sample(range(n), 4)), n])
    surfaces = [
        Surface(
            FIRST * (k + 1),
            rng.choice([1, 4, 8, 16]),
            rng.choice([NOT, 0, 1]),
            rng.choice([NOT, 0, 1]),
            rng.random() < 0.3,
        )
        for k in range(3)
    ]
    found = lines_of_quads(x, y, masks, last, surfaces, width, samples)
    rows = list(zip(*(column.tolist() for column in found[1:]), strict=True))
    ends = np.cumsum(found.n_lines)
    items = [rows[end - n_lines : end] for n_lines, end in zip(found.n_lines, ends, strict=True)]
    assert [{line: tuple(each) for line, *each in item} for item in items] == slow_lines(
        x.tolist(), y.tolist(), [mask.tolist() for mask in masks], last.tolist(), surfaces, width, samples
    )


def test_indices_are_fetched_once_an_instance():
    """25 indices of 2 bytes from byte 20 of a sector on: three sectors, in two batches of the same instance."""
    buffers = Buffers(0, 9, FIRST + 20, 25, 2, instances=2)
    found = fetched(buffers, np.array([15, 9] * 2))  # one is left over: it stands for no primitive
    assert found.n_lines.tolist() == [1, 1, 1, 1]
    assert [(line - FIRST // 128, reads) for line, _, reads, _ in found.lines.tolist()] == [(0, 0b11), (0, 0b100)] * 2
    assert fetched(Buffers(0, 9, 0, 9, 4), np.array([9])).n_lines.tolist() == [0]


TRIANGLE = np.float32([[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]])  # over all of the view
N = 64 * 32 * 4  # bytes of a target of four bytes a pixel
FETCH = (32, 0)  # a sector of indices
ALWAYS, NOTHING = DepthState("always", write=True), DepthState()
COUNT = StencilSide(passes="increment")
DRAWS = {
    "a color": ({}, {"depth": NOTHING}, [{"write": (0, N)}]),
    "depths in front, then behind": ({"depths": (0.5, 0.7)}, {}, [{"depth": (N, N), "write": (0, N)}, {}]),
    "depths from afar": ({"depths": (0.7, 0.5)}, {}, [{"depth": (N, N), "write": (0, N)}] * 2),
    "depths that pass": ({}, {"depth": ALWAYS}, [{"depth": (0, N), "write": (0, N)}]),
    "depths that fail": ({}, {"depth": DepthState("greater")}, [{"depth": (N, 0)}]),
    "depths alone": ({"pixel": None}, {}, [{"depth": (N, N)}]),
    # a byte a pixel, but whole sectors: a wave has eight pixels of a row
    "stencils": ({"stencil": True}, {"depth": NOTHING, "stencil": COUNT}, [{"depth": (N, N), "write": (0, N)}]),
    "blending": ({}, {"depth": NOTHING, "blend": ADD}, [{"write": (N, N)}]),
    "halves": ({"formats": ("rgba16f",)}, {"depth": NOTHING, "blend": ADD}, [{"write": (2 * N, 2 * N)}]),
    "two colors": ({"formats": ("rgba8", "rgba32f")}, {"depth": NOTHING}, [{"write": (0, 5 * N)}]),
    "four samples": ({"samples": 4}, {}, [{"depth": (4 * N, 4 * N), "write": (0, 4 * N)}]),
    "no color": ({}, {"color_mask": ""}, [{"depth": (N, N)}]),
    # nine pixels of two squares of three are discarded, and a sector has eight: none is left out
    "discarded": ({"pixel": "checked"}, {}, [{"write": (N, 2 * N)}]),
}


@pytest.mark.parametrize("what", DRAWS)
def test_what_units_read_and_write(tmp_path, what):
    """Triangles over all of 64 x 32 pixels: bytes of the L2. What the first one reads comes from the DRAM."""
    targets, state, expected = DRAWS[what]
    depths, pixel = targets.get("depths", (0.5,)), targets.get("pixel", "tinted")
    targets = {name: value for name, value in targets.items() if name not in ("depths", "pixel")}
    results = Results()
    with RecordWriter(tmp_path / "a.gprec") as recorder:
        gpu = open_device(Settings(chip=chip_of(), recorder=recorder, observer=results))
        shaders = gpu.load(SHADERS)
        frame = Frame(gpu, 64, 32, **targets)
        pipeline = Pipeline(shaders.placed, shaders[pixel] if pixel else None, **{"depth": LESS} | state)
        for depth in depths:
            frame.clear() if depth == depths[0] else None
            frame.draw(pipeline, vertices(TRIANGLE + np.float32([0, 0, depth, 0])), np.uint16([0, 1, 2]))
        gpu.executor.finish()
    draws = [each.timing.draw for each in results.found if each.timing.draw]
    found = [
        {unit: (each.l2_read_nbytes, each.l2_write_nbytes) for unit, each in draw.traffic.items()} for draw in draws
    ]
    nothing = {"depth": (0, 0), "write": (0, 0)}
    assert found == [{"fetch": FETCH} | nothing | each for each in expected]
    waves_of_sector = 4 if what == "stencils" else 1  # that read it, one of which from the DRAM
    for traffic in draws[0].traffic.values():
        assert traffic.dram_read_nbytes in (traffic.l2_read_nbytes, traffic.l2_read_nbytes // waves_of_sector)
        assert traffic.dram_write_nbytes == 0  # the L2 holds it all
