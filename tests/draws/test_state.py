"""State beside the usual against Mesa's llvmpipe: flat varyings, biases and clamps of depths, points, clip distances,
wide lines, neighbours, outputs of several targets, coverage.
"""

import ctypes
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest

from gpuprof.device.graphics_state.draw_state import BlendState, DepthBias, DepthState
from gpuprof.graphics.pipeline import ADD, LESS, Pipeline
from tests.draws import mesa
from tests.draws.frames import SQUARE
from tests.draws.scene import frame, gpu, on_grid, vertices
from tests.draws.test_mesa import HEIGHT, WIDTH, some_vertices, without_slivers
from tests.paths import ROOT

POLYGON_OFFSET_FILL, DEPTH_CLAMP, PROGRAM_POINT_SIZE, CLIP_DISTANCE = 0x8037, 0x864F, 0x8642, 0x3000
POINT_SPRITE_COORD_ORIGIN = 0x8CA0
SAMPLE_MASK, ALPHA_TO_COVERAGE, FIRST_VERTEX, LAST_VERTEX = 0x8E51, 0x809E, 0x8E4D, 0x8E4E
WORD, REAL, INTEGER = ctypes.c_uint, ctypes.c_float, ctypes.c_int


@cache
def features():
    return gpu().load(ROOT / "tests/draws/features.cu")


def drawing(vertex="plain", pixel="tinted", **state) -> Pipeline:
    geometry = state.pop("geometry", None)
    loaded = features()
    return Pipeline(loaded[vertex], loaded[pixel], geometry=geometry and loaded[geometry], **state)


@contextmanager
def enabled(*capabilities):
    mesa.context()
    for each in capabilities:
        mesa.function("glEnable", WORD)(each)
    yield
    for each in capabilities:
        mesa.function("glDisable", WORD)(each)


def canvas(dtype="f1", samples=1) -> mesa.Canvas:
    made = mesa.Canvas(WIDTH, HEIGHT, dtype, samples)
    made.gl.point_size = 1  # other tests draw larger ones
    made.clear()
    return made


def difference(ours, theirs) -> np.ndarray:
    return np.abs(ours.pixels().astype(np.float64) - theirs.pixels())


HEAD = "#version 450\n"
NUMBERED = (
    HEAD
    + """
in vec4 position; in vec4 color; in vec2 uv;
flat out uint number; flat out ivec2 pair; out float shade;
void main() {
    gl_Position = vec4(position.x, -position.y, position.zw);
    number = gl_VertexID; pair = ivec2(-gl_VertexID, 7 * gl_VertexID); shade = color.x;
}
"""
)
BY_NUMBER = (
    HEAD
    + """
flat in uint number; flat in ivec2 pair; in float shade; out vec4 color;
void main() { color = vec4(number, pair, shade); }
"""
)
TOPOLOGIES = ["triangles", "triangle_strip", "triangle_fan", "lines", "line_strip", "line_loop", "points"]


@pytest.mark.parametrize("provoking", ["last", "first"])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_flat_varyings(topology, provoking):
    """Integers arrive whole, from the vertex that provokes; a float beside them is interpolated. llvmpipe moves ends of
    lines that lie in the very middle of a pixel.
    """
    given = some_vertices(1, 60)
    ours, theirs = frame(WIDTH, HEIGHT, formats=("rgba32f",)), canvas("f4")
    ours.draw(drawing("numbered", "by_number", topology=topology, provoking=provoking), given)
    mesa.function("glProvokingVertex", WORD)(FIRST_VERTEX if provoking == "first" else LAST_VERTEX)
    theirs.draw(given, vertex=NUMBERED, pixel=BY_NUMBER, topology=topology)
    mesa.function("glProvokingVertex", WORD)(LAST_VERTEX)
    differs = difference(ours, theirs)
    assert (differs[..., :3] > 0).any(2).sum() <= (8 if "line" in topology else 0)
    assert (differs > 1e-3).any(2).sum() <= (8 if "line" in topology else 0)
    assert len(np.unique(ours.pixels()[..., 0])) > 5


