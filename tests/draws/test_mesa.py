"""Draws against Mesa's llvmpipe: coverage, depth, colors, counts."""

import numpy as np
import pytest

from gpuprof.device.graphics_state.draw_state import BlendState, DepthState, Scissor, StencilSide
from gpuprof.graphics.pipeline import ADD, ALPHA, LESS, Pipeline
from tests.bench.draws import HEIGHT as HEIGHT_OF_MESH, WIDTH as WIDTH_OF_MESH, mesh
from tests.draws import mesa
from tests.draws.scene import frame, gpu, on_grid, pipeline, shaders, vertices

WIDTH, HEIGHT = 97, 61


def some_places(rng, n, width=WIDTH, height=HEIGHT):
    """Places in the view, on the grid of 1/256 pixel; a third of them where many edges meet the middles of pixels."""
    places = np.floor(rng.random((n, 2)) * (width, height) * 256) / 256
    middles = rng.random(n) < 0.33
    places[middles] = np.floor(places[middles]) + 0.5
    return places


def some_vertices(seed, n, has_depth=False):
    rng = np.random.default_rng(seed)
    depths, w = (rng.random(n), rng.uniform(0.5, 4, n)) if has_depth else (0.5, 1)
    colors = rng.uniform((0, 0, 0, 0.2), 1, (n, 4))
    return vertices(on_grid(some_places(rng, n), WIDTH, HEIGHT, depths, w), colors)


def without_slivers(given):
    """Triangles of 100 square pixels and more: llvmpipe's planes of depth are floats, which err for a sliver."""
    places = (given[:, :2] / given[:, 3:4] * (WIDTH / 2, HEIGHT / 2)).reshape(-1, 3, 2)
    (ax, ay), (bx, by) = (places[:, 1] - places[:, 0]).T, (places[:, 2] - places[:, 0]).T
    return given[np.repeat(np.abs(ax * by - ay * bx) > 200, 3)]


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("topology", ["triangles", "triangle_strip", "triangle_fan"])
def test_every_covered_pixel_is_equal(topology, samples):
    """Each triangle has a color of its own, so a pixel tells which was last there."""
    theirs = mesa.Canvas(WIDTH, HEIGHT, "f1", samples)
    for seed in range(3):
        given = some_vertices(seed, 90)
        ours = frame(WIDTH, HEIGHT, samples=samples)
        counts = ours.draw(pipeline(topology=topology), given)
        theirs.clear()
        found = theirs.draw(given, topology=topology, queries=(mesa.PRIMITIVES_SUBMITTED, mesa.SAMPLES_PASSED))
        assert found == {mesa.PRIMITIVES_SUBMITTED: counts.primitives, mesa.SAMPLES_PASSED: counts.passed}
        # a blank pixel is 0 in alpha, too, and a covered one is not
        assert (ours.pixels()[..., 3] > 0).tolist() == (theirs.pixels()[..., 3] > 0).tolist()
        difference = np.abs(ours.pixels().astype(int) - theirs.pixels())
        assert difference.max() <= (1 if samples == 1 else 2), seed


@pytest.mark.parametrize("compare", ["less", "lequal", "greater", "gequal", "notequal", "always", "never"])
def test_depths_and_colors_in_perspective(compare):
    given = without_slivers(some_vertices(3, 120, has_depth=True))
    ours, theirs = frame(WIDTH, HEIGHT), mesa.Canvas(WIDTH, HEIGHT)
    ours.clear(depth=0.5)
    theirs.clear(depth=0.5)
    counts = ours.draw(pipeline(depth=DepthState(compare, True)), given)
    found = theirs.draw(given, compare=compare, queries=(mesa.SAMPLES_PASSED,))
    assert found == {mesa.SAMPLES_PASSED: counts.passed}
    assert np.abs(ours.pixels().astype(int) - theirs.pixels()).max() <= 1
    assert np.abs(ours.depth.copy_to_host() - theirs.depths()).max() < 1e-6


