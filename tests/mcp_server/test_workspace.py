"""Paths of calls: none leaves the folder, neither as it is written nor by a link."""

import pytest

from gpuprof.errors import UsageError
from gpuprof.mcp_server.workspace import Workspace

OUTSIDE = "give a path relative to the server's folder, without `..`"
BY_LINK = "a link leads out of the server's folder"


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "folder"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "folder-too").mkdir()
    (root / "here").symlink_to("sub/k.cu")
    for name, target in {
        "out": "../secret.cu", "up": "..", "near": "../folder-too", "absolute": "/etc", "loop": "loop",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    return Workspace(root.resolve())


@pytest.mark.parametrize(
    "name, word",
    [
        ("k.cu", "k.cu"),
        ("./sub//k.cu", "sub/k.cu"),
        ("sub/not-there/x.gprec", "sub/not-there/x.gprec"),
        (".", "."),
        ("here", "here"),
        ("-o", "./-o"),
        ("a b;c", "a b;c"),
        ("...", "..."),
    ],
)
def test_inside(workspace, name, word):
    assert workspace.inside(name) == word


@pytest.mark.parametrize(
    "name, why",
    [
        ("/etc/passwd", OUTSIDE),
        ("..", OUTSIDE),
        ("sub/../k.cu", OUTSIDE),
        ("../folder/k.cu", OUTSIDE),
        ("out", BY_LINK),
        ("up/x.gprec", BY_LINK),
        ("near/x.gprec", BY_LINK),
        ("absolute/passwd", BY_LINK),
    ],
)
def test_outside(workspace, name, why):
    with pytest.raises(UsageError) as caught:
        workspace.inside(name)
    assert str(caught.value) == f"{name}: {why}"


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_what_is_no_path(workspace, name):
    with pytest.raises(UsageError, match=r" is no path$"):
        workspace.inside(name)


def test_a_link_that_leads_to_itself_is_for_the_system_to_refuse(workspace):
    assert workspace.inside("loop") == "loop"
