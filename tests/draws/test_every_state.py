"""Every field of a draw's state is given by an argument, is on the page, and is used by a stage and by a test."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from gpuprof.device.graphics_state.draw_state import DrawState
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import Pipeline
from tests.paths import DOCS, ROOT

STATES = [field.name for field in fields(DrawState)]
ARGUMENTS = {"front_stencil": "stencil", "outputs": "blend"}  # where it is called otherwise
READ_AS = dict.fromkeys(("blend", "color_mask", "outputs"), "output")  # by a method of DrawState
STAGES = (ROOT / "gpuprof/graphics/stages", ROOT / "gpuprof/run/drawing")


def argument_of(state: str) -> str:
    return ARGUMENTS.get(state, state)


def text_of(*paths: Path) -> str:
    return "\n".join(path.read_text() for path in paths)


@pytest.mark.parametrize("state", STATES)
def test_an_argument_gives_it(state):
    assert argument_of(state) in [*inspect.signature(Pipeline).parameters, *inspect.signature(Frame.draw).parameters]


@pytest.mark.parametrize("state", STATES)
def test_it_is_on_the_page(state):
    assert re.search(rf"`[^`\n]*\b{argument_of(state)}\b[^`\n]*`", text_of(DOCS / "graphics.md"))


@pytest.mark.parametrize("state", STATES)
def test_a_stage_uses_it(state):
    stages = text_of(*(path for folder in STAGES for path in folder.rglob("*.py")))
    assert re.search(rf"\bstate\.{READ_AS.get(state, state)}\b", stages)


@pytest.mark.parametrize("state", STATES)
def test_a_test_gives_it(state):
    others = (path for path in (ROOT / "tests/draws").glob("*.py") if path != Path(__file__))
    assert re.search(rf"\b{argument_of(state)}=|\"{argument_of(state)}\": ", text_of(*others))
