"""Draws in recordings and databases: what the drawing counted and the timing found, number by number."""

import csv
from contextlib import closing
from dataclasses import astuple, replace
from itertools import pairwise

import numpy as np
import pytest

from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.correlate.database import ensure_database
from gpuprof.correlate.metrics import launch_values
from gpuprof.device.graphics_state.draw_state import Tessellation
from gpuprof.errors import KernelFault, UsageError
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import LESS, Pipeline
from gpuprof.records.merge import merge
from gpuprof.records.relocate import Relocation
from gpuprof.records.writer import RecordWriter
from gpuprof.tables.draws import DRAW_COUNT_NAMES, WAVES
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.filter import filter_of_text
from tests.draws.scene import on_grid, vertices
from tests.draws.test_timed import SQUARE, Drawing, chip_of, square
from tests.paths import ROOT
from tests.support.command import gpuprof


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The file of four draws in two passes and one of nothing, their counts, and the timing of their launches."""
    path = tmp_path_factory.mktemp("draws") / "a.gprec"
    with RecordWriter(path) as recorder:
        drawing = Drawing(recorder, chip_of())
        counts = [drawing.frame.draw(drawing.pipeline, square(depth), SQUARE) for depth in (0.6, 0.4)]
        counts.append(drawing.frame.draw(drawing.pipeline, square(), SQUARE[:0], name="nothing"))
        depths = Pipeline(drawing.shaders.placed, None, depth=LESS)
        other = drawing.cleared(8)
        with other.commands("second"), drawing.gpu.task("part"):
            counts.append(other.draw(depths, square(0.3), SQUARE, name="depths"))
        counts.append(other.draw(drawing.pipeline, square(0.2), SQUARE))
        drawing.gpu.executor.finish()
    return path, counts, drawing.results.found


@pytest.fixture
def database(recorded):
    with closing(ensure_database(recorded[0])) as db:
        yield db


def test_every_count_has_a_column():
    assert DrawCounts._fields == DRAW_COUNT_NAMES, "columns of `draws` in correlate/schema.py are the counts of a draw"


def test_draws_are_rows(database, recorded):
    task = "(SELECT name FROM tasks WHERE tasks.task = draws.task)"
    buffer = "(SELECT kind || ' ' || name FROM tasks WHERE tasks.task = draws.command_buffer)"
    columns = f"draw, pass, name, width, height, samples, drains, {task}, {buffer}"
    both = "placed and tinted"
    assert database.execute(f"SELECT {columns} FROM draws").fetchall() == [
        (0, 0, both, 16, 16, 1, 0, both, None),
        (1, 0, both, 16, 16, 1, 0, both, None),
        (2, 0, "nothing", 16, 16, 1, 0, "nothing", None),
        (3, 1, "depths", 8, 8, 1, 1, "depths", "command buffer second"),
        (4, 1, both, 8, 8, 1, 0, both, None),
    ]
    counts = database.execute(f"SELECT {', '.join(DrawCounts._fields)} FROM draws").fetchall()
    assert counts == [tuple(each) for each in recorded[1]]
    assert database.execute("SELECT draw, stage, launch FROM draw_launches ORDER BY launch").fetchall() == [
        (0, "vertex", 0), (0, "pixel", 1), (1, "vertex", 2), (1, "pixel", 3), (3, "vertex", 4), (4, "vertex", 5),
        (4, "pixel", 6),
    ]  # fmt: skip


def test_times_are_those_of_the_timing(database, recorded):
    timings = [result.timing.draw for result in recorded[2] if result.timing.draw]
    drawn = database.execute("SELECT draw, start_cycle, end_cycle FROM draws WHERE start_cycle IS NOT NULL").fetchall()
    assert drawn == [(draw, each.start_cycle, each.end_cycle) for draw, each in zip((0, 1, 3, 4), timings, strict=True)]
    cycles = {launch: each["draw_cycles"] for launch, each in launch_values(database).items() if "draw_cycles" in each}
    assert cycles == {
        launch: each.end_cycle - each.start_cycle for launch, each in zip((0, 2, 4, 5), timings, strict=True)
    }
    for (draw, *_), timing in zip(drawn, timings, strict=True):
        units = database.execute(
            "SELECT unit, busy_cycles, blocked_cycles, first_cycle, last_cycle FROM draw_units WHERE draw = ?", (draw,)
        )
        assert {unit: numbers for unit, *numbers in units} == {
            unit: [busy, timing.blocked_cycles[unit], timing.first_cycle[unit], timing.last_cycle[unit]]
            for unit, busy in timing.busy_cycles.items()
        }
        traffic = database.execute(
            "SELECT unit, l2_read_nbytes, l2_write_nbytes, dram_read_nbytes, dram_write_nbytes FROM draw_traffic "
            "WHERE draw = ?",
            (draw,),
        )
        assert {unit: tuple(nbytes) for unit, *nbytes in traffic} == {
            unit: astuple(nbytes) for unit, nbytes in timing.traffic.items()
        }
        work = database.execute("SELECT amount, value FROM draw_work WHERE draw = ?", (draw,))
        assert dict(work.fetchall()) == timing.work
        waves = database.execute("SELECT stage, start_cycle, end_cycle FROM draw_waves WHERE draw = ?", (draw,))
        assert sorted(waves) == sorted((SHADER_STAGES[stage], *times) for stage, *times in timing.waves.tolist())


def sampled(path) -> list[tuple[int, str, int]]:
    """Draw, stage and whether there are samples, of each shader's launch."""
    query = "SELECT draw, stage, samples_due > 0 FROM draw_launches JOIN launches USING (launch) ORDER BY launch"
    with closing(ensure_database(path)) as db:
        return db.execute(query).fetchall()


