"""Resolving: the mean of a pixel's samples."""

import numpy as np

from gpuprof.device.graphics_state.draw_state import FORMATS
from gpuprof.graphics.stages.pixel_formats import load, store
from gpuprof.jit.cached import cached_njit


def resolve(samples: np.ndarray, pixels: np.ndarray, format: str, n_samples: int) -> None:
    """uint8 arrays: samples of pixels, and the pixels, which are written."""
    _resolve(
        samples,
        samples.view(np.uint16),
        samples.view(np.float32),
        pixels,
        pixels.view(np.uint16),
        pixels.view(np.float32),
        list(FORMATS).index(format),
        n_samples,
        len(pixels) // FORMATS[format],
    )


@cached_njit
def _resolve(bytes_, halves, floats, out_bytes, out_halves, out_floats, format, n_samples, n_pixels):
    for pixel in range(n_pixels):
        for channel in range(4):
            total = np.float32(0)
            for s in range(n_samples):
                total += load(bytes_, halves, floats, format, (pixel * n_samples + s) * 4 + channel)
            store(out_bytes, out_halves, out_floats, format, pixel * 4 + channel, total / np.float32(n_samples))
