"""All warps of an event in one pass, between the shadows of memory and of registers. Compiled by Numba."""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit
from gpuprof.trace.checkers.shadow_bits.memory_bits import PAGE_NBYTES, PAGE_SHIFT, UNDEFINED, state_of
from gpuprof.trace.checkers.shadow_bits.propagate import NO_LANES, leave

ALL_BITS = np.uint32(0xFFFFFFFF)


@internal_njit
def _has_undefined(pages, words, state, low, nbytes):
    """True if some of a lane's bytes, all of them in one page, is undefined."""
    if state < 0 or pages.n_undefined[state] == 0:
        return state == UNDEFINED
    bits = np.uint32(0)
    for k in range(low, low + nbytes if nbytes < 4 else 0):
        bits |= pages.data[state, k]
    for k in range(low >> 2, low + nbytes >> 2 if nbytes >= 4 else 0):
        bits |= words[state, k]
    return bits != 0


@internal_njit
def _first_undefined(pages, memory, slots, masks, addresses, stride, nbytes):
    for n in range(len(slots)):
        origin, mask, clean = slots[n] * stride - pages.base, masks[n], np.int64(-1)
        for lane in range(32):
            at = addresses[n, lane] + origin
            page = at >> PAGE_SHIFT
            if not mask >> np.uint32(lane) & np.uint32(1) or page == clean:
                continue
            state = state_of(pages.states, page, pages.outside)
            if _has_undefined(pages, memory, state, at & (PAGE_NBYTES - 1), nbytes):
                return 32 * n + lane
            if state < 0 or pages.n_undefined[state] == 0:
                clean = page
    return -1


@internal_njit
def _word(pages, memory, at, nbytes, word, is_signed):
    """Undefined bits of a word of a lane's register."""
    state, low = state_of(pages.states, at >> PAGE_SHIFT, pages.outside), at & (PAGE_NBYTES - 1)
    if state < 0:
        bits = ALL_BITS if state == UNDEFINED else np.uint32(0)
    elif nbytes >= 4:
        bits = memory[state, (low >> 2) + word]
    else:
        bits = np.uint32(pages.data[state, low])
        if nbytes == 2:
            bits |= np.uint32(pages.data[state, low + 1]) << np.uint32(8)
    if nbytes < 4:
        top, width = np.uint32(8 * nbytes - 1), np.uint32(8 * nbytes)
        bits &= ~(ALL_BITS << width)
        if is_signed and bits >> top != 0:
            bits |= ALL_BITS << width
    return bits


@cached_njit
def load(words, pages, slots, warps, masks, addresses, stride, nbytes, rows, is_signed, number, changes):  # noqa: PLR0913  # compiled: arrays
    """Lanes in `masks`, uint32 (n,), load `nbytes` bytes, not more than the words `rows`, int64 (m,), from addresses,
    int64 (n, 32), that are aligned; those of a warp begin at its slot times `stride`. changes: as in `propagate.take`.
    Gives 32 * row + lane of the first with an undefined bit. If there is none: -1, and nothing is changed.
    """
    memory, given = pages.data.view(np.uint32), np.empty(32, np.uint32)
    first = _first_undefined(pages, memory, slots, masks, addresses, stride, nbytes)
    for n in range(len(slots) if first >= 0 else 0):
        origin, mask = slots[n] * stride - pages.base, masks[n]
        for word in range(len(rows)):
            for lane in range(32):
                if mask >> np.uint32(lane) & np.uint32(1):
                    given[lane] = _word(pages, memory, addresses[n, lane] + origin, nbytes, word, is_signed)
            changes[word] += leave(words, slots[n], warps[n], rows[word], given, mask, NO_LANES, number)
    return first


@internal_njit
def _undefined_lanes(words, slot, warp, rows):
    """The lanes with an undefined bit in one of the rows, int64 (m,)."""
    lanes = NO_LANES
    for k in range(len(rows)):
        if words.is_hot[slot, warp, rows[k]]:
            for lane in range(32):
                lanes |= np.uint32(words.bits[slot, warp, rows[k], lane] != 0) << np.uint32(lane)
    return lanes


