"""Draws and passes in relations: what the fixed-function units read and write, beside what is seen in memory."""

from contextlib import closing

import numpy as np
import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import ADD, LESS, Pipeline
from gpuprof.records.writer import RecordWriter
from gpuprof.report.tasks.whole_tasks import Wholes
from tests.draws.scene import SHADERS, on_grid, vertices
from tests.draws.test_timed import Drawing, chip_of


def soup(seed, side, color):
    """Six triangles anywhere, of one color."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-2, side + 2, (18, 2)).round(2)
    return vertices(on_grid(places, side, side, rng.uniform(0.1, 0.9, 18)), color)


def bytes_of(database, launch, buffer, is_write) -> np.ndarray:
    """Those of a buffer that a launch's task accesses."""
    query = """
        SELECT a.first, a.end FROM accesses_by_task a JOIN tasks t USING (task) JOIN parameters p USING (parameter)
        WHERE t.launch = ? AND p.name = ? AND a.is_write = ?
    """
    ranges = database.execute(query, (launch, buffer, is_write)).fetchall()
    return np.concatenate([np.arange(*each) for each in ranges] or [np.zeros(0, np.int64)])


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The file of draws into frames with 1 and 4 samples, each in a color of its own; and which bytes of colors and
    depths each has changed, by the launch of its pixel shader.
    """
    path, changed = tmp_path_factory.mktemp("draws") / "a.gprec", []
    with RecordWriter(path) as recorder:
        drawing = Drawing(recorder, chip_of(), observe=True)
        for samples in (1, 4):
            frame = Frame(drawing.gpu, 16, 16, samples=samples)
            frame.clear()
            for number in range(3):
                before = [target.copy_to_host() for target in (frame.colors[0], frame.depth)]
                shade = (number + 1) / 4
                frame.draw(
                    drawing.pipeline, soup(number, 16, (shade, shade, shade, shade)), np.arange(18, dtype=np.uint16)
                )
                after = [target.copy_to_host() for target in (frame.colors[0], frame.depth)]
                differ = [
                    np.flatnonzero(old.view(np.uint8).reshape(-1) != new.view(np.uint8).reshape(-1))
                    for old, new in zip(before, after, strict=True)
                ]
                launches = drawing.gpu.executor.n_launches
                changed.append((launches - 1, differ[0], np.unique(differ[1] // 4)))
        drawing.gpu.executor.finish()
    return path, changed


def test_bytes_of_targets_are_those_that_change(drawn):
    path, changed = drawn
    with closing(ensure_database(path)) as db:
        for launch, colors, depths in changed:
            assert len(colors) and bytes_of(db, launch, "color target 0", 1).tolist() == colors.tolist()
            written = bytes_of(db, launch, "depth target", 1)
            assert np.unique(written // 4).tolist() == depths.tolist() and len(written) == 4 * len(depths)
            assert len(bytes_of(db, launch, "color target 0", 0)) == 0  # nothing is blended
            indices = {row[0] for row in db.execute("SELECT name FROM parameters WHERE name LIKE '%uint16[18]'")}
            assert sum(len(bytes_of(db, launch - 1, each, 0)) for each in indices) == 36


def test_pixels_that_are_all_discarded(tmp_path):
    """Three of a draw, whose shader is followed by all tests: it writes nothing."""
    with RecordWriter(tmp_path / "a.gprec") as recorder:
        drawing = Drawing(recorder, chip_of(), observe=True)
        shaders = drawing.gpu.load(SHADERS)
        corner = vertices(on_grid([(3, 0), (6, 0), (3, 3)], 16, 16))
        counts = drawing.frame.draw(Pipeline(shaders.placed, shaders.checked, depth=LESS), corner)
        drawing.gpu.executor.finish()
    assert (counts.covered, counts.discarded, counts.passed, counts.written) == (3, 3, 0, 0)
    with closing(ensure_database(tmp_path / "a.gprec")) as db:
        assert [len(bytes_of(db, 1, target, 1)) for target in ("color target 0", "depth target")] == [0, 0]


def test_shadow_map_and_picture(tmp_path):
    """A pass reads, as a buffer, the depths that the pass before has drawn, and blends; a third resolves."""
    with RecordWriter(tmp_path / "a.gprec") as recorder:
        drawing = Drawing(recorder, chip_of(), observe=True)
        shadows = Frame(drawing.gpu, 20, 30, formats=())  # as many depths as 60 vertices have numbers
        shadows.clear()
        shadows.draw(Pipeline(drawing.shaders.placed, None, depth=LESS), soup(3, 20, (1, 1, 1, 1)), name="shadow")
        frame = Frame(drawing.gpu, 16, 16, samples=4)
        frame.clear()
        blended = Pipeline(drawing.shaders.placed, drawing.shaders.tinted, blend=ADD)
        frame.draw(blended, shadows.depth, name="from shadows")
        frame.draw(blended, soup(4, 16, (0.5, 0.5, 0.5, 1)))
        frame.pixels()
        drawing.gpu.executor.finish()
    with closing(ensure_database(tmp_path / "a.gprec")) as db:
        names = dict(db.execute("SELECT task, name FROM tasks"))
        numbers = {name: task for task, name in names.items()}
        found = {(kind, names[task]) for kind, task, *_ in Wholes(db).between(numbers["pass 0"])}
        assert ("produces for", "pass 1") in found and ("overwrites", "fill depth target") in found
        after = {(kind, names[task]) for kind, task, *_ in Wholes(db).between(numbers["pass 1"])}
        blend = {("consumes from", "fill color target 0"), ("overwrites", "fill color target 0")}
        assert blend | {("consumes from", "pass 0"), ("produces for", "resolve color target 0")} <= after
        assert db.execute("SELECT is_virtual FROM tasks WHERE name LIKE 'pass %'").fetchall() == [(1,), (1,)]
        hidden = "('positions', 'varyings of vertices', 'colors of pixels')"
        assert db.execute(f"SELECT COUNT(*) FROM parameters WHERE name IN {hidden}").fetchone() == (0,)