@pytest.mark.parametrize(
    "words, kept",
    [
        ("stage=pixel", [(0, "pixel"), (1, "pixel")]),
        pytest.param("draw=1", [(1, "vertex"), (1, "pixel")], marks=pytest.mark.long),
        pytest.param("draw=0 stage=vertex", [(0, "vertex")], marks=pytest.mark.long),
    ],
)
def test_filters_of_draws_and_stages(tmp_path, words, kept):
    """Samples of the others are not due; in the middle of a run a script may choose others."""
    with RecordWriter(tmp_path / "a.gprec") as recorder:
        drawing = Drawing(recorder, chip_of(), sampling=Sampling(32, filter=filter_of_text(words)))
        for depth in (0.6, 0.4):
            drawing.frame.draw(drawing.pipeline, square(depth), SQUARE)
        with drawing.gpu.sampler.only(stage="vertex"):
            drawing.frame.draw(drawing.pipeline, square(0.3), SQUARE)
        drawing.gpu.executor.finish()
    last = [(2, "vertex")] if words == "stage=pixel" else []
    found = sampled(tmp_path / "a.gprec")
    assert [(draw, stage) for draw, stage, is_kept in found if is_kept] == kept + last and len(found) == 6


def test_a_report_of_some_shaders(recorded):
    """Pages show the launches of these draws and stages alone; what there is not is refused with what there is."""
    folder, path = recorded[0].parent, recorded[0].name
    launches = ("report", path, "--page", "launches", "--format", "csv")
    code, out, error = gpuprof(folder, *launches, "--draw", "1,4", "--stage", "pixel")
    assert (code, error) == (0, "") and [line.split(",")[:2] for line in out.splitlines()[1:]] == [
        ["3", "tinted"], ["6", "tinted"],
    ]  # fmt: skip
    assert gpuprof(folder, "report", path, "--draw", "9") == (
        2,
        "",
        "gpuprof: --draw 9: there is no such shader's launch in the file; it has draws 0 to 4\n",
    )
    assert gpuprof(folder, "report", path, "--stage", "vs")[0] == 2
    assert gpuprof(folder, "report", path, "--page", "api", "--draw", "1") == (
        2,
        "",
        "gpuprof: --draw chooses launches, and the page api shows all calls of the run; leave it out\n",
    )
    tasks = gpuprof(folder, "report", path, "--page", "tasks", "--format", "csv", "--draw", "1", "--stage", "pixel")[1]
    rows = csv.DictReader(tasks.splitlines())
    assert [(row["Name"], row["Launch"]) for row in rows if row["Launch"]] == [("tinted", "3")]
    code, out, _ = gpuprof(folder, "report", path, "--page", "draws", "--format", "csv", "--draw", "3")
    assert [line.split(",")[0] for line in out.splitlines()] == ["draw", "3"]
    assert "# 5 draws: gpuprof report FILE --page draws" in gpuprof(folder, "report", path, "--page", "summary")[1]