@pytest.mark.parametrize("cull", ["none", "front", "back"])
def test_culling_and_scissor(cull):
    given, scissor = some_vertices(5, 90), Scissor(20, 11, 40, 33)
    ours, theirs = frame(WIDTH, HEIGHT), mesa.Canvas(WIDTH, HEIGHT)
    theirs.clear()
    counts = ours.draw(pipeline(cull=cull), given, scissor=scissor)
    found = theirs.draw(given, cull=cull, scissor=scissor, queries=(mesa.SAMPLES_PASSED,))
    assert found == {mesa.SAMPLES_PASSED: counts.passed}
    assert np.abs(ours.pixels().astype(int) - theirs.pixels()).max() <= 1


ONE, ZERO = 1, 0
SRC_COLOR, SRC_ALPHA, MINUS_SRC_ALPHA, DST_COLOR, MINUS_DST_ALPHA = 0x300, 0x302, 0x303, 0x306, 0x305
FUNC_ADD, REVERSE_SUBTRACT, MAX = 0x8006, 0x800B, 0x8008


@pytest.mark.parametrize("dtype, format", [("f1", "rgba8"), ("f2", "rgba16f"), ("f4", "rgba32f")])
@pytest.mark.parametrize(
    "blend, theirs",
    [
        (ALPHA, ((SRC_ALPHA, MINUS_SRC_ALPHA, ONE, MINUS_SRC_ALPHA), FUNC_ADD)),
        (ADD, ((ONE, ONE, ONE, ONE), FUNC_ADD)),
        (
            BlendState("reverse_subtract", "target_color", "one", "reverse_subtract", "one_minus_target_alpha", "one"),
            ((DST_COLOR, ONE, MINUS_DST_ALPHA, ONE), REVERSE_SUBTRACT),
        ),
        (BlendState("max", "one", "one", "max", "one", "one"), ((ONE, ONE, ONE, ONE), MAX)),
    ],
)
def test_blending_in_order(dtype, format, blend, theirs):
    """8 bits: Mesa works in integers, whose steps add up over the layers of a pixel."""
    given = some_vertices(7, 36)
    given[:, 4:8] *= 0.3
    ours, canvas = frame(WIDTH, HEIGHT, formats=(format,)), mesa.Canvas(WIDTH, HEIGHT, dtype)
    canvas.clear()
    ours.draw(pipeline(blend=blend), given)
    canvas.draw(given, blend=theirs)
    difference = np.abs(ours.pixels().astype(np.float64) - canvas.pixels())
    if format == "rgba8":
        assert difference.max() <= 3
        assert (difference <= 1).mean() > 0.99
    else:
        rounding = 2**-10 if format == "rgba16f" else 2**-20  # of numbers near 1, and the layers of a pixel
        assert (difference / np.maximum(np.abs(canvas.pixels()), 1)).max() <= 3 * rounding


def test_stencil():
    """Counts layers by their side, then draws where a count is odd."""
    ours, theirs = frame(WIDTH, HEIGHT, stencil=True), mesa.Canvas(WIDTH, HEIGHT, stencil=True)
    theirs.clear()
    front = StencilSide("always", 1, passes="increment_wrap", depth_fail="invert")
    back = StencilSide("always", 7, passes="decrement_wrap", depth_fail="replace", write_mask=0x7F)
    layers, over = some_vertices(8, 90, has_depth=True), some_vertices(9, 30)
    ours.draw(pipeline(depth=LESS, stencil=front, back_stencil=back), layers)
    mesa.set_stencil(front, back)
    theirs.draw(layers, compare="less")
    assert ours.stencil.copy_to_host().tolist() == theirs.stencils().tolist()
    odd = StencilSide("equal", 1, read_mask=1, fail="zero")
    ours.draw(pipeline(stencil=odd), over)
    mesa.set_stencil(odd, odd)
    theirs.draw(over)
    mesa.set_stencil(None, None)
    assert ours.stencil.copy_to_host().tolist() == theirs.stencils().tolist()
    assert np.abs(ours.pixels().astype(int) - theirs.pixels()).max() <= 1


DISCARDING = """
#version 450
in vec4 tint; out vec4 color;
void main() { if ((int(gl_FragCoord.x) / 3 + int(gl_FragCoord.y) / 3) % 2 != 0) discard; color = tint; }
"""
DEEPENING = """
#version 450
in vec4 tint; out vec4 color;
void main() { gl_FragDepth = gl_FragCoord.z * .5; color = tint; }
"""
STEPPING = """
#version 450
in vec2 at; out vec4 color;
void main() { color = vec4(dFdxFine(at), dFdyFine(at)); }
"""


