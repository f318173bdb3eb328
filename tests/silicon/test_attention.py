"""Attention by mma.sync (kernels/attention_mma.cu), against numpy."""

import math

import numpy as np
import pytest

from gpuprof.run.compile_file import BuildOptions
from tests.silicon.run import KERNELS
from tests.support.running import run_file

pytestmark = pytest.mark.long

WAYS = [("128, 64, IN_ORDER", 32768), ("64, 32, AHEAD", 32768), ("64, 64, KEYS_AHEAD", 49152)]


@pytest.fixture(params=["clang", "nvcc"])
def options(request):
    return BuildOptions(compiler=request.param)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """q, k, v: (heads, n, width), float32."""
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(*scores.shape[1:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize("causal", [False, True])
def test_the_second_way(causal, options, tmp_path):
    """Two heads of 64, two tiles of rows and of keys. Weights and results are halves."""
    qkv = numbers(3, 256, 2 * 64).astype(np.float16)
    for name, each in zip("qkv", qkv, strict=True):
        np.save(tmp_path / f"{name}.npy", each)
    arrays = ", ".join(f"f16[256,128]={tmp_path}/{name}.npy" for name in "qkv")
    scale = math.log2(math.e) / 8
    launch = f"second<{str(causal).lower()}><<<(2, 1, 2), 128, 49152>>>({arrays}, out: f16[256,128], 256, 2, {scale})"
    found, _ = run_file(KERNELS / "attention_mma.cu", launch, chip_name="h100", options=options)
    out = found["out"].copy_to_host().astype(np.float32).reshape(256, 2, 64).transpose(1, 0, 2)
    q, k, v = qkv.astype(np.float32).reshape(3, 256, 2, 64).transpose(0, 2, 1, 3)
    np.testing.assert_allclose(out, attended(q, k, v, causal), atol=2e-3, rtol=2e-3)


def to_bf16(values: np.ndarray) -> np.ndarray:
    """uint16: the upper halves of floats."""
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def from_bf16(words: np.ndarray) -> np.ndarray:
    return (words.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize(("way", "shared_nbytes"), WAYS)
def test_ways_of_keys_and_values(way, shared_nbytes, options, tmp_path):
    """Two heads of 128, 128 queries, 192 keys. Weights and results are rounded to eight bits."""
    shapes = {"q": (2, 128, 128), "k": (2, 192, 128), "v": (2, 192, 128)}
    words = {name: to_bf16(numbers(*shape)) for name, shape in shapes.items()}
    for name, each in words.items():
        np.save(tmp_path / f"{name}.npy", each.reshape(-1))
    arrays = ", ".join(f"bf16[{words[name].size}]={tmp_path}/{name}.npy" for name in "qkv")
    blocks = 2 * 128 // int(way.split(",")[0])
    launch = f"attend<{way}><<<{blocks}, 128, {shared_nbytes}>>>({arrays}, out: bf16[32768], 128, 192)"
    found, _ = run_file(KERNELS / "attention_mma.cu", launch, chip_name="rtx5090", options=options)
    out = from_bf16(found["out"].copy_to_host().view(np.uint16)).reshape(2, 128, 128)
    wanted = attended(*(from_bf16(words[name]) for name in "qkv"), causal=False)
    np.testing.assert_allclose(out, wanted, atol=1e-2, rtol=1e-2)
