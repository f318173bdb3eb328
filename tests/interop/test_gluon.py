"""Gluon's kernels launched as they are, against numpy. Without Triton these skip."""

import importlib
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import gpuprof.interop.triton as gpu_triton
from gpuprof.interop.ptx import python_module
from tests.support.matrices import long_from
from tests.support.tools import module

module("triton", "interop")
kernels = importlib.import_module("tests.support.gluon_kernels")
gl = importlib.import_module("triton.experimental.gluon.language")
of_hopper = importlib.import_module("triton.experimental.gluon.nvidia.hopper")

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")

TYPES = {
    "f16": (np.float16, gl.float16),
    "bf16": (ml_dtypes.bfloat16, gl.bfloat16),
    "e4m3": (ml_dtypes.float8_e4m3fn, gl.float8e4nv),
    "e5m2": (ml_dtypes.float8_e5m2, gl.float8e5),
    "f32": (np.float32, gl.float32),
    "s32": (np.int32, gl.int32),
}
ROWS_OF_WARPS = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
LINE = gl.BlockedLayout([1], [32], [4], [0])
HALVES = [[1]]


def described(array: np.ndarray, block: list[int], kind: str, **options):
    """(the array on the device, its descriptor)"""
    tensor = gpu_triton.tensor(array)
    layout = gl.NVMMASharedLayout.get_default_for(block, TYPES[kind][1], **options)
    return tensor, of_hopper.TensorDescriptor.from_tensor(tensor, block, layout)


def small_integers(random, *shape: int, dtype=np.float32) -> np.ndarray:
    """Their products are exact in every type that a product is computed in."""
    return random.integers(-2, 3, shape).astype(np.float32).astype(dtype)


LAYOUTS = [
    (np.float32, gl.BlockedLayout([4, 1], [16, 2], [1, 4], [0, 1])),
    (
        np.float16,
        gl.DistributedLinearLayout(
            [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]],
            [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
            [[16, 0], [32, 0]],
            [],
            [64, 64],
        ),
    ),
]


@pytest.mark.parametrize("dtype, write", LAYOUTS, ids=["blocked", "linear"])
def test_a_layout_is_converted(hopper, random, dtype, write):
    x = random.standard_normal((100, 72)).astype(dtype)
    out = np.zeros((72, 100), dtype)
    read = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    kernels.transposed[(2, 2)](x, out, 100, 72, ROWS=64, COLUMNS=64, read=read, write=write)
    assert (out == x.T).all()


def test_a_ring_of_asynchronous_copies(hopper, random):
    a, b = random.standard_normal((2, 50, 200), dtype=np.float32)
    out = np.zeros_like(a)
    compiled = kernels.copy_ring[(4,)](a, b, out, 50, 200, ROWS=16, COLUMNS=64, STAGES=3, layout=ROWS_OF_WARPS)
    assert (out == a + b).all() and "cp.async.wait_group" in compiled.asm["ptx"]


def test_a_ring_of_tensor_copies(hopper, random, results):
    a, b = random.standard_normal((2, 50, 200), dtype=np.float32)
    (_, of_a), (_, of_b), (out, of_out) = (described(each, [16, 32], "f32") for each in (a, b, np.zeros_like(a)))
    kernels.tma_ring[(4,)](of_a, of_b, of_out, 200, STAGES=3, layout=ROWS_OF_WARPS)
    assert (out.numpy() == a + b).all()
    assert results.launches[0].launch.name.startswith("tma_ring[4](TensorDescriptor(base=float32[50,200], ")


def test_descriptors_that_a_kernel_makes(hopper, random):
    x = random.standard_normal((100, 72)).astype(np.float16)
    out = np.zeros_like(x)
    tiled = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float16)
    kernels.device_descriptors[(4, 3)](x, out, 100, 72, SIDE=32, tiled=tiled, layout=ROWS_OF_WARPS)
    assert (out == 2 * x).all()


def test_a_product_by_warps(hopper, random):
    a, b = (small_integers(random, 64, 64, dtype=np.float16) for _ in range(2))
    out = np.zeros((64, 64), np.float32)
    compiled = kernels.warp_product[(1,)](a, b, out, M=64, N=64, K=64)
    assert (out == a.astype(np.float32) @ b.astype(np.float32)).all() and "mma.sync" in compiled.asm["ptx"]