def blocks_of(path, stage) -> list[tuple[int, int, int]]:
    """Block, first and last primitive."""
    with closing(ensure_database(path)) as db:
        query = (
            "SELECT block, first_primitive, last_primitive FROM block_primitives JOIN draw_launches USING (launch) "
            "WHERE stage = ? ORDER BY launch, block"
        )
        return db.execute(query, (stage,)).fetchall()


def assert_in_order(pixels, n_waves, n_primitives):
    """Blocks of pixels have all primitives that there are, one after the other."""
    assert [block for block, *_ in pixels] == list(range(n_waves))
    assert pixels[0][1] == 0 and pixels[-1][2] == n_primitives - 1
    assert all(after[1] in (before[2], before[2] + 1) for before, after in pairwise(pixels))


def test_primitives_of_blocks(tmp_path):
    """A strip of 80 triangles, 30 a batch; a block of pixels has eight quads."""
    path = tmp_path / "a.gprec"
    places = [(4 * (k // 2), 2 * (k % 2)) for k in range(82)]
    with RecordWriter(path) as recorder:
        drawing = Drawing(recorder, chip_of())
        strip = Pipeline(drawing.shaders.placed, drawing.shaders.tinted, topology="triangle_strip")
        counts = Frame(drawing.gpu, 256, 2).draw(strip, vertices(on_grid(places, 256, 2), (1, 1, 1, 1)))
        drawing.gpu.executor.finish()
    assert blocks_of(path, "vertex") == [(0, 0, 29), (1, 30, 59), (2, 60, 79)]
    assert counts.pixel_waves == -(-counts.quads // 8)
    assert_in_order(blocks_of(path, "pixel"), counts.pixel_waves, 80)


@pytest.mark.long
def test_primitives_of_made_ones(tmp_path):
    """Nine patches of 4 x 4 cells, eight in a warp; then 40 triangles that a geometry shader doubles."""
    first, second, patches = tmp_path / "a.gprec", tmp_path / "b.gprec", []
    with RecordWriter(first) as recorder:
        drawing = Drawing(recorder, chip_of())
        shaders = drawing.gpu.load(ROOT / "tests/draws/patches.cu")
        kernels = {"hull": shaders.four, "domain": shaders.bowed}
        tessellation = Tessellation(4, "quads", "equal", "ccw")
        bowed = Pipeline(shaders.placed, shaders.tinted, topology="patches", tessellation=tessellation, **kernels)
        for k in range(9):
            patches.append(vertices(on_grid([(8 * k, 8), (8 * k + 8, 8), (8 * k + 8, 0), (8 * k, 0)], 72, 8)))
        given = {"hull": (np.full((9, 6), 4, np.float32), np.ones(9, np.float32)), "domain": (0.0,)}
        counts = Frame(drawing.gpu, 72, 8).draw(bowed, np.concatenate(patches), **given)
        drawing.gpu.executor.finish()
    assert blocks_of(first, "vertex") == blocks_of(first, "hull") == [(0, 0, 7), (1, 8, 8)]
    assert blocks_of(first, "domain") == [(k, 32 * k // 25, min(32 * k + 31, 224) // 25) for k in range(8)]
    assert_in_order(blocks_of(first, "pixel"), counts.pixel_waves, 9)
    with RecordWriter(second) as recorder:
        drawing = Drawing(recorder, chip_of())
        doubled = Pipeline(drawing.shaders.placed, drawing.shaders.tinted, geometry=drawing.shaders.doubled)
        places = [corner for k in range(40) for corner in ((6 * k, 0), (6 * k, 2), (6 * k + 4, 0))]
        counts = Frame(drawing.gpu, 256, 2).draw(doubled, vertices(on_grid(places, 256, 2), (1, 1, 1, 1)))
        drawing.gpu.executor.finish()
    assert counts.emitted == 80 and blocks_of(second, "geometry") == [(0, 0, 31), (1, 32, 39)]
    assert_in_order(blocks_of(second, "pixel"), counts.pixel_waves, 40)


def test_draws_that_something_ends(tmp_path):
    """A draw that is refused launches nothing; one that a fault ends is in no table, and the one before it is timed."""
    with RecordWriter(tmp_path / "a.gprec") as recorder:
        drawing = Drawing(recorder, chip_of(), max_cycles=2_000)

        def draw(pipeline=drawing.pipeline, indices=SQUARE):
            drawing.frame.draw(pipeline, square(), indices)

        draw()
        with pytest.raises(UsageError):
            draw(indices=np.uint16([0, 1, 9]))
        drawing.gpu.synchronize()
        draw()
        with pytest.raises(KernelFault, match="endless"):
            draw(Pipeline(drawing.shaders.placed, drawing.shaders.endless))
        draw()
        drawing.gpu.executor.finish()
    with closing(ensure_database(tmp_path / "a.gprec")) as db:
        rows = db.execute("SELECT draw, passed > 0, end_cycle > start_cycle FROM draws").fetchall()
        assert rows == [(0, 1, 1), (2, 0, 1), (4, 0, 1)]
        assert db.execute("SELECT DISTINCT draw FROM draw_launches").fetchall() == [(0,), (2,), (3,), (4,)]
    out = gpuprof(tmp_path, "report", "a.gprec", "--page", "draws")[1]
    assert "# 1 more draw did not finish" in out.splitlines()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("mine")])
def test_an_end_before_the_first_draws_are_timed(tmp_path, error):
    """Draws that have drawn all are there, with what they counted; one that has not is left out."""
    with pytest.raises(type(error)), RecordWriter(tmp_path / "a.gprec") as recorder:
        drawing = Drawing(recorder, chip_of())
        for _ in range(2):
            drawing.frame.draw(drawing.pipeline, square(), SQUARE)
        drawing.gpu.executor.drop()
        raise error
    assert recorder.is_part and recorder.draws_alone
    with closing(ensure_database(tmp_path / "a.gprec")) as db:
        assert db.execute("SELECT draw, passed > 0, end_cycle FROM draws").fetchall() == [(0, 1, None), (1, 0, None)]
    out = gpuprof(tmp_path, "report", "a.gprec", "--page", "draws")[1]
    assert f"# note       {str(error) or 'interrupted'}" in out.splitlines()


def test_a_recording_behind_another():
    """Its draws, passes, tasks and cycles get later numbers."""
    fields = {
        **{"draw": 1, "task": 4, "pass": 2, "buffer": 0, "name": "a", "start_cycle": 10, "end_cycle": 30},
        "units": [["fetch", 2.5, 0.0, 11, 14]],
    }
    relocation = Relocation(first_launch=7, first_cycle=1000, first_task=100, first_draw=5, first_pass=3)
    assert relocation.draw(fields) == {
        **{"draw": 6, "task": 104, "pass": 5, "buffer": 100, "name": "a", "start_cycle": 1010, "end_cycle": 1030},
        "units": [["fetch", 2.5, 0.0, 1011, 1014]],
    }
    waves = np.array([(1, 4, 11, 12)], WAVES.dtype)
    assert relocation.table(WAVES, waves).tolist() == [(6, 4, 1011, 1012)]
    begin = {"launch": 0, "module": 0, "draw": 2, "stage": "pixel"}
    moved = replace(relocation, modules={0: (3, 0x1000)}).launch(begin)
    assert moved == {"launch": 7, "module": 3, "draw": 7, "stage": "pixel"}


def test_passes_behind_those_of_another(recorded, tmp_path):
    """They are numbered on, and called so. A script's task of such a name, with no draw, keeps it."""
    with RecordWriter(tmp_path / "b.gprec") as recorder:
        drawing = Drawing(recorder, chip_of())
        with drawing.gpu.task("pass 0"):
            pass
        drawing.frame.draw(drawing.pipeline, square(0.5), SQUARE)
        drawing.gpu.executor.finish()
    merge([recorded[0], tmp_path / "b.gprec"], tmp_path / "both.gprec")
    with closing(ensure_database(tmp_path / "both.gprec")) as db:
        names = db.execute("SELECT name FROM tasks WHERE name LIKE 'pass %' ORDER BY task").fetchall()
        of_draws = """
            SELECT DISTINCT t.name, d.pass FROM draws d JOIN stored_relations r ON r.target = d.task
            JOIN tasks t ON t.task = r.source WHERE r.kind = 'contains' AND t.name LIKE 'pass %' ORDER BY 2
        """
        assert db.execute(of_draws).fetchall() == [("pass 0", 0), ("pass 1", 1), ("pass 2", 2)]
    assert names == [("pass 0",), ("pass 1",), ("pass 0",), ("pass 2",)]
