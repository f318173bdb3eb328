"""Programs in the style of CUDA's samples and of kernel libraries, by each compiler there is, against numpy."""

import math
import shutil

import ml_dtypes
import numpy as np
import pytest

import gpuprof
from tests.paths import TESTS

PROGRAMS = TESTS / "programs"
F16, F32, I32, U8, U32 = np.float16, np.float32, np.int32, np.uint8, np.uint32
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc (the CUDA toolkit) is not installed")


@pytest.fixture(params=["clang", pytest.param("nvcc", marks=(needs_nvcc, pytest.mark.long))])
def load(request):
    gpu = gpuprof.Device()
    return lambda name: (gpu, gpu.load(PROGRAMS / name, compiler=request.param))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_reductions(load, rng):
    gpu, program = load("reductions.cu")
    whole, double, single = (
        rng.integers(-99, 99, 5000).astype(I32),
        rng.integers(0, 99, 5000).astype(float),
        np.arange(8192, dtype=F32),
    )
    for kernel, blocks, threads, x in (
        ("reduce0<int>", 20, 256, whole),
        ("reduce0<double>", 20, 256, double),
        ("reduce7<int, 128, false>", 4, 128, whole),
        ("reduce7<float, 256, true>", 8, 256, single),
    ):
        parts = gpu.device_array(blocks, x.dtype)
        program[kernel][blocks, threads, 0, threads * x.itemsize](x, parts, x.size)
        assert parts.copy_to_host().sum() == x.sum()
    total = gpu.device_array(1, I32)
    program["multi_warp_cg_reduce<int, 0>"][4, 256, 0, 1024](whole, total, whole.size)
    assert total.copy_to_host()[0] == whole.sum()


