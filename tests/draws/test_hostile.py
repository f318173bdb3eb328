"""Draws with what is not there: memory that was freed, textures that are none, colors for no target, folders."""

import os

import numpy as np
import pytest

from gpuprof.errors import CompileError, DeviceMemoryError, GpuprofError, KernelFault, UsageError
from gpuprof.graphics.pipeline import LESS, Pipeline
from tests.draws.scene import frame, gpu, on_grid, pipeline, vertices
from tests.paths import ROOT

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


def test_a_target_that_no_frame_has():
    """Known when the shader runs: it stops there, and the frame stays as it is."""
    features = gpu().load(ROOT / "tests/draws/features.cu")
    drawn, far = frame(8, 8), Pipeline(features.plain, features.far)
    assert drawn.draw(far, CORNERS, INDICES, pixel=(7,)).written == 64
    drawn.clear((1, 1, 1, 1))
    for target in (8, 0xFFFFFFFF):
        with pytest.raises(
            KernelFault, match=r"assertion `stage.color\(color, target\) with a target from 0 to 7' fai"
        ):
            drawn.draw(far, CORNERS, INDICES, pixel=(target,))
    assert (drawn.pixels() == 255).all()


WRONG = """#include <gpuprof/graphics.h>
struct Color { float4 color; };
__global__ void colored(PixelStage<Color> stage) { stage.color(stage.in().color, 8); }
__global__ void leveled(HullStage<Color, Color, 3> stage) { stage.outer(6, 1); stage.inner(2, 1); stage.outer(3, 1); }
__global__ void many(HullStage<Color, Color, 3> stage) { stage.out(stage.position(32), stage.in(31)); }
__global__ void fourth(DomainStage<Color, Color, 3> stage) { stage.out(stage.position(2), stage.in(3)); }
__global__ void cornered(GeometryStage<Color, Color, 3> stage) { stage.emit(stage.position(3), stage.in(-1)); }
__global__ void cut(VertexStage<Color, Color, CLIP_DISTANCES * 2> stage) { stage.clip(2, 1); stage.clip(1, 1); }
__global__ void sized(VertexStage<Color, Color> stage) { stage.point_size(2); }
"""


@pytest.mark.long  # a compilation that no cache has
def test_indices_that_a_compilation_knows(tmp_path):
    (tmp_path / "wrong.cu").write_text(WRONG)
    with pytest.raises(CompileError) as error:
        gpu().load(tmp_path / "wrong.cu")
    found = [line.split(": error: ")[1] for line in error.value.diagnostics.splitlines() if ": error: " in line]
    assert found == [
        "a frame has color targets 0 to 7",
        "a patch has outer levels 0 to 3",
        "a patch has inner levels 0 and 1",
        "a patch has corners 0 to 31 at most",
        "a patch has control points below the COUNT of DomainStage",
        "a primitive has corners below the FROM of GeometryStage",
        "a primitive has corners below the FROM of GeometryStage",
        "stage.clip(k, distance) with k below the n of CLIP_DISTANCES * n",
        "static assertion failed due to requirement '0 & POINT_SIZE': a shader that gives sizes of points has "
        "POINT_SIZE among its stage's abilities",
    ]


@pytest.mark.parametrize("size, side", [(np.nan, 1), (np.inf, 255), (-np.inf, 1), (0, 1), (-5, 1), (1e30, 255)])
def test_sizes_that_no_point_has(size, side):
    """The nearest that one may have."""
    features = gpu().load(ROOT / "tests/draws/features.cu")
    sized = Pipeline(features.sized, features.tinted, topology="points")
    place = vertices(on_grid([(128.5, 128.5)], 257, 257), uv=(size, 0))
    assert frame(257, 257).draw(sized, place).passed == side * side


@pytest.mark.parametrize("distance, passed", [(0, 64), (-0.0, 64), (1e38, 64), (-1, 0), (np.nan, 0), (np.inf, 0)])
def test_clip_distances_that_are_none(distance, passed):
    """What is not finite is outside, as with positions."""
    features = gpu().load(ROOT / "tests/draws/features.cu")
    given = CORNERS.copy()
    given[:, 8:] = distance
    assert frame(8, 8).draw(Pipeline(features.halved, features.tinted), given, INDICES).passed == passed


@pytest.mark.parametrize(
    "record, message",
    [
        ([5, 1, 0, 0], "model: its record draws 5 vertices from number 0 on, and there are 4"),
        ([0xFFFFFFFF, 1, 0xFFFFFFFF, 0], "model: its record draws 4294967295 vertices from number 4294967295 on, and"),
        ([3, 0xFFFFFFFF, 0, 0], "^model: its record: a draw has up to 33554432 indices, with all of its instances"),
        ([3, 1, 0, 0xFFFFFFFF], "^model: its record: a first instance is 0 to 2147483648, not 4294967295"),
        (
            [3, 1, 0],
            r"an indirect draw's record has 4 numbers of uint32 \(count, instances, first, first_instance\), n",
        ),
    ],
)
def test_records_that_draw_what_is_not_there(record, message):
    features = gpu().load(ROOT / "tests/draws/features.cu")
    numbers, plain = gpu().to_device(np.uint32(record)), Pipeline(features.plain, features.tinted)
    with pytest.raises(UsageError, match=message):
        frame(8, 8).draw(plain, CORNERS, indirect=numbers, name="model")


def test_a_record_that_was_freed():
    features = gpu().load(ROOT / "tests/draws/features.cu")
    drawn, corners, numbers = frame(8, 8), gpu().to_device(CORNERS), gpu().to_device(np.uint32([3, 1, 0, 0]))
    numbers.free()
    with pytest.raises(DeviceMemoryError, match="model: its record is not in memory: "):
        drawn.draw(Pipeline(features.plain, features.tinted), corners, indirect=numbers, name="model")


@pytest.mark.parametrize(
    "name, kind, message",
    [
        ("nowhere/out.png", UsageError, "there is no folder"),
        ("a folder", UsageError, "is a folder; give a file name"),
        ("notes.txt", UsageError, "is no PNG file, and would be overwritten; give another name, or force=True to"),
        ("a\0b.png", UsageError, "is not a file name"),
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