def test_a_product_with_an_operand_in_registers(hopper, random):
    a, b = small_integers(random, 64, 64, dtype=np.float16), small_integers(random, 64, 32, dtype=np.float16)
    out = np.zeros((64, 32), np.float32)
    kernels.product_of_registers[(1,)](a, described(b, [64, 32], "f16")[1], out, M=64, N=32, K=64)
    assert (out == a.astype(np.float32) @ b.astype(np.float32)).all()


PRODUCTS = [  # type, M, N, K of a tile, stages, warps
    ("e4m3", 64, 64, 128, 3, 4),
    ("f16", 64, 64, 64, 3, 4),
    ("bf16", 128, 64, 64, 4, 8),
    ("e5m2", 64, 128, 64, 3, 4),
    ("f32", 64, 32, 32, 3, 4),
]


@pytest.mark.parametrize("kind, m, n, k, stages, warps", long_from(1, PRODUCTS))
def test_a_pipelined_product(hopper, random, kind, m, n, k, stages, warps):
    a, b = (small_integers(random, rows, 176, dtype=TYPES[kind][0]) for rows in (200, 144))
    out, of_out = described(np.zeros((200, 144), np.float32), [m, n], "f32")
    of_a, of_b = described(a, [m, k], kind)[1], described(b, [n, k], kind)[1]
    grid = (-(-200 // m), -(-144 // n))
    compiled = kernels.pipelined_product[grid](of_a, of_b, of_out, 176, STAGES=stages, num_warps=warps)
    assert (out.numpy() == a.astype(np.float32) @ b.astype(np.float32).T).all()
    assert "wgmma.mma_async" in compiled.asm["ptx"]


SPECIALIZED = [("f16", 64, 64, 3, 4), ("bf16", 128, 128, 2, 8)]  # type, M, N of a tile, stages, warps


@pytest.mark.parametrize("kind, m, n, stages, warps", long_from(1, SPECIALIZED))
def test_a_product_by_specialized_warps(hopper, random, results, kind, m, n, stages, warps):
    dtype = TYPES[kind][0]
    a, b = small_integers(random, 200, 176, dtype=dtype), small_integers(random, 176, 144, dtype=dtype)
    out, of_out = described(np.zeros((200, 144), dtype), [m, n], kind)
    of_a, of_b = described(a, [m, 64], kind)[1], described(b, [64, n], kind)[1]
    compiled = kernels.specialized_product[(3,)](
        of_a, of_b, of_out, 200, 144, 176, STAGES=stages, PROGRAMS=3, num_warps=warps
    )
    assert (out.numpy() == (a.astype(np.float32) @ b.astype(np.float32)).astype(dtype)).all()
    assert "setmaxnreg.dec" in compiled.asm["ptx"]
    # the warps of the two other partitions are in the block: Triton fills them up to a warp group
    assert results.launches[0].launch.block[0] == 32 * (warps + 4)


def test_waits_have_the_lines_that_wait(hopper):
    """Triton writes a wait as assembly of several lines."""
    x = np.zeros(512, np.float32)
    compiled = kernels.specialized_copy[(1,)](x, x.copy(), 1, SIZE=512, STAGES=2, COUNTED=False)
    ptx = python_module(compiled.asm["ptx"], "copy.ptx", "Triton", {}).ptx
    lines = Path(kernels.__file__).read_text().splitlines()
    found, line = [], 0
    for text in ptx.splitlines():
        if position := re.match(r"\s*\.loc\s+\d+ (\d+) ", text):
            line = int(position[1])
        elif "mbarrier.try_wait" in text:
            found.append(lines[line - 1].strip())
    assert sorted(found) == [
        "mbarrier.wait(empty.index(stage), tile // STAGES & 1 ^ 1)",
        "mbarrier.wait(full.index(stage), tile // STAGES & 1)",
    ]


@pytest.mark.parametrize("is_counted", [False, True])
def test_copies_report_to_memory_barriers(hopper, random, is_counted):
    x = random.standard_normal(8 * 512, dtype=np.float32)
    out = np.zeros_like(x)
    compiled = kernels.specialized_copy[(1,)](x, out, 8, SIZE=512, STAGES=3, COUNTED=is_counted)
    assert (out == x + 1).all()
    assert ("cp.async.mbarrier.arrive.noinc" in compiled.asm["ptx"]) == (not is_counted)


UFUNCS = {"add": np.add, "max": np.maximum, "xor": np.bitwise_xor}


@pytest.mark.parametrize("kind, name", [("add", "f32"), ("max", "bf16"), ("xor", "s32")])
def test_tiles_are_combined_in_memory(hopper, random, kind, name):
    start, x = (random.integers(0, 30, shape).astype(TYPES[name][0]) for shape in ((16, 32), (4, 16, 32)))
    out, descriptor = described(start, [16, 32], name)
    kernels.combine[(4,)](x, descriptor, layout=ROWS_OF_WARPS, KIND=kind)
    expected = start
    for tile in x:
        expected = UFUNCS[kind](expected, tile)
    assert out.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("y, x", [(0, 0), (0, 4), (2, 2)])
def test_the_pixels_of_a_convolution(hopper, random, y, x):
    """A kernel of 3 by 5 pixels, with padding around the image: every offset is a shifted image."""
    image = random.standard_normal((2, 8, 10, 64)).astype(np.float16)
    out = np.zeros((128, 64), np.float16)
    tensor = gpu_triton.tensor(image)
    descriptor = of_hopper.TensorDescriptorIm2Col.from_tensor(
        tensor,
        [128, 64],
        gl.NVMMASharedLayout.get_default_for([128, 64], gl.float16),
        pixel_box_lower_corner=[-1, -2],
        pixel_box_upper_corner=[-1, -2],
    )
    kernels.pixels[(1,)](descriptor, out, Y=y, X=x, y=-1, x0=-2, layout=ROWS_OF_WARPS)
    padded = np.pad(image, ((0, 0), (1, 1), (2, 2), (0, 0)))
    assert (out == padded[:, y : y + 8, x : x + 10].reshape(-1, 64)[:128]).all()


def test_a_cluster_shares_a_tile_by_multicast(hopper, random, results):
    a, b = small_integers(random, 128, 128, dtype=np.float16), small_integers(random, 128, 64, dtype=np.float16)
    out, of_out = described(np.zeros((128, 64), np.float16), [128, 64], "f16", cga_layout=[[1, 0]])
    of_a = described(a, [128, 64], "f16", cga_layout=[[1, 0]])[1]
    of_b = described(b, [64, 64], "f16", cga_layout=[[0, 0]])[1]
    compiled = kernels.cluster_product[(1,)](of_a, of_b, of_out, 128, num_ctas=2)
    assert (out.numpy() == a.astype(np.float32) @ b.astype(np.float32)).all()
    assert "multicast::cluster" in compiled.asm["ptx"]
    launch = results.launches[0].launch
    assert (launch.grid, launch.cluster) == ((2, 1, 1), (2, 1, 1))


def test_a_cluster_converts_layouts_and_sums(hopper, random):
    x = random.integers(0, 100, 1024).astype(np.float32)
    out = np.zeros_like(x)
    read, write = (gl.BlockedLayout([n], [32], [4], [0], HALVES) for n in (1, 4))
    compiled = kernels.cluster_sum[(1,)](x, out, N=1024, read=read, write=write, num_ctas=2)
    assert (out == x + x.sum()).all() and "mapa.shared::cluster" in compiled.asm["ptx"]


def test_stores_to_another_block(hopper, random):
    x = random.standard_normal(512, dtype=np.float32)
    out = np.zeros_like(x)
    layout, tiled = gl.BlockedLayout([1], [32], [4], [0], HALVES), gl.SwizzledSharedLayout(1, 1, 1, [0], HALVES)
    compiled = kernels.remote_stores[(1,)](x, out, N=512, layout=layout, tiled=tiled, num_ctas=2)
    assert (out == 2 * x).all() and "st.async" in compiled.asm["ptx"]


def test_atomics_and_places_in_shared_memory(hopper, random):
    x, place = random.integers(0, 100, 512).astype(np.int32), random.integers(0, 128, 512).astype(np.int32)
    out = np.zeros(2 * 128 + 512, np.int32)
    kernels.shared_memory[(1,)](x, place, out, N=512, BINS=128, layout=LINE)
    sums, scattered = np.bincount(place, x, 128), np.zeros(128)
    scattered[np.arange(128) * 5 % 128] = np.arange(128) * 3
    assert out.tolist() == [*sums, *sums[place], *scattered]