def test_histograms(load, rng):
    gpu, program = load("histograms.cu")
    data = rng.integers(0, 256, 1 << 14).astype(U8)
    parts = gpu.device_array((8, 64), U32)
    program.histogram64Kernel[8, 64](parts, data.view(U32), data.size // 16)
    assert (parts.copy_to_host().sum(0) == np.bincount(data >> 2, minlength=64)).all()
    parts, bins = gpu.device_array((6, 256), U32), gpu.device_array(256, U32)
    program.histogram256Kernel[6, 192](parts, data.view(U32), data.size // 4)
    program.mergeHistogram256Kernel[256, 256](bins, parts, 6)
    assert (bins.copy_to_host() == np.bincount(data, minlength=256)).all()


def test_sorts(load, rng):
    gpu, program = load("sorts.cu")
    keys, values = rng.permutation(2048).astype(U32), np.arange(2048, dtype=U32)
    for kernel, more in (("bitonicSortShared", [1]), ("mergeSortSharedKernel<1U>", [])):
        sorted_keys, sorted_values = gpu.device_array(2048, U32), gpu.device_array(2048, U32)
        program[kernel][2, 512](sorted_keys, sorted_values, keys, values, 1024, *more)
        assert (sorted_keys.copy_to_host() == np.sort(keys.reshape(2, -1), 1).ravel()).all()
        assert (keys[sorted_values.copy_to_host()] == sorted_keys.copy_to_host()).all()


def test_stencils(load, rng):
    gpu, program = load("stencils.cu")
    weights, image, out = rng.random(17, dtype=F32), rng.random((8, 256), dtype=F32), gpu.device_array((8, 256), F32)
    program.symbol("c_Kernel", F32).copy_to_device(weights)
    program.convolutionRowsKernel[(2, 2), (16, 4)](out, image, 256, 8, 256)
    expected = np.stack([np.convolve(row, weights, "same") for row in image.astype(float)])
    np.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-5)

    weights, volume = rng.random(5, dtype=F32), rng.random((12, 24, 72), dtype=F32)
    out = gpu.device_array(volume.shape, F32)
    program.symbol("stencil", F32).copy_to_device(weights)
    program.FiniteDifferences3D[(2, 2), (32, 8)](out, volume, 64, 16, 4)
    inner, exact = (slice(4, -4),) * 3, volume.astype(float)
    sums = [sum(np.roll(exact, step, axis)[inner] for axis in range(3) for step in (-i, i)) for i in range(1, 5)]
    expected = weights[0] * exact[inner] + sum(weight * each for weight, each in zip(weights[1:], sums, strict=True))
    np.testing.assert_allclose(out.copy_to_host()[inner], expected, rtol=1e-5)


@pytest.mark.long
def test_option_prices(load, rng):
    gpu, program = load("simulations.cu")
    price, strike, years = (rng.uniform(low, high, 2048).astype(F32) for low, high in ((5, 30), (1, 100), (0.25, 10)))
    calls, puts = gpu.device_array(2048, F32), gpu.device_array(2048, F32)
    program.BlackScholesGPU[8, 128](calls, puts, price, strike, years, 0.02, 0.30, 2048)

    def below(x):
        return np.array([0.5 * (1 + math.erf(each / math.sqrt(2))) for each in x])

    s, x, t = (each.astype(float) for each in (price, strike, years))
    d1 = (np.log(s / x) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    d2 = d1 - 0.3 * np.sqrt(t)
    np.testing.assert_allclose(calls.copy_to_host(), s * below(d1) - x * np.exp(-0.02 * t) * below(d2), atol=1e-4)
    np.testing.assert_allclose(puts.copy_to_host(), x * np.exp(-0.02 * t) * below(-d2) - s * below(-d1), atol=1e-4)


def test_walsh_transform_and_many_bodies(load, rng):
    gpu, program = load("simulations.cu")
    x, out, matrix = rng.integers(-9, 9, (2, 512)).astype(F32), gpu.device_array((2, 512), F32), np.ones((1, 1))
    for _ in range(9):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    program.fwtBatch1Kernel[2, 128, 0, 2048](out, x, 9)
    assert (out.copy_to_host() == x @ matrix).all()

    place, moved = rng.random((256, 4), dtype=F32), gpu.device_array((256, 4), F32)
    program.integrateBodies[2, 128, 0, 2048](moved, place, gpu.device_array((256, 4), F32), 0.1, 0.9, 2)
    exact = place.astype(float)
    way = exact[None, :, :3] - exact[:, None, :3]
    pull = (way * (exact[None, :, 3] * ((way**2).sum(-1) + 0.01) ** -1.5)[..., None]).sum(1)
    np.testing.assert_allclose(moved.copy_to_host()[:, :3], exact[:, :3] + pull * 0.1 * 0.9 * 0.1, rtol=1e-4)


def test_matrix_products_in_five_types(load, rng):
    gpu, program = load("tensor_cores.cu")
    a, b, c = rng.random((64, 48)).astype(F16), rng.random((64, 48)).astype(F16), rng.random((64, 64), dtype=F32)
    out = gpu.device_array((64, 64), F32)
    program.simple_wmma_gemm[(1, 1), (128, 4)](a, b, c, out, 64, 64, 48, 1.1, 1.2)
    np.testing.assert_allclose(out.copy_to_host(), 1.1 * (a.astype(float) @ b.astype(float).T) + 1.2 * c, rtol=1e-4)
    a, b, out = rng.random((16, 32)), rng.random((24, 32)), gpu.device_array((16, 24), np.float64)
    program.dmma_gemm[(3, 2), 32](a, b, out, 24, 32)
    np.testing.assert_allclose(out.copy_to_host(), a @ b.T, rtol=1e-14)
    a, b, out = *rng.integers(0, 256, (2, 32, 64)).astype(U8), gpu.device_array((32, 32), I32)
    program.imma_gemm[(2, 2), 32](a, b, out, 32, 64)
    assert (out.copy_to_host() == a.astype(int) @ b.astype(int).T).all()
    a, b = rng.random((2, 16, 16)).astype(ml_dtypes.bfloat16)
    left, right = rng.random((2, 16, 8), dtype=F32)
    of_bfloats, of_floats = gpu.device_array((16, 16), F32), gpu.device_array((16, 16), F32)
    program.bf16_tf32[1, 32](a.view(np.uint16), b.view(np.uint16), of_bfloats, left, right, of_floats)
    np.testing.assert_allclose(of_bfloats.copy_to_host(), a.astype(float) @ b.astype(float), rtol=1e-5)
    np.testing.assert_allclose(of_floats.copy_to_host(), left @ right.T, rtol=2e-3)


def test_small_weights(load, rng):
    gpu, program = load("tensor_cores.cu")
    packed, out = rng.integers(0, 1 << 32, 32).astype(U32), gpu.device_array((32, 8), F16)
    program.dequantise[1, 32](packed.view(I32), out)
    for column, shift in enumerate((0, 16, 4, 20, 8, 24, 12, 28)):
        assert (out.copy_to_host()[:, column] == (packed >> shift & 15).astype(int) - 8).all()
    x = (rng.standard_normal(64) * 50).astype(F32)
    stored, back, pairs = gpu.device_array(64, U8), gpu.device_array((2, 64), F32), gpu.device_array((64, 2), F16)
    program.fp8[1, 64](x, stored, back, pairs)
    e4m3, e5m2 = x.astype(ml_dtypes.float8_e4m3fn), x.astype(ml_dtypes.float8_e5m2)
    assert (stored.copy_to_host() == e4m3.view(U8)).all()
    assert (back.copy_to_host() == [e4m3.astype(F32), e5m2.astype(F32)]).all()
    assert (pairs.copy_to_host() == np.stack([e4m3.astype(F32), -e4m3.astype(F32)], 1)).all()


@pytest.mark.long
def test_flash_attention(load, rng):
    gpu, program = load("tensor_cores.cu")
    q, k, v = rng.standard_normal((3, 64, 64)).astype(F16)
    out = gpu.device_array((64, 64), F32)
    program.flash[1, 128](q, k, v, out, 64, 0.125 / math.log(2))
    scores = q.astype(float) @ k.astype(float).T * 0.125
    power = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(out.copy_to_host(), power / power.sum(1, keepdims=True) @ v.astype(float), atol=2e-3)


def test_filters_of_images(load, rng):
    gpu, program = load("images.cu")
    picture, out = rng.random((64, 64), dtype=F32), gpu.device_array((64, 64), F32)
    wrapped = gpu.texture(picture, filter="linear", address="wrap", normalized=True)
    program.transformKernel[(8, 8), (8, 8)](out, 64, 64, 0.0, wrapped)
    expected = sum(np.roll(picture, (i, j), (0, 1)) for i in (0, 1) for j in (0, 1)) / 4  # between texels
    np.testing.assert_allclose(out.copy_to_host(), expected, atol=1e-2)

    picture, out = rng.integers(0, 256, (32, 32)).astype(U8), gpu.device_array((32, 32), F32)
    around = np.pad(picture.astype(int), 1, mode="edge")
    parts = {(i, j): around[1 + j : 33 + j, 1 + i : 33 + i] for i in (-1, 0, 1) for j in (-1, 0, 1)}
    program.bicubic[(4, 4), (8, 8)](
        out, 32, 32, 0.5, 0.5, 1.0, gpu.texture(picture, filter="linear", address="clamp", read="normalized")
    )
    expected = sum(part * (4 - 3 * abs(i)) * (4 - 3 * abs(j)) / 36 for (i, j), part in parts.items()) / 255
    np.testing.assert_allclose(out.copy_to_host(), expected, atol=4e-3)

    canvas = gpu.surface(gpu.device_array((32, 32), U8))
    program.sobel[(4, 4), (8, 8)](gpu.texture(picture, address="clamp"), canvas, 32, 32)
    across, down = (
        sum(side * (2 - abs(along)) * parts[way(side, along)] for side in (-1, 1) for along in (-1, 0, 1))
        for way in WAYS
    )
    assert (canvas.array.copy_to_host() == np.minimum(abs(across) + abs(down), 255)).all()


def test_rays_through_a_volume_of_one_colour(load):
    gpu, program = load("images.cu")
    volume = gpu.texture(np.full((8, 8, 8), 0.5, F32), filter="linear", address="clamp", normalized=True)
    colour = np.float32([0.25, 0.5, 0.75, 0.5])
    transfer = gpu.texture(np.tile(colour, (8, 1)), "1d", filter="linear", address="clamp", normalized=True)
    out = gpu.device_array((12, 20, 4), F32)
    program.d_render[(3, 2), (8, 8)](None, out, 20, 12, 0.1, volume, transfer)
    opaque = 1 - (1 - 0.05) ** 40
    np.testing.assert_allclose(
        out.copy_to_host(), np.broadcast_to([*colour[:3] * opaque, opaque], (12, 20, 4)), rtol=1e-5
    )


WAYS = (lambda side, along: (side, along), lambda side, along: (along, side))


def test_half_types(load):
    gpu, program = load("half_types.cu")
    out = gpu.device_array((2, 16), np.float64)
    program.k[1, 1](out, 5.25)
    for row, kind in zip(out.copy_to_host(), (F16, ml_dtypes.bfloat16), strict=True):
        grown = kind(kind(6.25) + kind(5.25)) * kind(5.25)
        assert row.tolist() == [5.25, 5, 5, 5, 5, 10, 6.25, float(kind(grown)), 8, 1, -5.25, 5, 7, 0, 0, 0]

    out = gpu.device_array(32, F32)
    program.r[1, 32](out, np.arange(1, 9).astype(F16), np.arange(8).astype(F16).view(U32))
    functions = sum(F32(F16(each)) for each in (math.e, 1, 1, 0, math.tanh(1)))
    exponential = F32(F16(math.e)) + F32(0.5)
    assert out.copy_to_host()[:18].tolist() == [
        5,
        0x3C00,
        6,
        0,
        1,
        functions,
        5,
        1,
        5,
        3,
        2,
        2,
        3,
        1,
        2,
        0,
        3,
        exponential,
    ]
