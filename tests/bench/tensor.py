"""Speed on kernels of the tensor pipe (tensor.cu), emulated, and emulated and timed at once. Not a test: `make bench`
calls `measured`.

Run `python -m tests.bench.tensor [SIZE]` for all kernels, on products of SIZE x SIZE matrices of f16.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpuprof
from tests.bench.samples import clocked

SOURCE = Path(__file__).with_suffix(".cu")
SIZE = 1024
TILE = 128  # rows and columns of a block
# The launch, of its blocks and its size.
PRODUCT = "product<<<({0}, {0}), 256>>>(a: f16[{1},{1}]=random, b: f16[{1},{1}]=random, c: f32[{1},{1}], {1}, {1})"


class Measured(NamedTuple):
    emulated: float  # warp-instructions per second of the emulator's thread
    timed: float  # per second of the timing model's thread, which waits for the emulator without taking time
    both: float  # per second of wall-clock time


def mma(gpu: gpuprof.Device, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    size = len(c)
    gpu.load(SOURCE).product[(size // TILE, size // TILE), 256](a, b, c, size, size)


def wgmma(gpu: gpuprof.Device, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    size, stages = len(c), 2
    maps = [gpuprof.TensorMap(gpu.to_device(matrix), box=(TILE, 64), swizzle=128) for matrix in (a, b)]
    shared_nbytes = stages * len(maps) * TILE * 64 * 2
    gpu.load(SOURCE).grouped[(size // TILE, size // TILE), 256, 0, shared_nbytes](*maps, c, size, size)


KERNELS: dict[str, tuple[str, Callable]] = {"mma": ("a100", mma), "wgmma": ("h200", wgmma)}


def measured(name: str, size: int = SIZE) -> Measured:
    """Rates of one launch. What is compiled when it is first needed has been compiled by a small one."""
    chip, launch = KERNELS[name]
    random = np.random.default_rng(1)
    for extent in (2 * TILE, size):
        a, b = (random.standard_normal((extent, extent)).astype(np.float16) for _ in range(2))
        gpu = gpuprof.Device(chip)
        with clocked() as done:
            began, busy = time.perf_counter(), time.thread_time()
            launch(gpu, a, b, np.zeros((extent, extent), np.float32))
            seconds, busy = time.perf_counter() - began, time.thread_time() - busy
    return Measured(done[0].rate, done[0].warp_instructions / busy, done[0].warp_instructions / seconds)


if __name__ == "__main__":
    for name in KERNELS:
        rates = measured(name, int(sys.argv[1]) if sys.argv[1:] else SIZE)
        text = ", ".join(f"{what} {rate / 1e6:.2f}" for what, rate in rates._asdict().items())
        print(f"{name}: M warp-instructions/s: {text}")
