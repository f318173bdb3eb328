"""Triton's kernels for sm_90 with tensor descriptors, made by the kernel or by the host, against numpy. Without Triton
these skip.
"""

import importlib
import math

import ml_dtypes
import numpy as np
import pytest

import gpuprof.interop.triton as gpu_triton
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.matrices import long_from
from tests.support.tools import module

triton = module("triton", "interop")
tl = module("triton.language", "interop")
kernels = importlib.import_module("tests.support.descriptor_kernels")
descriptors = importlib.import_module("triton.tools.tensor_descriptor")

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")

TYPES = {
    "f16": (np.float16, tl.float16),
    "bf16": (ml_dtypes.bfloat16, tl.bfloat16),
    "e4m3": (ml_dtypes.float8_e4m3fn, tl.float8e4nv),
    "e5m2": (ml_dtypes.float8_e5m2, tl.float8e5),
}


def described(array: np.ndarray, *block: int, **options):
    """(the array on the device, its descriptor)"""
    tensor = gpu_triton.tensor(array)
    return tensor, descriptors.TensorDescriptor.from_tensor(tensor, list(block), **options)


def small_integers(random, *shape: int, dtype=np.float32) -> np.ndarray:
    """Their products are exact in every type that a product is computed in."""
    return random.integers(-2, 3, shape).astype(np.float32).astype(dtype)


# (where the descriptors are made, type, BLOCK_M, halves, flatten, warp_specialize, options)
PRODUCTS = [
    ("host", "f16", 64, False, False, True, {"num_stages": 3}),
    ("device", "f16", 128, True, True, False, {"num_warps": 8, "num_stages": 3}),
    *((where, kind, 64, False, False, False, {}) for where in ("host", "device") for kind in TYPES),
    *((where, "f16", 64, True, True, False, {"num_stages": 4}) for where in ("host", "device")),
    *((where, "f16", 128, False, False, False, {"num_warps": 8, "num_stages": 2}) for where in ("host", "device")),
    *((where, "f16", 128, True, True, True, {"num_warps": 8}) for where in ("host", "device")),
    *((where, "e4m3", 128, True, True, True, {"num_warps": 8}) for where in ("host", "device")),
    ("device", "f16", 64, False, False, True, {"num_stages": 3}),
    *((where, "f16", 128, False, True, False, {"num_ctas": 2}) for where in ("host", "device")),
]


@pytest.mark.parametrize("where, kind, block_m, halves, flatten, specialize, options", long_from(2, PRODUCTS), ids=str)
def test_a_persistent_product(hopper, random, where, kind, block_m, halves, flatten, specialize, options):
    """No extent is a multiple of a tile's."""
    (m, n, k), (dtype, out) = (200, 144, 176), TYPES[kind]
    a, b, c = small_integers(random, m, k, dtype=dtype), small_integers(random, n, k, dtype=dtype), np.zeros((m, n))
    c = c.astype(dtype)
    width = 32 if halves else 64
    tensor, arguments = None, (a, b, c)
    if where == "host":
        tensor, of_c = described(c, block_m, width)
        arguments = described(a, block_m, 64)[1], described(b, 64, 64)[1], of_c
    # a user sets it for Triton's own driver; here the launch brings the memory
    triton.set_allocator(lambda nbytes, alignment, stream: np.empty(nbytes, np.int8))
    blocks = {"BLOCK_M": block_m, "BLOCK_N": 64, "BLOCK_K": 64, "PROGRAMS": 3}
    modes = {"HALVES": halves, "FLATTEN": flatten, "SPECIALIZE": specialize}
    compiled = kernels.persistent_product[(3,)](*arguments, m, n, k, out, **blocks, **modes, **options)
    expected = (a.astype(np.float32) @ b.astype(np.float32).T).astype(dtype)
    assert (tensor.numpy() if tensor else c).tolist() == expected.tolist()
    ptx = compiled.asm["ptx"]
    assert "wgmma.mma_async" in ptx and "cp.async.bulk.tensor" in ptx
    assert ("tensormap.replace" in ptx) == (where == "device")
    assert "setmaxnreg" in ptx or not specialize or flatten, "Triton does not specialise a flattened loop"
    assert ("barrier.cluster" in ptx) == ("num_ctas" in options)


# (where, BLOCK_M, head, causal, warp_specialize, options)
ATTENTIONS = [
    ("host", 64, 64, True, False, {}),
    ("device", 64, 64, True, False, {}),
    ("host", 128, 64, False, False, {"num_warps": 8, "num_stages": 3}),
    ("host", 128, 128, False, True, {"num_warps": 8, "num_stages": 2}),
    ("device", 128, 64, True, False, {"num_warps": 8}),
]


