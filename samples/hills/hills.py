"""Draws hills of square patches, which are cut finer where they are nearer: python hills.py [out.png [width height]]."""

import sys
from pathlib import Path

import numpy as np

import gpuprof
from gpuprof.device.graphics_state.draw_state import Tessellation
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import LESS, Pipeline


def patches(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Corners (x, z) of n x n patches, float32, and the four of each patch: u to the right, v into the distance."""
    z, x = np.meshgrid(np.linspace(-3, 3, n + 1), np.linspace(-3, 3, n + 1), indexing="ij")
    row, column = np.divmod(np.arange(n * n), n)
    corner = row * (n + 1) + column
    indices = np.stack([corner, corner + 1, corner + n + 2, corner + n + 1], 1)
    return np.stack([x, z], -1).astype(np.float32), indices.ravel().astype(np.uint16)


def camera(aspect: float) -> np.ndarray:
    """From (0, 2.2, -4.5), downwards into the distance."""
    down = np.float32([[1, 0, 0, 0], [0, 0.87, 0.5, 0.3], [0, -0.5, 0.87, 5.0], [0, 0, 0, 1]])
    near, far = 0.1, 20.0
    lens = np.float32([[1.6 / aspect, 0, 0, 0], [0, 1.6, 0, 0], [0, 0, far / (far - near), -near * far / (far - near)],
                       [0, 0, 1, 0]])  # fmt: skip
    return lens @ down


def draw(gpu, width, height, n=6, detail=24.0):
    """The frame, and what its draw did."""
    shaders = gpu.load(Path(__file__).with_name("hills.cu"))
    pipeline = Pipeline(
        shaders.placed,
        shaders.painted,
        hull=shaders.leveled,
        domain=shaders.moved,
        topology="patches",
        tessellation=Tessellation(points=4, domain="quads", spacing="fractional_even"),
        depth=LESS,
    )
    frame = Frame(gpu, width, height)
    frame.clear((0.6, 0.75, 0.9, 1))
    corners, indices = patches(n)
    counts = frame.draw(pipeline, corners, indices, hull=(detail,), domain=(camera(width / height),))
    return frame, counts


if __name__ == "__main__":
    out = sys.argv[1] if len(sys.argv) > 1 else "hills.png"
    width, height = map(int, sys.argv[2:4]) if len(sys.argv) > 2 else (320, 200)
    frame, counts = draw(gpuprof.Device("rtx3090"), width, height)
    frame.save(out)
    print(f"{counts.primitives} patches, {counts.tessellated} triangles, {counts.passed} pixels")