@cached_njit
def find_undefined(words, slots, warps, rows, masks, lanes):
    """Writes the lanes of `masks`, uint32 (n,), with an undefined bit in one of the rows, int64 (m,), to `lanes`,
    uint32 (n,); true if there are some.
    """
    is_any = False
    for n in range(len(slots)):
        lanes[n] = _undefined_lanes(words, slots[n], warps[n], rows) & masks[n]
        is_any |= lanes[n] != NO_LANES
    return is_any


@cached_njit
def find_hot(words, slots, warps, rows, found):
    """Writes the indices of warps with an undefined bit in one of the rows, int64 (m,), to `found`; gives their
    number.
    """
    n_found = 0
    for n in range(len(slots)):
        for k in range(len(rows)):
            if words.is_hot[slots[n], warps[n], rows[k]]:
                found[n_found] = n
                n_found += 1
                break
    return n_found


@internal_njit
def _has_padding(words, slot, warp, rows):
    """True if undefined bits of a warp may be padding."""
    for k in range(len(rows)):
        if words.is_hot[slot, warp, rows[k]]:
            undefined = _undefined_lanes(words, slot, warp, rows[k : k + 1])
            if words.padding[slot, warp, rows[k]] & undefined != NO_LANES:
                return True
    return False


@cached_njit
def lanes_to_store(words, slots, warps, masks, rows, nbytes, lanes):
    """Lanes in `masks`, uint32 (n,), store the first `nbytes` bytes of the words `rows`, int64 (m,). Writes those with
    an undefined bit in these bytes to `lanes`, uint32 (n,). False if some of the bits may be padding.
    """
    for n in range(len(slots)):
        slot, warp, lanes[n] = slots[n], warps[n], NO_LANES
        if _has_padding(words, slot, warp, rows):
            return False
        for k in range(len(rows)):
            if not words.is_hot[slot, warp, rows[k]]:
                continue
            part = ALL_BITS if nbytes >= 4 else ~(ALL_BITS << np.uint32(8 * nbytes))
            for lane in range(32):
                lanes[n] |= np.uint32(words.bits[slot, warp, rows[k], lane] & part != 0) << np.uint32(lane)
        lanes[n] &= masks[n]
    return True


@internal_njit
def _n_bytes(word):
    """int32: the number of bytes that are not 0."""
    some = word | word >> np.uint32(4)
    some |= some >> np.uint32(2)
    some = (some | some >> np.uint32(1)) & np.uint32(0x01010101)
    return np.int32(some + (some >> np.uint32(8)) + (some >> np.uint32(16)) + (some >> np.uint32(24)) & np.uint32(7))


@cached_njit
def store(words, pages, slots, warps, masks, addresses, nbytes, rows):
    """Lanes in `masks`, uint32 (n,), store the first `nbytes` bytes of the words `rows`, int64 (m,), to addresses of a
    shadow, int64 (n, 32), that are aligned. All of their pages have bytes.
    """
    memory, part = pages.data.view(np.uint32), ALL_BITS if nbytes >= 4 else ~(ALL_BITS << np.uint32(8 * nbytes))
    for n in range(len(slots)):
        for k in range(nbytes + 3 >> 2):
            is_hot = words.is_hot[slots[n], warps[n], rows[k]]
            for lane in range(32):
                if not masks[n] >> np.uint32(lane) & np.uint32(1):
                    continue
                at = addresses[n, lane] + 4 * k - pages.base
                state, low, shift = pages.states[at >> PAGE_SHIFT], at & (PAGE_NBYTES - 1), np.uint32(8 * (at & 3))
                before, after = memory[state, low >> 2], np.uint32(0)
                if is_hot:
                    after = words.bits[slots[n], warps[n], rows[k], lane] & part
                after = before & ~(part << shift) | after << shift
                pages.n_undefined[state] += _n_bytes(after) - _n_bytes(before)
                memory[state, low >> 2] = after
