"""Draws that are recorded: when their shaders run, and what comes of draws that fail, or draw nothing."""

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.device.graphics_state.draw_state import (
    DepthState,
    DrawState,
    Scissor,
    StencilSide,
    Targets,
    Tessellation,
    Viewport,
)
from gpuprof.errors import DeviceMemoryError, KernelFault, UsageError
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import LESS, Pipeline
from gpuprof.graphics.stages import depth_tests as depth_tests, raster
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.observer import LaunchResult
from gpuprof.run.replay import Player, Registers
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import open_device, open_session
from gpuprof.timing.sampling.configuration import Sampling
from tests.draws.scene import on_grid, vertices
from tests.paths import ROOT

CORNERS = [(0, 0), (16, 0), (16, 16), (0, 16)]
SQUARE = np.uint16([0, 1, 2, 0, 2, 3])
SAMPLING = Sampling(period_cycles=64)


class Results(Observer):
    def __init__(self):
        self.found: list[LaunchResult] = []

    def finished(self, result: LaunchResult) -> None:
        self.found.append(result)

    @property
    def times(self) -> list[tuple[str, int, int]]:
        timings = [(each.launch.function.display, each.timing) for each in self.found]
        return [(name, timing.start_cycle, timing.end_cycle) for name, timing in timings]


def chip_of(**rates):
    return altered(
        load_chip("rtx3090"), {"sms": 2} | {f"graphics.{name}": rate for name, rate in rates.items()}, "test"
    )


def square(depth=0.5):
    return vertices(on_grid(CORNERS, 16, 16, depth), (1, 0.5, 0, 1))


class Drawing:
    """A recording under way, with a frame of 16 x 16 pixels."""

    def __init__(self, recorder, chip, **settings):
        self.results = Results()
        known = {"chip": chip, "recorder": recorder, "observer": self.results, "sampling": SAMPLING}
        self.gpu = open_device(Settings(**(known | settings)))
        self.shaders = self.gpu.load(ROOT / "tests/draws/plain.cu")
        self.pipeline = Pipeline(self.shaders.placed, self.shaders.tinted, depth=LESS)
        self.frame = self.cleared(16)

    def cleared(self, side) -> Frame:
        frame = Frame(self.gpu, side, side)
        frame.clear()
        return frame


@pytest.fixture
def drawing_on(tmp_path):
    """Opens recordings, and closes them in the end."""
    recorders = []

    def begin(chip=None, **settings):
        recorders.append(RecordWriter(tmp_path / f"{len(recorders)}.gprec").__enter__())
        return Drawing(recorders[-1], chip or chip_of(), **settings)

    yield begin
    for recorder in recorders:
        recorder.__exit__(None, None, None)


def draw_some(drawing):
    """A pass of three draws, each before those before it; one of depths alone; and one into another frame."""
    for depth in (0.6, 0.5, 0.4):
        drawing.frame.draw(drawing.pipeline, square(depth), SQUARE)
    drawing.frame.draw(Pipeline(drawing.shaders.placed, None, depth=LESS), square(0.3), SQUARE)
    side = StencilSide(reference=np.uint8(3))  # numbers may be numpy's
    checked = Pipeline(drawing.shaders.placed, drawing.shaders.tinted, depth=DepthState("less", np.True_), stencil=side)
    scissor = Scissor(np.int64(0), 0, 8, np.int32(8))
    drawing.cleared(np.int64(8)).draw(checked, square(), SQUARE, instances=np.int32(1), scissor=scissor)
    drawing.gpu.executor.finish()


def test_draws_of_a_pass_overlap(drawing_on):
    """Their shaders do; the next pass begins behind all of them. Sums of the ledger are those of the timing."""
    drawing = drawing_on()
    draw_some(drawing)
    times = drawing.results.times
    assert [name for name, *_ in times] == ["placed", "tinted"] * 3 + ["placed"] + ["placed", "tinted"]
    first_pass = [times[number] for number in range(7)]
    ends = [end for _, _, end in first_pass]
    assert all(start < min(ends) for name, start, _ in first_pass if name == "placed")
    assert times[7][1] >= max(ends)
    for result in drawing.results.found:
        timing = result.timing
        assert timing.ledger.sum() == timing.resident_warp_cycles
        assert timing.blocks_launched == timing.warps_launched == result.launch.grid[0]


