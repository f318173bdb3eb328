"""Triton kernels launched as they are, on numpy arrays, against numpy. Without Triton these skip."""

import importlib
import math
import re

import ml_dtypes
import numpy as np
import pytest

import gpuprof.interop.triton as gpu_triton
from gpuprof.errors import KernelFault, UsageError
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.command import gpuprof, process, python_prints, write_files
from tests.support.matrices import long_from
from tests.support.tools import module

triton = module("triton", "interop")
tl = module("triton.language", "interop")
kernels = importlib.import_module("tests.support.triton_kernels")

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@pytest.fixture
def gpu(results):
    yield gpu_triton.enable(device=open_device(Settings(observer=results), "a100"))
    gpu_triton.disable()


def normal(random, *shape: int, dtype=np.float32) -> np.ndarray:
    return random.standard_normal(shape, dtype=np.float32).astype(dtype)


def softmax(x: np.ndarray) -> np.ndarray:
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


def test_vectors_are_added(gpu, random):
    x, y = normal(random, 1000), normal(random, 1000)
    out = np.zeros(1000, np.float32)
    kernels.add[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, out, 1000, BLOCK=256)
    assert (out == x + y).all()


@pytest.mark.parametrize("n", [1, 16, 17, 1000])
def test_specialised_numbers(gpu, n):
    x, out = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    kernels.add[(math.ceil(n / 128),)](x, x, out, np.int32(n), BLOCK=128)
    assert (out == 2 * x).all()


def test_an_array_twice_is_one_array(gpu):
    x = np.arange(64, dtype=np.float32)
    kernels.add[(1,)](x, x, x, 64, BLOCK=64)
    assert (x == 2 * np.arange(64)).all()


def test_views_keep_their_place_and_their_neighbours(gpu):
    memory = np.arange(130, dtype=np.float32)
    kernels.add[(1,)](memory[1:65], memory[66:], memory[1:65], 64, BLOCK=64)
    assert memory[0] == 0 and (memory[65:] == np.arange(65, 130)).all()
    assert (memory[1:65] == np.arange(1, 65) + np.arange(66, 130)).all()


def test_a_view_is_specialised_as_on_a_gpu(gpu):
    memory = np.zeros(129, np.float32)
    whole = kernels.scale[(1,)](memory[:128], 2.0, 128, BLOCK=128)
    odd = kernels.scale[(1,)](memory[1:], 2.0, 128, BLOCK=128, num_warps=1)
    wide = kernels.scale[(1,)](memory[:128], 2.0, 128, BLOCK=128, num_warps=1)
    assert whole.metadata.num_warps == 4 and wide.metadata.num_warps == 1
    assert "ld.global.v4.b32" in wide.asm["ptx"] and "ld.global.v4.b32" not in odd.asm["ptx"]


def test_device_arrays_stay_on_the_device(gpu):
    x, out = gpu.to_device(np.arange(64, dtype=np.float32)), gpu.device_array(64, np.float32)
    kernels.add[(1,)](x, x, out, 64, BLOCK=64)
    kernels.add[(1,)](out, x, out, 64, BLOCK=64)
    assert (out.copy_to_host() == 3 * np.arange(64)).all()


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "float16", "float64", ml_dtypes.bfloat16]
)
def test_elements(gpu, dtype):
    x = np.arange(100).astype(dtype)
    out = np.zeros(100, dtype)
    kernels.add[(1,)](x, x, out, 100, BLOCK=128)
    assert (out == (2 * np.arange(100)).astype(dtype)).all()


