"""The frames of frames.py: what each is made of, and Mesa draws the same."""

import numpy as np
import pytest

from tests.draws.frames import FRAMES, OnGpuprof
from tests.draws.scene import gpu
from tests.support.matrices import long_but_every

SIDE = 32  # pixels of a picture
AREA = SIDE * SIDE


def drawn(name, size):
    painter = OnGpuprof(gpu())
    return FRAMES[name][0](painter, size), painter.counts


# Of each draw: triangles, and samples that pass all tests, None where rims and depths decide. A backdrop is a square.
MESH, COARSE = 2 * SIDE**2, 2 * (SIDE // 4) ** 2
SQUARE, GRASS = (2, AREA), 2 * (SIDE // 8) ** 2
MADE_OF = {
    "vertex_bound": [SQUARE, (MESH, 64), (MESH, 64)],  # the mesh covers a quarter of each side: 8 x 8 pixels
    "fill_bound": [SQUARE] * 4,
    "tiny_triangles": [SQUARE, (2 * (SIDE // 2) ** 2, AREA)],
    "overdraw": [SQUARE] * 8,
    "alpha": [SQUARE, (2 * SIDE, None)],
    "state_changes": [SQUARE] + [(8, None)] * 4 * (SIDE // 8),
    "shadow": [(COARSE, None), (COARSE, None), SQUARE, (COARSE, AREA), (COARSE, None)],
    "geometry_amplified": [SQUARE, (GRASS, None)],
    "tessellated": [SQUARE, (16, None)],  # patches
    "multi_sampled": [(2, 4 * AREA), (2 * SIDE, None)],
    "texture_bound": [SQUARE] * 2,
    "pixel_bound": [SQUARE] * 2,
    "post_processing": [(GRASS, AREA), *[SQUARE] * 3],
    "depth_first": [(MESH, AREA)] * 2,
    "smoke": [(2, 4 * AREA), (48, None)],
    "boxes": [SQUARE, (12 * 8 * SIDE, None)],
    "large_target": [SQUARE] * 2,
    "crowd": [SQUARE, (48, None), SQUARE],
    "landscape": [(2 * (SIDE // 2) ** 2, AREA), (COARSE, AREA // 4)],
}


@pytest.mark.parametrize("name", long_but_every(2, FRAMES))
def test_what_frames_are_made_of(name):
    frame, counts = drawn(name, SIDE)
    found = [
        (each.primitives, None if passed is None else each.passed)
        for each, (_, passed) in zip(counts, MADE_OF[name], strict=True)
    ]
    assert found == MADE_OF[name]
    assert len(np.unique(frame.pixels().reshape(-1, 4), axis=0)) > 5
    assert {each.emitted for each in counts} == ({0, 6 * GRASS} if name == "geometry_amplified" else {0})
    assert any(each.discarded for each in counts) == (name == "alpha")
    assert sum(each.tessellated for each in counts) == (16 * 2 * (SIDE // 8) ** 2 if name == "tessellated" else 0)
    if name == "boxes":
        assert counts[1].culled == 6 * 8 * SIDE
    if name == "tiny_triangles":
        assert counts[1].quad_efficiency < 0.6


# Pixels whose colors may differ by more than 3 / 255: where a rim moves by 1 / 256 pixel, a texel of a shadow map or a
# level of detail changes.
DIFFERENT = {"geometry_amplified": 0.01, "tessellated": 0.01, "shadow": 0.01, "texture_bound": 0.005}


@pytest.mark.long
@pytest.mark.parametrize("name", list(FRAMES))
def test_mesa_draws_the_same(name):
    from tests.draws.glsl import OnMesa

    theirs, size = OnMesa(), 64
    expected = FRAMES[name][0](theirs, size).pixels().astype(np.float64)
    frame, counts = drawn(name, size)
    scale = 255 if frame.formats == ("rgba16f",) else 1
    difference = np.abs(frame.pixels().astype(np.float64) - expected).max(2) * scale
    assert (difference > 3).mean() <= DIFFERENT.get(name, 0)
    assert [each.primitives for each in counts] == [primitives for primitives, _ in theirs.queries]
    passed = zip([each.passed for each in counts], [samples for _, samples in theirs.queries], strict=True)
    assert all(abs(ours - other) <= DIFFERENT.get(name, 0) * max(ours, other) for ours, other in passed)
