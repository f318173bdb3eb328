"""Frames that are hostile or empty, pictures, and what is refused."""

import zlib

import numpy as np
import pytest

from gpuprof.device.graphics_state.draw_state import BlendState, DepthBias, DepthState, Scissor, StencilSide, Viewport
from gpuprof.errors import CompileError, KernelFault, UsageError
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import ALPHA, LESS, Pipeline
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.draws.scene import SHADERS, frame, gpu, on_grid, pipeline, shaders, vertices

CORNERS = [(0, 0), (8, 0), (8, 8), (0, 8)]
SQUARE = vertices(on_grid(CORNERS, 8, 8), (1, 0.5, 0, 1))
INDICES = np.uint16([0, 1, 2, 0, 2, 3])


def test_a_square_is_drawn_once():
    """The diagonal belongs to one triangle: 64 samples, and each quad on it is shaded twice."""
    drawn = frame(8, 8)
    counts = drawn.draw(pipeline(depth=LESS), SQUARE, INDICES)
    assert counts == DrawCounts(
        indices=6, vertex_waves=1, vertices=4, primitives=2, scanned=2, tiles=2, covered=64, tested=64, passed=64,
        quads=20, helpers=16, pixel_waves=3, written=64,
    )  # fmt: skip
    assert counts.quad_efficiency == 0.8
    assert (drawn.pixels() == [255, 128, 0, 255]).all()
    assert (drawn.depth.copy_to_host() == 0.5).all()
    again = drawn.draw(pipeline(depth=LESS), SQUARE, INDICES)  # all of it is hidden, but no tile lies behind
    assert (again.tiles, again.hidden_tiles, again.tested, again.quads) == (2, 0, 64, 0)
    behind = vertices(on_grid(CORNERS, 8, 8, 0.75))
    assert drawn.draw(pipeline(depth=LESS), behind, INDICES).hidden_tiles == 2


def test_what_is_told_of_a_lane():
    """Primitive, side, and lane of its quad: left and right of the upper row, then of the lower one."""
    drawn = frame(8, 8, formats=("rgba32f",))
    drawn.draw(pipeline("told"), SQUARE, INDICES)
    found = drawn.pixels()
    assert found[0, 7].tolist() == [0, 0, 1, 1]
    assert found[7, 0].tolist() == [1, 0, 2, 1]
    turned = frame(8, 8, formats=("rgba32f",))
    turned.draw(pipeline("told", front="cw"), SQUARE, INDICES)
    assert turned.pixels()[3, 3].tolist() == [0, 1, 3, 1]


def test_samples_of_a_pixel():
    """A square whose left side is at x = 2.25: of pixel 2, the samples at .375, .875 and .625 are inside."""
    drawn = frame(8, 8, samples=4)
    places = [(2.25, 0), (8, 0), (8, 8), (2.25, 8)]
    counts = drawn.draw(pipeline(), vertices(on_grid(places, 8, 8)), INDICES)
    assert counts.passed == 8 * (3 + 5 * 4)
    assert drawn.pixels()[4, 1:4, 0].tolist() == [0, 191, 255]  # 3 of 4 samples: 191.25
    assert counts.written == counts.passed


def test_two_targets_and_instances():
    drawn = frame(8, 4, formats=("rgba8", "rgba16f"))
    left = vertices(on_grid([(0, 0), (2, 0), (2, 4), (0, 4)], 8, 4), (1, 0, 0, 1))
    both = Pipeline(shaders().instanced, shaders().two)
    counts = drawn.draw(both, left, INDICES, vertex=(np.float32([0, 0.5, 1.5]),), instances=3)
    assert (counts.vertex_waves, counts.vertices, counts.primitives, counts.passed) == (3, 12, 6, 24)
    assert drawn.pixels()[1, :, 0].tolist() == [255, 255, 255, 255, 0, 0, 255, 255]
    assert drawn.pixels(1)[1, :, 1].tolist() == [1, 1, 1, 1, 0, 0, 1, 1]


def test_a_geometry_shader():
    """Both become half of themselves; the upper right one, whose red is not small, gets a strip of two beside it."""
    drawn = frame(64, 64)
    given = vertices(on_grid([(0, 0), (64, 0), (64, 64), (0, 64), (0, 0), (64, 64)], 64, 64))
    given[3:, 4] = 0.25
    growing = Pipeline(shaders().placed, shaders().tinted, geometry=shaders().grown)
    counts = drawn.draw(growing, given, geometry=(0.5,))
    assert (counts.primitives, counts.geometry_waves, counts.emitted, counts.scanned) == (2, 1, 4, 4)
    # two triangles of 32 x 32 / 2 pixels, and 4 x 2 pixels
    assert 2 * 496 <= counts.passed - 8 <= 2 * 528
    assert drawn.pixels()[38:41, 12].tolist() == [[64, 255, 255, 255]] * 3
    with pytest.raises(UsageError, match="grown is a geometry shader, and a pixel shader is needed"):
        pipeline("grown")
    with pytest.raises(UsageError, match="the pipeline has no geometry shader, which would take arguments"):
        drawn.draw(pipeline(), given, geometry=(1,))


