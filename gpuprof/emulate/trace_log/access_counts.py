"""Counts the accesses of a memory instruction of many warps, without a trace. Compiled by Numba, when it is first
needed.

The counts are those of `coalesce.inspect`, as far as `Tally` keeps them. Addresses that do not fall from lane to lane
are the common case, and need no sorting: a sector or line is then distinct when it differs from that of the preceding
lane.
"""

import numpy as np

from gpuprof.emulate.trace_log.coalesce import _distinct_sectors, _is_inside, _lines, _range, _wavefronts
from gpuprof.emulate.trace_log.moved_accesses import FULL
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit


@internal_njit
def _steps(before, after, nbytes):
    """Compares neighbouring addresses, without branches: (whether some fall, whether some differ by another number than
    `nbytes`, all or'ed, new sectors, new lines).
    """
    falls, gap, bits, sectors, lines = np.int64(0), np.int64(0), np.int64(0), 0, 0
    for k in range(len(before)):
        a, b = before[k], after[k]
        # The sign of the or is set when any of the differences was negative.
        falls |= b - a
        gap |= (b - a) ^ nbytes
        bits |= b
        sectors += ((a ^ b) & -32) != 0
        lines += ((a ^ b) & -128) != 0
    return falls < 0, gap != 0, bits | before[0], sectors, lines


@internal_njit
def _conflicts(lanes, banks):
    """Most distinct 4-byte words in one bank, of addresses that do not fall. banks: int64 (32,)."""
    if (lanes[len(lanes) - 1] >> 2) - (lanes[0] >> 2) < 32:
        return 1
    for bank in range(32):
        banks[bank] = 0
    most, previous = np.int64(0), np.int64(-1)
    for k in range(len(lanes)):
        word = lanes[k] >> 2
        if word != previous:
            banks[word & 31] += 1
            most = max(most, banks[word & 31])
            previous = word
    return most


@cached_njit
def count(address, masks, nbytes, pieces, piece_stride, has_sectors, is_load, on_chip):
    """The fields of `coalesce.Totals`: sectors and lines of a space that has them, passes through the banks of one that
    has not.

    address: int64 (32 * warps,); masks: uint32 (warps,), the lanes that take part; is_load: it neither stores nor is
    atomic. The rest is as `inspect` has it.
    """
    banks = np.empty(32, np.int64)
    words = np.empty((32, 32), np.int64)
    packed = np.empty(32, np.int64)
    sectors = np.empty(32 * pieces + 1, np.int64)
    line = np.empty(32 * pieces + 1, np.int64)
    lo, hi, low_bits = np.int64(1) << 62, np.int64(-1), np.int64(0)
    contiguous = True
    n_sectors, lines, wavefronts, ideal_wavefronts, ideal_sectors = 0, 0, 0, 0, 0
    for w in range(len(masks)):
        mask = masks[w]
        if mask == 0:
            contiguous = False
            continue
        here = address[32 * w : 32 * w + 32]
        lanes = here
        if mask != FULL:
            n = 0
            for lane in range(32):
                # Written before it is known whether the lane takes part, so that the loop has no branch.
                packed[n] = here[lane]
                n += mask >> np.uint32(lane) & np.uint32(1)
            lanes = packed[:n]
        n = len(lanes)
        falls, gap, bits, new_sectors, new_lines = _steps(lanes[: n - 1], lanes[1:], nbytes)
        first, last = lanes[0], lanes[n - 1]
        if falls:
            _, first, last, _ = _range(here, mask)
        contiguous &= mask == FULL and not gap and (hi < 0 or first == hi)
        lo, hi, low_bits = min(lo, first), max(hi, last + nbytes, last), low_bits | bits
        if not has_sectors or _is_inside(first, last + nbytes, on_chip):
            # `_conflicts` looks for a word only in the lane before, so it needs addresses that do not fall.
            if falls or nbytes > 4:
                passes, ideal = _wavefronts(here, mask, nbytes, 1, 0, is_load, banks, words)
            else:
                passes, ideal = _conflicts(lanes, banks), 1
            wavefronts += passes
            ideal_wavefronts += ideal
            continue
        if falls or pieces > 1:
            touched = _distinct_sectors(here, mask, pieces, piece_stride, sectors)
            lines += _lines(sectors, touched, line)
        else:
            touched = 1 + new_sectors
            lines += 1 + new_lines
        n_sectors += touched
        ideal_sectors += min(touched, (n * nbytes + 31) >> 5)
    return 0, n_sectors, lo, hi, low_bits, contiguous, lines, wavefronts, ideal_wavefronts, ideal_sectors