def test_softmax_of_rows_with_a_stride(gpu, random):
    memory, out = normal(random, 20, 400), np.zeros((20, 300), np.float32)
    x = memory[:, 50:350]
    kernels.softmax[(20,)](out, x, 300, x.strides[0] // x.itemsize, 300, BLOCK=512)
    assert np.allclose(out, softmax(x.astype(np.float64)), rtol=1e-6, atol=1e-9)


def test_layer_norm_of_half_precision(gpu, random):
    x, weight, bias = normal(random, 8, 700, dtype=np.float16), normal(random, 700), normal(random, 700)
    y, mean, rstd = np.zeros_like(x), np.zeros(8, np.float32), np.zeros(8, np.float32)
    kernels.layer_norm[(8,)](x, y, weight, bias, mean, rstd, 700, 700, 1e-5, BLOCK=256)
    exact = x.astype(np.float64)
    spread = np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    expected = (exact - exact.mean(1, keepdims=True)) / spread * weight + bias
    assert np.allclose(mean, exact.mean(1), atol=1e-6) and np.allclose(1 / rstd, spread[:, 0], rtol=1e-6)
    assert np.allclose(y, expected, rtol=2**-11, atol=1e-5)


def test_a_histogram_by_atomics(gpu, random):
    x, counts = random.integers(0, 50, 1000).astype(np.int32), np.zeros(50, np.int32)
    kernels.histogram[(4,)](x, counts, 1000, BLOCK=256)
    assert (counts == np.bincount(x, minlength=50)).all()


def test_a_histogram_in_the_block(gpu, random):
    x, counts = random.integers(0, 64, 1024).astype(np.int32), np.zeros(64, np.int32)
    kernels.block_histogram[(4,)](x, counts, 1024, BLOCK=256, BINS=64)
    assert (counts == np.bincount(x, minlength=64)).all()


def test_every_atomic(gpu, random):
    x = random.integers(1, 1000, 700).astype(np.int32)
    out, total = np.array([0, 0, 9999, 9999, 0, 0, 0, 0, -1, -1, 0], np.int32), np.zeros(2, np.float32)
    kernels.atomics[(3,)](x, out, total, 700, BLOCK=256)
    parts = x[0::2], x[1::2]
    operations = (np.maximum, np.minimum, np.bitwise_or, np.bitwise_xor, np.bitwise_and)
    assert out.tolist() == [operation.reduce(part) for operation in operations for part in parts] + [7]
    assert total.tolist() == [part.sum() for part in parts]


def test_a_lock_between_blocks(gpu):
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernels.spin_lock[(20,)](lock, total)
    assert (lock[0], total[0]) == (0, 210)


def test_scans(gpu, random):
    x = random.uniform(0.9, 1.1, (16, 64)).astype(np.float32)
    sums, products, down = (np.zeros_like(x) for _ in range(3))
    kernels.scans[(1,)](x, sums, products, down, ROWS=16, COLUMNS=64)
    exact = x.astype(np.float64)
    assert np.allclose(sums, exact.cumsum(1), rtol=1e-6) and np.allclose(products, exact.cumprod(1), rtol=1e-5)
    assert np.allclose(down, exact[::-1].cumsum(0)[::-1], rtol=1e-6)


def test_sorting(gpu, random):
    x = random.integers(-1000, 1000, (4, 64)).astype(np.int32)
    out = np.zeros_like(x)
    kernels.sort_rows[(1,)](x, out, ROWS=4, COLUMNS=64)
    assert (out == np.sort(x, axis=1)).all()


def test_device_print(gpu, results):
    kernels.say[(1,)](np.arange(100, 132, dtype=np.int32), BLOCK=32, num_warps=1)
    assert results.printed.splitlines() == [f"pid (0, 0, 0) idx ({i:2}) x =: {100 + i}" for i in range(32)]


def philox_uniform(seed: int, offsets: np.ndarray) -> np.ndarray:
    """tl.rand: Philox 4x32 with 10 rounds (Salmon et al., SC11), the counter's first word the offset, as a float32 in
    [0, 1).
    """
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    counter = [offsets.astype(np.uint64), *(np.zeros(len(offsets), np.uint64) for _ in range(3))]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [
            (b >> np.uint64(32)) ^ counter[1] ^ key[0],
            b & low,
            (a >> np.uint64(32)) ^ counter[3] ^ key[1],
            a & low,
        ]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    signed = counter[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def test_dropout_by_random_numbers(gpu):
    x, out = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    kernels.dropout[(4,)](x, out, 1000, 0.25, 42, BLOCK=256)
    keep = philox_uniform(42, np.arange(1000)) > 0.25
    assert (out == np.where(keep, np.float32(1) / np.float32(0.75), 0)).all()
    assert 0.7 < keep.mean() < 0.8


def test_special_functions(gpu):
    x, out = np.linspace(0.1, 5, 128).astype(np.float32), np.zeros((13, 128), np.float32)
    kernels.special_functions[(1,)](x, out, 128, BLOCK=128)
    exact = x.astype(np.float64)
    expected = [
        np.exp(exact), np.log(exact), np.sin(exact), np.cos(exact), np.sqrt(exact), 1 / np.sqrt(exact),
        np.vectorize(math.erf)(exact),
        1 / (1 + np.exp(-exact)), 2**exact, np.log2(exact), np.floor(exact), exact / 3, exact * exact + exact,
    ]  # fmt: skip
    assert np.allclose(out, expected, rtol=1e-6, atol=1e-7)
    assert (out[11] == x / np.float32(3)).all(), "div_rn is rounded as IEEE 754 says"


CASTS = [
    (np.float32, np.float16), (np.float32, ml_dtypes.bfloat16), (ml_dtypes.bfloat16, np.float32), (np.float32, np.int8),
    (np.int8, np.float32), (np.float64, np.float32), (np.float32, np.int64), (np.int64, np.float32),
    (np.uint32, np.float32),
    (np.float32, ml_dtypes.float8_e5m2), (ml_dtypes.float8_e5m2, np.float32), (np.float16, ml_dtypes.float8_e5m2),
    (ml_dtypes.float8_e5m2, np.float16), (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2),
]  # fmt: skip
CASTS_OF_HOPPER = [
    (np.float32, ml_dtypes.float8_e4m3fn), (ml_dtypes.float8_e4m3fn, np.float32), (np.float16, ml_dtypes.float8_e4m3fn),
    (ml_dtypes.float8_e4m3fn, np.float16), (ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16),
    (np.float32, ml_dtypes.float8_e5m2),
]  # fmt: skip


def check_cast(random, source, target):
    x = (
        (random.standard_normal(500) * 4).astype(np.float32)
        if source != np.uint32
        else random.integers(0, 1 << 32, 500)
    )
    x = x.astype(source)
    out = np.zeros(500, target)
    kernels.cast[(2,)](x, out, 500, BLOCK=256)
    assert (out.view(np.uint8) == x.astype(target).view(np.uint8)).all()


def name_of(dtype) -> str:
    return np.dtype(dtype).name


@pytest.mark.parametrize("source, target", CASTS, ids=name_of)
def test_casts(gpu, random, source, target):
    check_cast(random, source, target)


@pytest.mark.parametrize("source, target", CASTS_OF_HOPPER, ids=name_of)
def test_casts_on_hopper(hopper, random, source, target):
    check_cast(random, source, target)


DOTS = [
    (np.float16, np.float32, tl.float32), (ml_dtypes.bfloat16, np.float32, tl.float32),
    (np.float32, np.float32, tl.float32),
    (np.int8, np.int32, tl.int32), (ml_dtypes.float8_e5m2, np.float32, tl.float32),
    (np.float64, np.float64, tl.float64),
]  # fmt: skip


def check_matmul(random, source, target, total, m, n, k, block_m=32, block_n=32, block_k=32, **options):
    """Small integers: every product and sum is exact in every type, tf32 too, in whatever order."""
    a, b = (random.integers(-4, 5, shape).astype(source) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), target)
    grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 2, "TOTAL": total}
    compiled = kernels.matmul[grid](a, b, c, m, n, k, k, 1, n, 1, n, 1, **blocks, **options)
    assert (c == (a.astype(np.float64) @ b.astype(np.float64)).astype(target)).all()
    return compiled.asm["ptx"]


