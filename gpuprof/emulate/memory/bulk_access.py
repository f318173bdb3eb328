"""Loads and stores of many warps in one pass, compiled by Numba: the check that they are allowed, then the bytes. They
leave no trace and count nothing. Imported when first needed.

An address is `(address + offset) & wrap`, int64. Where it lies in the space's bytes, a `Layout` of `core.spaces` says.
What `marks` (core.marks) has room for is noted: a space that has some has one copy for all lanes.
"""

import numpy as np

from gpuprof.emulate.core.marks import READ, WRITE, put
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

FULL = np.uint32(0xFFFFFFFF)
NOWHERE = np.int64(1) << 62  # `lo` of an access without lanes, whose `hi` is -1; addresses may lie above it


@internal_njit
def _reach(address, offset, wrap, masks, nbytes):
    """(lowest address, highest plus one, all or'ed, whether all lanes take part and follow each other without a
    gap).
    """
    lo, hi, low_bits, gap = NOWHERE, np.int64(-1), np.int64(0), np.int64(0)
    for w in range(len(masks)):
        mask = masks[w]
        here = address[32 * w : 32 * w + 32]
        if mask == FULL:
            first = here[0] + offset & wrap
            least, most, bits = first, first, np.int64(0)
            for k in range(32):  # without branches, so that it is done for several lanes at a time
                value = here[k] + offset & wrap
                least, most = min(least, value), max(most, value)
                bits |= value
                gap |= value - first ^ k * nbytes
            if hi >= 0:
                gap |= first ^ hi
        else:
            gap |= 1
            if mask == 0:
                continue
            least, most, bits = np.int64(1) << 62, np.int64(-1) << 62, np.int64(0)
            for k in range(32):
                if mask >> np.uint32(k) & np.uint32(1):
                    value = here[k] + offset & wrap
                    least, most = min(least, value), max(most, value)
                    bits |= value
        lo, hi, low_bits = min(lo, least), max(hi, most + nbytes, most), low_bits | bits
    return lo, hi, low_bits, gap == 0


@cached_njit
def bounds(address, masks, nbytes):
    """`lo`, `hi`, `low_bits` and `contiguous` of `coalesce.Totals`. address: int64 (32 * warps,); masks: uint32
    (warps,), the lanes that take part.
    """
    return _reach(address, np.int64(0), np.int64(-1), masks, nbytes)


@internal_njit
def _is_inside(lo, hi, low_bits, nbytes, starts, ends):
    """True when one of the ranges [start, end) holds [lo, hi), and all addresses are aligned."""
    if low_bits & nbytes - 1:
        return False
    below, after = 0, len(starts)  # the range is the last that starts at or below `lo`
    while below < after:
        middle = (below + after) >> 1
        if starts[middle] <= lo:
            below = middle + 1
        else:
            after = middle
    return below > 0 and hi <= ends[below - 1]


@internal_njit
def _follow(address, offset, wrap, nbytes):
    """True when the lanes of a warp follow each other without a gap, or all have one address."""
    first, gap, other = address[0] + offset & wrap, np.int64(0), np.int64(0)
    for k in range(32):
        beyond = (address[k] + offset & wrap) - first
        gap |= beyond ^ k * nbytes
        other |= beyond
    return gap == 0 or other == 0


@internal_njit
def _mark(marks, address, offset, wrap, masks, origin, nbytes, mode):
    """Notes what the lanes access; neighbours are put in together."""
    reads, writes, pages = marks
    start, end = np.int64(0), np.int64(0)
    for w in range(len(masks)):
        mask, here = masks[w], address[32 * w : 32 * w + 32]
        if mask == FULL and _follow(here, offset, wrap, nbytes):
            first, last = (here[0] + offset & wrap) - origin, (here[31] + offset & wrap) - origin + nbytes
            if first != end:
                put(reads, writes, pages, start, end, mode)
                start = first
            end = last
            continue
        for k in range(32):
            if not mask >> np.uint32(k) & np.uint32(1):
                continue
            at = (here[k] + offset & wrap) - origin
            if at >= start and at + nbytes <= end:
                continue
            if at != end:
                put(reads, writes, pages, start, end, mode)
                start = at
            end = at + nbytes
    put(reads, writes, pages, start, end, mode)


@cached_njit
def load(view, address, offset, wrap, masks, warps, layout, starts, ends, marks, nbytes, shift, element, row):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """row[lane] = element number `element` of the lane's access, of 1 << `shift` bytes, in the lanes of `masks`.

    Gives False, and does nothing, where some lane's access is not allowed, or in more than one range. The check is made
    for element 0. address, int64, and row: (32 * warps,); masks, warps: (warps,); layout: `Layout.place`; starts, ends:
    int64, the ranges; marks: a `Marks`.
    """
    lo, hi, low_bits, contiguous = _reach(address, offset, wrap, masks, nbytes)
    if lo == NOWHERE and hi < 0:
        return True
    if element == 0 and not _is_inside(lo, hi, low_bits, nbytes, starts, ends):
        return False
    origin, group, stride, lane_stride = layout
    if element == 0 and len(marks[0]):
        if contiguous:
            put(marks[0], marks[1], marks[2], lo - origin, hi - origin, READ)
        else:
            _mark(marks, address, offset, wrap, masks, origin, nbytes, READ)
    if contiguous and stride == 0 and nbytes == 1 << shift:
        first = lo - origin >> shift
        for k in range(len(row)):
            row[k] = view[first + k]
        return True
    for w in range(len(masks)):
        mask, base = masks[w], warps[w] // group * stride - origin
        everyone = mask == FULL  # tested outside the loop
        for k in range(32):
            if everyone or mask >> np.uint32(k) & np.uint32(1):
                flat = (address[32 * w + k] + offset & wrap) + base + k * lane_stride
                row[32 * w + k] = view[(flat >> shift) + element]
    return True


@cached_njit
def store(view, address, offset, wrap, masks, warps, layout, starts, ends, marks, nbytes, shift, element, row):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """The reverse: of several lanes at one place, the last one wins."""
    lo, hi, low_bits, contiguous = _reach(address, offset, wrap, masks, nbytes)
    if lo == NOWHERE and hi < 0:
        return True
    if element == 0 and not _is_inside(lo, hi, low_bits, nbytes, starts, ends):
        return False
    origin, group, stride, lane_stride = layout
    if element == 0 and len(marks[1]):
        if contiguous:
            put(marks[0], marks[1], marks[2], lo - origin, hi - origin, WRITE)
        else:
            _mark(marks, address, offset, wrap, masks, origin, nbytes, WRITE)
    if contiguous and stride == 0 and nbytes == 1 << shift:
        first = lo - origin >> shift
        for k in range(len(row)):
            view[first + k] = row[k]
        return True
    for w in range(len(masks)):
        mask, base = masks[w], warps[w] // group * stride - origin
        everyone = mask == FULL  # tested outside the loop
        for k in range(32):
            if everyone or mask >> np.uint32(k) & np.uint32(1):
                flat = (address[32 * w + k] + offset & wrap) + base + k * lane_stride
                view[(flat >> shift) + element] = row[32 * w + k]
    return True
