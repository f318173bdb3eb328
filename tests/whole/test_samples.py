"""Every sample computes what numpy computes from the same inputs, and each ladder of kernels climbs."""

import re
import runpy

import numpy as np
import pytest

from tests.paths import SAMPLES
from tests.support.matrices import long_from
from tests.support.running import run_file

N = np.float32


def arrays_of(name: str):
    return run_file(SAMPLES / name)


def test_saxpy():
    # The array named in the launch is overwritten, so the input is made again: y starts as ones.
    arrays, _ = arrays_of("saxpy.cu")
    x, y = arrays[0, 2].copy_to_host(), arrays[0, 3].copy_to_host()
    expected = (np.float64(2.0) * x + 1.0).astype(N)  # exact in float64: one rounding, as the fused multiply-add does
    np.testing.assert_array_equal(y, expected)


def test_transpose():
    path = SAMPLES / "transpose.cu"
    launches = {
        kernel: f"{kernel}<<<(16, 16), (32, 8)>>>(out: f32[512,512], in: f32[512,512]=random, 512)"
        for kernel in ("naive", "coalesced", "padded")
    }
    for launch in launches.values():
        arrays, _ = run_file(path, launch)
        np.testing.assert_array_equal(arrays["out"].copy_to_host(), arrays["in"].copy_to_host().T)


@pytest.mark.parametrize(
    "kernel, grid, block", long_from(1, [("naive", 20, "16, 16"), ("tiled", 20, "16, 16"), ("blocked", 10, "16, 8")])
)
def test_matmul(kernel, grid, block):
    launch = (
        f"{kernel}<<<({grid}, {grid}), ({block})>>>(a: f32[320,320]=random, b: f32[320,320]=random, c: "
        "f32[320,320], 320)"
    )
    arrays, _ = run_file(SAMPLES / "matmul.cu", launch)
    a, b, c = (arrays[name].copy_to_host().astype(np.float64) for name in "abc")
    np.testing.assert_allclose(c, a @ b, rtol=320 * np.finfo(N).eps)


def test_reduction():
    arrays, _ = arrays_of("reduction.cu")
    expected = arrays["in"].copy_to_host().astype(np.float64).reshape(256, 256).sum(axis=1)
    for kernel in ("divergent", "interleaved", "sequential", "shuffle"):
        np.testing.assert_allclose(arrays[f"{kernel}_sums"].copy_to_host(), expected, rtol=16 * np.finfo(N).eps)


def test_histogram():
    arrays, _ = arrays_of("histogram.cu")
    expected = np.bincount(arrays["data"].copy_to_host() % 64, minlength=64)
    assert expected.sum() == 65536
    np.testing.assert_array_equal(arrays["global_bins"].copy_to_host(), expected)
    np.testing.assert_array_equal(arrays["shared_bins"].copy_to_host(), expected)


def fma(a, b, c):
    """float32 fused multiply-add: the product of two float32 is exact in float64, and the sum rounds once more only in
    rare ties.
    """
    return (a.astype(np.float64) * b + c).astype(N)


def test_mandelbrot():
    arrays, _ = arrays_of("mandelbrot.cu")
    counts = arrays["counts"].copy_to_host()
    py, px = np.mgrid[0:256, 0:256]
    cx = -2.0 + 3.0 * px / 256
    cy = -1.5 + 3.0 * py / 256
    z, expected = np.zeros((256, 256), complex), np.zeros((256, 256), int)
    c = cx + 1j * cy
    alive = np.ones_like(expected, bool)
    for _ in range(200):
        alive &= np.abs(z) < 2
        expected += alive
        z = np.where(alive, z * z + c, z)
    # The orbit is chaotic near the set's edge: float32 and float64 part there, and only there.
    assert np.mean(counts != expected) < 0.01
    assert counts.min() == 1 and counts.max() == 200


def test_stencil3d():
    arrays, _ = arrays_of("stencil3d.cu")
    before = arrays["before"].copy_to_host().astype(np.float64)
    expected = before.copy()
    around = sum(np.roll(before, shift, axis) for axis in range(3) for shift in (-1, 1))
    inside = (slice(1, -1),) * 3
    expected[inside] += N(0.1).astype(np.float64) * (around - 6 * before)[inside]
    np.testing.assert_allclose(arrays["after"].copy_to_host(), expected, atol=8 * np.finfo(N).eps)


def test_spmv():
    arrays, _ = arrays_of("spmv.cu")
    starts, columns, values, x = (arrays[name].copy_to_host() for name in ("starts", "columns", "values", "x"))
    lengths = np.tile([1, 2, 4, 8, 16, 32, 2, 63], 512)
    np.testing.assert_array_equal(starts, np.concatenate([[0], np.cumsum(lengths)]))
    rows = np.repeat(np.arange(4096), lengths)
    index = np.arange(65536)
    np.testing.assert_array_equal(columns, (index * 97 + rows * 31) % 4096)
    np.testing.assert_array_equal(values, (N(1) / (1 + index % 7).astype(N)))
    expected = np.bincount(rows, weights=values.astype(np.float64) * x[columns])
    np.testing.assert_allclose(arrays["y_scalar"].copy_to_host(), expected, rtol=64 * np.finfo(N).eps)
    np.testing.assert_allclose(arrays["y_warp"].copy_to_host(), expected, rtol=64 * np.finfo(N).eps)


def test_normalise_script(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["normalise.py", "5000"])
    runpy.run_path(str(SAMPLES / "normalise.py"), run_name="__main__")
    match = re.fullmatch(r"length after scaling 5000 elements: ([0-9.]+)\n", capsys.readouterr().out)
    assert abs(float(match.group(1)) - 1) < 1e-5


@pytest.mark.parametrize(
    "name, slower_to_faster",
    [
        ("transpose.cu", ["naive", "coalesced", "padded"]),
        pytest.param("matmul.cu", ["naive", "tiled", "blocked"], marks=pytest.mark.long),
        ("reduction.cu", ["divergent", "interleaved", "sequential", "shuffle"]),
        ("histogram.cu", ["global_atomics", "shared_atomics"]),
        ("spmv.cu", ["scalar_row", "warp_row"]),
    ],
)
def test_each_step_of_a_ladder_is_faster(name, slower_to_faster):
    _, results = arrays_of(name)
    cycles = results.cycles()
    measured = [cycles[kernel] for kernel in slower_to_faster]
    assert measured == sorted(measured, reverse=True), dict(zip(slower_to_faster, measured, strict=True))