@pytest.mark.parametrize("provoking", ["last", "first"])
def test_flat_varyings_of_clipped_triangles(provoking):
    rng = np.random.default_rng(2)
    positions = np.concatenate([rng.uniform(-1, 1, (90, 2)), rng.uniform(-0.5, 1.5, (90, 1)), np.ones((90, 1))], 1)
    given = vertices(positions)
    ours, theirs = frame(WIDTH, HEIGHT, formats=("rgba32f",)), canvas("f4")
    counts = ours.draw(drawing("numbered", "by_number", provoking=provoking, depth=LESS), given)
    mesa.function("glProvokingVertex", WORD)(FIRST_VERTEX if provoking == "first" else LAST_VERTEX)
    theirs.draw(given, vertex=NUMBERED, pixel=BY_NUMBER, compare="less")
    mesa.function("glProvokingVertex", WORD)(LAST_VERTEX)
    assert counts.clipped > 10
    assert (difference(ours, theirs)[..., :3] == 0).all(2).mean() > 0.995


SURROUNDED = (
    HEAD
    + """
layout(triangles_adjacency) in; layout(triangle_strip, max_vertices = 3) out;
flat in uint number[6]; in float shade[6];
layout(location = 0) flat out ivec3 around; layout(location = 1) out float shaded;
void main() {
    for (int k = 0; k < 3; k++) {
        gl_Position = gl_in[2 * k].gl_Position;
        around = ivec3(number[1], number[3], number[5]); shaded = shade[2 * k];
        EmitVertex();
    }
}
"""
)
AROUND = (
    HEAD
    + """
layout(location = 0) flat in ivec3 around; layout(location = 1) in float shaded; out vec4 color;
void main() { color = vec4(around, shaded); }
"""
)


@pytest.mark.parametrize("n", [6, 7, 8, 10, 24])
def test_strips_with_neighbours(n):
    """1, 2, 3 and 10 triangles; a last vertex that is left over."""
    given = some_vertices(3, n)
    ours, theirs = frame(WIDTH, HEIGHT, formats=("rgba32f",)), canvas("f4")
    surrounded = drawing("numbered", "by_number", geometry="surrounded", topology="triangle_strip_adjacency")
    counts = ours.draw(surrounded, given)
    found = theirs.draw(given, vertex=NUMBERED, geometry=SURROUNDED, pixel=AROUND, topology="triangle_strip_adjacency",
                        queries=(mesa.SAMPLES_PASSED, mesa.CLIPPING_INPUT))  # fmt: skip
    assert found == {mesa.SAMPLES_PASSED: counts.passed, mesa.CLIPPING_INPUT: counts.primitives}
    assert counts.primitives == n // 2 - 2
    assert (ours.pixels()[..., :3] == theirs.pixels()[..., :3]).all()
    # without a geometry shader, neighbours are not drawn
    assert frame(WIDTH, HEIGHT).draw(drawing(topology="triangle_strip_adjacency"), given).passed == counts.passed


@pytest.mark.parametrize("provoking", ["last", "first"])
def test_provoking_vertices_of_strips_that_a_shader_makes(provoking):
    given = some_vertices(4, 3)
    ours = frame(WIDTH, HEIGHT, formats=("rgba32f",))
    ours.clear((-1, 0, 0, 0))
    ours.draw(drawing("numbered", "by_number", geometry="stripped", provoking=provoking), given)
    assert np.unique(ours.pixels()[..., 0]).tolist() == [-1, *([2, 3] if provoking == "last" else [0, 1])]


BIASES = [(4.0, 0.0, 0.0), (-4.0, 0.0, 0.0), (0.0, 1.5, 0.0), (2e5, 2.0, 0.01), (-2e5, -2.0, -0.02), (1e7, 0.0, 0.0)]


@pytest.mark.parametrize("constant, slope, limit", BIASES)
def test_depth_biases(constant, slope, limit):
    """Of a depth target of floats: a step is that of the triangle's largest depth."""
    given = without_slivers(some_vertices(5, 120, has_depth=True))
    ours, theirs = frame(WIDTH, HEIGHT), canvas()
    theirs.use_float_depth()
    theirs.clear()
    bias = DepthBias(constant, slope, limit)
    counts = ours.draw(drawing(depth=LESS, depth_bias=bias), given)
    mesa.function("glPolygonOffsetClamp", REAL, REAL, REAL)(slope, constant, limit)
    with enabled(POLYGON_OFFSET_FILL):
        found = theirs.draw(given, compare="less", queries=(mesa.SAMPLES_PASSED,))
    assert abs(found[mesa.SAMPLES_PASSED] - counts.passed) <= 2
    assert np.abs(ours.depth.copy_to_host() - theirs.depths()).max() < 2e-6
    assert (difference(ours, theirs) <= 1).all(2).mean() > 0.9995


