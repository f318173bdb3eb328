"""Draws with what is not there: memory that was freed, textures that are none, colors for no target, folders."""

import os

import numpy as np
import pytest

from gpuprof.errors import DeviceMemoryError, GpuprofError, KernelFault, UsageError
from gpuprof.graphics.pipeline import LESS
from tests.draws.scene import frame, gpu, on_grid, pipeline, vertices

CORNERS = vertices(on_grid([(0, 0), (8, 0), (8, 8), (0, 8)], 8, 8), (1, 0.5, 0, 1))
INDICES = np.uint16([0, 1, 2, 0, 2, 3])


def parts():
    """What a draw takes: a frame, buffers, a texture."""
    picture = gpu().texture(np.ones((4, 4, 4), np.float32), "2d", normalized=True)
    return frame(8, 8, stencil=True), gpu().to_device(CORNERS), gpu().to_device(INDICES), picture


@pytest.mark.parametrize(
    "what, pick",
    [
        ("vertex buffer", lambda drawn, corners, indices, picture: corners),
        ("index buffer", lambda drawn, corners, indices, picture: indices),
        ("color target 0", lambda drawn, corners, indices, picture: drawn.colors[0]),
        ("depth target", lambda drawn, corners, indices, picture: drawn.depth),
        ("stencil target", lambda drawn, corners, indices, picture: drawn.stencil),
        ("texture 2d float32[4,4,4]", lambda drawn, corners, indices, picture: picture.array),
    ],
)
def test_memory_that_was_freed(what, pick):
    """A draw takes memory itself, which may come to lie where the freed memory was; it is refused before."""
    given, shaded = parts(), pipeline("pictured", depth=LESS)
    drawn, corners, indices, picture = given
    pick(*given).free()
    used = gpu().executor.memory.used_nbytes
    with pytest.raises(DeviceMemoryError) as error:
        drawn.draw(shaded, corners, indices, pixel=(picture,), name="model")
    assert f"model: the {what} is not in memory: cannot draw with " in str(error.value)
    assert "was there and has been freed" in str(error.value)
    assert gpu().executor.memory.used_nbytes == used


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: gpu().texture(np.zeros(4, np.float32)), "is a 1d image, and the instruction reads a 2d one"),
        (lambda: gpu().texture(np.zeros((4, 4, 4), np.float32), "3d"), "is a 3d image, and the instruction reads a 2d"),
        (lambda: gpu().surface(np.zeros((4, 4), np.float32)), ", and no texture"),
        (lambda: 7, "no texture at handle 0x7; give the kernel one that the host has made"),
    ],
    ids=["1d", "3d", "surface", "number"],
)
def test_textures_that_are_none(make, message):
    with pytest.raises(KernelFault) as error:
        frame(8, 8).draw(pipeline("pictured"), CORNERS, INDICES, pixel=(make(),))
    assert message in str(error.value)


def test_colors_for_a_target_that_there_is_not():
    """They go nowhere; depth is written as ever."""
    drawn = frame(8, 8, formats=())
    counts = drawn.draw(pipeline(depth=LESS), CORNERS, INDICES)
    assert (counts.passed, counts.quads, counts.written) == (64, 20, 0)
    assert (drawn.depth.copy_to_host() == 0.5).all()
    one = frame(8, 8)
    assert one.draw(pipeline("two"), CORNERS, INDICES).written == 64
    assert (one.pixels() == [255, 128, 0, 255]).all()


@pytest.mark.parametrize(
    "name, kind, message",
    [
        ("nowhere/out.png", UsageError, "there is no folder"),
        ("a folder", UsageError, "is a folder; give a file name"),
        ("notes.txt", UsageError, "is no PNG file, and would be overwritten; give another name, or force=True to"),
        ("a\0b.png", UsageError, "is no name of a file"),
        ("n" * 300, GpuprofError, "cannot be written: File name too long"),
    ],
)
def test_where_no_picture_is_saved(tmp_path, name, kind, message):
    (tmp_path / "a folder").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(kind) as error:
        frame(2, 2).save(tmp_path / name)
    assert message in str(error.value)
    assert sorted(os.listdir(tmp_path)) == ["a folder", "notes.txt"]
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_picture_with_spaces_in_its_name(tmp_path):
    """It may take the place of a picture, and by force that of any file."""
    (tmp_path / "my notes.txt").write_text("mine")
    for name in ("my picture.png", "my picture.png", "my notes.txt"):
        frame(2, 2).save(str(tmp_path / name), force=name == "my notes.txt")
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="a picture's name is a Path, not None"):
        frame(2, 2).save(None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes into folders that are not writable")
def test_a_folder_that_is_not_writable(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(GpuprofError, match=r"cannot be written: the folder .* is not writable"):
        frame(2, 2).save(tmp_path / "out.png")
    tmp_path.chmod(0o700)
