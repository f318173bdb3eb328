"""Kernels of tensor pipes, and those published with them, compute what their names promise: in numpy."""

import numpy as np
import pytest

from gpuprof.run.compile_file import BuildOptions
from tests.silicon.run import KERNELS
from tests.support.running import run_file

pytestmark = pytest.mark.long

# Kernel, launch, size of the square product, whether B is transposed, whether the sizes come last.
HALVES = [
    ("by_halves<1>", "(4, 4), (16, 16)", 128, False, False),
    ("by_halves<2>", "(2, 2), (16, 16)", 128, False, False),
    ("exchanged<false>", "(2, 2), (16, 16)", 128, True, False),
    ("exchanged<true>", "(2, 2), (16, 16)", 128, True, False),
    ("staged<1>", "(2, 2), (16, 16)", 128, True, False),
    ("staged<2>", "(2, 2), (16, 16)", 256, True, False),
    ("fragments<64,64,2>", "(2, 2), 512, 16384", 128, False, True),
    ("fragments<128,128,3>", "(2, 2), 512, 49152", 256, False, True),
]
SINGLES = [("by_elements", "(2, 2), (16, 16)", 32), ("by_tiles", "(2, 2), (32, 32)", 64)]
SUMS = [
    ("tree_of_batches<512,20>", "2, 512", "numbers: i32[20480], out: i32[1]"),
    ("shuffles_of_batches<1024,16>", "1, 1024", "numbers: i32[65536], out: i32[1]"),
]
KINDS = [("float, 4", "f32"), ("unsigned, 2", "u32")]