@pytest.mark.parametrize("topology", ["triangles", "lines", "points"])
def test_depth_clamp(topology):
    """Nothing is cut by near and far plane; what lies before or behind has their depths."""
    rng = np.random.default_rng(6)
    places = np.floor(rng.random((90, 2)) * (WIDTH, HEIGHT) * 256) / 256
    positions = on_grid(places, WIDTH, HEIGHT, rng.uniform(-1, 2, 90), rng.uniform(1, 2, 90))
    given = without_slivers(vertices(positions, rng.random((90, 4))))
    ours, theirs = frame(WIDTH, HEIGHT), canvas()
    counts = ours.draw(drawing(topology=topology, depth=DepthState("lequal", True), depth_clamp=True), given)
    with enabled(DEPTH_CLAMP):
        theirs.draw(given, topology=topology, compare="lequal")
    assert counts.clipped == counts.rejected == 0
    assert (difference(ours, theirs) <= 1).all(2).mean() > 0.997
    assert (np.abs(ours.depth.copy_to_host() - theirs.depths()) < 2e-6).mean() > 0.997
    assert {0, 1} < set(ours.depth.copy_to_host().ravel())


SIZED = (
    HEAD
    + """
in vec4 position; in vec4 color; in vec2 uv; out vec4 tint;
void main() { gl_Position = vec4(position.x, -position.y, position.zw); tint = color; gl_PointSize = uv.x; }
"""
)
DOTTED = HEAD + "in vec4 tint; out vec4 color; void main() { color = vec4(gl_PointCoord, tint.z, 1); }"


@pytest.mark.parametrize("samples", [1, 4])
def test_points_of_their_own_size(samples):
    """And where in a point a pixel is: to the right and downwards. With 4 samples, llvmpipe 22 says the place half a
    pixel further: 1 in the middle of a point of 1 pixel, which OpenGL 4.6, equation 14.2, has 0.5 for.
    """
    rng = np.random.default_rng(7)
    places = np.floor(rng.random((40, 2)) * (WIDTH, HEIGHT) * 256) / 256
    sizes = rng.choice([1, 1.5, 3, 7.25, 12, 0, -3, 0.25], 40)
    colors = rng.uniform(0.2, 1, (40, 4))
    given = vertices(on_grid(places, WIDTH, HEIGHT), colors, np.stack([sizes, sizes], 1))
    ours, theirs = frame(WIDTH, HEIGHT, samples=samples), canvas(samples=samples)
    counts = ours.draw(drawing("sized", "dotted", topology="points"), given)
    mesa.function("glPointParameteri", WORD, INTEGER)(POINT_SPRITE_COORD_ORIGIN, mesa.LOWER_LEFT)  # rows are turned
    with enabled(PROGRAM_POINT_SIZE):
        found = theirs.draw(given, vertex=SIZED, pixel=DOTTED, topology="points", queries=(mesa.SAMPLES_PASSED,))
    assert found == {mesa.SAMPLES_PASSED: counts.passed}
    assert difference(ours, theirs)[..., 2 if samples == 4 else 0 :].max() <= 1


HALVED = (
    HEAD
    + """
in vec4 position; in vec4 color; in vec2 uv; out vec4 tint; out float gl_ClipDistance[2];
void main() {
    gl_Position = vec4(position.x, -position.y, position.zw); tint = color;
    gl_ClipDistance[0] = uv.x; gl_ClipDistance[1] = uv.y;
}
"""
)


@pytest.mark.parametrize("topology", ["triangles", "triangle_strip", "lines", "points"])
def test_clip_distances(topology):
    """A new vertex on the grid may move an edge by 1/256 pixel."""
    given = some_vertices(8, 60, has_depth=True)
    given[:, 8:] = np.random.default_rng(8).uniform(-1, 2, (60, 2))
    ours, theirs = frame(WIDTH, HEIGHT), canvas()
    counts = ours.draw(drawing("halved", topology=topology, depth=LESS), given)
    with enabled(CLIP_DISTANCE, CLIP_DISTANCE + 1):
        theirs.draw(given, vertex=HALVED, topology=topology, compare="less")
    assert counts.rejected > 0 and (counts.clipped > 3 or topology == "points")
    assert (difference(ours, theirs) <= 1).all(2).mean() > 0.998


