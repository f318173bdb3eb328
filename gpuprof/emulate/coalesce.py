"""Looks at one memory instruction of many warps: bounds, alignment, sectors, lines, bank conflicts. Compiled by Numba.

The record of an access (trace.ACCESS_DTYPE) as one little-endian uint64:

     63..56 55..48   47..40     39..32  31..24     23..16      15..8    7..0
    +------+--------+----------+-------+----------+-----------+--------+-----------+
    | 0    | uniform| conflicts| lanes | ideal wf | wavefronts| n_lines| n_sectors |
    +------+--------+----------+-------+----------+-----------+--------+-----------+
"""

from typing import NamedTuple

import numba
import numpy as np

FULL = np.uint32(0xFFFFFFFF)


class Totals(NamedTuple):
    """What `inspect` gives. `lo` and `hi`: lowest address and highest plus one; `low_bits`: the addresses, or'ed."""

    n_accesses: int
    n_sectors: int
    lo: int
    hi: int
    low_bits: int
    contiguous: int  # 1: all lanes of all warps, one after the other, no gap
    lines: int
    wavefronts: int
    ideal_wavefronts: int
    ideal_sectors: int


@numba.njit(cache=True, nogil=True)
def _record(sectors, lines, wavefronts, ideal, lanes, conflicts, uniform):
    return np.uint64(sectors | lines << 8 | wavefronts << 16 | ideal << 24 | lanes << 32 | conflicts << 40 | uniform << 48)


@numba.njit(cache=True, nogil=True)
def _put_sorted(values, count, value):
    """Puts a value into values[:count], ascending and distinct; gives the new count."""
    at = count
    while at > 0 and values[at - 1] > value:
        at -= 1
    if at > 0 and values[at - 1] == value:
        return count
    for k in range(count, at, -1):
        values[k] = values[k - 1]
    values[at] = value
    return count + 1


@numba.njit(cache=True, nogil=True)
def _group_wavefronts(address, mask, base, first, last, nbytes, offset, banks, words):
    """Most distinct 4-byte words in one bank, over lanes first..last-1. banks: int64 (32,), words: int64 (32, 32)."""
    for bank in range(32):
        banks[bank] = 0
    most = 0
    for lane in range(first, last):
        if not (mask >> np.uint32(lane)) & np.uint32(1):
            continue
        word = (address[base + lane] + offset) >> 2
        for _ in range(max(1, nbytes >> 2)):
            bank = word & 31
            known = False
            for k in range(banks[bank]):
                if words[bank, k] == word:
                    known = True
                    break
            if not known:
                words[bank, banks[bank]] = word
                banks[bank] += 1
                most = max(most, banks[bank])
            word += 1
    return most


@numba.njit(cache=True, nogil=True)
def _most_on_one(address, mask, base):
    """Most lanes on one address."""
    most = 0
    for lane in range(32):
        if (mask >> np.uint32(lane)) & np.uint32(1):
            count = 0
            for other in range(lane, 32):
                if (mask >> np.uint32(other)) & np.uint32(1) and address[base + other] == address[base + lane]:
                    count += 1
            most = max(most, count)
    return most


@numba.njit(cache=True, nogil=True)
def inspect(address, present, masks, nbytes, pieces, piece_stride, has_sectors, atomic, records, sectors):
    """Writes one record per warp with a lane in `present` to `records`, and the sectors of each, ascending, to `sectors`.

    address: int64 (32 * warps,), byte addresses; masks: uint32 (warps,), lanes that take part, a part of `present`;
    nbytes per lane. `pieces` > 1 (local memory): a lane's access is that many 4-byte words, `piece_stride` bytes apart.
    sectors has room for 32 * pieces * warps. Gives the fields of `Totals`.
    """
    banks = np.empty(32, np.int64)
    words = np.empty((32, 32), np.int64)
    found = np.empty(32 * pieces + 1, np.int64)
    piece_nbytes = nbytes if pieces == 1 else 4
    group = 32 if piece_nbytes <= 4 else 128 // piece_nbytes
    plain_wavefronts = 32 // group
    row = 0
    total_sectors = 0
    lo = np.int64(1) << 62
    hi = np.int64(-1)
    low_bits = np.int64(0)
    contiguous = 1
    total_lines = 0
    total_wavefronts = 0
    total_ideal = 0
    total_packed = 0
    for w in range(len(masks)):
        if present[w] == 0:
            contiguous = 0
            continue
        mask = masks[w]
        base = 32 * w
        if mask == FULL and pieces == 1:
            a0 = address[base]
            affine = True
            for lane in range(32):
                affine &= address[base + lane] == a0 + lane * nbytes
            if affine:
                end = a0 + 32 * nbytes
                s0 = a0 >> 5
                s1 = (end - 1) >> 5
                n_sectors = 0
                n_lines = (s1 >> 2) - (s0 >> 2) + 1
                if has_sectors:
                    n_sectors = s1 - s0 + 1
                    for s in range(n_sectors):
                        sectors[total_sectors + s] = s0 + s
                    total_sectors += n_sectors
                records[row] = _record(n_sectors, n_lines, plain_wavefronts, plain_wavefronts, 32, 1 if atomic else 0, 0)
                row += 1
                if a0 != hi and hi >= 0:
                    contiguous = 0
                lo = min(lo, a0)
                hi = max(hi, end)
                low_bits |= a0
                total_lines += n_lines
                total_wavefronts += plain_wavefronts
                total_ideal += plain_wavefronts
                total_packed += min(nbytes, n_sectors)
                continue
        contiguous = 0
        if mask == 0:
            records[row] = 0
            row += 1
            continue
        lanes = 0
        n_sectors = 0
        n_lines = 0
        uniform = 1
        first = np.int64(-1)
        for lane in range(32):
            if not (mask >> np.uint32(lane)) & np.uint32(1):
                continue
            a = address[base + lane]
            lanes += 1
            if first < 0:
                first = a
            elif a != first:
                uniform = 0
            lo = min(lo, a)
            hi = max(hi, a + nbytes)
            low_bits |= a
            for p in range(pieces):
                n_sectors = _put_sorted(found, n_sectors, (a + p * piece_stride) >> 5)
        last_line = np.int64(-1)
        for s in range(n_sectors):
            if found[s] >> 2 != last_line:
                last_line = found[s] >> 2
                n_lines += 1
        wavefronts = 0
        ideal = 0
        if uniform and group == 32:
            ideal = pieces
            wavefronts = pieces
        else:
            for p in range(pieces):
                for g in range(0, 32, group):
                    part = _group_wavefronts(address, mask, base, g, g + group, piece_nbytes, p * piece_stride, banks, words)
                    wavefronts += part
                    ideal += part > 0
        if has_sectors:
            for s in range(n_sectors):
                sectors[total_sectors + s] = found[s]
            total_sectors += n_sectors
            total_packed += min(n_sectors, (lanes * nbytes + 31) >> 5)
        else:
            n_sectors = 0
        conflicts = _most_on_one(address, mask, base) if atomic else 0
        records[row] = _record(n_sectors, n_lines, wavefronts, ideal, lanes, conflicts, uniform)
        row += 1
        total_lines += n_lines
        total_wavefronts += wavefronts
        total_ideal += ideal
    return row, total_sectors, lo, hi, low_bits, contiguous, total_lines, total_wavefronts, total_ideal, total_packed
