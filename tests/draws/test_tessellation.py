"""Tessellation: what patches are cut into, against the slow twin and Mesa's llvmpipe; draws with hull and domain
shaders.
"""

import ctypes
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.device.graphics_state.draw_state import Interface, Tessellation
from gpuprof.errors import UsageError
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.pipeline import LESS, Pipeline
from gpuprof.graphics.stages.tessellate.cut import cut, sizes_of
from gpuprof.run.drawing.patches import shade_patches
from gpuprof.run.drawing.vertices import Vertices
from tests.draws import mesa
from tests.draws.scene import frame, gpu, on_grid, vertices
from tests.paths import ROOT
from tests.readable.tessellator import ONE, slow_patch
from tests.support.matrices import long_but_every

DOMAINS = ("triangles", "quads", "isolines")
SPACINGS = {
    "equal": "equal_spacing",
    "fractional_odd": "fractional_odd_spacing",
    "fractional_even": "fractional_even_spacing",
}


def some_levels(seed, n):
    """float32 (n, 6): whole and fractional ones, small and large, hostile ones, and special pairs."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, n)[:, None]
    levels = np.where(kinds == 0, rng.integers(1, 9, (n, 6)), rng.uniform(0.5, 5, (n, 6)))
    levels = np.where(kinds == 2, rng.uniform(0.3, 70, (n, 6)), levels)
    hostile = [[1] * 6, [64] * 6, [1, 1, 1, 1, 5, 1], [3, 1, 1, 1, 1, 1], [0, 2, 2, 2, 2, 2], [2, np.nan, 2, 2, 2, 2]]
    hostile += [[2, 3, 2, 3, np.nan, -1], [np.inf, 1e-30, 4, 4, 1e30, 0], [1, 1, 1, 1, -2, 0], [2, -1, 2, 2, 2, 2]]
    levels[: len(hostile)] = hostile
    return levels.astype(np.float32)


def primitives_of(levels, tessellation):
    """Of each patch, corners as (u, v) of whole numbers."""
    found = cut(sizes := sizes_of(levels, tessellation), tessellation)
    corners = np.round(found.positions.astype(np.float64) * ONE).astype(int)[found.corners]
    of_patches = np.split(corners, np.cumsum(sizes.n_primitives)[:-1])
    return [[tuple(map(tuple, each)) for each in patch.tolist()] for patch in of_patches]


@pytest.mark.parametrize("domain, spacing", long_but_every(4, product(DOMAINS, SPACINGS)))
def test_patches_are_cut_as_the_slow_twin_cuts_them(domain, spacing):
    levels = some_levels(1, 18)
    expected = [slow_patch(each, domain, spacing) for each in levels.astype(np.float64).tolist()]
    assert primitives_of(levels, Tessellation(1, domain, spacing)) == expected


@pytest.mark.parametrize("domain, at_2", [("triangles", 6), ("quads", 8), ("isolines", 4)])
def test_primitives_of_whole_levels(domain, at_2):
    """Of level n: a quad has 2 n n triangles, n n lines; a triangle 3/2 n n, or half a one more or less."""
    levels = np.float32([[0] * 6, [1] * 6, [2] * 6, [7] * 6, [64] * 6])
    at_7, at_64 = {"triangles": (73, 6144), "quads": (98, 8192), "isolines": (49, 4096)}[domain]
    at_1 = {"triangles": 1, "quads": 2, "isolines": 1}[domain]
    sizes = sizes_of(levels, Tessellation(1, domain))
    assert sizes.n_primitives.tolist() == [0, at_1, at_2, at_7, at_64]
    assert sizes.levels.culled.tolist() == [True, False, False, False, False]


def test_triangles_turn_and_vertices_become_points():
    levels = np.float32([[2] * 6])
    right, left = (
        cut(sizes_of(levels, t), t) for t in (Tessellation(1, "quads"), Tessellation(1, "quads", order="cw"))
    )
    assert left.corners[:, [0, 2, 1]].tolist() == right.corners.tolist()
    points = Tessellation(1, "quads", as_points=True)
    found = cut(sizes_of(levels, points), points)
    assert found.corners.tolist() == [[k] for k in range(9)]


HULL = """
#version 450
layout(vertices = 1) out; uniform float levels[6];
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[0].gl_Position;
    for (int k = 0; k < 4; k++) gl_TessLevelOuter[k] = levels[k];
    for (int k = 0; k < 2; k++) gl_TessLevelInner[k] = levels[4 + k];
}
"""
DOMAIN = """
#version 450
layout({domain}, {spacing}, {order}) in; out vec2 at;
void main() {{ at = gl_TessCoord.xy; gl_Position = vec4(at, 0, 1); }}
"""
NOTHING = "#version 450\nvoid main() { gl_Position = vec4(0, 0, 0, 1); }"
FEEDBACK_BUFFER, PRIMITIVES_WRITTEN, LINES, TRIANGLES = 0x8C8E, 0x8C88, 1, 4


def cut_by_mesa(levels, domain, spacing, order):
    """float32 (primitives, corners, 2), by transform feedback."""
    gl, word = mesa.context(), ctypes.c_uint
    shader = DOMAIN.format(domain=domain, spacing=SPACINGS[spacing], order=order)
    names = {"vertex_shader": NOTHING, "tess_control_shader": HULL, "tess_evaluation_shader": shader}
    program = gl.program(**names, varyings=["at"])
    target, array, buffer = gl.simple_framebuffer((4, 4)), gl.vertex_array(program, []), gl.buffer(reserve=1 << 20)
    target.use()
    gl.patch_vertices = 1
    for each in levels:
        program["levels"].value = tuple(each.tolist())
        mesa.function("glBindBufferBase", word, word, word)(FEEDBACK_BUFFER, 0, buffer.glo)
        mesa.function("glUseProgram", word)(program.glo)
        with mesa.Queries((PRIMITIVES_WRITTEN,)) as found:
            mesa.function("glBeginTransformFeedback", word)(LINES if domain == "isolines" else TRIANGLES)
            array.render(gl.PATCHES, vertices=1)
            mesa.function("glEndTransformFeedback")()
        n, corners = found.results[PRIMITIVES_WRITTEN], 2 if domain == "isolines" else 3
        yield np.frombuffer(buffer.read(), np.float32)[: n * corners * 2].reshape(n, corners, 2)


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_patches_are_cut_as_mesa_cuts_them(domain, spacing):
    """Every vertex's coordinates equal, bit for bit, and all primitives in the same order."""
    for order in ("ccw", "cw"):
        levels, tessellation = some_levels(2, 50), Tessellation(1, domain, spacing, order)
        for each, expected in zip(levels, cut_by_mesa(levels, domain, spacing, order), strict=True):
            found = cut(sizes_of(each[None], tessellation), tessellation)
            assert found.positions[found.corners].tolist() == expected.tolist(), each


