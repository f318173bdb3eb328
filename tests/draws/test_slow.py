"""Draws against the slow twin, which shares nothing with the stages: targets and counts, in random states."""

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.device.graphics_state.draw_state import (
    BLEND_OPERATIONS,
    COMPARES,
    FACTORS,
    STENCIL_OPERATIONS,
    BlendState,
    DepthBias,
    DepthState,
    DrawState,
    Scissor,
    StencilSide,
    Tessellation,
    Viewport,
)
from gpuprof.graphics.stages.index_fetch import RESTART, primitives, strips
from gpuprof.graphics.stages.vertex_waves import batched
from tests.draws.scene import frame, pipeline, vertices
from tests.readable.draws import SlowFrame, slow_batches

WIDTH, HEIGHT = 21, 18


def some_state(rng) -> dict:
    """A random pipeline's state, by the names of Pipeline's arguments."""

    def side():
        words = [str(each) for each in rng.choice(STENCIL_OPERATIONS, 3)]
        masks = [int(each) for each in rng.choice([0xFF, 0x0F, 0xF0], 2)]
        return StencilSide(str(rng.choice(COMPARES[1:])), int(rng.integers(256)), *masks, *words)

    def blend():
        factors = [str(each) for each in rng.choice(FACTORS, 4)]
        operations = [str(each) for each in rng.choice(BLEND_OPERATIONS, 2)]
        constant = tuple(float(each) for each in rng.uniform(-0.2, 1.2, 4))
        return BlendState(operations[0], *factors[:2], operations[1], *factors[2:], constant)

    def bias():
        return DepthBias(
            *(float(each) for each in rng.choice([-3e5, -1, 0, 0.25, 1, 2e5], 2)), float(rng.choice([0, 0.01, -0.02]))
        )

    return {
        "cull": str(rng.choice(["none", "none", "front", "back"])),
        "front": str(rng.choice(["ccw", "cw"])),
        "depth": DepthState(str(rng.choice(COMPARES[1:])), bool(rng.integers(2))) if rng.integers(4) else None,
        "stencil": side() if rng.integers(2) else None,
        "back_stencil": side() if rng.integers(2) else None,
        "blend": blend() if rng.integers(3) else None,
        "color_mask": str(rng.choice(["rgba", "rgba", "ga", ""])),
        "depth_bias": bias() if rng.integers(3) == 0 else None,
        "depth_clamp": bool(rng.integers(3) == 0),
        "sample_mask": int(rng.choice([15, 15, 15, 1, 6, 9, 0])),
    }


def some_positions(rng, n):
    """Clip space: inside and outside of the view, before the near plane, behind the eye, far outside, on the grid's
    corners, and not a number.
    """
    positions = np.concatenate([rng.uniform(-1.4, 1.4, (n, 2)), rng.uniform(-0.2, 1.1, (n, 1)), np.ones((n, 1))], 1)
    positions *= rng.choice([0.5, 1, 3, 1, 1, -0.5], (n, 1), p=[0.2, 0.2, 0.2, 0.2, 0.15, 0.05])
    positions[rng.random(n) < 0.05, :2] *= 1e5
    positions[rng.random(n) < 0.02, 0] = np.nan
    pixels = rng.random(n) < 0.3
    positions[pixels, :2] = rng.integers(0, WIDTH + 1, (pixels.sum(), 2)) / (WIDTH, HEIGHT) * 2 - 1
    positions[pixels, 3] = 1
    return positions.astype(np.float32)


def check(seed, n_draws, n_corners):
    rng = np.random.default_rng(seed)
    samples, format = int(rng.choice([1, 4])), str(rng.choice(["rgba8", "rgba16f", "rgba32f"]))
    ours = frame(WIDTH, HEIGHT, samples=samples, formats=(format,), stencil=True)
    slow = SlowFrame(WIDTH, HEIGHT, samples, format)
    for _ in range(n_draws):
        state, topology = some_state(rng), str(rng.choice(["triangles", "triangle_strip", "triangle_fan"]))
        pixel = str(rng.choice(["tinted", "tinted", "checked"]))
        x, y, width, height = (int(each) for each in rng.integers((-3, -3, 5, 5), (6, 6, 25, 25)))
        scissor = Scissor(x, y, width, height)
        viewport = Viewport(float(rng.integers(-4, 4)), 0.5, 20.0, float(rng.integers(3, 30)), 0.25, 0.75)
        indices = rng.integers(0, 12, n_corners).astype(np.uint16)
        positions, colors = some_positions(rng, 12), rng.uniform(-0.2, 1.2, (12, 4)).astype(np.float32)
        counts = ours.draw(
            pipeline(pixel, topology=topology, **state),
            vertices(positions, colors),
            indices,
            scissor=scissor,
            viewport=viewport,
        )
        front, back = state["stencil"] or StencilSide(), state["back_stencil"] or state["stencil"] or StencilSide()
        mask = sum(1 << "rgba".index(letter) for letter in state["color_mask"])
        whole = DrawState(
            topology,
            state["cull"],
            state["front"],
            viewport,
            scissor,
            state["depth"] or DepthState(),
            front,
            back,
            state["blend"],
            mask,
            depth_bias=state["depth_bias"] or DepthBias(),
            depth_clamp=state["depth_clamp"],
            sample_mask=state["sample_mask"],
        )
        slow.draw(
            positions,
            colors,
            primitives(indices.astype(np.int64), whole),
            whole,
            is_late=pixel == "checked",
            discards=(lambda px, py: (px // 3 + py // 3) % 2) if pixel == "checked" else (lambda px, py: False),
        )
        assert {name: getattr(counts, name) for name in slow.counts} == slow.counts, (seed, state)
        np.testing.assert_array_equal(
            ours.stencil.copy_to_host().reshape(slow.stencil.shape), slow.stencil, err_msg=str((seed, state))
        )
        np.testing.assert_allclose(
            ours.depth.copy_to_host().reshape(slow.depth.shape), slow.depth, atol=2e-7, err_msg=str((seed, state))
        )
        scale = 255 if format == "rgba8" else 1
        found = ours.pixels().astype(np.float64) / scale
        # a value half way between two of the format's may become either
        near = {"rgba8": n_draws * 1.01 / 255, "rgba16f": 3e-2, "rgba32f": 1e-4}[format]
        np.testing.assert_allclose(found, slow.pixels(), atol=near, rtol=near, err_msg=str((seed, state)))


def test_random_draws():
    for seed in range(3):
        check(seed, 2, 18)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 125))
