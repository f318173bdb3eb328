"""A saved stream draws the same again, and one that nobody saved says what is wrong."""

import json
import zlib
from dataclasses import replace

import numpy as np
import pytest

from gpuprof.correlate.database import reading
from gpuprof.device.graphics_state.draw_state import DepthBias, Scissor, Tessellation, Viewport
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import ALPHA, LESS, Pipeline
from gpuprof.records.chunk_stream import read_chunks
from gpuprof.records.command_stream.pieces import unpack
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.writer import RecordWriter
from gpuprof.run.replay import Player, Registers
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device, open_session
from tests.draws.scene import SHADERS, on_grid, vertices
from tests.paths import ROOT
from tests.support.matrices import long_from

LEAST = Settings(chip_name="rtx3090", max_cycles=20_000)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A recording of five draws, and the pixels that they gave."""
    path = tmp_path_factory.mktemp("draws") / "a.gprec"
    with RecordWriter(path) as recorder:
        gpu = open_device(replace(LEAST, recorder=recorder, save_stream=True))
        loaded = gpu.load(SHADERS)
        drawn = Frame(gpu, 8, 8, samples=4)
        drawn.clear((0, 0, 1, 1))
        given = vertices(on_grid([(0, 0), (8, 1), (5, 8)], 8, 8), (1, 0.5, 0, 0.5))
        blended = Pipeline(loaded.placed, loaded.tinted, depth=LESS, blend=ALPHA)
        drawn.draw(blended, given, np.uint16([0, 1, 2]), scissor=Scissor(1, 1, 6, 6))
        drawn.draw(Pipeline(loaded.placed, None, depth=LESS), given)
        grown = Pipeline(loaded.placed, loaded.tinted, geometry=loaded.grown)
        drawn.draw(grown, given, geometry=(0.25,), name="grown")
        patches = gpu.load(ROOT / "tests/draws/patches.cu")
        whole = {"topology": "patches", "tessellation": Tessellation(3, spacing="fractional_odd", order="cw")}
        cut = Pipeline(patches.placed, patches.tinted, hull=patches.three, domain=patches.bent, **whole)
        hull = (np.float32([[2, 3, 1, 1, 2, 1]]), np.float32([0.5]))
        drawn.draw(cut, vertices(on_grid([(0, 8), (4, 8), (0, 4)], 8, 8)), hull=hull, domain=(0.5,), name="cut")
        words = {"provoking": "first", "depth_bias": DepthBias(1, 2, 3), "depth_clamp": True, "sample_mask": 7}
        outputs = {"alpha_to_coverage": True, "blend": [replace(ALPHA, constant=(1, 0, 0, 1))], "color_mask": ["rgb"]}
        points = Pipeline(
            loaded.placed,
            loaded.tinted,
            topology="points",
            point_size=2.5,
            line_width=3,
            restarts=True,
            **words,
            **outputs,
        )
        record = gpu.to_device(np.uint32([2, 1, 1, 0]))
        drawn.draw(points, given, indirect=record, name="indirect")
        drawn.draw(points, given, np.uint16([0xFFFF, 0]), base_vertex=1, name="points")
        for refused in ({"viewport": Viewport(np.nan, 0, 8, 8)}, {"instances": 1 << 64}):  # no line could hold it
            with pytest.raises(UsageError):
                drawn.draw(points, given[:0], **refused)
        pixels = drawn.pixels()
        gpu.executor.finish()
    return path, pixels


def lines_of(path) -> list[dict]:
    chunks = [payload for chunk, payload in read_chunks(path) if chunk.type == b"STRM" and payload.id == 0]
    return [json.loads(line) for payload in chunks for line in unpack(payload.data).splitlines()]


def with_lines(path, to, lines):
    """The recording with another stream."""
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    with RecordWriter(to) as writer:
        for chunk, payload in read_chunks(path):
            if chunk.type == b"IMAG":
                writer._put(b"IMAG", payload.id.to_bytes(4, "little") + payload.data)
            elif chunk.type == b"STRM" and payload.id:
                writer.stream(*payload)
            elif chunk.kind == "json" and chunk.type not in (b"ENDF", b"LEND", b"LNCH"):
                writer._json(chunk.type, payload)
        writer.stream(0, zlib.compress(data))
    return to


def last_copy(path) -> bytes:
    """What the stream copies out at its end."""
    stream = read_stream(path)
    session = open_session(LEAST)
    player = Player(stream, session, True, Registers(LEAST.sampling, frozenset(), 0, 1))
    results = [session.submit(player.command(command)) for command, _ in stream.commands()]
    return next(result for result in reversed(results) if isinstance(result, bytes))


def test_a_saved_stream_draws_the_same(saved):
    path, pixels = saved
    assert len({tuple(each) for each in pixels.reshape(-1, 4)}) > 3
    assert last_copy(path) == pixels.tobytes()
    assert [line["do"] for line in lines_of(path)].count("draw") == 6


DAMAGE = [
    (["state", "topology"], "blobs", "topology is one of points, lines, "),
    (["targets", "height"], 64, "cannot draw with"),
    (["buffers", "n_indices"], 1 << 40, "a draw has up to 33554432 indices"),
    (["buffers", "vertices"], 64, "the vertex buffer is not in memory"),
    (["shaders", 0, "symbol"], "nothing", "has no kernel 'nothing'"),
]
MORE_DAMAGE = [
    (["state", "blend", "alpha_operation"], "x", "a blend operation is one of add, "),
    (["state", "scissor", "width"], 9, "a scissor lies within the targets"),
    (["state", "viewport", "width"], 0.0, "a viewport has finite numbers"),
    (["state", "front_stencil"], {"reference": 256}, "a stencil reference or mask is 0 to 255"),
    (["targets", "width"], 1 << 20, "a frame has 1 to 16384 pixels a side"),
    (["targets", "samples"], 16, "a pixel has 1 or 4 samples"),
    (["targets", "colors"], [], "up to 8 color targets, each of one format"),
    (["targets", "colors"], [16], "cannot draw with"),
    (["targets", "colors"], [8], "target address 0x8 is not aligned to 16 bytes"),
    (["targets", "depth"], 1 << 50, "cannot draw with"),
    (["buffers", "index_nbytes"], 3, "an index has 2 or 4 bytes"),
    (["buffers", "n_indices"], 1 << 20, "cannot draw with"),
    (["buffers", "instances"], -1, "a draw has no fewer than 0"),
    (["buffers", "base_vertex"], 1, "index 2 of the index buffer is 2, with the base vertex 3, and there are 3"),
    (["state", "point_size"], 0.0, "a point has a size of 1 to 255 pixels, not 0.0"),
    (["state", "line_width"], 256.0, "a line has a width of 1 to 255 pixels, not 256.0"),
    (["state", "provoking"], "middle", "provoking is one of last, first, not 'middle'"),
    (["state", "sample_mask"], 16, "a sample mask has bits for 4 samples, 0 to 15, not 16"),
    (["state", "outputs"], [{"color_mask": 16}], "a color mask is 0 to 15, not 16"),
    (["state", "outputs"], [{}] * 9, "a draw has up to 8 color targets, not 9"),
    (["state", "blend", "constant"], [0.0, 0.0, 0.0, 1e999], "a blend's constant has four channels, finite numbers"),
    (["buffers", "first_instance"], -1, "a first instance is 0 to 2147483648, not -1"),
    (["buffers", "indirect"], 64, "its record is not in memory"),
    (["shaders", 1, "interface", "flat"], [1, 1], r"tinted: of 6 words of varyings, \(1, 1\) are flat"),
    (["shaders", 1, "interface", "flat"], [6], r"tinted: of 6 words of varyings, \(6,\) are flat"),
    (["shaders", 0, "interface", "abilities"], 1 << 40, "placed: a vertex shader has no abilities 1099511627776"),
    (["shaders", 1, "interface", "abilities"], 8, "tinted: a pixel shader has no abilities 8"),
    (["shaders", 0, "interface", "words_out"], 3, "gives 12 bytes of varyings, and tinted takes 24"),
    (["shaders", 0, "interface", "words_out"], 1 << 40, "varyings are up to 512 bytes"),
    (["shaders", 0, "params"], "", "bytes of parameters, and 0 are given"),
    (["shaders", 0, "module"], 3, "of module 3, which is not loaded"),
    (["shaders", 1], {}, "does not have the fields of SavedShader"),
    (["shaders"], [], "it has a vertex shader first"),
]


@pytest.mark.parametrize("place, value, message", long_from(len(DAMAGE), DAMAGE + MORE_DAMAGE))
def test_draws_that_are_none(saved, tmp_path, place, value, message):
    lines = lines_of(saved[0])
    at = next(line for line in lines if line["do"] == "draw")
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    with pytest.raises(GpuprofError, match=message):
        last_copy(with_lines(saved[0], tmp_path / "b.gprec", lines))


@pytest.mark.parametrize(
    "field, value, message",
    long_from(
        1,
        [
            ("most_vertices", 1, "out of bounds write"),
            ("most_vertices", 0, "grown: a geometry shader makes 1 to 1024 vertices, not 0"),
            ("words_out", 5, "grown gives 20 bytes of varyings, and tinted takes 24"),
        ],
    ),
)
def test_geometry_that_is_none(saved, tmp_path, field, value, message):
    lines = lines_of(saved[0])
    shaders = next(line for line in lines if len(line.get("shaders", ())) == 3)["shaders"]
    shaders[1]["interface"][field] = value
    with pytest.raises(GpuprofError, match=message):
        last_copy(with_lines(saved[0], tmp_path / "b.gprec", lines))


@pytest.mark.parametrize(
    "place, value, message",
    long_from(
        2,
        [
            (["state", "tessellation"], None, "the topology patches and a tessellation belong together"),
            (["shaders", 1, "interface", "corners_out"], 2, "three gives patches of 2 control points, and bent"),
            (["shaders", 1, "interface", "constant_words"], 2, "three gives 8 bytes of constants of a patch"),
            (["state", "tessellation", "points"], 0, "a patch has 1 to 32 vertices, not 0"),
        ],
    ),
)
def test_patches_that_are_none(saved, tmp_path, place, value, message):
    lines = lines_of(saved[0])
    at = next(line for line in lines if line.get("name") == "cut")
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    with pytest.raises(GpuprofError, match=message):
        last_copy(with_lines(saved[0], tmp_path / "b.gprec", lines))


def test_resolving_what_cannot_be(saved, tmp_path):
    lines = lines_of(saved[0])
    resolve = next(line for line in lines if line["do"] == "resolve")
    resolve["targets"]["colors"], resolve["targets"]["formats"] = [], []
    with pytest.raises(GpuprofError, match="one color target is resolved at a time, not 0"):
        last_copy(with_lines(saved[0], tmp_path / "b.gprec", lines))


def test_shaders_in_the_wrong_place(saved, tmp_path):
    lines = lines_of(saved[0])
    draw = next(line for line in lines if line["do"] == "draw")
    vertex, pixel = draw["shaders"]
    vertex["symbol"] = pixel["symbol"]
    with pytest.raises(GpuprofError, match="tinted: its first parameter is not its stage"):
        last_copy(with_lines(saved[0], tmp_path / "b.gprec", lines))
    draw["shaders"] = [pixel, pixel]
    with pytest.raises(GpuprofError, match="of the stages pixel, pixel; it has a vertex shader first"):
        last_copy(with_lines(saved[0], tmp_path / "c.gprec", lines))


def test_shaders_are_launches_of_a_recording(saved):
    """Each is a part of its draw; the draw of depths shades no pixels."""
    with reading(saved[0]) as database:
        query = "SELECT kernel, task, cycles > 0 FROM launches ORDER BY launch"
        launches = database.execute(query).fetchall()
    assert launches == [
        ("placed", "placed and tinted", 1),
        ("tinted", "placed and tinted", 1),
        ("placed", "placed", 1),
        ("placed", "grown", 1),
        ("grown", "grown", 1),
        ("tinted", "grown", 1),
        *((kernel, "cut", 1) for kernel in ("placed", "three", "bent", "tinted")),
        ("placed", "indirect", 1),
        ("tinted", "indirect", 1),
        ("placed", "points", 1),
        ("tinted", "points", 1),
    ]