@cache
def shaders():
    return gpu().load(ROOT / "tests/draws/patches.cu")


def pipeline(points, domain, spacing="equal", order="ccw", **state):
    loaded = shaders()
    hull, shader = (loaded.three, loaded.bent) if points == 3 else (loaded.four, loaded.bowed)
    tessellation = Tessellation(points, domain, spacing, order)
    given = {"hull": hull, "domain": state.pop("shader", shader), "topology": "patches", "tessellation": tessellation}
    return Pipeline(loaded.placed, loaded.tinted, **given | state)


def test_a_tessellated_square():
    """A quad patch of 3 x 3 cells in 9 x 9 pixels: 16 vertices, 18 triangles, each pixel once."""
    drawn = frame(9, 9)
    corners = vertices(on_grid([(0, 9), (9, 9), (9, 0), (0, 0)], 9, 9))
    levels, reds = np.full((1, 6), 3, np.float32), np.float32([1])
    drawn_as = {"hull": (levels, reds), "domain": (0.0,)}
    counts = drawn.draw(pipeline(4, "quads", cull="back", depth=LESS), corners, **drawn_as)
    assert counts._replace(tiles=0, quads=0, helpers=0, pixel_waves=0) == DrawCounts(
        indices=4, vertex_waves=1, vertices=4, primitives=1, hull_waves=1, domain_vertices=16, domain_waves=1,
        tessellated=18, scanned=18, covered=81, tested=81, passed=81, written=81,
    )  # fmt: skip
    # u to the right and v upwards, at the middles of pixels
    u, v = np.meshgrid((np.arange(9) + 0.5) / 9, 1 - (np.arange(9) + 0.5) / 9)
    expected = np.stack([np.ones_like(u), u, v, np.ones_like(u)], 2) * 255
    assert np.abs(drawn.pixels() - expected).max() <= 1
    turned = drawn.draw(pipeline(4, "quads", cull="front"), corners, **drawn_as)
    assert (turned.culled, turned.scanned) == (18, 0)