def test_many_random_draws(seed):
    check(seed, 3, 36)


@pytest.mark.parametrize("n", [0, 1, 5, 400])
def test_batches_share_vertices(n):
    """Strips of a mesh, which share most vertices, and triangles at random, which share few."""
    k = np.arange(n)
    meshed = np.stack([k, k + 1, k + 2], 1)
    for given in (meshed, np.random.default_rng(n).integers(0, 60, (n, 3))):
        found = batched(given.astype(np.int64))
        lists, corners = slow_batches(given.tolist()) if n else ([], [])
        assert found.used.tolist() == [len(each) for each in lists]
        assert found.corners.tolist() == [[32 * batch + place for place in places] for batch, places in corners]
        padded = [each + each[-1:] * (32 - len(each)) for each in lists]
        assert found.numbers.reshape(-1, 32).tolist() == padded


def test_strips_of_a_geometry_shader():
    """Four lanes: a strip of four, two strips, one that is too short, and one without a beginning."""
    marks = np.uint8([[1, 2, 2, 2, 0, 0], [1, 2, 2, 1, 2, 2], [1, 2, 1, 2, 0, 0], [2, 2, 2, 0, 1, 2]])
    assert strips(marks, 3).tolist() == [[0, 1, 2], [2, 1, 3], [6, 7, 8], [9, 10, 11]]
    assert strips(marks[2:], 2).tolist() == [[0, 1], [2, 3], [10, 11]]
    assert strips(marks[3:], 1).tolist() == [[4], [5]]


@pytest.mark.parametrize(
    "topology, expected",
    [
        ("points", [[0], [1], [2], [4], [5], [6], [7], [8]]),
        ("lines", [[0, 1], [4, 5], [6, 7]]),
        ("line_strip", [[0, 1], [1, 2], [4, 5], [5, 6], [6, 7], [7, 8]]),
        ("line_loop", [[0, 1], [1, 2], [2, 0], [4, 5], [5, 6], [6, 7], [7, 8], [8, 4]]),
        ("triangles", [[0, 1, 2], [4, 5, 6]]),
        ("triangle_strip", [[0, 1, 2], [4, 5, 6], [6, 5, 7], [6, 7, 8]]),
        ("triangle_fan", [[0, 1, 2], [4, 5, 6], [4, 6, 7], [4, 7, 8]]),
        ("lines_adjacency", [[4, 5, 6, 7]]),
        ("line_strip_adjacency", [[4, 5, 6, 7], [5, 6, 7, 8]]),
        ("triangles_adjacency", []),
        ("triangle_strip_adjacency", []),
        ("patches", [[0, 1], [4, 5], [6, 7]]),
    ],
)
def test_topologies(topology, expected):
    """Three vertices, a restart, and five more; strips turn every second triangle, and begin anew."""
    state = pipeline_state(topology)
    numbers = np.array([0, 1, 2, RESTART, 4, 5, 6, 7, 8])
    assert primitives(numbers, state).tolist() == expected
    assert primitives(numbers[:0], state).shape == (0, primitives(numbers, state).shape[1])


@pytest.mark.parametrize(
    "topology, n, last, first",
    [
        ("triangle_strip", 5, [[0, 1, 2], [2, 1, 3], [2, 3, 4]], [[0, 1, 2], [1, 3, 2], [2, 3, 4]]),
        ("triangle_fan", 4, [[0, 1, 2], [0, 2, 3]], [[1, 2, 0], [2, 3, 0]]),
        ("triangle_strip_adjacency", 6, [[0, 1, 2, 5, 4, 3]], [[0, 1, 2, 5, 4, 3]]),
        (
            "triangle_strip_adjacency",
            11,
            [[0, 1, 2, 6, 4, 3], [4, 0, 2, 5, 6, 8], [4, 2, 6, 9, 8, 7]],
            [[0, 1, 2, 6, 4, 3], [2, 5, 6, 8, 4, 0], [4, 2, 6, 9, 8, 7]],
        ),
    ],
)
def test_the_provoking_vertex_stays_where_it_is(topology, n, last, first):
    """OpenGL 4.6, tables 10.1, 10.2 and 13.2. Behind each corner, the vertex across the edge that begins there."""
    for provoking, expected in (("last", last), ("first", first)):
        state = replace(pipeline_state(topology), provoking=provoking)
        assert primitives(np.arange(n), state).tolist() == expected
        again = np.concatenate([np.arange(n), [RESTART], np.arange(n)])
        assert primitives(again, state).tolist() == expected * 2


def pipeline_state(topology):
    tessellation = Tessellation(2) if topology == "patches" else None
    whole = (Viewport(0, 0, 8, 8), Scissor(0, 0, 8, 8), DepthState(), StencilSide(), StencilSide(), None, 15)
    return DrawState(topology, "none", "ccw", *whole, tessellation)