def test_what_is_hidden_is_scanned_and_tested(drawing_on):
    """Seven tiles of two triangles lie behind what was drawn, as the hierarchy says. Of the left half of a tile it
    does not: four tiles, and 64 samples whose depths are read, not written. No pixel is shaded.
    """
    half = Scissor(0, 0, 4, 16)
    drawing = drawing_on(chip_of(tiles_per_cycle=0.5, depth_samples_per_cycle=4.0, depth_nbytes_per_cycle=8.0))
    found = []
    for scissor in (None, half):
        drawing.frame = drawing.cleared(16)
        drawing.frame.draw(drawing.pipeline, square(0.2), SQUARE, scissor=scissor)
        drawing.frame.draw(drawing.pipeline, square(0.6), SQUARE, scissor=scissor)
        drawing.gpu.executor.finish()
        found.append(drawing.results.found[-1].timing.draw)
    assert [name for name, *_ in drawing.results.times] == ["placed", "tinted", "placed"] * 2
    amounts = ("n_tiles", "n_samples", "depth_nbytes")
    assert [[draw.work[name] for name in amounts] for draw in found] == [[7, 0, 0], [4, 64, 256]]
    assert [(draw.busy_cycles["scan"], draw.busy_cycles["depth"]) for draw in found] == [(14, 0), (8, 32)]
    assert [draw.waves["stage"].tolist() for draw in found] == [[0]] * 2


@pytest.mark.parametrize(
    ("depth", "stencil", "nbytes"),
    [
        (LESS, StencilSide(), 10 * 4 + 6 * 4),
        (DepthState("equal"), StencilSide(), 10 * 4),
        (DepthState("always", write=True), StencilSide(), 6 * 4),
        (DepthState(), StencilSide("equal"), 10),
        (DepthState(), StencilSide("equal", passes="replace"), 10 + 10),
        (LESS, StencilSide(fail="zero", write_mask=0), 10 * 4 + 6 * 4 + 10),
    ],
    ids=["less", "equal", "always", "stencil", "replace", "masked"],
)
def test_bytes_of_depths_and_stencils(depth, stencil, nbytes):
    """Ten samples tested, of which six pass."""
    targets = Targets(1, 1, 1, (), (), depth=256, stencil=512)
    view = Viewport(0, 0, 1, 1), Scissor(0, 0, 1, 1)
    state = DrawState("triangles", "none", "ccw", *view, depth, stencil, stencil, None, 15)
    assert depth_tests.nbytes_of(depth_tests.tests_of(state, targets), 10, 6) == nbytes


def test_a_geometry_shader_in_the_chain(drawing_on):
    """40 triangles in batches of 32 and 8, each doubled by a lane: warps of 32 and 8 lanes that need one batch each;
    assembly gets the 80 in groups of 32, 32 and 16. Its buffer holds what one warp may emit, so the second waits for
    the first one's primitives.
    """
    drawing = drawing_on(chip_of(emitted_vertices_in_flight=192))
    amplified = Pipeline(drawing.shaders.placed, drawing.shaders.tinted, geometry=drawing.shaders.doubled)
    counts = drawing.frame.draw(amplified, square(), np.tile(SQUARE, 20))
    drawing.frame.draw(drawing.pipeline, square(), SQUARE)
    drawing.gpu.executor.finish()
    assert [name for name, *_ in drawing.results.times] == ["placed", "doubled", "tinted", "placed", "tinted"]
    first, second = (each.timing.draw for each in drawing.results.found if each.timing.draw)
    assert counts.emitted == 80
    assert {name: first.work[name] for name in ("n_indices", "n_emitted", "n_primitives", "n_accepted")} == {
        "n_indices": 120,
        "n_emitted": 240,
        "n_primitives": 80,
        "n_accepted": 80,
    }
    vertex, geometry, pixel = (first.waves[first.waves["stage"] == k] for k in (0, 3, 4))
    assert (len(vertex), len(geometry), len(pixel)) == (2, 2, counts.pixel_waves)
    assert (geometry["start_cycle"] > vertex["end_cycle"]).all()
    assert geometry["start_cycle"][1] > first.first_cycle["assembly"] >= geometry["end_cycle"][0]
    assert second.waves["start_cycle"][0] < geometry["end_cycle"][-1]  # the draws overlap