@pytest.mark.parametrize("source, target, total", DOTS, ids=str)
def test_matmul(gpu, random, source, target, total):
    ptx = check_matmul(random, source, target, total, 64, 96, 64)
    assert "mma.sync" in ptx or source == np.float64


@pytest.mark.parametrize("source, target, total", DOTS, ids=str)
def test_matmul_on_hopper(hopper, random, source, target, total):
    check_matmul(random, source, target, total, 64, 96, 64)


def test_matmul_of_ragged_blocks_in_stages(gpu, random):
    ptx = check_matmul(random, np.float16, np.float16, tl.float32, 100, 130, 200, 64, 64, 32, num_stages=3)
    assert "cp.async.wait_group" in ptx or "ld.global" in ptx


def test_matmul_of_one_large_block(gpu, random):
    """More accumulators and masks than there are registers and predicates: some are spilled."""
    check_matmul(random, np.float16, np.float16, tl.float32, 128, 128, 96, 128, 128, 32)


def test_matmul_of_transposed_arrays(gpu, random):
    a, b = (random.integers(-4, 5, (64, 64)).astype(np.float16) for _ in range(2))
    c = np.zeros((64, 64), np.float32)
    strides = (stride // 2 for array in (a.T, b.T) for stride in array.strides)
    kernels.matmul[(4,)](
        a.T, b.T, c, 64, 64, 64, *strides, 64, 1, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP_M=2, TOTAL=tl.float32
    )
    assert (c == a.T.astype(np.float32) @ b.T.astype(np.float32)).all()


def test_a_persistent_matmul(gpu, random):
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 64), (64, 96)))
    c = np.zeros((64, 96), np.float32)
    kernels.persistent_matmul[(3,)](a, b, c, 64, 96, 64, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, PROGRAMS=3)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


