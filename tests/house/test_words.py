"""Docs, `--help`, messages, docstrings and comments are written in the field's words."""

import pytest
from click.testing import CliRunner

from gpuprof.cli.main import COMMANDS, cli
from tests.house.words import Place, odd_words, of_comments, of_docstrings, of_messages, of_prose, places
from tests.paths import DOCS, ROOT

PACKAGE = ROOT / "gpuprof"
ROOMS = sorted(path for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__")
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])


@pytest.mark.parametrize("room", [*ROOMS, *sorted(PACKAGE.glob("*.py"))], ids=lambda path: path.name)
def test_a_room_uses_the_fields_words(room):
    assert [str(place) for place in places([room])] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_uses_the_fields_words(page):
    assert [str(place) for place in places([page])] == []


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_uses_the_fields_words(command):
    shown = CliRunner().invoke(cli, [*filter(None, [command]), "--help"])
    assert shown.exit_code == 0
    assert [str(place) for place in odd_words(ROOT / "help", 1, shown.output)] == []


SOURCE = '''\
"""Of a launch: what nobody has told."""


def f():
    """The row, as it stands behind the head."""  # kept
    raise ValueError("no such `behind`, goes on")
'''


def test_what_is_found(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    words = {of: [(place.line, place.word) for place in of(path)] for of in (of_docstrings, of_messages, of_comments)}
    assert words == {
        of_docstrings: [(1, "nobody"), (1, "told"), (1, "Of"), (5, "stands"), (5, "behind")],
        of_messages: [(6, "goes on")],
        of_comments: [(5, "kept")],
    }


def test_code_on_a_page_is_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n```\nbehind\n```\nfor people who wait, `told`\nand alone\n")
    (place,) = of_prose(page)
    assert place == Place(page, 6, "alone", "only", "and alone")
