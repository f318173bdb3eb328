"""Launches with other blocks, and launches as text."""

from pathlib import Path

import pytest

from gpuprof.device.launching.launch_text import parse_launch
from gpuprof.vary.block_sizes import as_text, with_block


@pytest.mark.parametrize(
    "block, changed",
    [
        ((128, 1, 1), "8, 128"),
        ((100, 1, 1), "11, 100"),  # 1,024 threads need 11 blocks
        ((1024, 1, 1), "1, 1024"),
        ((32, 8, 1), "32, (32, 8)"),
    ],
)
def test_the_grid_follows(block, changed):
    text = "k<<<{}>>>(n: f32[1000], 3)"
    found = with_block(parse_launch(text.format("4, 256")), block)
    assert found == parse_launch(text.format(changed))
    for axis, length in enumerate((1024, 1, 1)):
        threads = found.config.grid[axis] * block[axis]
        assert length <= threads < length + block[axis]


def test_a_block_of_two_dimensions_keeps_both():
    request = parse_launch("k<<<(4, 5), (32, 8), 128>>>(f32[8])")
    assert with_block(request, (64, 4, 1)).text == "k<<<(2, 10), (64, 4), 128>>>(f32[8])"
    assert with_block(request, (32, 8, 1)) is request


@pytest.mark.parametrize(
    "text",
    [
        "scan<256, float><<<(4, 4), (8, 8, 2), 64, 1, cluster=2, cache=warm, repeat=3>>>(x: f32[8]=random, x, 1 + 2)",
        "k<<<1, 32>>>(null, x: f64[4]=ones)",
        "k<<<1, 32>>>(hex:0000803f, f32(1.0, 2.0), true, -inf)",
        "k<<<1, 32>>>(tex2d(linear, wrap) t: f32[8,8]=arange, surf1d s: u8[64], tensormap(box=(8, 8)) a: f32[64,64])",
        "k<<<1, 32>>>()",
    ],
)
def test_a_launch_as_text_is_read_as_the_same_launch(text):
    request = parse_launch(text)
    again = parse_launch(as_text(request, Path()))
    assert (again.kernel, again.config, again.arguments) == (request.kernel, request.config, request.arguments)


def test_files_of_arrays_are_named_from_another_folder():
    request = parse_launch('k<<<1, 32>>>(x: f32[8]="in put.npy", f32[8]=b.npy, tex1d f32[8]=c.npy)')
    assert (
        as_text(request, Path("my dir"))
        == 'k<<<1, 32>>>(x: f32[8]="my dir/in put.npy", f32[8]="my dir/b.npy", tex1d f32[8]="my dir/c.npy")'
    )