def test_a_tessellated_draw_in_the_chain(drawing_on):
    """12 patches of three points, 10 of them a warp of the hull shader; at level 4 each is cut into 19 vertices, 8
    warps of the domain shader, and 24 triangles; a geometry shader hands each on. Stages overlap.
    """
    drawing = drawing_on(chip_of(indices_per_cycle=0.05, tessellated_vertices_per_cycle=0.02))
    shaders = drawing.gpu.load(ROOT / "tests/draws/patches.cu")
    stages = {"hull": shaders.three, "domain": shaders.bent, "geometry": shaders.marked}
    pipeline = Pipeline(shaders.placed, shaders.tinted, **stages, topology="patches", tessellation=Tessellation(3))
    levels, reds = np.full((12, 6), 4, np.float32), np.ones(12, np.float32)
    for _ in range(2):
        counts = drawing.frame.draw(pipeline, square(), np.tile(SQUARE, 6), hull=(levels, reds), domain=(0.0,))
    drawing.gpu.executor.finish()
    names = ["placed", "three", "bent", "marked", "tinted"]
    assert [name for name, *_ in drawing.results.times] == names * 2
    first, second = (each.timing.draw for each in drawing.results.found if each.timing.draw)
    amounts = ("n_indices", "n_control_points", "n_tessellated", "n_emitted", "n_primitives")
    assert [first.work[name] for name in amounts] == [36, 36, 228, 3 * 288, 288]
    assert first.busy_cycles["tessellate"] == 228 / 0.02
    waves = [first.waves[first.waves["stage"] == stage] for stage in range(5)]
    assert [len(each) for each in waves] == [1, 2, 8, 9, counts.pixel_waves]
    starts, ends = ([each[name] for each in waves] for name in ("start_cycle", "end_cycle"))
    assert all(starts[k + 1].min() > ends[k].min() for k in range(4))
    assert all(starts[k + 1].min() < ends[k].max() for k in (2, 3))
    assert second.waves["start_cycle"][0] < first.end_cycle


def test_tessellated_draws_that_end_early(drawing_on, monkeypatch):
    """Patches of no level are culled; and the memory for what each stage gives is refused once. What was shaded is
    timed, by stage.
    """
    drawing = drawing_on()
    shaders = drawing.gpu.load(ROOT / "tests/draws/patches.cu")
    stages = {"hull": shaders.three, "domain": shaders.bent, "geometry": shaders.marked}
    pipeline = Pipeline(shaders.placed, shaders.tinted, **stages, topology="patches", tessellation=Tessellation(3))
    memory = drawing.gpu.executor.memory
    allocate, refused = memory.allocate, ""

    def scarce(nbytes, name="", *rest, **more):
        if name == refused:
            raise DeviceMemoryError("no room")
        return allocate(nbytes, name, *rest, **more)

    def tessellated(level):
        given = np.full((2, 6), level, np.float32), np.ones(2, np.float32)
        return drawing.frame.draw(pipeline, square(), SQUARE, hull=given, domain=(0.0,))

    monkeypatch.setattr(memory, "allocate", scarce)
    assert tessellated(0).culled_patches == 2
    for what in ("control points", "tessellated vertices", "strips", "pixels"):
        refused = f"varyings of {what}"
        with pytest.raises(DeviceMemoryError, match="no room"):
            tessellated(2)
    refused = ""
    n_waves = tessellated(2).pixel_waves
    drawing.gpu.executor.finish()
    draws = [each.timing.draw for each in drawing.results.found if each.timing.draw]
    assert [np.bincount(draw.waves["stage"], minlength=5).tolist() for draw in draws] == [
        [1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, n_waves],
    ]


def test_an_empty_draw_begins_no_pass(drawing_on):
    """It draws nothing into another frame. The draw into that frame still waits for the pass before; and no launch of a
    shader counts what brings a grid.
    """
    drawing = drawing_on()
    drawing.frame.draw(drawing.pipeline, square(), SQUARE)
    other = drawing.cleared(16)
    other.draw(drawing.pipeline, square(), SQUARE[:0])
    other.draw(drawing.pipeline, square(), SQUARE)
    drawing.gpu.executor.finish()
    times = drawing.results.times
    assert times[2][1] >= times[1][2]
    assert all(each.timing.cycles == each.timing.end_cycle - each.timing.start_cycle for each in drawing.results.found)


def test_a_recording_is_the_same_twice(tmp_path):
    """Byte by byte; and its stream takes the same cycles when it is replayed."""
    times = []
    for name in "ab":
        with RecordWriter(tmp_path / name) as recorder:
            drawing = Drawing(recorder, chip_of(), save_stream=True)
            draw_some(drawing)
            times.append(drawing.results.times)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    again = Results()
    with RecordWriter(tmp_path / "c") as recorder:
        settings = Settings(chip=chip_of(), recorder=recorder, observer=again, sampling=SAMPLING)
        stream, session = read_stream(tmp_path / "a"), open_session(settings)
        player = Player(stream, session, True, Registers(SAMPLING, frozenset(), 0, 1))
        for command, _ in stream.commands():
            session.submit(player.command(command))
        session.finish()
    assert times == [again.times] * 2


