"""Two kernels with host code between: scales a vector to length 1. Run it with `gpuprof collect samples/normalise.py`."""

import sys
from pathlib import Path

import numpy as np

import gpuprof


def main(n: int) -> float:
    gpu = gpuprof.Device()
    kernels = gpu.load(Path(__file__).with_name("normalise.cu"))

    x = gpu.to_device(np.linspace(-1, 1, n, dtype=np.float32))
    partial = gpu.device_array(64, np.float32)
    kernels.sum_of_squares[64, 256](x, partial, n)

    length = np.sqrt(partial.copy_to_host().sum())  # the host decides the second kernel's argument
    kernels.scale[(n + 255) // 256, 256](x, 1 / length, n)
    return float(np.linalg.norm(x.copy_to_host()))


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    print(f"length after scaling {n} elements: {main(n):.6f}")
