"""Draws that are recorded: when their shaders run, and what comes of draws that fail, or draw nothing."""

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.device.drawing.state import DepthState, Scissor, StencilSide
from gpuprof.errors import DeviceMemoryError, KernelFault, UsageError
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import LESS, Pipeline
from gpuprof.graphics.stages import raster
from gpuprof.records.writer import RecordWriter
from gpuprof.run.replay import Player, Registers
from gpuprof.run.session import open_device, open_session
from gpuprof.run.settings import LaunchResult, Observer, Settings
from gpuprof.saved.read import read_stream
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
    """A script may catch an error and go on; a fault ends all that is in flight."""
    drawing = drawing_on(max_cycles=20_000)
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
    assert [name for name, *_ in drawing.results.times] == ["placed", "tinted"] * 3


def test_a_draw_that_runs_out_of_memory(drawing_on, monkeypatch):
    """Pixels come in four pieces, of which there is room for two; what was shaded is timed, and the next draw works."""
    drawing = drawing_on()
    monkeypatch.setattr(raster, "PIECE_QUADS", 24)
    memory = drawing.gpu.executor.memory
    allocate, taken = memory.allocate, []

    def scarce(nbytes, name="", *rest):
        taken.append(name)
        if taken.count("varyings of pixels") > 2:
            raise DeviceMemoryError("no room")
        return allocate(nbytes, name, *rest)

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
        {"sampling": Sampling(auto_period=1)},
        {"sampling": replace(SAMPLING, counters=("blocks",))},
        {"sampling": Sampling()},
    ],
    ids=["sample-blocks", "period-auto", "counters", "none"],
)
def test_samplers_that_disturb_nothing(drawing_on, undisturbed, settings):
    other = drawing_on(**settings)
    draw_some(other)
    assert other.results.times == undisturbed