@pytest.mark.parametrize("pixel, theirs", [("checked", DISCARDING), ("deepened", DEEPENING)])
def test_tests_after_the_shader(pixel, theirs):
    given = without_slivers(some_vertices(10, 90, has_depth=True))
    ours, canvas = frame(WIDTH, HEIGHT), mesa.Canvas(WIDTH, HEIGHT)
    canvas.clear()
    ours.draw(pipeline(pixel, depth=LESS), given)
    canvas.draw(given, pixel=theirs, compare="less")
    assert np.abs(ours.pixels().astype(int) - canvas.pixels()).max() <= 1
    assert np.abs(ours.depth.copy_to_host() - canvas.depths()).max() < 1e-6


GROWING = """
#version 450
layout(triangles) in; layout(triangle_strip, max_vertices = 7) out;
in vec4 tint[3]; in vec2 at[3];
layout(location = 0) out vec4 tint_out;
void main() {
    vec2 middle = (gl_in[0].gl_Position.xy + gl_in[1].gl_Position.xy + gl_in[2].gl_Position.xy) / 3;
    for (int k = 0; k < 3; k++) {
        gl_Position = gl_in[k].gl_Position;
        gl_Position.xy = middle + (gl_Position.xy - middle) * .5;
        tint_out = tint[k];
        EmitVertex();
    }
    EndPrimitive();
    if (tint[0].x < .3) return;
    for (int k = 0; k < 4; k++) {
        gl_Position = vec4(middle + vec2((k & 1) * .125, -(k >> 1) * .0625), .25, 1);
        tint_out = vec4(tint[0].xy, 0, tint[0].w);
        EmitVertex();
    }
}
"""
GROWN = """
#version 450
layout(location = 0) in vec4 tint; out vec4 color;
void main() { color = tint; }
"""


def test_a_geometry_shader_makes_strips():
    """Vertices lie anywhere on the grid, so a rim may move by 1/256 pixel where the two round otherwise."""
    given = without_slivers(some_vertices(13, 300))
    ours, canvas = frame(WIDTH, HEIGHT), mesa.Canvas(WIDTH, HEIGHT)
    canvas.clear()
    growing = Pipeline(shaders().placed, shaders().tinted, geometry=shaders().grown, depth=LESS, cull="back")
    counts = ours.draw(growing, given, geometry=(0.5,))
    found = canvas.draw(given, geometry=GROWING, pixel=GROWN, compare="less", cull="back",
                        queries=(mesa.PRIMITIVES_SUBMITTED, mesa.CLIPPING_INPUT))  # fmt: skip
    assert found == {mesa.PRIMITIVES_SUBMITTED: counts.primitives, mesa.CLIPPING_INPUT: counts.emitted}
    assert counts.emitted > counts.primitives > 30
    same = (np.abs(ours.pixels().astype(int) - canvas.pixels()) <= 1).all(2)
    assert same.mean() > 0.999


def test_derivatives_over_quads():
    """Lanes outside of the triangle help: the derivative at its rim is right, too."""
    rng = np.random.default_rng(11)
    given = some_vertices(11, 30, has_depth=True)
    given[:, 8:] = rng.random((30, 2))
    ours, canvas = frame(WIDTH, HEIGHT, formats=("rgba32f",)), mesa.Canvas(WIDTH, HEIGHT, "f4")
    canvas.clear()
    ours.draw(pipeline("steps"), given)
    canvas.draw(given, pixel=STEPPING)
    found, expected = ours.pixels(), canvas.pixels()
    # at a rim seen from the side, a helper lane lies far away on the triangle's plane
    near = np.abs(expected) < 1
    assert near.mean() > 0.99
    assert np.abs(found - expected)[near].max() < 2e-3
    assert (np.abs(found - expected)[near] < 1e-5).mean() > 0.99


