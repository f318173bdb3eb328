"""ldmatrix and stmatrix on the warps of a set, compiled by Numba: 8 x 8 matrices of 16-bit elements between memory and
registers. Imported when first needed.

`address`: int64 (32 * warps,), where in `memory` the row begins whose address a lane gives, in bytes from the warp's
`base`, int64 (warps,); lane 8 * i + j gives that of row j of matrix i. rows: int64 (matrices,), the addresses of the
registers' rows. memory: the address of its first byte.
"""

import numpy as np

from gpuprof.emulate.matrices.vectors import copy_words, exchange, load_word, prefetch_words, store_word
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS

ZEROS = np.zeros(8, np.uint32)


@cached_njit(**OPTIONS)
def load(memory, address, base, given, written, trans, clears, rows, scratch):
    """Loads the matrices of each warp whose `written` is not 0. given: uint32 (warps,), lanes that give an address;
    the others' rows are zeros if it `clears`, else those at the memory's first byte. scratch: uint32 (32,).
    """
    home, zeros = np.int64(scratch.ctypes.data), np.int64(ZEROS.ctypes.data)
    for warp in range(len(written)):
        if written[warp] == 0:
            continue
        for matrix in range(len(rows)):
            to = rows[matrix] + 128 * warp
            prefetch_words(to + 256)
            first = home if trans else to
            for row in range(8):
                lane = 8 * matrix + row
                at = memory + base[warp] + address[32 * warp + lane]
                if not given[warp] >> np.uint32(lane) & np.uint32(1):
                    at = zeros if clears else memory
                copy_words(at, first + 16 * row)
            if trans:
                exchange(home, to)


@cached_njit(**OPTIONS)
def store(memory, address, base, given, active, trans, rows, scratch):
    """Stores the rows that lanes of `given` have addresses of, one matrix after the other, so that the last warp wins.
    active: uint32 (warps,), the lanes that are there; the others' words are 0. An address of 0 in `rows`: zeros.
    scratch: uint32 (64,).
    """
    home = np.int64(scratch.ctypes.data)
    for matrix in range(len(rows)):
        for warp in range(len(given)):
            if given[warp] == 0:
                continue
            for lane in range(32):
                here = rows[matrix] and active[warp] >> np.uint32(lane) & np.uint32(1)
                word = load_word(rows[matrix] + 128 * warp + 4 * lane) if here else np.uint32(0)
                store_word(home + 4 * lane, word)
            words = home
            if trans:
                words = home + 128
                exchange(home, words)
            for row in range(8):
                lane = 8 * matrix + row
                if given[warp] >> np.uint32(lane) & np.uint32(1):
                    copy_words(words + 16 * row, memory + base[warp] + address[32 * warp + lane])