@pytest.mark.parametrize("width", [2, 3, 5.0, 6.4])
def test_wide_lines(width):
    """Each color of its own; an end of an even width may be a pixel off (a diamond there is half a pixel off)."""
    rng = np.random.default_rng(9)
    ends = np.floor((8 + rng.random((20, 2, 2)) * (WIDTH - 16, HEIGHT - 16)) * 256) / 256
    colors = np.repeat(rng.uniform(0.2, 1, (20, 4)), 2, 0)
    given = vertices(on_grid(ends.reshape(-1, 2), WIDTH, HEIGHT), colors)
    ours, theirs = frame(WIDTH, HEIGHT), canvas()
    ours.draw(drawing(topology="lines", line_width=width), given)
    mesa.function("glLineWidth", REAL)(width)
    theirs.draw(given, topology="lines")
    mesa.function("glLineWidth", REAL)(1)
    differs = np.argwhere((difference(ours, theirs) > 1).any(2))[:, ::-1] + 0.5
    near = np.abs(differs[:, None] - ends.reshape(-1, 2)).max(2).min(1, initial=99)
    assert (near < width / 2 + 1.5).all(), (differs, near)
    assert len(differs) <= 8 * width


@pytest.mark.parametrize("width", [1.5, 4.0])
def test_wide_lines_with_several_samples(width):
    rng = np.random.default_rng(10)
    ends = np.floor((8 + rng.random((20, 2, 2)) * (WIDTH - 16, HEIGHT - 16)) * 256) / 256
    colors = np.repeat(rng.uniform(0.2, 1, (20, 4)), 2, 0)
    given = vertices(on_grid(ends.reshape(-1, 2), WIDTH, HEIGHT), colors)
    ours, theirs = frame(WIDTH, HEIGHT, samples=4), canvas(samples=4)
    ours.draw(drawing(topology="lines", line_width=width), given)
    mesa.function("glLineWidth", REAL)(width)
    theirs.draw(given, topology="lines")
    mesa.function("glLineWidth", REAL)(1)
    assert (difference(ours, theirs) <= 2).all(2).mean() > 0.995


CONSTANT = (0.25, 0.5, 0.75, 0.375)
CONSTANT_COLOR, CONSTANT_ALPHA, SRC_ALPHA_SATURATE, ONE = 0x8001, 0x8003, 0x308, 1


@pytest.mark.parametrize(
    "words, numbers",
    [
        (("constant_color", "one_minus_constant_color", "constant_alpha", "one_minus_constant_alpha"),
         (CONSTANT_COLOR, CONSTANT_COLOR + 1, CONSTANT_ALPHA, CONSTANT_ALPHA + 1)),
        (("constant_alpha", "one_minus_constant_alpha", "constant_color", "one"),
         (CONSTANT_ALPHA, CONSTANT_ALPHA + 1, CONSTANT_COLOR, ONE)),
        (("source_alpha_saturate", "one", "source_alpha_saturate", "one"),
         (SRC_ALPHA_SATURATE, ONE, SRC_ALPHA_SATURATE, ONE)),
    ],
)  # fmt: skip
def test_blend_constants(words, numbers):
    given = some_vertices(11, 30)
    given[:, 4:8] *= 0.4
    ours, theirs = frame(WIDTH, HEIGHT, formats=("rgba32f",)), canvas("f4")
    blend = BlendState("add", *words[:2], "add", *words[2:], CONSTANT)
    ours.draw(drawing(blend=blend), given)
    mesa.function("glBlendColor", REAL, REAL, REAL, REAL)(*CONSTANT)
    theirs.draw(given, blend=(numbers, 0x8006))
    assert difference(ours, theirs).max() < 1e-5


@pytest.mark.parametrize("mask", [0, 1, 6, 15])
def test_sample_masks(mask):
    given = some_vertices(12, 30)
    ours, theirs = frame(WIDTH, HEIGHT, samples=4), canvas(samples=4)
    counts = ours.draw(drawing(sample_mask=mask, depth=LESS), given)
    mesa.function("glSampleMaski", WORD, WORD)(0, mask)
    with enabled(SAMPLE_MASK):
        found = theirs.draw(given, compare="less", queries=(mesa.SAMPLES_PASSED,))
    assert found == {mesa.SAMPLES_PASSED: counts.passed}
    assert difference(ours, theirs).max() <= 2