def test_depth_alone():
    drawn = frame(8, 8, formats=())
    counts = drawn.draw(pipeline(None, depth=LESS), SQUARE, INDICES)
    assert (counts.passed, counts.quads, counts.written) == (64, 0, 0)
    assert (drawn.depth.copy_to_host() == 0.5).all()


NAN = SQUARE.copy()
NAN[0, 0] = np.nan
INFINITE = SQUARE.copy()
INFINITE[0, :4] = np.inf, -np.inf, np.inf, 1
INFINITE_W = SQUARE.copy()
INFINITE_W[0, 3] = np.inf
SAME = SQUARE[[0, 0, 0, 0]]
NO_W = SQUARE.copy()
NO_W[:, :4] = 0


@pytest.mark.parametrize(
    "given, indices, expected",
    [
        (SQUARE[:0], None, DrawCounts()),
        (SQUARE, INDICES[:0], DrawCounts()),
        (SQUARE[:2], None, DrawCounts(indices=2)),
        (NAN, INDICES, DrawCounts(indices=6, vertex_waves=1, vertices=4, primitives=2, rejected=2)),
        (INFINITE, INDICES, DrawCounts(indices=6, vertex_waves=1, vertices=4, primitives=2, rejected=2)),
        (INFINITE_W, INDICES, DrawCounts(indices=6, vertex_waves=1, vertices=4, primitives=2, rejected=2)),
        (SAME, INDICES, DrawCounts(indices=6, vertex_waves=1, vertices=4, primitives=2, without_area=2)),
        (NO_W, INDICES, DrawCounts(indices=6, vertex_waves=1, vertices=4, primitives=2, without_area=2)),
        (SQUARE * 1e30, INDICES, DrawCounts(indices=6, vertex_waves=1, vertices=4, primitives=2, scanned=2)),
    ],
    ids=["no vertices", "no indices", "two vertices", "NaN", "infinite", "w infinite", "degenerate", "w of 0", "huge"],
)
def test_empty_and_hostile_triangles(given, indices, expected):
    drawn = frame(8, 8)
    counts = drawn.draw(pipeline(), given, indices)
    if expected.scanned:  # w is huge as well, so the square is in its place
        assert (counts.passed, counts.scanned) == (64, 2)
    else:
        assert counts == expected
        assert not drawn.pixels().any()


@pytest.mark.parametrize("width, height", [(1, 1), (16384, 1), (1, 16384)])
def test_extreme_targets(width, height):
    drawn = frame(width, height)
    corners = on_grid([(0, 0), (width, 0), (width, height), (0, height)], width, height)
    assert drawn.draw(pipeline(depth=LESS), vertices(corners), INDICES).passed == width * height
    assert (drawn.pixels() == 255).all()


@pytest.mark.long
def test_the_largest_target_takes_a_piece_of_memory_at_a_time():
    drawn = frame(16384, 512, formats=("rgba8",), depth=False)
    corners = on_grid([(0, 0), (16384, 0), (16384, 512), (0, 512)], 16384, 512)
    assert drawn.draw(pipeline(), vertices(corners), INDICES).passed == 16384 * 512
    assert (drawn.pixels() == 255).all()


