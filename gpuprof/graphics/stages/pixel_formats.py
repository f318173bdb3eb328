"""Formats of color targets: loads and stores of one channel (8 bits for 0 to 1, half, float), and resolving, the mean
of a pixel's samples.
"""

import numpy as np

from gpuprof.device.graphics_state.draw_state import FORMATS
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

# Numbers of formats are their places in device.drawing.state.FORMATS.


@internal_njit
def load(bytes_, halves, floats, format, at):
    """float32. The arrays are the same memory as uint8, uint16 and float32; `at` counts channels."""
    if format == 0:
        return np.float32(bytes_[at]) / np.float32(255)
    if format == 1:
        return _of_half(np.int64(halves[at]))
    return floats[at]


@internal_njit
def store(bytes_, halves, floats, format, at, value):
    if format == 0:
        # NaN becomes 0 (Direct3D 11.3 specification, 3.2.3.6)
        clamped = min(max(value, np.float32(0)), np.float32(1)) if value == value else np.float32(0)
        bytes_[at] = np.uint8(clamped * np.float32(255) + np.float32(0.5))
    elif format == 1:
        halves[at] = _to_half(value)
    else:
        floats[at] = value


@internal_njit
def _of_half(bits):
    sign = -1.0 if bits & 0x8000 else 1.0
    exponent, fraction = bits >> 10 & 31, bits & 0x3FF
    if exponent == 31:
        return np.float32(np.nan if fraction else sign * np.inf)
    if exponent == 0:
        return np.float32(sign * fraction * 2.0**-24)
    return np.float32(sign * (1024 + fraction) * 2.0 ** (exponent - 25))


@internal_njit
def _to_half(value):
    """The nearest half, of two the even one; IEEE 754."""
    if value != value:
        return 0x7E00
    magnitude = abs(np.float64(value))
    sign = 0x8000 if np.signbit(value) else 0
    if magnitude >= 65520.0:
        return sign | 0x7C00
    exponent = -14
    while exponent < 15 and magnitude >= 2.0 ** (exponent + 1):
        exponent += 1
    # rint takes the even one; a fraction of 2048 carries into the exponent, and one below 1024 is subnormal
    fraction = np.int64(np.rint(magnitude * 2.0 ** (10 - exponent)))
    return sign | (exponent + 14 << 10) + fraction


def resolve(samples: np.ndarray, pixels: np.ndarray, format: str, n_samples: int) -> None:
    """Writes the mean of each pixel's samples. samples, pixels: uint8 arrays of a target with and without samples."""
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