def test_alpha_to_coverage():
    given = some_vertices(13, 60, has_depth=True)
    ours, theirs = frame(WIDTH, HEIGHT, samples=4), canvas(samples=4)
    counts = ours.draw(drawing(alpha_to_coverage=True, depth=LESS), given)
    with enabled(ALPHA_TO_COVERAGE):
        found = theirs.draw(given, compare="less", queries=(mesa.SAMPLES_PASSED,))
    assert found == {mesa.SAMPLES_PASSED: counts.passed}
    assert difference(ours, theirs).max() <= 2


def test_outputs_of_several_targets():
    """The second target adds up reds alone, the third one nothing, the fourth is as without state."""
    given = some_vertices(14, 12)
    given[:, 4:8] *= 0.25
    ours = frame(WIDTH, HEIGHT, formats=("rgba32f",) * 4)
    for target in range(4):
        by_target = {"blend": [None, ADD, ADD], "color_mask": ["rgba", "r", ""]}
        ours.draw(drawing(pixel="far", **by_target), given, pixel=(target,))
    singles = []
    for state in ({}, {"blend": ADD, "color_mask": "r"}, {"color_mask": ""}, {}):
        singles.append(frame(WIDTH, HEIGHT, formats=("rgba32f",)))
        singles[-1].draw(drawing(**state), given)
    # other targets of a draw get the zeros that the shader leaves there
    order = [(0, 3), (3, 3)]
    for target, last in order:
        covered = singles[3].pixels()[..., 3] > 0
        expected = singles[target].pixels() if target == last else np.zeros_like(ours.pixels())
        assert (ours.pixels(target)[covered] == expected[covered]).all()
    assert (ours.pixels(1) == singles[1].pixels()).all()
    assert not ours.pixels(2).any()


def test_instances_from_a_number_on():
    """The second and the third shift of four."""
    square = vertices(on_grid([(0, 0), (2, 0), (2, 4), (0, 4)], 8, 4))
    ours = frame(8, 4)
    shifts = np.float32([9, 0.5, 1, 9])
    ours.draw(drawing("moved"), square, SQUARE, vertex=(shifts,), instances=2, first_instance=1)
    assert ours.pixels()[1, :, 3].tolist() == [0, 0, 255, 255, 255, 255, 0, 0]


@pytest.mark.parametrize("is_indexed", [False, True])
def test_indirect_draws(is_indexed):
    """A kernel says what is drawn, after the host has asked for it."""
    square = vertices(on_grid([(9, 9), (0, 0), (2, 0), (2, 4), (0, 4)], 8, 4))
    shifts = gpu().to_device(np.float32([0, 0.25, 0.75, 1.25]))
    if is_indexed:  # the second triangle, of vertices counted from 1 on, as instances 2 and 3
        record, given = [3, 2, 3, 1, 2], (square, SQUARE)
    else:  # all but the first vertex: a triangle
        record, given = [3, 2, 1, 2], (square,)
    numbers = gpu().to_device(np.uint32(record))
    ours = frame(8, 4)
    counts = ours.draw(drawing("moved"), *given, vertex=(shifts,), indirect=numbers)
    assert (counts.indices, counts.primitives) == (6, 2)
    direct = frame(8, 4)
    if is_indexed:
        direct.draw(
            drawing("moved"), square, SQUARE[3:], vertex=(shifts,), base_vertex=1, instances=2, first_instance=2
        )
    else:
        direct.draw(drawing("moved"), square[1:4], vertex=(shifts,), instances=2, first_instance=2)
    assert ours.pixels().tolist() == direct.pixels().tolist()
    assert ours.pixels()[..., 3].any()


def test_a_kernel_decides_what_is_drawn():
    square = vertices(on_grid([(0, 0), (2, 0), (2, 4), (0, 4)], 8, 4))
    numbers = gpu().to_device(np.zeros(4, np.uint32))
    ours, shifts = frame(8, 4), gpu().to_device(np.float32([0, 0.5]))
    assert ours.draw(drawing("moved"), square, vertex=(shifts,), indirect=numbers).primitives == 0
    features().decide[1, 1](numbers, 3, 1, 1)
    assert ours.draw(drawing("moved"), square, vertex=(shifts,), indirect=numbers).primitives == 1
    assert ours.pixels()[1, :, 3].tolist() == [0, 0, 0, 255, 0, 0, 0, 0]


