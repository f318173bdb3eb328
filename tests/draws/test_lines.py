"""Lines and points: coverage, depths and colors, against the diamond rule as it is written and Mesa's llvmpipe."""

import numpy as np
import pytest

from gpuprof.device.graphics_state.draw_state import DepthState, StencilSide, Tessellation
from gpuprof.errors import UsageError
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.pipeline import LESS, Pipeline
from tests.draws import mesa
from tests.draws.scene import frame, on_grid, pipeline, vertices
from tests.draws.test_tessellation import pipeline as patched, shaders as patch_shaders
from tests.readable.lines import slow_line

WIDTH, HEIGHT = 128, 64  # places on the grid are exact in floats


def some_ends(rng, n, length=None):
    """float64 (n, 2, 2): ends in the view, on the grid of 1/256 pixel."""
    start = 2 + rng.random((n, 1, 2)) * (WIDTH - 4, HEIGHT - 4)
    end = 2 + rng.random((n, 1, 2)) * (WIDTH - 4, HEIGHT - 4)
    if length:
        end = start + rng.uniform(-length, length, (n, 1, 2))
    return np.floor(np.concatenate([start, end], 1) * 256) / 256


def line_vertices(ends, rng, w=1.0):
    n = 2 * len(ends)
    colors = rng.uniform(0.2, 1, (n, 4))
    return vertices(on_grid(ends.reshape(-1, 2), WIDTH, HEIGHT, rng.random(n), w), colors)


@pytest.mark.parametrize("length", [12, 1.5])
def test_lines_cover_the_diamonds_that_they_leave(length):
    rng = np.random.default_rng(1)
    for ends in some_ends(rng, 8, length):
        drawn = frame(WIDTH, HEIGHT, depth=False)
        counts = drawn.draw(pipeline(topology="lines"), line_vertices(ends[None], rng))
        y, x = np.nonzero(drawn.pixels()[..., 3])
        expected = slow_line(*ends.tolist(), WIDTH, HEIGHT)
        assert set(zip(x.tolist(), y.tolist(), strict=True)) == expected, ends
        assert counts.passed == len(expected)


@pytest.mark.parametrize(
    "ends, expected",
    [
        (((1.5, 1.5), (4.5, 1.5)), [(1, 1), (2, 1), (3, 1)]),  # the last pixel's diamond is not left
        (((4.5, 1.5), (1.5, 1.5)), [(2, 1), (3, 1), (4, 1)]),
        (((2.5, 1.5), (2.5, 4.5)), [(2, 1), (2, 2), (2, 3)]),
        (((2.5, 4.5), (2.5, 1.5)), [(2, 2), (2, 3), (2, 4)]),
        (((1.75, 1.5), (2.25, 1.5)), [(1, 1)]),  # starts behind the middle of its diamond
        (((1.25, 1.5), (1.75, 1.5)), []),  # never leaves it
        (((2.0, 1.25), (2.0, 5.25)), [(1, 1), (1, 2), (1, 3), (1, 4)]),  # between columns: the left one
    ],
)
def test_ends_of_lines(ends, expected):
    drawn = frame(8, 8)
    drawn.draw(pipeline(topology="lines"), vertices(on_grid(ends, 8, 8)))
    y, x = np.nonzero(drawn.pixels()[..., 3])
    assert sorted(zip(x.tolist(), y.tolist(), strict=True)) == expected


def test_a_loop_covers_each_pixel_once():
    """A square of lines of 6 pixels each: 24 pixels, none of them twice."""
    drawn = frame(8, 8)
    corners = vertices(on_grid([(0.5, 0.5), (6.5, 0.5), (6.5, 6.5), (0.5, 6.5)], 8, 8))
    counts = drawn.draw(pipeline(topology="line_loop", depth=LESS), corners)
    assert counts._replace(tiles=0, quads=0, helpers=0, pixel_waves=0) == DrawCounts(
        indices=4, vertex_waves=1, vertices=4, primitives=4, scanned=4, covered=24, tested=24, passed=24, written=24
    )
    assert (drawn.pixels()[..., 3] > 0).sum() == 24


def test_restarts_and_the_base_vertex():
    """Two strips of lines, whose indices count from vertex 1 on."""
    drawn = frame(8, 8)
    places = vertices(on_grid([(4, 4), (0.5, 1.5), (3.5, 1.5), (3.5, 4.5), (0.5, 6.5), (7.5, 6.5)], 8, 8))
    indices = np.uint16([0, 1, 2, 0xFFFF, 3, 4])
    counts = drawn.draw(pipeline(topology="line_strip", restarts=True), places, indices, base_vertex=1)
    assert (counts.indices, counts.primitives, counts.passed) == (6, 3, 3 + 3 + 7)
    with pytest.raises(UsageError, match="index 4 of the index buffer is 3, with the base vertex 6, and there are 6"):
        drawn.draw(pipeline(topology="line_strip", restarts=True), places, indices, base_vertex=3)
    with pytest.raises(UsageError, match="index 3 of the index buffer is 65535, and there are 6 vertices"):
        drawn.draw(pipeline(topology="line_strip"), places, indices)


