"""Kernels that use the CUDA toolkit's own headers, against numpy: from PTX that is stored, and fresh from nvcc where it
is installed.
"""

import numpy as np
import pytest

import gpuprof
from tests.ptx import regenerate
from tests.support.host_oracle import nvcc
from tests.support.nvidia_tools import needs_nvcc


@pytest.fixture(
    scope="module", params=["stored", *(pytest.param(arch, marks=needs_nvcc) for arch in ("sm_75", "sm_80", "sm_90"))]
)
def gpu_and_module(request, tmp_path_factory):
    stored = regenerate.STORED / "toolkit.ptx"
    path = (
        stored
        if request.param == "stored"
        else nvcc(regenerate.TOOLKIT, tmp_path_factory.mktemp("toolkit"), arch=request.param)
    )
    gpu = gpuprof.Device()
    return gpu, gpu.load(path)


def test_stored_is_of_this_source():
    with (regenerate.STORED / "toolkit.ptx").open() as lines:
        assert lines.readline() == regenerate.heading(regenerate.TOOLKIT), (
            "the source changed: python -m tests.ptx.regenerate"
        )


@pytest.mark.long
def test_atomic_references(gpu_and_module):
    x = np.zeros(4, np.int32)
    gpu_and_module[1].atomic_references[2, 32](x)
    assert x.tolist() == [192, x[1], 9, (1 << 30) - 1] and 3 <= x[1] <= 192


def test_fragments(gpu_and_module):
    rng = np.random.default_rng(1)
    a, b, c = (
        rng.random((16, 16)).astype(np.float16),
        rng.random((16, 16)).astype(np.float16),
        np.zeros((16, 16), np.float32),
    )
    gpu_and_module[1].fragments[1, 32](a, b, c)
    np.testing.assert_allclose(c, 2 * (a.astype(np.float64) @ b.astype(np.float64).T), rtol=1e-6)


def test_background_copies(gpu_and_module):
    a, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    gpu_and_module[1].background_copies[1, 64](a, out)
    np.testing.assert_array_equal(out.reshape(64, 4), a.reshape(64, 4)[::-1])


def test_grid_barrier(gpu_and_module):
    for _ in range(2):  # the barrier's word is ready for the next launch
        x = np.zeros(128, np.int32)
        gpu_and_module[1].grid_barrier[4, 32](x)
        assert (x == 128).all()


def test_reductions(gpu_and_module):
    x = np.zeros(64, np.int32)
    gpu_and_module[1].reductions[1, 64](x)
    np.testing.assert_array_equal(x, np.repeat(np.arange(64).reshape(2, 32).sum(1) + 32, 32))


def test_texture(gpu_and_module):
    gpu, module = gpu_and_module
    picture, out = np.arange(64, dtype=np.float32).reshape(2, 32), np.zeros(32, np.float32)
    module.texture[1, 32](gpu.texture(picture), out)
    np.testing.assert_array_equal(out, picture[0])


def test_sized_at_run_time(gpu_and_module):
    out = np.zeros(32, np.int32)
    gpu_and_module[1].sized_at_run_time[1, 32](10, out)
    np.testing.assert_array_equal(out, 45 * np.arange(32))


@needs_nvcc
def test_launches_from_a_kernel(tmp_path):
    source = tmp_path / "parent.cu"
    source.write_text(
        "__global__ void child(int *x) { *x = 1; }\n__global__ void parent(int *x) { child<<<1, 1>>>(x); }\n"
    )
    x = np.zeros(1, np.int32)
    gpuprof.Device().load(nvcc(source, tmp_path, "-rdc=true")).parent[1, 1](x)
    assert x == 1


@pytest.mark.parametrize("size", [64, 128, 512])
def test_tiles_of_several_warps(gpu_and_module, size):
    blocks, threads = (1, 1024) if size == 512 else (2, 256)
    out = np.zeros((blocks * threads, 3), np.int32)
    getattr(gpu_and_module[1], f"tiles{size}")[blocks, threads](out)
    v = (np.arange(blocks * threads) * 7 % 101).reshape(blocks, -1, size)
    rank = np.broadcast_to(np.arange(v.shape[1])[None, :, None], v.shape)
    everyone = (4 * v.max(2) + 2 * (v < 100).all(2) + (v == 100).any(2))[:, :, None]
    expected = [
        np.broadcast_to(row, v.shape).reshape(-1)
        for row in (v.sum(2)[:, :, None], v[:, :, -3:-2] + 1000 * rank, everyone)
    ]
    np.testing.assert_array_equal(out, np.stack(expected, 1))


def test_tiles_leave_the_blocks_memory_alone(gpu_and_module):
    out, t = np.zeros(128, np.int32), np.arange(128)
    gpu_and_module[1].beside_a_tile[1, 128, 0, 512](out)
    np.testing.assert_array_equal(out, 127 - t + 1000 * (t ^ 1) + 64)
