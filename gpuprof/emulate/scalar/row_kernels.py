"""What numpy takes several passes over rows for, compiled by Numba in one. Imported when first needed."""

import numpy as np

from gpuprof.jit.cached import cached_njit


@cached_njit
def multiply(a, b, out):
    """Products of 32 x 32 bits in 64. `out` is int64 for unsigned ones, too: modulo 2^64 the bits are the same."""
    for k in range(len(out)):
        out[k] = np.int64(a[k]) * np.int64(b[k])


@cached_njit
def multiply_add(a, b, c, out):
    """The same, and a 64-bit addend."""
    for k in range(len(out)):
        out[k] = np.int64(a[k]) * np.int64(b[k]) + c[k]


@cached_njit
def select(chosen, a, b, out):
    for k in range(len(out)):
        out[k] = a[k] if chosen[k] else b[k]