def check_tile_matmul(random, block: int, **options) -> str:
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((128, 96), (96, 128)))
    c = np.zeros((128, 128), np.float16)
    grid = (128 // block, 128 // block)
    compiled = kernels.tile_matmul[grid](a, b, c, 128, 128, 96, BLOCK_M=block, BLOCK_N=block, BLOCK_K=32, **options)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
    return compiled.asm["ptx"]


@pytest.mark.parametrize("block", [32, 128])
def test_descriptors_made_on_the_device(gpu, random, block):
    check_tile_matmul(random, block)


def test_descriptors_made_on_the_device_of_hopper(hopper, random):
    assert "cp.async.bulk.tensor" in check_tile_matmul(random, 32)


def test_warp_group_multiplications(hopper, random):
    assert "wgmma.mma_async" in check_tile_matmul(random, 64)


@pytest.mark.parametrize("source, target, total", long_from(2, DOTS[:5]), ids=str)
def test_matmul_by_warp_groups(hopper, random, source, target, total):
    ptx = check_matmul(random, source, target, total, 100, 130, 192, 64, 64, 64, num_stages=3)
    assert "wgmma.mma_async" in ptx


def test_a_program_on_a_cluster(hopper, random):
    check_tile_matmul(random, 64, num_ctas=2)


def check_attention(random, **options) -> str:
    length, head = 128, 32
    q, k, v = (normal(random, 2, length, head, dtype=np.float16) for _ in range(3))
    out = np.zeros((2, length, head), np.float16)
    factor = 1 / (math.sqrt(head) * math.log(2))
    shape = {"LENGTH": length, "HEAD": head, "BLOCK_M": 64, "BLOCK_N": 32}
    compiled = kernels.attention[(2, 2)](q, k, v, out, factor, **shape, **options)
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    score = np.where(np.tri(length, dtype=bool), q @ k.transpose(0, 2, 1) / math.sqrt(head), -np.inf)
    # the weights are rounded to half precision: 2 ** -11 of values up to 4
    assert np.allclose(out, softmax(score) @ v, atol=2e-3)
    return compiled.asm["ptx"]


def test_flash_attention(gpu, random):
    assert "mma.sync" in check_attention(random)


def test_flash_attention_on_hopper(hopper, random):
    assert "wgmma.mma_async" in check_attention(random)


def test_attention_over_pages(gpu, random):
    keys, values, q = (normal(random, *shape, dtype=np.float16) for shape in ((12, 16, 64), (12, 16, 64), (3, 64)))
    tables, lengths = random.permutation(12).reshape(3, 4).astype(np.int32), np.array([5, 64, 33], np.int32)
    out = np.empty_like(q)
    kernels.paged_attention[(3,)](out, q, keys, values, tables, lengths, 0.125, 4, HEAD=64, PAGE=16)
    for i, n in enumerate(lengths):
        k, v = (pages[tables[i]].reshape(-1, 64)[:n].astype(float) for pages in (keys, values))
        np.testing.assert_allclose(out[i], softmax(k @ q[i].astype(float) * 0.125) @ v, atol=2e-3)


def test_cross_entropy_of_a_large_vocabulary(gpu, random):
    logits, labels = normal(random, 4, 700, dtype=np.float16), np.array([3, 699, -100, 256], np.int64)
    losses, gradients = np.empty(4, np.float32), np.empty((4, 700), np.float32)
    kernels.cross_entropy[(4,)](logits, labels, losses, gradients, 700, -100, BLOCK=256)
    rows, counted = np.arange(4), labels >= 0
    shares = softmax(logits.astype(float))
    np.testing.assert_allclose(losses, np.where(counted, -np.log(shares[rows, labels]), 0), atol=1e-4)
    shares[rows, labels] -= 1
    np.testing.assert_allclose(gradients, shares * counted[:, None], atol=1e-5)


def test_reductions(gpu, random):
    x, out, index = normal(random, 16, 64), np.zeros((3, 16), np.float32), np.zeros(96, np.int32)
    kernels.reductions[(1,)](x, out, index, ROWS=16, COLUMNS=64)
    assert np.allclose(out[0], x.astype(np.float64).sum(1), atol=1e-5)
    assert (out[1] == x.max(1)).all() and (out[2] == x.min(1)).all()
    assert index.tolist() == [*x.argmax(1), *x.argmin(1), *x.argmax(0)]


def test_a_transposed_matrix(gpu, random):
    x = normal(random, 64, 96)
    for given in (x, np.asfortranarray(x)):
        out = np.zeros((96, 64), np.float32)
        rows, columns = (stride // 4 for stride in given.strides)
        kernels.transpose[(2, 3)](given, out, rows, columns, 64, 1, BLOCK=32)
        assert (out == x.T).all()


def test_a_tuple_of_arrays(gpu, random):
    x, y, out = normal(random, 64), normal(random, 64), np.zeros(64, np.float32)
    kernels.of_tuple[(1,)]((x, y), out, BLOCK=64)
    assert (out == x - y).all()


def test_none_and_bool(gpu, random):
    x, out = normal(random, 64), np.zeros(64, np.float32)
    kernels.optional[(1,)](x, None, out, True, BLOCK=64)
    assert (out == -x).all()
    kernels.optional[(1,)](x, x, out, False, BLOCK=64)
    assert (out == 2 * x).all()


def test_tensor_descriptors(gpu, random):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = normal(random, 64, 64)
    source, out = gpu_triton.tensor(x), gpu_triton.tensor(np.zeros_like(x))
    blocks = [TensorDescriptor.from_tensor(each, [32, 32]) for each in (source, out)]
    kernels.descriptors[(2, 2)](*blocks, ROWS=32, COLUMNS=32)
    assert (out.numpy() == 2 * x).all()


def test_tensor_descriptors_are_tensor_maps_on_hopper(hopper, random):
    test_tensor_descriptors(hopper, random)


def test_tuning_takes_the_fastest_configuration(gpu, random, results):
    x, y, out = normal(random, 2048), normal(random, 2048), np.ones(2048, np.float32)
    kernels.tuned_add.cache.clear()
    kernels.tuned_add[lambda meta: (triton.cdiv(2048, meta["BLOCK"]),)](x, y, out, 2048)
    assert (out == x + y).all(), "reset before every run, the last one too"
    cycles = [result.timing.cycles for result in results.launches]
    assert len(cycles) == 5, "two configurations twice, and then the better one"
    assert kernels.tuned_add.best_config.kwargs["BLOCK"] == (32 if cycles[1] < cycles[3] else 512)


def test_do_bench_measures_simulated_time(gpu):
    x = np.ones(4096, np.float32)
    milliseconds = triton.testing.do_bench(lambda: kernels.scale[(4,)](x, 1.0, 4096, BLOCK=1024))
    assert 0.0005 < milliseconds < 0.01


def test_a_launch_is_named_as_it_was_written(gpu, results):
    kernels.scale[(4, 2)](np.ones(1000, np.float32), 2.5, 1000, BLOCK=256)
    assert results.launches[0].launch.name == "scale[4, 2](float32[1000], 2.5, 1000, BLOCK=256)"


def test_an_empty_grid_runs_nothing(gpu, results):
    kernels.scale[(0,)](np.ones(4, np.float32), 1.0, 4, BLOCK=16)
    assert results.launches == []


SCRIPT = """import numpy as np
import triton
import triton.language as tl

import gpuprof.interop.triton

gpuprof.interop.triton.enable()


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, 2 * x, mask=offsets < n)


x = np.arange(1000, dtype=np.float32)
double[(4,)](x, 1000, BLOCK=256)
print(x.sum())
"""


def test_a_script_is_recorded_with_its_python_lines(tmp_path):
    write_files(tmp_path, {"double.py": SCRIPT})
    try:
        assert gpuprof(tmp_path, "collect", "double.py")[0] == 0
    finally:
        gpu_triton.disable()
    code, page, _ = gpuprof(tmp_path, "report", "double.gprec", "--page", "source")
    assert code == 0 and "double.py:11-14" in page
    assert [line.split()[0:2][-1] for line in page.splitlines() if "tl.load" in line or "tl.store" in line] == [
        "13",
        "14",
    ]


HELPERS = "import triton\n\n\n@triton.jit\ndef twice(x):\n    return 2 * x\n"
KERNEL = """import triton
import triton.language as tl
from {helpers} import twice


@triton.jit
def double(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, twice(tl.load(x_ptr + offsets)))
"""


def test_the_same_text_in_other_files_has_the_lines_of_those(gpu, tmp_path, monkeypatch):
    """Triton's own cache knows a kernel by its text and first line; a line table names its file, too."""
    texts = {}
    for helpers in ("helpers_1", "helpers_2"):
        texts[f"{helpers}.py"] = HELPERS
        texts[f"kernel_of_{helpers}.py"] = KERNEL.format(helpers=helpers)
    write_files(tmp_path, texts)
    monkeypatch.syspath_prepend(tmp_path)
    files = []
    for helpers in ("helpers_1", "helpers_2"):
        kernel = importlib.import_module(f"kernel_of_{helpers}").double
        compiled = kernel[(1,)](np.ones(32, np.float32), BLOCK=32)
        files.append(sorted(re.findall(r'\.file\s+\d+ "(.+)"', compiled.asm["ptx"])))
    assert files == [
        [f"{tmp_path}/helpers_1.py", f"{tmp_path}/kernel_of_helpers_1.py"],
        [f"{tmp_path}/helpers_2.py", f"{tmp_path}/kernel_of_helpers_2.py"],
    ]


@pytest.mark.long
def test_a_plain_script_runs(tmp_path):
    assert python_prints(tmp_path, SCRIPT) == "999000.0\n"


def test_out_of_bounds_is_caught_and_named(gpu):
    x = np.zeros(100, np.float32)
    with pytest.raises(KernelFault, match=r"x_ptr float32\[100\]"):
        kernels.scale[(4,)](x, 1.0, 1000, BLOCK=256)


def test_read_only_arrays_stay_as_they_are(gpu):
    x = np.ones(64, np.float32)
    x.flags.writeable = False
    with pytest.raises(UsageError, match="x_ptr: the kernel wrote to this read-only array"):
        kernels.scale[(1,)](x, 2.0, 64, BLOCK=64)
    assert (x == 1).all()


def test_elements_that_triton_does_not_have(gpu):
    with pytest.raises(UsageError, match="x_ptr: Triton has no arrays of complex64"):
        kernels.scale[(1,)](np.ones(64, np.complex64), 2.0, 64, BLOCK=64)


def test_a_chip_that_triton_has_no_code_for():
    with pytest.raises(UsageError, match="v100 is sm_70; Triton compiles for sm_75 and later"):
        gpu_triton.enable("v100")


def test_disabled_it_is_the_old_triton(gpu):
    from triton.runtime.jit import KernelInterface

    gpu_triton.disable()
    assert KernelInterface.__getitem__.__module__ == "triton.runtime.jit"
    assert triton.knobs.runtime.add_stages_inspection_hook is None
    with pytest.raises(UsageError, match="there is no GPU yet"):
        gpu_triton.tensor(np.zeros(4))


def test_torch_tensors_on_the_cpu(gpu):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from triton.tools.tensor_descriptor import TensorDescriptor

    a, b = (torch.randint(-4, 5, (64, 64)).to(torch.bfloat16) for _ in range(2))
    b, c = b.T, torch.empty(64, 64)
    strides = [stride for tensor in (a, b, c) for stride in tensor.stride()]
    kernels.matmul[(4,)](a, b, c, 64, 64, 64, *strides, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP_M=2, TOTAL=tl.float32)
    assert torch.equal(c, a.float() @ b.float())

    x, out = torch.randn(64, 64), torch.zeros(64, 64)
    blocks = [TensorDescriptor.from_tensor(each, [32, 32]) for each in (x, out)]
    kernels.descriptors[(2, 2)](*blocks, ROWS=32, COLUMNS=32)
    assert torch.equal(out, 2 * x)

    eight, wide = torch.randn(64).to(torch.float8_e5m2), torch.zeros(64)
    kernels.cast[(1,)](eight, wide, 64, BLOCK=64)
    assert torch.equal(wide, eight.float())
    with pytest.raises(
        UsageError, match=r"x_ptr: the tensor is on meta; the emulated GPU takes CPU tensors; pass x_ptr.cpu\(\)"
    ):
        kernels.cast[(1,)](torch.zeros(64, device="meta"), wide, 64, BLOCK=64)


DEBUGGED = """\
import numpy as np
import triton
import triton.language as tl

import gpuprof.interop.triton

gpuprof.interop.triton.enable()

@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.store(o + i, a + b, mask=i < n)

x, out = np.arange(200, dtype=np.float32), np.zeros(200, np.float32)
add[(2,)](x, x, out, 200, BLOCK=128)
print(out[199])
"""


@pytest.mark.long
def test_a_session_of_the_debugger(tmp_path):
    """Stops at lines of Python. Triton keeps no variables, so parameters have numbers."""
    write_files(tmp_path, {"add.py": DEBUGGED, "session": "break add.py:14\nrun\nx/4wf param_0\n"
                           "print *(float *)(param_0 + 4)\ndelete\ncontinue\nquit\n"})  # fmt: skip
    code, out, _ = process(tmp_path, "debug", "-x", "session", "add.py")
    assert (code, out.split("\n")) == (0, [
        "Breakpoint 1 (add.py:14) pending.",
        "Starting program: add.py",
        "[Switching focus to CUDA kernel 0, block (0,0,0), thread (0,0,0), warp 0, lane 0]",
        "Breakpoint 1, add<<<(2,1,1),(128,1,1)>>> (param_0=0x700000000, param_1=0x700000000, param_2=0x700000500, "
        "param_3=200, param_4=0x0, param_5=0x0) at add.py:14",
        "14\t    tl.store(o + i, a + b, mask=i < n)",
        "0x700000000:\t0\t1\t2\t3",
        "$1 = 1",
        "Continuing.",
        "398.0",
        "[Program exited normally]",
        "",
    ])  # fmt: skip