def test_places_in_a_point():
    """Middles of 4 pixels; lines and triangles have none."""
    ours = frame(8, 8, formats=("rgba32f",))
    ours.draw(drawing("sized", "dotted", topology="points"), vertices(on_grid([(4, 4)], 8, 8), uv=(4, 0)))
    quarters = [0.125, 0.375, 0.625, 0.875]
    assert ours.pixels()[2:6, 2:6, 0].tolist() == [quarters] * 4
    assert ours.pixels()[2:6, 2:6, 1].T.tolist() == [quarters] * 4
    for topology in ("lines", "triangles"):
        ours.clear((1, 1, 1, 1))
        corners = vertices(on_grid([(4.5, 0), (4.5, 8), (0, 8)], 8, 8))
        ours.draw(drawing("sized", "dotted", topology=topology), corners)
        assert np.unique(ours.pixels()[..., :2]).tolist() == [0, 1]


def test_numbers_of_provoking_vertices():
    """A fan of two triangles: the last vertex of each, or the first one behind the hub."""
    fan = vertices(on_grid([(0, 0), (8, 0), (8, 8), (0, 8)], 8, 8))
    for provoking, expected in (("last", [2, 3]), ("first", [1, 2])):
        ours = frame(8, 8, formats=("rgba32f",))
        ours.draw(drawing("numbered", "by_number", topology="triangle_fan", provoking=provoking), fan)
        assert ours.pixels()[[1, 6], [6, 1], :3].tolist() == [[k, -k, 7 * k] for k in expected]


def test_alphas_that_cover():
    """Of four samples of a pixel, those whose number is below four times the alpha; NaN covers none."""
    square = vertices(on_grid([(0, 0), (8, 0), (8, 8), (0, 8)], 8, 8))
    for value, expected in ((1, 4), (0.75, 3), (0.76, 4), (0.25, 1), (0.01, 1), (0, 0), (-1, 0), (9, 4), (np.nan, 0)):
        square[:, 7] = value
        ours = frame(8, 8, samples=4)
        assert ours.draw(drawing(alpha_to_coverage=True), square, SQUARE).passed == 64 * expected, value
    assert frame(8, 8).draw(drawing(alpha_to_coverage=True), square, SQUARE).passed == 64  # of one sample there is all


def test_a_wide_line():
    """Three pixels of each column, around the line."""
    ours = frame(8, 8)
    ours.draw(drawing(topology="lines", line_width=3), vertices(on_grid([(1.5, 4.5), (5.5, 4.5)], 8, 8)))
    assert np.argwhere(ours.pixels()[..., 3]).tolist() == [[y, x] for y in (3, 4, 5) for x in (1, 2, 3, 4)]


def test_a_triangle_cut_by_a_distance():
    """The left half of a square, where the distance goes from 1 to -1."""
    square = vertices(on_grid([(0, 0), (8, 0), (8, 8), (0, 8)], 8, 8), uv=[(1, 1), (-1, 1), (-1, 1), (1, 1)])
    ours = frame(8, 8)
    counts = ours.draw(drawing("halved"), square, SQUARE)
    assert (counts.clipped, counts.passed) == (2, 32)
    assert (ours.pixels()[..., 3] > 0).all(0).tolist() == [True] * 4 + [False] * 4


def test_a_biased_depth():
    """Of a square that is 0.5 deep everywhere, a step is 2^-24; a slope of 1/8 a pixel counts as often as is said."""
    flat, steep = (vertices(on_grid([(0, 0), (8, 0), (8, 8), (0, 8)], 8, 8, depths)) for depths in (0.5, [0, 1, 1, 0]))
    for given, bias, expected in (
        (flat, DepthBias(constant=3), 0.5 + 3 * 2**-24),
        (flat, DepthBias(slope=9), 0.5),
        (steep, DepthBias(slope=2), 0.0625 + 0.25),
        (steep, DepthBias(slope=-2, limit=-0.0625), 0.0),
        (flat, DepthBias(constant=1e9), 1.0),
    ):
        ours = frame(8, 8)
        ours.draw(drawing(depth=DepthState(write=True), depth_bias=bias), given, SQUARE)
        assert ours.depth.copy_to_host()[4, 0] == np.float32(expected)