def matrices(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Small integers: every order of their sums gives the same."""
    generator = np.random.default_rng(1)
    a, b = (generator.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    return a, b


@pytest.fixture(params=["clang", "nvcc"])
def options(request):
    return BuildOptions(compiler=request.param)


def product(file: str, chip: str, options, text: str, name: str = "c") -> np.ndarray:
    arrays, _ = run_file(KERNELS / file, *text.splitlines(), chip_name=chip, options=options)
    return arrays[name].copy_to_host()


@pytest.mark.parametrize(("kernel", "shape", "n", "transposed", "last"), HALVES, ids=lambda value: str(value))
def test_a_product_of_halves(kernel, shape, n, transposed, last, options, tmp_path):
    a, b = matrices(n)
    np.save(tmp_path / "a.npy", a.astype(np.float16))
    np.save(tmp_path / "b.npy", (b.T if transposed else b).astype(np.float16))
    sizes = f"{n}, {n}, {n}"
    arrays = f"f16[{n},{n}]={tmp_path}/a.npy, f16[{n},{n}]={tmp_path}/b.npy, c: f32[{n},{n}]"
    arguments = f"{arrays}, {sizes}" if last else f"{sizes}, {arrays}"
    c = product("tensor_products.cu", "rtx4090", options, f"{kernel}<<<{shape}>>>({arguments})")
    np.testing.assert_array_equal(c.reshape(n, n), a @ b)


@pytest.mark.parametrize(("kernel", "shape", "n"), SINGLES, ids=lambda value: str(value))
def test_a_product_of_singles(kernel, shape, n, options, tmp_path):
    a, b = matrices(n)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    arrays = f"f32[{n},{n}]={tmp_path}/a.npy, f32[{n},{n}]={tmp_path}/b.npy, c: f32[{n},{n}]"
    c = product("products_guarded.cu", "h100", options, f"{kernel}<<<{shape}>>>({arrays}, {n}, {n}, {n})")
    np.testing.assert_array_equal(c.reshape(n, n), a @ b)


def bits_of(matrix: np.ndarray) -> np.ndarray:
    """bf16: the upper half of a float; of small integers it is exact."""
    return (np.ascontiguousarray(matrix).view(np.uint32) >> 16).astype(np.uint16)


def test_a_product_without_tensor_pipes(options, tmp_path):
    """Sums below 256 are exact in bf16."""
    a, b = (np.sign(matrix) for matrix in matrices(128))
    np.save(tmp_path / "a.npy", bits_of(a))
    np.save(tmp_path / "b.npy", bits_of(b))
    arrays = f"bf16[128,128]={tmp_path}/a.npy, bf16[128,128]={tmp_path}/b.npy, c: bf16[128,128]"
    kernel = "without_tensor<128,128,16,64,64,4,8,4,128>"
    c = product("warp_groups.cu", "h100", options, f"{kernel}<<<(1, 1), 128>>>(128, 128, 128, {arrays})")
    np.testing.assert_array_equal(c.reshape(128, 128).view(np.uint16), bits_of(a @ b))


def test_a_product_of_warp_groups(options, tmp_path):
    """256 x 256 by two blocks: B and C are column-major."""
    a, b = (np.sign(matrix) for matrix in matrices(256))
    np.save(tmp_path / "a.npy", bits_of(a))
    np.save(tmp_path / "b.npy", bits_of(b.T))
    text = "\n".join(
        (
            f"describe<<<1, 1>>>(map_a: u64[16], bf16[256,256]={tmp_path}/a.npy, 256, 256, 128)",
            f"describe<<<1, 1>>>(map_b: u64[16], bf16[256,256]={tmp_path}/b.npy, 256, 256, 256)",
            "fetched_by_one<<<2, 384, 147456>>>(256, 256, 256, c: bf16[256,256], map_a, map_b)",
        )
    )
    c = product("warp_groups.cu", "h100", options, text)
    np.testing.assert_array_equal(c.reshape(256, 256).view(np.uint16).T, bits_of(a @ b))


def test_a_product_along_a_curve(options, tmp_path):
    """256 x 512 by two blocks of two tiles each."""
    a, b = np.sign(matrices(256)[0]), np.sign(np.concatenate(matrices(256), axis=1))
    np.save(tmp_path / "a.npy", bits_of(a))
    np.save(tmp_path / "b.npy", bits_of(b.T))
    text = "\n".join(
        (
            f"describe<<<1, 1>>>(map_a: u64[16], bf16[256,256]={tmp_path}/a.npy, 256, 256, 128)",
            f"describe<<<1, 1>>>(map_b: u64[16], bf16[512,256]={tmp_path}/b.npy, 512, 256, 256)",
            "lay_curve<<<1, 1>>>(places: i32[4], 1, 2, 2)",
            "along_curve<<<2, 384, 147456>>>(256, 512, 256, c: bf16[512,256], map_a, map_b, places, 2)",
        )
    )
    c = product("warp_groups.cu", "h100", options, text)
    np.testing.assert_array_equal(c.reshape(512, 256).view(np.uint16).T, bits_of(a @ b))


@pytest.mark.parametrize(("pitch", "way"), [(64, "REGISTERS"), (72, "COPIES"), (64, "EXCHANGED")])
def test_a_product_in_one_stage(pitch, way, options, tmp_path):
    """256 x 256 by four blocks; B is column-major."""
    a, b = (np.sign(matrix) for matrix in matrices(256))
    np.save(tmp_path / "a.npy", bits_of(a))
    np.save(tmp_path / "b.npy", bits_of(b.T))
    arrays = f"bf16[256,256]={tmp_path}/a.npy, bf16[256,256]={tmp_path}/b.npy, c: bf16[256,256]"
    launch = f"in_one_stage<{pitch}, {way}><<<4, 128, {2 * 128 * pitch * 2}>>>({arrays}, 256, 256, 256)"
    c = product("products_mma.cu", "rtx5090", options, launch)
    np.testing.assert_array_equal(c.reshape(256, 256).view(np.uint16), bits_of(a @ b))


@pytest.mark.parametrize(("kernel", "shape", "arrays"), SUMS, ids=lambda value: str(value))
def test_a_sum(kernel, shape, arrays, options, tmp_path):
    count = int(arrays.split("[")[1].split("]")[0])
    numbers = np.random.default_rng(1).integers(0, 100, count).astype(np.int32)
    np.save(tmp_path / "numbers.npy", numbers)
    arrays = arrays.replace("],", f"]={tmp_path}/numbers.npy,", 1)
    items = count // 4 if "shuffles" in kernel else count
    out = product("sums.cu", "h100", options, f"{kernel}<<<{shape}>>>({arrays}, {items})", "out")
    assert out.tolist() == [numbers.sum()]


def test_sums_of_tiles(options, tmp_path):
    numbers = np.random.default_rng(1).integers(0, 100, 4 * 4096).astype(np.int32)
    np.save(tmp_path / "numbers.npy", numbers)
    text = f"sums_of_tiles<<<2, 256>>>(i32[16384]={tmp_path}/numbers.npy, out: i32[2], 2)"
    out = product("sums.cu", "h100", options, text, "out")
    assert out.tolist() == numbers.reshape(2, -1).sum(1).tolist()


def test_products_in_registers(options):
    """Each word of A and B is its lane's number as a half, 2^-24 a step, next to zero. Of a quarter of a row and a
    quarter of a column, k and k + 8 have the same. In single precision all sums are exact; halves are too coarse.
    """
    quarter = np.arange(4)
    row = 4 * np.arange(8)[:, None] + quarter  # of A, and column of B
    element = 2 * row @ row.T * 2.0**-48
    lanes = np.arange(32)
    of_lane = 2 * (element[lanes // 4, lanes % 4 * 2] + element[lanes // 4, lanes % 4 * 2 + 1])
    texts = [f"multiply_halves<{kind}><<<1, 32>>>(out: {array}[32], 4)" for kind, array in KINDS]
    singles, halves = (product("units.cu", "rtxpro6000", options, text, "out") for text in texts)
    np.testing.assert_array_equal(singles, 4 * 8 * of_lane)
    np.testing.assert_array_equal(halves, np.zeros(32))