@pytest.mark.parametrize(
    "act, message",
    [
        (
            lambda: frame(8, 8).draw(pipeline(), SQUARE, np.uint32([0, 1, 4])),
            "placed and tinted: index 2 of the index buffer is 4, and there are 4 vertices",
        ),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, np.int64([0])), "indices are uint16 or uint32, not int64"),
        (
            lambda: frame(8, 8).draw(pipeline(), SQUARE.ravel()[:11]),
            "the vertices have 44 bytes, which is not a whole number of the vertex shader's structures of 40 bytes (as "
            "CUDA aligns their members: a float2 to 8, a float4 to 16)",
        ),
        (lambda: Frame(gpu(), 0, 8), "a frame has 1 to 16384 pixels a side, not 0 x 8"),
        (lambda: Frame(gpu(), 8, 16385), "a frame has 1 to 16384 pixels a side, not 8 x 16385"),
        (lambda: Frame(gpu(), 8, 8, samples=2), "a pixel has 1 or 4 samples, not 2"),
        (lambda: Frame(gpu(), 8, 8, formats=("rgb",)), "a format is one of rgba8, rgba16f, rgba32f, not 'rgb'"),
        (lambda: pipeline(depth=DepthState("smaller")), "compare is one of never, less, equal, "),
        (lambda: pipeline(cull="all"), "cull is one of none, front, back, not 'all'"),
        (lambda: pipeline(cull=np.array(["none", "back"])), "cull is one of none, front, back, not array("),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, hull=(1,)), "the pipeline has no hull shader, which would take"),
        (lambda: pipeline(stencil=StencilSide(reference=256)), "a stencil reference or mask is 0 to 255, not 256"),
        (lambda: pipeline("unmarked"), "unmarked is not a shader: write SHADER(unmarked) after it"),
        (lambda: pipeline("placed"), "placed is a vertex shader, and a pixel shader is needed"),
        (
            lambda: frame(8, 8).draw(pipeline(), SQUARE, viewport=Viewport(0, 0, 0, 8)),
            "a viewport has finite numbers, and a width and height above 0",
        ),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, viewport=Viewport(np.nan, 0, 8, 8)), "a viewport has finite"),
        (
            lambda: frame(8, 8).draw(pipeline(), SQUARE, viewport=Viewport(0, 10**400, 8, 8)),
            "a viewport's y is a number that a float can be, not 1000",
        ),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE[:0], instances=1 << 64), "a draw has up to 33554432 instances"),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, instances=-1), "a draw has no fewer than 0 vertices, indices"),
        (
            lambda: frame(8, 8).draw(pipeline(), SQUARE, INDICES, instances=(1 << 21) + 1),
            "the vertices of a draw's instances take up to 67108864 lanes, not 67108896",
        ),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, pixel=(1,)), "tinted takes 1 parameter"),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, [0, 1, 2]), "indices are uint16 or uint32, not int64"),
        (lambda: frame(8, 8).draw(pipeline(), [1.0, 2.0]), "the vertices have 16 bytes, which is not a whole number"),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, instances=1.5), "a number of instances must be an integer"),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, name=5), "a draw's name is a str, not 5"),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, viewport=(0, 0, 8, 8)), "viewport is a Viewport, not (0, 0"),
        (
            lambda: frame(8, 8).draw(pipeline(), SQUARE, scissor=Scissor(0.5, 0, 8, 8)),
            "a scissor's x must be an integer",
        ),
        (lambda: Pipeline(None, shaders().tinted), "a vertex shader is a Kernel, not None"),
        (lambda: pipeline(depth="less"), "depth is a DepthState, not 'less'"),
        (lambda: pipeline(blend="alpha"), "blend is a BlendState, not 'alpha'"),
        (lambda: pipeline(stencil="keep"), "stencil is a StencilSide, not 'keep'"),
        (lambda: frame("8", 8), "a frame's width must be an integer, not '8'"),
        (lambda: frame(8, 8).clear((0, 0, 1)), "a color has four channels, which (0, 0, 1) has not"),
        (lambda: frame(8, 8, stencil=True).clear(stencil=256), "a stencil target's value is 0 to 255, not 256"),
        (lambda: frame(8, 8).resolved(1), "the frame has 1 color targets, and no number 1"),
        (lambda: frame(8, 8).resolved("0"), "a color target's number must be an integer, not '0'"),
        (lambda: frame(8, 8).clear(depth="1"), "a depth target's value is a Real, not '1'"),
        (lambda: frame(8, 8).clear("abcd"), "a color has four channels, which 'abcd' has not"),
        (
            lambda: frame(8, 8).clear([[1], [1, 2], 3, 4]),
            "a color has four channels, which [[1], [1, 2]",
        ),
        (lambda: frame(8, 8).clear((10**400, 0, 0, 0)), "a color's channel is a number that a float can be, not 1000"),
        (lambda: frame(8, 8, formats="rgba8"), "a frame's formats are a tuple or list, not 'rgba8'"),
        (lambda: frame(8, 8).draw(None, SQUARE), "a draw's pipeline is a Pipeline, not None"),
        (
            lambda: frame(8, 8).draw(pipeline(), SQUARE, pixel=7),
            "the arguments of a pixel shader are a tuple or list, not 7",
        ),
        (lambda: frame(8, 8).draw(pipeline(), SQUARE, viewport=Viewport("0", 0, 8, 8)), "a viewport's x is a Real"),
        (lambda: pipeline(color_mask=7), "color_mask is a str, not 7"),
        (lambda: pipeline(color_mask=["rgba"] * 9), "a draw has up to 8 color targets, not 9"),
        (lambda: pipeline(blend=[ALPHA, 3]), "blend is a BlendState, not 3"),
        (
            lambda: pipeline(blend=BlendState(constant=(1, 2, 3))),
            "a blend's constant has four channels, finite numbers",
        ),
        (lambda: pipeline(blend=BlendState(constant="red")), "a blend's constant channels are a tuple or list, not"),
        (lambda: pipeline(depth_bias=3), "depth_bias is a DepthBias, not 3"),
        (lambda: pipeline(depth_bias=DepthBias(np.nan)), "a depth bias has finite numbers: DepthBias(constant=nan"),
        (lambda: pipeline(line_width=0), "a line has a width of 1 to 255 pixels, not 0"),
        (lambda: pipeline(provoking="middle"), "provoking is one of last, first, not 'middle'"),
        (lambda: pipeline(sample_mask=16), "a sample mask has bits for 4 samples, 0 to 15, not 16"),
        (
            lambda: frame(8, 8).draw(pipeline(), SQUARE, indirect=np.uint32([4, 1, 0, 0])),
            "an indirect draw's record is a DeviceArray, not array(",
        ),
        (
            lambda: frame(8, 8).draw(
                pipeline(), SQUARE, indirect=gpu().to_device(np.uint32([4, 1, 0, 0])), instances=2
            ),
            "an indirect draw has its instances and its base vertex in its record",
        ),
        (
            lambda: Frame(gpu(), 16384, 16384, samples=4),
            "the targets of a frame have up to 2 GiB together, and 16384 x 16384 pixels with 4 x 8 bytes each have "
            "8 GiB",
        ),
        (
            lambda: Frame(gpu(), 16384, 16384, stencil=True),
            "the targets of a frame have up to 2 GiB together, and 16384 x 16384 pixels with 1 x 9 bytes each have "
            "2.25 GiB",
        ),
    ],
)
def test_errors(act, message):
    with pytest.raises(UsageError) as error:
        act()
    assert message in str(error.value)


