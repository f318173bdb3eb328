"""Draws: 50,000 small triangles with a simple shader, 1024 x 768."""

import time

import numpy as np

from gpuprof.graphics.pipeline import LESS
from tests.draws.scene import frame, on_grid, pipeline, vertices

WIDTH, HEIGHT = 1024, 768


def mesh(n: int = 158) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and indices of 2 * n * n triangles, which share vertices and cover nearly all pixels; no w is equal."""
    x, y = np.meshgrid(np.linspace(10, WIDTH - 10, n + 1), np.linspace(10, HEIGHT - 10, n + 1))
    z = 0.5 + 0.2 * np.sin(x / 50) * np.cos(y / 40)
    places = np.floor(np.stack([x.ravel(), y.ravel()], 1) * 256) / 256
    k = np.arange(n * n)
    i = k // n * (n + 1) + k % n
    indices = np.stack([i, i + 1, i + n + 1, i + 1, i + n + 2, i + n + 1], 1).ravel().astype(np.uint32)
    colors = np.stack([x / WIDTH, y / HEIGHT, z, np.ones_like(z)], 2).reshape(-1, 4)
    return vertices(on_grid(places, WIDTH, HEIGHT, z.ravel(), 1 + z.ravel()), colors), indices


def small_triangles() -> float:
    """Seconds of a draw, everything compiled."""
    given, indices = mesh()
    for _ in range(2):
        drawn = frame(WIDTH, HEIGHT)
        start = time.perf_counter()
        drawn.draw(pipeline(depth=LESS), given, indices)
    return time.perf_counter() - start