@pytest.mark.parametrize("points, domain", [(3, "triangles"), (4, "quads")])
def test_many_patches_side_by_side(points, domain):
    """37 patches of 8 x 8 pixels in a row, of which warps of the hull shader take 10 or 8; each has its own levels and
    its own red; every fifth is culled. A hull shader reads each corner by the patch's number.
    """
    n, width = 37, 37 * 8
    drawn = frame(width, 8)
    square = [(0, 8), (8, 8), (8, 0), (0, 0)][:points]
    corners = np.concatenate([vertices(on_grid(np.add(square, (8 * k, 0)), width, 8)) for k in range(n)])
    reds = np.float32(np.arange(n) / 64)
    levels = np.random.default_rng(3).uniform(1, 6, (n, 6)).astype(np.float32)
    levels[::5, 1] = 0
    order = np.random.default_rng(4).permutation(n)
    indices = (order[:, None] * points + np.arange(points)).astype(np.uint16)
    counts = drawn.draw(
        pipeline(points, domain, spacing="fractional_odd"), corners, indices, hull=(levels, reds), domain=(0.0,)
    )
    sizes = sizes_of(levels, Tessellation(points, domain, "fractional_odd"))
    assert (counts.primitives, counts.hull_waves, counts.culled_patches) == (n, -(-n // (32 // points)), 8)
    assert (counts.domain_vertices, counts.tessellated) == (sizes.n_vertices.sum(), sizes.n_primitives.sum())
    found = drawn.pixels()
    for patch, place in enumerate(order):
        red = found[6, 8 * place + (5 if points == 3 else 1)]
        expected = 0 if patch % 5 == 0 else round(reds[patch] * 255)
        assert abs(int(red[0]) - expected) <= 1 and (red[3] == 255) == (patch % 5 != 0)


def test_patches_of_no_level_draw_nothing():
    drawn = frame(8, 8)
    corners = vertices(on_grid([(0, 8), (8, 8), (8, 0), (0, 0)], 8, 8))
    levels = np.float32([[2, np.nan, 2, 2, 2, 2]])
    counts = drawn.draw(pipeline(4, "quads"), corners, hull=(levels, np.float32([1])), domain=(0.0,))
    assert (counts.culled_patches, counts.domain_vertices, counts.scanned, counts.passed) == (1, 0, 0, 0)
    assert not drawn.pixels().any()


def test_a_geometry_shader_takes_what_the_tessellator_makes():
    drawn = frame(8, 8)
    corners = vertices(on_grid([(0, 8), (8, 8), (8, 0), (0, 0)], 8, 8))
    given = {"hull": (np.full((2, 6), 2, np.float32), np.float32([1, 1])), "domain": (0.0,)}
    counts = drawn.draw(pipeline(4, "quads", geometry=shaders().marked), corners, **given, instances=2)
    assert (counts.tessellated, counts.geometry_waves, counts.emitted, counts.passed) == (16, 1, 16, 128)


def test_more_control_points_than_there_is_room_for():
    """A patch of one vertex may become one of 32 points, which fill a warp."""
    hull = SimpleNamespace(interface=Interface("hull", corners_out=32))
    given = Vertices(0, 0, 0, 32, np.zeros(((1 << 21) + 1, 1), np.int64))
    with pytest.raises(UsageError, match="control points of a draw's patches take up to 67108864 lanes, not 67108896"):
        shade_patches(hull, given, None, None)


HULL_OF_LEVELS = """
#version 450
layout(vertices = {points}) out; uniform float levels[6];
in vec4 tint[]; in vec2 at[];
void main() {{
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    for (int k = 0; k < 4; k++) gl_TessLevelOuter[k] = levels[k];
    for (int k = 0; k < 2; k++) gl_TessLevelInner[k] = levels[4 + k];
}}
"""
BENT = """
#version 450
layout(triangles, {spacing}, ccw) in; layout(location = 0) out vec4 tint;
void main() {{
    vec3 at = gl_TessCoord;
    vec4 a = gl_in[0].gl_Position, b = gl_in[1].gl_Position, c = gl_in[2].gl_Position;
    float moved = .75 * at.x * at.y * at.z;
    gl_Position = vec4(a.x * at.x + b.x * at.y + c.x * at.z + moved, a.y * at.x + b.y * at.y + c.y * at.z, a.z, 1);
    tint = vec4(1, at.x, at.y, 1);
}}
"""
BOWED = """
#version 450
layout(quads, {spacing}, ccw) in; layout(location = 0) out vec4 tint;
void main() {{
    vec2 at = gl_TessCoord.xy;
    vec4 a = gl_in[0].gl_Position, b = gl_in[1].gl_Position, c = gl_in[2].gl_Position, d = gl_in[3].gl_Position;
    float moved = .75 * at.x * (1 - at.x) * at.y * (1 - at.y);
    vec2 lower = a.xy + (b.xy - a.xy) * at.x, upper = d.xy + (c.xy - d.xy) * at.x;
    gl_Position = vec4(lower + (upper - lower) * at.y + vec2(moved, moved), a.z, 1);
    tint = vec4(1, at.x, at.y, 1);
}}
"""
TINTED = "#version 450\nlayout(location = 0) in vec4 tint; out vec4 color;\nvoid main() { color = tint; }"
HULL_PATCHES, DOMAIN_INVOCATIONS = 0x82F1, 0x82F2


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("points, domain, shader", [(3, "triangles", BENT), (4, "quads", BOWED)])
def test_bent_patches(points, domain, shader, spacing):
    """Displaced patches: coverage and colors tell where each triangle lies; the two compilers may round a vertex over
    to the next 1/256 pixel.
    """
    width, height = 96, 64
    corners = vertices(on_grid([(7, 60), (90, 51), (77, 3), (4, 9)][:points], width, height))
    hull = HULL_OF_LEVELS.format(points=points)
    for levels in some_levels(5, 30)[10:16]:
        ours, theirs = frame(width, height), mesa.Canvas(width, height)
        theirs.clear()
        given = {"hull": (levels[None], np.float32([1])), "domain": (0.75,)}
        counts = ours.draw(pipeline(points, domain, spacing=spacing, cull="back"), corners, **given)
        found = theirs.draw(
            corners, topology="patches", patch=(points, hull, shader.format(spacing=SPACINGS[spacing]), levels),
            pixel=TINTED, cull="back", queries=(mesa.CLIPPING_INPUT, HULL_PATCHES, DOMAIN_INVOCATIONS),
        )  # fmt: skip
        assert found[mesa.CLIPPING_INPUT] == counts.tessellated
        assert (found[HULL_PATCHES], found[DOMAIN_INVOCATIONS]) == (counts.primitives, counts.domain_vertices)
        same = (np.abs(ours.pixels().astype(int) - theirs.pixels()) <= 1).all(2)
        assert same.mean() > 0.999, levels


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: pipeline(4, "quads", hull=shaders().three), "three gives patches of 3 control points, and bowed"),
        (lambda: pipeline(4, "quads", hull=None), "a hull shader, a domain shader and a tessellation belong together"),
        (lambda: pipeline(4, "quads", topology="triangles"), "the topology patches and a tessellation belong together"),
        (lambda: pipeline(4, "circles"), "a tessellation's domain is one of triangles, quads, isolines, not 'circles'"),
        (lambda: pipeline(4, "quads", spacing="odd"), "a tessellation's spacing is one of equal, fractional_odd,"),
        (lambda: pipeline(4, "quads", order="left"), "a tessellation's order is one of ccw, cw, not 'left'"),
        (lambda: pipeline(33, "quads"), "a patch has 1 to 32 vertices, not 33"),
        (lambda: pipeline(4, "quads", tessellation="quads"), "tessellation is a Tessellation, not 'quads'"),
        (lambda: pipeline(4, "quads", shader=shaders().four), "four is a hull shader, and a domain shader is needed"),
        (
            lambda: pipeline(4, "isolines", geometry=shaders().marked),
            "marked takes primitives of 3 corners, and those drawn have 2",
        ),
        (
            lambda: frame(8, 8).draw(
                pipeline(4, "quads"),
                vertices(np.zeros((4, 4))),
                np.uint16([0, 1, 2, 3] * 5000),
                hull=(np.full((5000, 6), 64, np.float32), np.zeros(5000, np.float32)),
                domain=(0.0,),
            ),
            "a draw makes up to 33554432 primitives, not 40960000",
        ),
    ],
)
def test_errors(act, message):
    with pytest.raises(UsageError) as error:
        act()
    assert message in str(error.value)