def test_wider_units_are_not_slower(drawing_on):
    ends = []
    for factor in (0.01, 1):
        drawing = drawing_on(chip_of(tiles_per_cycle=7.0 * factor, pixels_per_cycle=112.0 * factor))
        draw_some(drawing)
        ends.append(max(end for _, _, end in drawing.results.times))
    assert ends[0] > ends[1]


def test_draws_of_nothing(drawing_on):
    """No index, a triangle seen from the wrong side, no position that is finite, and a target of one pixel."""
    drawing = drawing_on()
    drawing.frame.draw(drawing.pipeline, square(), SQUARE[:0])
    culled = Pipeline(drawing.shaders.placed, drawing.shaders.tinted, cull="back")
    assert drawing.frame.draw(culled, square(), SQUARE).culled == 2
    assert drawing.frame.draw(drawing.pipeline, np.full_like(square(), np.nan), SQUARE).rejected == 2
    drawing.cleared(1).draw(drawing.pipeline, square(), SQUARE)
    drawing.gpu.executor.finish()
    assert [name for name, *_ in drawing.results.times] == ["placed", "placed", "placed", "tinted"]


def test_what_is_refused_leaves_the_draws_before_it(drawing_on):
    """A script may catch an error and go on; a fault ends its own draw, and those before it are timed."""
    drawing = drawing_on(max_cycles=2_000)
    drawing.frame.draw(drawing.pipeline, square(0.6), SQUARE)
    with pytest.raises(UsageError, match="index 2 of the index buffer is 9, and there are 4 vertices"):
        drawing.frame.draw(drawing.pipeline, square(), np.uint16([0, 1, 9]))
    drawing.frame.draw(drawing.pipeline, square(0.4), SQUARE)
    drawing.gpu.executor.finish()
    assert [name for name, *_ in drawing.results.times] == ["placed", "tinted"] * 2
    drawing.frame.draw(drawing.pipeline, square(0.3), SQUARE)
    with pytest.raises(KernelFault, match="endless"):
        drawing.frame.draw(Pipeline(drawing.shaders.placed, drawing.shaders.endless), square(), SQUARE)
    drawing.frame.draw(drawing.pipeline, square(0.2), SQUARE)
    drawing.gpu.executor.finish()
    assert [name for name, *_ in drawing.results.times] == ["placed", "tinted"] * 4


def test_a_draw_that_runs_out_of_memory(drawing_on, monkeypatch):
    """Pixels come in four pieces, of which there is room for two; what was shaded is timed, and the next draw works."""
    drawing = drawing_on()
    monkeypatch.setattr(raster, "PIECE_QUADS", 24)
    memory = drawing.gpu.executor.memory
    allocate, taken = memory.allocate, []

    def scarce(nbytes, name="", *rest, **more):
        taken.append(name)
        if taken.count("varyings of pixels") > 2:
            raise DeviceMemoryError("no room")
        return allocate(nbytes, name, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(memory, "allocate", scarce)
        with pytest.raises(DeviceMemoryError, match="no room"):
            drawing.frame.draw(drawing.pipeline, square(0.6), SQUARE)
    drawing.frame.draw(drawing.pipeline, square(0.4), SQUARE)
    drawing.gpu.executor.finish()
    names = [name for name, *_ in drawing.results.times]
    assert names[:4] == ["placed", "tinted", "tinted", "placed"] and set(names[4:]) == {"tinted"}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    with RecordWriter(tmp_path_factory.mktemp("draws") / "a.gprec") as recorder:
        drawing = Drawing(recorder, chip_of())
        draw_some(drawing)
    return drawing.results.times


@pytest.mark.parametrize(
    "settings",
    [
        {"sample_blocks": True},
        {"sampling": replace(SAMPLING, counters=("blocks",))},
        pytest.param({"sampling": Sampling(auto_period=1)}, marks=pytest.mark.long),
        pytest.param({"sampling": Sampling()}, marks=pytest.mark.long),
    ],
    ids=["sample-blocks", "counters", "period-auto", "none"],
)
def test_samplers_that_disturb_nothing(drawing_on, undisturbed, settings):
    other = drawing_on(**settings)
    draw_some(other)
    assert other.results.times == undisturbed