def test_points_are_squares():
    """Of 3 pixels around (2.5, 2.5); one whose middle lies outside of the view is not drawn."""
    drawn = frame(8, 8)
    places = vertices(on_grid([(2.5, 2.5), (9, 4)], 8, 8))
    counts = drawn.draw(pipeline(topology="points", point_size=np.float32(3)), places)
    assert (counts.primitives, counts.rejected, counts.scanned, counts.passed) == (2, 1, 1, 9)
    assert (drawn.pixels()[1:4, 1:4, 3] == 255).all()
    with pytest.raises(UsageError, match="a point has a size of 1 to 255 pixels, not nan"):
        pipeline(topology="points", point_size=np.nan)


def test_hidden_and_hostile_lines():
    """Tiles in front hide lines and points; NaN, no length and all outside draw nothing."""
    drawn = frame(16, 16)
    drawn.depth.fill(0.25)
    line = vertices(on_grid([(1, 3), (15, 12)], 16, 16, [0.5, 0.75]))
    counts = drawn.draw(pipeline(topology="lines", depth=LESS), line)
    assert (counts.tiles, counts.hidden_tiles, counts.tested) == (4, 4, 0)
    counts = drawn.draw(pipeline(topology="points", depth=LESS), line)
    assert (counts.tiles, counts.hidden_tiles, counts.tested) == (2, 2, 0)
    hostile = vertices(on_grid([(1, 3), (15, 12), (3, 3), (3, 3), (-9, 3), (-1, 9), (1, 1), (2, 2)], 16, 16))
    hostile[0, 0], hostile[6:, 3] = np.nan, 0
    counts = drawn.draw(pipeline(topology="lines"), hostile)
    assert (counts.primitives, counts.rejected, counts.without_area, counts.passed) == (4, 3, 1, 0)


@pytest.mark.parametrize("topology", ["lines", "points"])
def test_hidden_tiles_hide_no_more_than_the_tests_do(topology):
    """Behind triangles, with hierarchical depth and without, which a stencil test forbids: the same pixels."""
    rng = np.random.default_rng(6)
    ends = np.concatenate([some_ends(rng, 150), some_ends(rng, 150, 3)])
    given = line_vertices(ends, rng, rng.uniform(1, 2, 2 * len(ends)))
    wall = vertices(on_grid([(9, 3), (120, 30), (20, 60)], WIDTH, HEIGHT, [0.1, 0.9, 0.4]))
    found = []
    for stencil in (None, StencilSide(passes="increment")):
        drawn = frame(WIDTH, HEIGHT, stencil=True)
        drawn.draw(pipeline(depth=LESS), wall)
        counts = drawn.draw(pipeline(topology=topology, depth=LESS, stencil=stencil, point_size=5), given)
        found.append((counts.passed, counts.quads, counts.helpers, drawn.pixels(), drawn.depth.copy_to_host()))
        assert (counts.hidden_tiles > 20) == (stencil is None)
    for with_hierarchy, without in zip(*found, strict=True):
        np.testing.assert_array_equal(with_hierarchy, without)


def test_depths_behind_the_shader():
    """A shader that discards is tested after it runs: what it keeps has the depths that the early test gives."""
    line = vertices(on_grid([(2.25, 5), (60, 40.5)], WIDTH, HEIGHT, [0.2, 0.7], [1, 2]))
    early, late = frame(WIDTH, HEIGHT), frame(WIDTH, HEIGHT)
    early.draw(pipeline(topology="lines", depth=LESS), line)
    counts = late.draw(pipeline("checked", topology="lines", depth=LESS), line)
    kept = late.pixels()[..., 3] > 0
    assert counts.discarded > 10 and kept.sum() == counts.passed > 10
    assert late.depth.copy_to_host()[kept].tolist() == early.depth.copy_to_host()[kept].tolist()
    assert late.pixels()[kept].tolist() == early.pixels()[kept].tolist()


def test_isolines_and_points_of_patches():
    """A square patch of 9 x 9 pixels, of 2 lines of 3 parts; as points, its 2 x 4 vertices."""
    corners = vertices(on_grid([(0.25, 8.25), (8.25, 8.25), (8.25, 0.25), (0.25, 0.25)], 9, 9))
    levels = {"hull": (np.float32([[2, 3, 1, 1, 1, 1]]), np.float32([1])), "domain": (0.0,)}
    drawn = frame(9, 9)
    counts = drawn.draw(patched(4, "isolines"), corners, **levels)
    assert (counts.domain_vertices, counts.tessellated, counts.scanned, counts.passed) == (8, 6, 6, 16)
    assert np.nonzero(drawn.pixels()[..., 3].any(1))[0].tolist() == [4, 8]
    points = patched(4, "isolines", tessellation=Tessellation(4, "isolines", as_points=True))
    assert drawn.draw(points, corners, **levels).passed == 8