@pytest.mark.parametrize("where, block_m, head, causal, specialize, options", long_from(1, ATTENTIONS), ids=str)
def test_flash_attention(hopper, random, where, block_m, head, causal, specialize, options):
    heads, length = 2, 256
    q, k, v = (random.standard_normal((heads, length, head)).astype(np.float16) for _ in range(3))
    tensor, out = None, np.zeros((heads, length, head), np.float16)
    arguments = q, k, v, out
    if where == "host":
        flat = [array.reshape(-1, head) for array in arguments]
        tensor, of_out = described(flat[3], block_m, head)
        arguments = *(described(x, n, head)[1] for x, n in zip(flat, (block_m, 64, 64), strict=False)), of_out
    factor = 1 / (math.sqrt(head) * math.log(2))
    shape = {"LENGTH": length, "HEAD": head, "BLOCK_M": block_m, "BLOCK_N": 64}
    kernels.descriptor_attention[(length // block_m, heads)](
        *arguments, factor, heads, **shape, CAUSAL=causal, SPECIALIZE=specialize, **options
    )
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    score = q @ k.transpose(0, 2, 1) / math.sqrt(head)
    power = np.exp(score) * (np.tri(length) if causal else 1)
    expected = power / power.sum(-1, keepdims=True) @ v
    result = tensor.numpy().reshape(out.shape) if tensor else out
    # the weights are rounded to half precision: 2 ** -11 of values up to 4
    assert np.abs(result - expected).max() < 2e-3


UFUNCS = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip
REDUCTIONS = [
    ("add", np.float32),
    ("max", ml_dtypes.bfloat16),
    ("xor", np.int32),
    *((kind, np.uint32) for kind in UFUNCS),
    *((kind, np.float16) for kind in ("add", "max", "min")),
]


@pytest.mark.parametrize("kind, dtype", long_from(3, REDUCTIONS), ids=lambda value: getattr(value, "__name__", value))
def test_tiles_are_combined_in_memory(hopper, random, kind, dtype):
    start, x = (random.integers(0, 30, shape).astype(dtype) for shape in ((16, 32), (4, 16, 32)))
    tensor, descriptor = described(start, 16, 32)
    compiled = kernels.combine[(4,)](x, descriptor, KIND=kind, ROWS=16, COLUMNS=32)
    expected = start
    for tile in x:
        expected = UFUNCS[kind](expected, tile)
    assert tensor.numpy().tolist() == expected.tolist()
    assert "cp.reduce.async.bulk.tensor" in compiled.asm["ptx"]


@pytest.mark.parametrize("chip", ["h200", "a100"])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_nan_out_of_bounds(random, chip, dtype):
    gpu_triton.enable(device=open_device(Settings(), chip))
    x, out = random.standard_normal((20, 24)).astype(dtype), np.zeros((32, 32), dtype)
    kernels.one_tile[(1,)](described(x, 32, 32, padding="nan")[1], out, ROWS=32, COLUMNS=32)
    gpu_triton.disable()
    expected = np.full((32, 32), np.nan, np.float32)
    expected[:20, :24] = x
    np.testing.assert_array_equal(out.astype(np.float32), expected)


@pytest.mark.parametrize("rank", [1, 3, 4, 5])
def test_tensors_of_other_ranks(hopper, random, rank):
    shape, box = {
        1: ((32,), (8,)),
        3: ((2, 32, 32), (1, 8, 16)),
        4: ((1, 2, 32, 32), (1, 1, 8, 16)),
        5: ((1, 2, 1, 32, 32), (1, 1, 1, 8, 16)),
    }[rank]
    x = random.standard_normal(shape, dtype=np.float32)
    (_, source), (out, target) = described(x, *box), described(np.zeros_like(x), *box)
    kernels.next_of_tensor[(4,)](source, target, RANK=rank)
    expected = np.zeros_like(x)
    part = (...,) if rank == 1 else (1, ..., slice(8, 24)) if rank == 3 else (0, 1, ..., slice(8, 24))
    expected[part] = x[part] + 1
    assert out.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("name", sorted(TYPES))
def test_arrays_on_the_device_come_back(hopper, random, name):
    x = random.standard_normal((4, 16)).astype(TYPES[name][0])
    tensor = gpu_triton.tensor(x)
    assert tensor.dtype == x.dtype and np.dtype(tensor.dtype) == x.dtype and {x.dtype: 1}[tensor.dtype] == 1
    assert repr(tensor) == f"{x.dtype}[4,16]" and tensor.numpy().tobytes() == x.tobytes()
