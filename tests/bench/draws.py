"""Draws: 50,000 small triangles with a simple shader, 1024 x 768."""

import time
from pathlib import Path

import numpy as np

from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import LESS, Pipeline
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.timing.sampling.configuration import Sampling
from tests.draws.scene import frame, on_grid, pipeline, vertices
from tests.paths import ROOT

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


def timed_triangles(folder: Path) -> float:
    """CPU seconds of all threads for the same draw, emulated, timed and sampled, everything compiled."""
    given, indices = mesh()
    for number in range(2):
        with RecordWriter(folder / f"draw{number}.gprec") as recorder:
            gpu = open_device(Settings("rtx3090", recorder=recorder, sampling=Sampling(period_cycles=1024)))
            shaders = gpu.load(ROOT / "tests/draws/plain.cu")
            drawn = Frame(gpu, WIDTH, HEIGHT)
            drawn.clear()
            start = time.process_time()
            drawn.draw(Pipeline(shaders.placed, shaders.tinted, depth=LESS), given, indices)
            gpu.executor.finish()
    return time.process_time() - start
