"""Matrices in shared memory that a warp group multiplies, given by 64-bit descriptors (PTX ISA, wgmma, matrix
descriptor).

     63..62   51..49       45..32               29..16                13..0
    +-------+------------+--------------------+---------------------+-----------------+
    |swizzle| base offset| stride offset / 16 | leading offset / 16 | start address/16|
    +-------+------------+--------------------+---------------------+-----------------+

swizzle: 0 none, 1 128 bytes, 2 64, 3 32. The canonical layouts, with `mn` a row of A or a column of B and W the bytes
of the swizzle:

    K contiguous, none      start + (mn / 8) * stride + (k bytes / 16) * leading + (mn % 8) * 16 + k bytes % 16
    K contiguous, swizzled  start + (mn / 8) * stride + (mn % 8) * W + k bytes
    MN contiguous, none     start + (mn / 8) * stride + (k / 8) * leading + (k % 8) * 16 + mn bytes % 16
    MN contiguous, swizzled start + (mn bytes / W) * leading + (k / 8) * stride + (k % 8) * W + mn bytes % W

A swizzle exchanges 16-byte parts of a row of W bytes: of the address, bits 4 to 6 (of 128; 4 to 5 of 64; 4 of 32) are
xor'ed with those three higher, counted from the base offset's pattern.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.late_accesses import AccessedRanges, WrongRange, refuse

ROW_NBYTES = np.array([16, 128, 64, 32])
LANE = np.arange(WARP)
GROUP_WARPS = 4


class Operand(NamedTuple):
    """The part of a matrix that a warp multiplies: rows of A (its 16 of the group's 64) or the 8 columns of B from
    `first` on.
    """

    is_a: bool
    k: int
    nbits: int  # of an element
    trans: bool  # MN is contiguous, not K
    first: int = 0


def addresses(descriptor: np.ndarray, mn: np.ndarray, k: np.ndarray, nbits: int, trans: bool) -> np.ndarray:
    """Byte address in the block's shared memory of the elements (mn, k); int64, all broadcast."""
    start, leading, stride = (16 * (descriptor >> shift & 0x3FFF) for shift in (0, 16, 32))
    base, mode = descriptor >> 49 & 7, descriptor >> 62 & 3
    width = ROW_NBYTES[mode]
    if trans:
        inner, outer = mn * nbits // 8, k
        plain = start + inner // 16 * stride + outer // 8 * leading + outer % 8 * 16 + inner % 16
        swizzled = start + inner // width * leading + outer // 8 * stride + outer % 8 * width + inner % width
    else:
        inner, outer = k * nbits // 8, mn
        plain = start + outer // 8 * stride + inner // 16 * leading + outer % 8 * 16 + inner % 16
        swizzled = start + outer // 8 * stride + outer % 8 * width + inner
    pattern = ((swizzled >> 7) - base) & (width // 16 - 1)
    return np.where(mode == 0, plain, swizzled ^ pattern << 4)


def read_fragment(lanes: Lanes, descriptors: np.ndarray, operand: Operand, at: int) -> np.ndarray:
    """Registers (R, n) of the fragment, laid out as for mma (see isa.families.tensor). descriptors: uint64 (n,), lane
    0's count.

    Raises KernelFault when the descriptor leads out of the block's shared memory.
    """
    per_word = 32 // operand.nbits
    lead = descriptors.reshape(-1, WARP)[:, 0].view(np.int64)[:, None, None]
    if operand.is_a:
        register = np.arange(4)[:, None]
        rank = lanes.warps.astype(np.int64) % lanes.chunk.spaces["shared"].warps_per_block % GROUP_WARPS
        mn = 16 * rank[:, None, None] + LANE // 4 + 8 * (register % 2)
        k = per_word * (LANE % 4 + 4 * (register // 2))
    else:
        register = np.arange(2)[:, None]
        mn = operand.first + LANE // 4
        k = per_word * (LANE % 4 + 4 * register)
    if operand.trans:  # 16-bit elements whose neighbours in k are not adjacent
        low, high = (
            _fetch(lanes, addresses(lead, mn, k + i, operand.nbits, True), 2, at).astype(np.uint32) for i in (0, 1)
        )
        words = low | high << np.uint32(16)
    else:
        words = _fetch(lanes, addresses(lead, mn, k, operand.nbits, False), 4, at)
    return words.transpose(1, 0, 2).reshape(words.shape[1], -1)


def _fetch(lanes: Lanes, address: np.ndarray, nbytes: int, at: int) -> np.ndarray:
    """The words at addresses (warps, registers, 32) of each warp's own block."""
    space = lanes.chunk.spaces["shared"]
    everyone = np.broadcast_to((lanes.masks != 0)[:, None, None], address.shape)
    outside = ((address < 0) | (address + nbytes > space.nbytes)) & everyone
    if outside.any():
        first = int(address[outside][0])
        warps, _, rank = np.nonzero(outside)
        elements = np.unique(WARP * warps + rank)
        text = f"a matrix descriptor leads to 0x{first:x} in shared memory; {space.describe(first)}"
        refuse(lanes, at, WrongRange("outside", "shared", elements, first, text))
    read = everyone & ~outside
    lanes.chunk.touches(at, lambda: words_at(address, read, nbytes))
    base = lanes.warps.astype(np.int64) // space.warps_per_block * space.stride
    words = space.views[nbytes].take((address + base[:, None, None]) // nbytes, mode="clip")
    return np.where(outside, 0, words) if outside.any() else words


def words_at(address: np.ndarray, read: np.ndarray, nbytes: int) -> Iterator[AccessedRanges]:
    """The words that `_fetch` reads, for listeners, warp by warp. address, read: (warps, registers, 32)."""
    rows, _, lane = np.nonzero(read)
    yield AccessedRanges("shared", "load", WARP * rows + lane, address[read], np.full(len(rows), nbytes))
