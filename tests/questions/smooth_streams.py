"""Two launches of one kernel: on one stream, or, with an argument, each on a stream of its own."""

import sys

import numpy as np

import gpuprof

THREADS, BLOCKS = 256, 256

gpu = gpuprof.Device("a100")
smooth = gpu.load("smooth.cu").smooth
x = gpu.to_device(np.linspace(0, 1, THREADS * BLOCKS, dtype=np.float32))
for _ in range(2):
    y = gpu.device_array(THREADS * BLOCKS, np.float32)
    smooth[BLOCKS, THREADS, gpu.stream() if len(sys.argv) > 1 else None](x, y, THREADS * BLOCKS, 32)
gpu.synchronize()
