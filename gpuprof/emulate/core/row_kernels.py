"""Operations on rows that numpy takes several passes for, compiled by Numba. Imported when first needed.

`gather` and `scatter` copy registers of some warps out of a chunk's rows and back.

warps: int64 (k,), numbers of the
chunk's warps; masks: uint32 (k,), lanes of each.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit

FULL = np.uint32(0xFFFFFFFF)


@cached_njit
def gather(home, indexes, warps, rows):
    """rows (registers, 32 * k): what registers `indexes` of `home` (all registers, all lanes) hold in these warps."""
    for i in range(len(indexes)):
        register, row = home[indexes[i]], rows[i]
        for w in range(len(warps)):
            first = 32 * warps[w]
            for k in range(32):
                row[32 * w + k] = register[first + k]


@cached_njit
def scatter(home, index, warps, masks, row):
    """Puts row (32 * k,) into register `index` of `home`, in the lanes of `masks`."""
    register = home[index]
    for w in range(len(warps)):
        first, mask = 32 * warps[w], masks[w]
        if mask == FULL:
            for k in range(32):
                register[first + k] = row[32 * w + k]
        elif mask:
            for k in range(32):
                if mask >> np.uint32(k) & np.uint32(1):
                    register[first + k] = row[32 * w + k]


@cached_njit
def multiply(a, b, out):
    """Products of 32 x 32 bits in 64. `out` is int64 for unsigned ones, too: modulo 2^64 the bits are the same."""
    for k in range(len(out)):
        out[k] = np.int64(a[k]) * np.int64(b[k])


@cached_njit
def multiply_add(a, b, c, out):
    """Products of 32 x 32 bits plus a 64-bit addend, in 64 bits."""
    for k in range(len(out)):
        out[k] = np.int64(a[k]) * np.int64(b[k]) + c[k]


@cached_njit
def select(chosen, a, b, out):
    for k in range(len(out)):
        out[k] = a[k] if chosen[k] else b[k]
