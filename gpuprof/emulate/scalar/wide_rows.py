"""Products of 32 x 32 bits in 64, compiled by Numba: numpy would convert both rows first. Imported when first needed.

All is int64: modulo 2^64 a product has the same bits with signs and without.
"""

import numpy as np

from gpuprof.compiled.kept import kept


@kept
def multiply(a, b, out):
    for k in range(len(out)):
        out[k] = np.int64(a[k]) * np.int64(b[k])


@kept
def multiply_add(a, b, c, out):
    for k in range(len(out)):
        out[k] = np.int64(a[k]) * np.int64(b[k]) + c[k]
