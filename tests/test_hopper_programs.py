"""CUDA programs for sm_90 from source to result and cycles, and what a launch with clusters may be."""

import numpy as np
import pytest

import gpuprof
from gpuprof.device.launch import parse_launch
from gpuprof.errors import UsageError
from tests.running import ROOT

I32, F32 = np.int32, np.float32


@pytest.fixture(scope="module")
def loaded():
    gpu = gpuprof.Device("h200")
    return gpu, gpu.load(ROOT / "tests" / "programs" / "cluster.cu")


def test_cluster_dimensions_come_from_the_source(loaded):
    _, program = loaded
    values, out = np.arange(16 * 64, dtype=I32), np.zeros(4, I32)
    program.sums[16, 64](values, out)
    np.testing.assert_array_equal(out, values.reshape(4, 256).sum(1))
    assert program["sums"].function.required_cluster == (4, 1, 1)


@pytest.mark.parametrize("cluster", [None, 2, (2, 2), (4, 1, 1), (1, 4)])
def test_blocks_hand_their_part_to_the_next_of_the_cluster(loaded, cluster):
    _, program = loaded
    values, out = np.arange(8 * 4 * 32, dtype=I32), np.zeros(8 * 4 * 32, I32)
    program.rotate[(8, 4), 32, 0, 128, cluster](values, out)
    cx, cy, _ = (*(cluster if isinstance(cluster, tuple) else (cluster or 1,)), 1, 1)[:3]
    parts, wanted = values.reshape(4, 8, 32), np.zeros((4, 8, 32), I32)
    for y, x in np.ndindex(4, 8):
        rank = y % cy * cx + x % cx
        before = (rank - 1) % (cx * cy)
        wanted[y, x] = parts[y - y % cy + before // cx, x - x % cx + before % cx] + 1000 * rank
    np.testing.assert_array_equal(out.reshape(4, 8, 32), wanted)


def test_tile_through_a_tensor_map_argument(loaded):
    gpu, program = loaded
    matrix = np.random.default_rng(0).integers(0, 9, (100, 96)).astype(F32)
    on_device, out = gpu.to_device(matrix), np.zeros(32, F32)
    tensor = gpuprof.TensorMap(on_device, box=(64, 32), swizzle=128)
    program.tile_sums[1, 32](tensor, out, 32, 60)
    np.testing.assert_array_equal(out, matrix[60:, 32:64].sum(0))
    assert str(tensor) == "tensor map of f32[100x96], box 64x32"


@pytest.mark.parametrize(
    "config, text",
    [
        ((6, 32, 0, 0, 4), "a grid of 6x1x1 cannot be divided into clusters of 4x1x1"),
        ((32, 32, 0, 0, 32), "at most 16 blocks"),
    ],
)
def test_clusters_that_no_gpu_would_launch(loaded, config, text):
    _, program = loaded
    with pytest.raises(UsageError, match=text):
        program.rotate[config](np.zeros(1, I32), np.zeros(1, I32))


def test_a_launch_must_agree_with_the_kernel(loaded):
    _, program = loaded
    with pytest.raises(UsageError, match="compiled for clusters of exactly 4x1x1"):
        program.sums[16, 64, 0, 0, 2](np.zeros(1, I32), np.zeros(1, I32))


@pytest.mark.parametrize(
    "text, cluster, shared",
    [("k<<<8, 32>>>()", None, 0), ("k<<<8, 32, cluster=2>>>()", (2, 1, 1), 0), ("k<<<8, 32, 64, 1, cluster = (2, 2)>>>()", (2, 2, 1), 64)],
)
def test_clusters_in_a_launch_text(text, cluster, shared):
    request = parse_launch(text)
    assert (request.cluster, request.dynamic_shared_nbytes) == (cluster, shared)


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"box": (8,)}, "a box of 1 dimensions for a tensor of 2"),
        ({"box": (8, 300)}, "extents are 1 to 256"),
        ({"box": (8, 3)}, "12 bytes, which is no multiple of 16"),
        ({"box": (8, 64), "swizzle": 128}, "256 bytes; swizzle 128"),
        ({"box": (8, 16), "swizzle": 48}, "swizzle is 0, 32, 64 or 128"),
        ({"box": (8, 16), "strides": (36, 4)}, "multiples of 16 bytes"),
        ({"box": (8, 16), "element": "f24"}, "no element type"),
        ({"box": (8, 16), "steps": (1, 9)}, "from 1 to 8"),
    ],
)
def test_tensor_maps_that_the_hardware_would_refuse(loaded, changes, text):
    gpu, _ = loaded
    array = gpu.device_array((64, 128), F32)
    with pytest.raises(UsageError, match=text):
        gpuprof.TensorMap(array, **changes)
