"""Two numba.cuda kernels, launched as ever, on numpy arrays: a 3x3 blur, plain and tiled. Run it with `gpuprof collect`."""

import numpy as np
from numba import cuda, float32

import gpuprof.interop.numba

gpuprof.interop.numba.enable()

TILE = 16
SIDE = TILE + 2  # of a tile with its border


@cuda.jit
def plain(image, out):
    x, y = cuda.grid(2)
    height, width = out.shape
    if x < width and y < height:
        total = float32(0)
        for j in range(3):
            for i in range(3):
                total += image[y + j, x + i]
        out[y, x] = total / float32(9)


@cuda.jit
def tiled(image, out):
    tile = cuda.shared.array((SIDE, SIDE), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for j in range(ty, SIDE, TILE):
        for i in range(tx, SIDE, TILE):
            if y - ty + j < image.shape[0] and x - tx + i < image.shape[1]:
                tile[j, i] = image[y - ty + j, x - tx + i]
    cuda.syncthreads()
    if y < out.shape[0] and x < out.shape[1]:
        total = float32(0)
        for j in range(3):
            for i in range(3):
                total += tile[ty + j, tx + i]
        out[y, x] = total / float32(9)


def main(height: int, width: int) -> float:
    """Blurs an image with each kernel; gives the largest difference to numpy."""
    image = np.random.default_rng(0).random((height + 2, width + 2), dtype=np.float32)
    grid = (-(-width // TILE), -(-height // TILE))
    expected = sum(image[j : j + height, i : i + width].astype(np.float64) for j in range(3) for i in range(3)) / 9
    worst = 0.0
    for kernel in (plain, tiled):
        out = np.zeros((height, width), np.float32)
        kernel[grid, (TILE, TILE)](image, out)
        worst = max(worst, abs(out - expected).max())
    return worst


if __name__ == "__main__":
    print(f"largest error {main(250, 380):.0e}")