def test_clipping_at_all_planes():
    """Mesa clips at the sides of the view, so that new vertices move an edge by less than 1/256 pixel."""
    rng = np.random.default_rng(12)
    positions = np.concatenate([rng.uniform(-2, 2, (150, 2)), rng.uniform(-0.5, 1.5, (150, 1))], 1)
    w = rng.uniform(-0.2, 2, (150, 1))
    given = vertices(np.concatenate([positions * np.abs(w), w], 1), rng.random((150, 4)))
    ours, theirs = frame(WIDTH, HEIGHT), mesa.Canvas(WIDTH, HEIGHT)
    theirs.clear()
    counts = ours.draw(pipeline(depth=LESS), given)
    theirs.draw(given, compare="less")
    assert counts.clipped > 20
    same = (np.abs(ours.pixels().astype(int) - theirs.pixels()) <= 1).all(2)
    assert same.mean() > 0.99


@pytest.mark.long
def test_fifty_thousand_small_triangles():
    given, indices = mesh()
    width, height = WIDTH_OF_MESH, HEIGHT_OF_MESH
    ours, theirs = frame(width, height), mesa.Canvas(width, height)
    theirs.clear()
    counts = ours.draw(pipeline(depth=LESS), given, indices)
    found = theirs.draw(given, indices, compare="less", queries=(mesa.SAMPLES_PASSED, mesa.PRIMITIVES_SUBMITTED))
    assert found == {mesa.SAMPLES_PASSED: counts.passed, mesa.PRIMITIVES_SUBMITTED: counts.primitives}
    assert counts.primitives == 49_928
    assert np.abs(ours.pixels().astype(int) - theirs.pixels()).max() <= 1
    assert np.abs(ours.depth.copy_to_host() - theirs.depths()).max() < 1e-6


def picture(size, seed=0):
    """Smooth: llvmpipe's levels of detail are up to 0.043 off."""
    x, y = np.meshgrid(np.arange(size), np.arange(size))
    waves = [np.sin(x * a / size + y * b / size + seed) for a, b in ((9, 2), (3, 7), (5, -8))]
    return np.floor(127.5 + 64 * np.stack([*waves, np.ones_like(x)], 2)).astype(np.uint8)


PICTURED = """
#version 450
uniform sampler2D picture; in vec2 at; out vec4 color;
void main() { color = texture(picture, at); }
"""


@pytest.mark.parametrize("is_mipped", [False, True])
def test_textures(is_mipped):
    """Bilinear, and over levels of detail that the quads' derivatives choose."""
    gl, size = mesa.context(), 128
    levels = [picture(size)]
    while is_mipped and levels[-1].shape[0] > 1:
        fine = levels[-1].astype(np.float64)
        coarse = (fine[::2, ::2] + fine[1::2, ::2] + fine[::2, 1::2] + fine[1::2, 1::2]) / 4
        levels.append(np.floor(coarse + 0.5).astype(np.uint8))
    theirs = gl.texture((size, size), 4)
    if is_mipped:
        theirs.build_mipmaps()
    for number, level in enumerate(levels):
        theirs.write(level.tobytes(), level=number)
    theirs.filter = (gl.LINEAR_MIPMAP_LINEAR if is_mipped else gl.LINEAR, gl.LINEAR)
    ours = gpu().texture(levels, "2d", filter="linear", mip_filter="linear", address="wrap", normalized=True,
                         read="normalized")  # fmt: skip
    # a floor that goes away into the distance
    width, height = 160, 120
    places = [(0, height), (width, height), (width, 20), (0, 20)]
    positions = on_grid(places, width, height, [0.1, 0.1, 0.9, 0.9], [1, 1, 9, 9])
    given = vertices(positions, uv=[(0, 0), (3, 0), (3, 9), (0, 9)])
    indices = np.uint32([0, 1, 2, 0, 2, 3])
    drawn, canvas = frame(width, height), mesa.Canvas(width, height)
    canvas.clear()
    drawn.draw(pipeline("pictured"), given, indices, pixel=(ours,))
    canvas.draw(given, indices, pixel=PICTURED, textures=(theirs,))
    difference = np.abs(drawn.pixels().astype(int) - canvas.pixels()).max(2)
    assert (difference <= 2).mean() >= 0.995 if is_mipped else difference.max() <= 2
