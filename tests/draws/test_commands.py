"""Command buffers: draws of a frame that are handed to the GPU together, in recordings and replays."""

import numpy as np
import pytest

from gpuprof.correlate.database import reading
from gpuprof.errors import UsageError
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import Pipeline
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.writer import RecordWriter
from gpuprof.run.replay import Player, Registers
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device, open_session
from tests.draws.scene import on_grid, vertices
from tests.paths import DOCS, ROOT
from tests.support.command import gpuprof

CORNERS = vertices(on_grid([(0, 0), (8, 1), (5, 8)], 8, 8))
TASKS = """
    SELECT t.kind, t.name, p.name FROM tasks t LEFT JOIN tasks p ON t.parent = p.task
    WHERE t.kind IN ('task', 'command buffer', 'launch') AND NOT t.is_virtual ORDER BY t.task
"""


def record(path, act, **settings) -> None:
    with RecordWriter(path) as recorder:
        gpu = open_device(Settings(chip_name="rtx3090", recorder=recorder, **settings))
        act(gpu)
        gpu.executor.finish()


def two_buffers(gpu) -> None:
    """Two passes in one command buffer, the picture in another, and a draw outside of both."""
    shaders = gpu.load(ROOT / "tests/draws/plain.cu")
    small, large = Frame(gpu, 8, 8, formats=()), Frame(gpu, 16, 16)
    shadow, lit = Pipeline(shaders.placed, None), Pipeline(shaders.placed, shaders.tinted)
    with gpu.task("frame"):
        with small.commands("prepare") as prepare:
            small.draw(shadow, CORNERS, name="depths")
            large.draw(shadow, CORNERS, name="first")
        prepare.parameter("lights", 1)
        with large.commands("picture"), gpu.task("opaque"):
            large.draw(lit, CORNERS, name="model")
    large.draw(lit, CORNERS, np.uint16([]), name="nothing")


EXPECTED = [
    ("task", "frame", None),
    ("command buffer", "prepare", "frame"),
    ("task", "depths", "prepare"),
    ("launch", "placed", "depths"),
    ("task", "first", "prepare"),
    ("launch", "placed", "first"),
    ("command buffer", "picture", "frame"),
    ("task", "opaque", "picture"),
    ("task", "model", "opaque"),
    ("launch", "placed", "model"),
    ("launch", "tinted", "model"),
    ("task", "nothing", None),
]


def test_command_buffers_are_tasks(tmp_path):
    """Of a recording, and of its stream that is replayed. A launch's path names them."""
    record(tmp_path / "a.gprec", two_buffers, save_stream=True)
    stream = read_stream(tmp_path / "a.gprec")
    with RecordWriter(tmp_path / "b.gprec") as recorder:
        settings = Settings(chip_name="rtx3090", recorder=recorder)
        session = open_session(settings)
        player = Player(stream, session, True, Registers(settings.sampling, frozenset(), 0, 1))
        for command, _ in stream.commands():
            session.submit(player.command(command))
        session.finish()
    for name in ("a.gprec", "b.gprec"):
        with reading(tmp_path / name) as database:
            assert database.execute(TASKS).fetchall() == EXPECTED
            paths = database.execute("SELECT task FROM launches ORDER BY launch").fetchall()
        assert paths == [
            ("frame/prepare/depths",),
            ("frame/prepare/first",),
            ("frame/picture/opaque/model",),
            ("frame/picture/opaque/model",),
        ]


def test_command_buffers_do_not_nest(tmp_path):
    def nest(gpu):
        frame = Frame(gpu, 8, 8)
        with pytest.raises(UsageError, match="a command buffer's name is a str, not 3"), frame.commands(3):
            pass
        nested = pytest.raises(UsageError, match="command buffer 'part' begins within 'whole': end that one first")
        with frame.commands("whole"), gpu.task("pass"), nested, frame.commands("part"):
            pass
        with frame.commands("next"):
            pass

    record(tmp_path / "a.gprec", nest)
    with reading(tmp_path / "a.gprec") as database:
        assert database.execute(TASKS).fetchall() == [
            ("command buffer", "whole", None),
            ("task", "pass", "whole"),
            ("command buffer", "next", None),
        ]


def test_the_frame_of_the_docs(tmp_path):
    """Of the triangle behind, less is seen; its depths are drawn as a whole."""
    section = (DOCS / "graphics.md").read_text().split("## A frame, from start to report")[1].split("## Shaders")[0]
    _, shaders, _, script, _ = section.split("```")[:5]
    (tmp_path / "frame.cu").write_text(shaders.removeprefix("cpp"))
    (tmp_path / "frame.py").write_text(script.removeprefix("python"))
    code, out, error = gpuprof(tmp_path, "collect", "frame.py")
    assert code == 0, error
    behind, front = (int(line.split()[0]) for line in out.splitlines() if line.endswith(" pixels"))
    assert behind < front == 64 * 64 // 2
    assert (tmp_path / "frame.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = gpuprof(tmp_path, "report", "frame.gprec", "--page", "draws")
    assert [line.split()[-1] for line in out.splitlines() if line.endswith(("depths", "colors"))] == [
        "depths",
        "colors",
    ]