@pytest.mark.long  # a compilation that no cache has
def test_varyings_that_are_no_floats(tmp_path):
    source = tmp_path / "halves.cu"
    source.write_text("""#include <gpuprof/graphics.h>
struct Halves { short a, b, c; };
__global__ void placed(VertexStage<float4, Halves> stage) { stage.out(stage.in(), {1, 2, 3}); }
SHADER(placed)
""")
    with pytest.raises(CompileError) as error:
        gpu().load(source)
    assert "a varying is a float, or flat: write flat<int>" in error.value.diagnostics


def test_a_shader_that_never_ends():
    """The draw fails, its memory is given back, and the next one works."""
    device = open_device(Settings(max_cycles=2000), "a100")
    loaded = device.load(SHADERS)
    drawn = Frame(device, 8, 8)
    used = device.executor.memory.used_nbytes
    with pytest.raises(KernelFault, match="endless"):
        drawn.draw(Pipeline(loaded.placed, loaded.endless), SQUARE, INDICES)
    assert device.executor.memory.used_nbytes == used
    drawn.draw(Pipeline(loaded.placed, loaded.tinted), SQUARE, INDICES, scissor=Scissor(2, 2, 100, 1))
    assert drawn.pixels()[..., 0].any(1).tolist() == [False, False, True] + [False] * 5


def test_clearing_with_no_number():
    drawn = frame(2, 2)
    drawn.clear((np.nan, 0.5, 2, -1))
    assert (drawn.pixels() == [0, 128, 255, 0]).all()


def read_png(data: bytes) -> np.ndarray:
    """By the format's specification; filters other than none are not ours."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, kinds = 8, b"", []
    while at < len(data):
        nbytes, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        content = data[at + 8 : at + 8 + nbytes]
        assert int.from_bytes(data[at + 8 + nbytes : at + 12 + nbytes], "big") == zlib.crc32(kind + content)
        kinds.append(kind)
        if kind == b"IHDR":
            width, height = int.from_bytes(content[:4], "big"), int.from_bytes(content[4:8], "big")
            assert content[8:] == bytes([8, 6, 0, 0, 0])
        body += content if kind == b"IDAT" else b""
        at += nbytes + 12
    assert kinds == [b"IHDR", *[b"IDAT"] * (len(kinds) - 2), b"IEND"]
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + 4 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 4)


def test_a_picture(tmp_path):
    drawn = frame(8, 4, formats=("rgba32f",))
    whole = on_grid([(0, 0), (8, 0), (8, 4), (0, 4)], 8, 4)
    for color, expected in (((0.25, 0.5, 2, 1), [64, 128, 255, 255]), ((np.nan, -1, 0, 1), [0, 0, 0, 255])):
        drawn.draw(pipeline(), vertices(whole, color), INDICES)
        drawn.save(tmp_path / "out.png")
        assert (read_png((tmp_path / "out.png").read_bytes()) == expected).all()