def test_geometry_shaders_of_lines_and_points():
    """Each line of a strip with neighbours becomes a point in its middle, and each point a line."""
    drawn = frame(8, 8)
    places = vertices(on_grid([(0.5, 0.5), (1.5, 1.5), (3.5, 1.5), (5.5, 1.5), (7.5, 7.5)], 8, 8))
    loaded = patch_shaders()
    middles = Pipeline(loaded.placed, loaded.tinted, geometry=loaded.middle, topology="line_strip_adjacency")
    counts = drawn.draw(middles, places)
    assert (counts.primitives, counts.emitted, counts.passed) == (2, 2, 2)
    assert np.argwhere(drawn.pixels()[..., 3]).tolist() == [[1, 2], [1, 4]]
    lined = Pipeline(loaded.placed, loaded.tinted, geometry=loaded.lined, topology="points")
    assert drawn.draw(lined, places[:1]).passed == 4
    assert (drawn.pixels()[0, :4, 3] == 255).all()
    # without a geometry shader, neighbours are not drawn
    assert drawn.draw(Pipeline(loaded.placed, loaded.tinted, topology="lines_adjacency"), places).passed == 2


@pytest.mark.parametrize("length", [None, 1.5])
def test_lines_as_mesa_draws_them(length):
    """Coverage, depths, and colors in perspective."""
    rng = np.random.default_rng(3)
    ours, theirs = frame(WIDTH, HEIGHT), mesa.Canvas(WIDTH, HEIGHT)
    theirs.clear()
    given = line_vertices(some_ends(rng, 60, length), rng, rng.uniform(1, 2, 120))
    counts = ours.draw(pipeline(topology="lines", depth=LESS), given)
    found = theirs.draw(given, topology="lines", compare="less",
                        queries=(mesa.SAMPLES_PASSED, mesa.PRIMITIVES_SUBMITTED))  # fmt: skip
    assert found == {mesa.SAMPLES_PASSED: counts.passed, mesa.PRIMITIVES_SUBMITTED: 60}
    if length is None:  # colors of a short line change by more than 1 / 255 from one place on the grid to the next
        assert np.abs(ours.pixels().astype(int) - theirs.pixels()).max() <= 1
        assert np.abs(ours.depth.copy_to_host() - theirs.depths()).max() < 1e-6


def test_lines_with_several_samples():
    """Each color of its own; llvmpipe leaves out what no middle of a pixel is in the bounds of, at an end."""
    rng = np.random.default_rng(4)
    ours, theirs = frame(WIDTH, HEIGHT, samples=4), mesa.Canvas(WIDTH, HEIGHT, samples=4)
    theirs.clear()
    ends = some_ends(rng, 30)
    given = line_vertices(ends, rng)
    given[1::2, 4:8] = given[::2, 4:8]
    ours.draw(pipeline(topology="lines"), given)
    theirs.draw(given, topology="lines")
    differs = np.argwhere((np.abs(ours.pixels().astype(int) - theirs.pixels()) > 1).any(2))[:, ::-1] + 0.5
    distances = np.abs(differs[:, None] - ends.reshape(-1, 2)).max(2)
    assert len(differs) < 10
    assert (distances.min(1, initial=9) < 1.5).all()


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("size", [1.0, 1.5, 4.25, 7.0])
def test_points_as_mesa_draws_them(size, samples):
    rng = np.random.default_rng(5)
    places = np.floor(rng.random((60, 2)) * (WIDTH + 8, HEIGHT + 8) * 256) / 256 - 4
    places[::3], places[1::3] = np.floor(places[::3]) + 0.5, np.floor(places[1::3])
    given = vertices(on_grid(places, WIDTH, HEIGHT, rng.random(60)), rng.uniform(0.2, 1, (60, 4)))
    ours, theirs = frame(WIDTH, HEIGHT, samples=samples), mesa.Canvas(WIDTH, HEIGHT, samples=samples)
    theirs.clear()
    theirs.gl.point_size = size
    counts = ours.draw(pipeline(topology="points", depth=DepthState("less", True), point_size=size), given)
    found = theirs.draw(given, topology="points", compare="less",
                        queries=(mesa.SAMPLES_PASSED, mesa.CLIPPING_OUTPUT))  # fmt: skip
    assert found == {mesa.SAMPLES_PASSED: counts.passed, mesa.CLIPPING_OUTPUT: counts.scanned}
    assert np.abs(ours.pixels().astype(int) - theirs.pixels()).max() <= 1


def test_clipped_lines():
    """Mesa cuts lines at the sides of the view, too, which may move an end by 1/256 pixel."""
    rng = np.random.default_rng(0)
    positions = np.concatenate([rng.uniform(-2, 2, (160, 2)), rng.uniform(-0.5, 1.5, (160, 1))], 1)
    w = rng.uniform(-0.2, 2, (160, 1))
    colors = np.repeat(rng.uniform(0.2, 1, (80, 4)), 2, 0)
    given = vertices(np.concatenate([positions * np.abs(w), w], 1), colors)
    ours, theirs = frame(WIDTH, HEIGHT), mesa.Canvas(WIDTH, HEIGHT)
    theirs.clear()
    counts = ours.draw(pipeline(topology="lines", depth=LESS), given)
    theirs.draw(given, topology="lines", compare="less")
    assert counts.clipped > 20
    assert (np.abs(ours.pixels().astype(int) - theirs.pixels()) <= 1).all(2).mean() > 0.998
