"""Attention by warp groups that copy, multiply and take turns (tests/silicon/kernels/flash.cu), against numpy."""

import numpy as np
import pytest

import gpuprof
from tests.silicon.run import KERNELS
from tests.support.matrices import long_from
from tests.support.nvidia_tools import needs_nvcc

HALF = 64  # columns of a box
N_BARRIERS = 11


def attention(
    width: int, batches: int, heads: int, n: int, keys: int, causal: bool, blocks: int, compiler: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The kernel's result and numpy's, float32, of shape (batches, n, heads, width)."""
    gpu = gpuprof.Device("h100")
    rng = np.random.default_rng(n)
    q, k, v = rng.standard_normal((3, batches, n, heads * width)).astype(np.float16)
    on_device = [gpu.to_device(each) for each in (q, k, v)]
    out = gpu.device_array_like(on_device[0])
    taken = gpu.to_device(np.zeros(1, np.int32))
    name = f"attention<{width},{keys},{str(causal).lower()}>"
    kernel = gpu.load(KERNELS / "flash.cu", [name], compiler=compiler)[name]
    rows = 192 if width == 64 else 128  # of a tile
    maps = [
        gpuprof.TensorMap(array, box=(1, height, HALF), swizzle=128)
        for array, height in zip((*on_device, out), (rows, keys, keys, 64), strict=True)
    ]
    weights = rows * keys if width == 64 and not causal else 4
    shared_nbytes = 2 * (width * (rows + 4 * keys) + weights) + 8 * N_BARRIERS + 8
    scale = np.log2(np.e) / np.sqrt(width)
    section = 2  # heads
    threads = 128 + 2 * rows
    kernel[blocks, threads, 0, shared_nbytes](*maps, n, n, heads, batches, float(scale), section, taken)
    q, k, v = (each.astype(np.float32).reshape(batches, n, heads, width) for each in (q, k, v))
    scores = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(width)
    if causal:
        scores[..., np.triu(np.ones((n, n), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    wanted = np.einsum("bhij,bjhd->bihd", weights / weights.sum(-1, keepdims=True), v)
    return out.copy_to_host().astype(np.float32).reshape(wanted.shape), wanted


CASES = {
    "one tile": (128, 1, 1, 128, 128, False, 1),
    "weights through shared memory": (64, 1, 1, 400, 192, False, 2),
    "the next tile for a free block": (64, 1, 3, 300, 128, True, 2),
    "tiles by turns": (128, 1, 2, 300, 128, True, 2),
    "as published": (128, 2, 1, 400, 176, False, 3),
}


@pytest.mark.parametrize("name", long_from(3, CASES))
def test_attention(name):
    found, wanted = attention(*CASES[name])
    np.testing.assert_allclose(found, wanted, atol=2e-3, rtol=2e-3)  # weights and results are halves


@needs_nvcc
@pytest.mark.long
@pytest.mark.parametrize("name", ["as published", "weights through shared memory", "the next tile for a free block"])
def test_attention_in_code_of_nvcc(name):
    found, wanted = attention(*CASES[name], compiler="nvcc")
    np.testing.assert_allclose(found, wanted, atol=2e-3, rtol=2e-3)


# Of a thread: words that a block has for each of its threads at launch, and those that a group has that multiplies.
REGISTERS = [("attention<128,176,false>", (168, 240)), ("attention<64,192,false>", (128, 160))]


@pytest.mark.long
@pytest.mark.parametrize(("name", "registers"), REGISTERS)
def test_a_consumer_has_the_registers_that_it_asks_for(name, registers):
    """ptxas 13.0 spills 5 words of either kernel, gpuprof as many as 14; of the first kernel with what a block has at
    launch, 196.
    """
    gpu = gpuprof.Device("h100")
    module = gpu.load(KERNELS / "flash.cu", [name])
    function = module[name].function
    assert (function.registers, function.raised_registers) == registers
    assert function.spill_nbytes <= 56
