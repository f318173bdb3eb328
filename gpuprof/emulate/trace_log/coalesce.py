"""Looks at one memory instruction of many warps: bounds, alignment, sectors, lines, bank conflicts; by Numba."""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.moved_accesses import (
    BITS,
    CONFLICTS,
    COUNT,
    FIRST,
    FULL,
    IDEAL,
    LANES,
    LAST,
    LINE_NBYTES,
    LOOKUPS,
    N_FIELDS,
    PASSES,
    PLACES,
    STAYS,
    first_lane,
    forget_all,
    is_moved,
    place_of,
    remember,
)
from gpuprof.emulate.trace_log.trace_entries import MISSING_SHIFT, ON_CHIP, SECTOR_MASK, access_word
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

# No document has the L1's tag rules. They were found in gpu-benches' table of tag wavefronts
# (docs/model/memory.md, Memory instructions; tests/timing/test_l1_tags.py).
TAG_BANKS = 4  # of the L1
GROUP = 8  # lanes whose addresses the L1 looks up together


class Totals(NamedTuple):
    """The result of `inspect`. `lo` and `hi`: lowest address and highest plus one; `low_bits`: the lowest
    seven bits of the addresses, or'ed."""

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


def tag_bank(line):
    """The number of the L1's tag bank (of four) that holds a 128-byte line: the exclusive-or of all pairs of the line's
    address bits. Works on numbers, on arrays and in compiled code.
    """
    for shift in (32, 16, 8, 4, 2):
        line = line ^ line >> shift  # an array stays the caller's
    return line & TAG_BANKS - 1


_tag_bank, _record = internal_njit(tag_bank), internal_njit(access_word)


@cached_njit
def tag_passes(lines, count):
    """Most of the distinct lines[:count] in one tag bank: a pass looks up one line in each."""
    banks = np.int64(0)  # four counts of 16 bits
    for k in range(count):
        banks += np.int64(1) << 16 * _tag_bank(lines[k])
    return max(max(banks & 0xFFFF, banks >> 16 & 0xFFFF), max(banks >> 32 & 0xFFFF, banks >> 48 & 0xFFFF))


@internal_njit
def _put_sorted(values, count, value):
    """Puts a value into values[:count], ascending and distinct; gives the new count."""
    # An insertion from the end: addresses mostly ascend from lane to lane, so it stops at once.
    at = count
    while at > 0 and values[at - 1] > value:
        at -= 1
    if at > 0 and values[at - 1] == value:
        return count
    for k in range(count, at, -1):
        values[k] = values[k - 1]
    values[at] = value
    return count + 1


@internal_njit
def _group_wavefronts(address, mask, first, last, nbytes, shift, offset, banks, words):
    """Most distinct words in one bank, over lanes first..last-1. banks: int64 (32,), words: int64 (32, 32).

    A word has 1 << `shift` bytes: 4, or, where all accesses are aligned, as many of theirs as are in neighbouring
    banks, which all take as many passes then.
    """
    n_banks = np.int64(128) >> shift
    per_lane = max(1, nbytes >> shift)
    lowest, highest, seen, again = np.int64(1) << 62, np.int64(-1), np.int64(0), np.int64(0)
    for lane in range(first, last):
        if mask >> np.uint32(lane) & np.uint32(1):
            word = (address[lane] + offset) >> shift
            lowest, highest = min(lowest, word), max(highest, word)
            bit = np.int64(1) << (word & n_banks - 1)
            again |= seen & bit
            seen |= bit
    if highest < 0:
        return 0
    if highest + per_lane - lowest <= n_banks or (again == 0 and per_lane == 1):  # no two different words share a bank
        return 1
    for bank in range(n_banks):
        banks[bank] = 0
    most = 0
    for lane in range(first, last):
        if not mask >> np.uint32(lane) & np.uint32(1):
            continue
        word = (address[lane] + offset) >> shift
        for _ in range(per_lane):
            bank = word & n_banks - 1
            k = 0
            # Lanes that want the same word share its pass; only different words of one bank take turns.
            while k < banks[bank] and words[bank, k] != word:
                k += 1
            if k == banks[bank]:
                words[bank, k] = word
                banks[bank] += 1
                most = max(most, banks[bank])
            word += 1
    return most


@internal_njit
def _pairs_agree(address, mask):
    """True when every two active lanes whose numbers differ by 1 are on one address, or every two that differ by 2."""
    for distance in (1, 2):
        agree = True
        for lane in range(32):
            other = lane ^ distance
            both = mask >> np.uint32(lane) & mask >> np.uint32(other) & np.uint32(1)
            agree &= both == 0 or address[lane] == address[other]
        if agree:
            return True
    return False


@internal_njit
def _are_aligned(address, mask, nbytes):
    bits = np.int64(0)
    for lane in range(32):
        if mask >> np.uint32(lane) & np.uint32(1):
            bits |= address[lane]
    return bits & nbytes - 1 == 0


@internal_njit
def _wavefronts(address, mask, nbytes, pieces, piece_stride, is_shared_load, banks, words):
    """(wavefronts, the fewest possible): summed over pieces, and over half warps of 8-byte and quarter warps of 16-byte
    accesses. A load of shared memory whose lanes agree in pairs goes in groups of twice as many lanes.
    """
    # A pass through 32 banks of 4 bytes moves 128 bytes, so wider accesses go in halves or quarters of the warp.
    group = 32 if nbytes <= 4 else 128 // nbytes
    # A developer of NVIDIA's has the rule of pairs (docs/model/memory.md, Memory instructions): what a pass returns
    # is packed.
    if is_shared_load and nbytes > 4 and _pairs_agree(address, mask):
        group *= 2
    shift = np.int64(2)
    if nbytes > 4 and _are_aligned(address, mask, nbytes):
        shift += 1 + (nbytes > 8)
    total = 0
    ideal = 0
    for piece in range(pieces):
        for first in range(0, 32, group):
            part = _group_wavefronts(
                address, mask, first, first + group, nbytes, shift, piece * piece_stride, banks, words
            )
            total += part
            ideal += part > 0
    return total, ideal


@internal_njit
def _lookups(address, mask, offset):
    """Distinct 128-byte lines of each eight lanes, summed over the warp."""
    total = 0
    for first in range(0, 32, GROUP):
        previous = np.int64(-1)
        for lane in range(first, first + GROUP):
            line = (address[lane] + offset) >> 7
            if not mask >> np.uint32(lane) & np.uint32(1) or line == previous:
                continue
            previous = line
            seen = 0
            for other in range(first, lane):
                seen += (mask >> np.uint32(other) & np.uint32(1)) != 0 and (address[other] + offset) >> 7 == line
            total += seen == 0
    return total


@internal_njit
def _lines(sectors, count, lines):
    """Puts the distinct lines of the ascending sectors[:count] into `lines`; gives how many they are. Sectors may have
    marks of missing words.
    """
    n = 0
    for s in range(count):
        line = (sectors[s] & SECTOR_MASK) >> 2
        if n == 0 or line != lines[n - 1]:
            lines[n] = line
            n += 1
    return n


@internal_njit
def _distinct_sectors(address, mask, pieces, piece_stride, sectors):
    """Puts the distinct sectors, ascending, into `sectors`; gives how many they are."""
    count = np.int64(0)  # a plain 0 is of another type, and compiles _put_sorted once more
    for piece in range(pieces):
        previous = np.int64(-1)
        for lane in range(32):
            if mask >> np.uint32(lane) & np.uint32(1):
                sector = (address[lane] + piece * piece_stride) >> 5
                if sector != previous:
                    count = _put_sorted(sectors, count, sector)
                    previous = sector
    return count


@internal_njit
def _complete_words(mask):
    """8 bits, one for each 4-byte word of a sector all of whose bytes are in the 32-bit mask."""
    # every fourth bit; then they move together, two, four, eight
    complete = mask & mask >> 1 & mask >> 2 & mask >> 3 & 0x11111111
    complete = (complete | complete >> 3) & 0x03030303
    complete = (complete | complete >> 6) & 0x000F000F
    return (complete | complete >> 12) & 0xFF


@internal_njit
def _place(values, count, value):
    """The index of a value in values[:count], which are ascending and contain it."""
    first, rest = np.int64(0), np.int64(count)
    while rest > 1:  # without branches: which way it goes is a matter of chance
        half = rest >> 1
        first += half * (values[first + half] <= value)
        rest -= half
    return first


@internal_njit
def _mark_missing(address, mask, nbytes, pieces, piece_stride, sectors, count):
    """Adds to each sector that a store does not cover the words it leaves out (see formats.MISSING_SHIFT)."""
    covered = np.zeros(count, np.int64)
    span = (np.int64(1) << nbytes) - 1
    index = np.int64(0)
    for piece in range(pieces):
        for lane in range(32):
            if mask >> np.uint32(lane) & np.uint32(1):
                at = address[lane] + piece * piece_stride
                # Neighbouring lanes mostly store to one sector, so the search is seldom needed.
                if sectors[index] != at >> 5:
                    index = _place(sectors, count, at >> 5)
                covered[index] |= span << (at & 31)
    for s in range(count):
        sectors[s] |= np.int64(_complete_words(covered[s]) ^ 255) << MISSING_SHIFT


@internal_njit
def _mark_ends(first, end, sectors, count):
    """Marks missing words like `_mark_missing`, for a store to the bytes from `first` up to `end`: only the first and
    the last sector may be partial.
    """
    before = ((first & 31) + 3) >> 2
    after = (end & 31) >> 2 if end & 31 else 8
    sectors[0] |= ((np.int64(1) << before) - 1) << MISSING_SHIFT
    sectors[count - 1] |= (255 & -(np.int64(1) << after)) << MISSING_SHIFT


@internal_njit
def _range(address, mask):
    """(lanes, lowest address, highest address, all addresses or'ed) of a mask that is not empty."""
    lanes = 0
    lo, hi, bits = np.int64(1) << 62, np.int64(-1) << 62, np.int64(0)
    for lane in range(32):
        if mask >> np.uint32(lane) & np.uint32(1):
            a = address[lane]
            lanes += 1
            lo, hi = min(lo, a), max(hi, a)
            bits |= a
    return lanes, lo, hi, bits


@internal_njit
def _is_affine(address, nbytes):
    """True when the 32 lanes access consecutive addresses."""
    first = address[0]
    wrong = False
    for lane in range(32):
        wrong |= address[lane] != first + lane * nbytes
    return not wrong


@internal_njit
def _most_on_one(address, mask):
    """Most lanes on one address."""
    most = 0
    for lane in range(32):
        if (mask >> np.uint32(lane)) & np.uint32(1):
            count = 0
            for other in range(lane, 32):
                if (mask >> np.uint32(other)) & np.uint32(1) and address[other] == address[lane]:
                    count += 1
            most = max(most, count)
    return most


@internal_njit
def _is_inside(low, high, ranges):
    """True when one of some ranges, int64 (k, 2), holds [`low`, `high`)."""
    inside = False
    for k in range(len(ranges)):
        inside |= ranges[k, 0] <= low and high <= ranges[k, 1]
    return inside


@internal_njit
def _affine(first, nbytes, has_sectors, store, facts, sectors):
    """Finds the facts of a full warp with consecutive addresses: all follow from the first one."""
    end = first + 32 * nbytes
    count, lookups = np.int64(0), np.int64(0)
    if has_sectors:
        count = ((end - 1) >> 5) - (first >> 5) + 1
        for group in range(first, end, GROUP * nbytes):
            lookups += ((group + GROUP * nbytes - 1) >> 7) - (group >> 7) + 1
        for s in range(count):
            sectors[s] = (first >> 5) + s
        if store:
            _mark_ends(first, end, sectors, count)
    facts[COUNT], facts[LOOKUPS], facts[LANES], facts[CONFLICTS] = count, lookups, 32, 1
    facts[PASSES] = facts[IDEAL] = max(1, nbytes >> 2)


@internal_njit
def _was_found(address, mask, nbytes, on_chip, facts, by):
    """True when `facts` are also those of a warp whose first lane is `by` bytes above theirs."""
    if not is_moved(address, mask, facts, by):
        return False
    return _is_inside(facts[FIRST] + by, facts[LAST] + by + nbytes, on_chip) == (facts[STAYS] != 0)


@internal_njit
def _scattered(  # noqa: PLR0913  # compiled
    address, mask, nbytes, pieces, piece_stride, has_sectors, atomic, store, facts, sectors, banks, words
):
    """Finds the facts of a warp with any addresses."""
    piece_nbytes = nbytes if pieces == 1 else 4
    count, lookups = np.int64(0), np.int64(0)
    if has_sectors:
        count = _distinct_sectors(address, mask, pieces, piece_stride, sectors)
        for piece in range(pieces):
            lookups += _lookups(address, mask, piece * piece_stride)
        if store:
            _mark_missing(address, mask, piece_nbytes, pieces, piece_stride, sectors, count)
    by_pairs = not (has_sectors or atomic or store)
    passes, ideal = _wavefronts(address, mask, piece_nbytes, pieces, piece_stride, by_pairs, banks, words)
    facts[COUNT], facts[LOOKUPS], facts[PASSES], facts[IDEAL] = count, lookups, passes, ideal
    facts[LANES], facts[FIRST], facts[LAST], facts[BITS] = _range(address, mask)
    facts[CONFLICTS] = _most_on_one(address, mask) if atomic else 0


@cached_njit
def inspect(  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    address, present, masks, nbytes, pieces, piece_stride, has_sectors, atomic, store, on_chip, records, sectors
):
    """Writes one record per warp with a lane in `present` to `records`, and the sectors of each, ascending, to
    `sectors`; those of a `store` to a space that `has_sectors` with the words that it leaves out.

    address: int64 (32 * warps,), byte addresses; masks: uint32 (warps,), lanes that take part, a part of `present`;
    nbytes per lane. `pieces` > 1 (local memory): a lane's access is that many 4-byte words, with a stride of
    `piece_stride` bytes. on_chip: int64 (k, 2), ranges of a space that `has_sectors`; a warp all of whose lanes are in
    one has none there, and passes banks as in one that has not. sectors has room for 32 * pieces * warps. Returns the
    fields of `Totals`, with wavefronts only of accesses without sectors.
    """
    banks = np.empty(32, np.int64)
    words = np.empty((32, 32), np.int64)
    line = np.empty(32 * pieces + 1, np.int64)
    known = np.empty((PLACES, N_FIELDS), np.int64)
    known_sectors = np.empty((PLACES, 32 * pieces), np.int64)
    affine = np.empty(N_FIELDS, np.int64)
    forget_all(known)
    row, n_sectors = 0, 0
    lo, hi, low_bits = np.int64(1) << 62, np.int64(-1), np.int64(0)
    contiguous = True
    lines, wavefronts, ideal_wavefronts, ideal_sectors = 0, 0, 0, 0
    for w in range(len(masks)):
        mask = masks[w]
        if mask == 0:
            contiguous = False
            if present[w]:
                records[row] = _record(0, 0, 0, 0, 0, 0, 0)
                row += 1
            continue
        here, found = address[32 * w : 32 * w + 32], sectors[n_sectors:]
        # A full warp with consecutive addresses is the common case.
        is_affine = mask == FULL and pieces == 1 and _is_affine(here, nbytes)
        if is_affine:
            first, last, bits, facts = here[0], here[0] + 31 * nbytes, here[0], affine
            stays = _is_inside(first, last + nbytes, on_chip)
            _affine(first, nbytes, has_sectors and not stays, store, facts, found)
        else:
            lane = first_lane(mask)
            place = place_of(here[lane])
            facts = known[place]
            by = here[lane] - facts[lane]
            if not _was_found(here, mask, nbytes, on_chip, facts, by):
                by = np.int64(0)
                _, first, last, _ = _range(here, mask)
                stays = _is_inside(first, last + nbytes, on_chip)
                has = has_sectors and not stays
                _scattered(
                    here,
                    mask,
                    nbytes,
                    pieces,
                    piece_stride,
                    has,
                    atomic,
                    store,
                    facts,
                    known_sectors[place],
                    banks,
                    words,
                )
                remember(here, mask, stays, facts)
            first, last, bits, stays = facts[FIRST] + by, facts[LAST] + by, facts[BITS], facts[STAYS] != 0
            for s in range(facts[COUNT]):
                found[s] = known_sectors[place, s] + (by >> 5)
        contiguous &= is_affine and (hi < 0 or first == hi)
        lo, hi, low_bits = min(lo, first), max(hi, last + nbytes, last), low_bits | bits
        count, passes, lanes, uniform = facts[COUNT], facts[PASSES], facts[LANES], np.int64(first == last)
        line_count, tags = 0, 0
        if has_sectors and not stays:
            line_count = _lines(found, count, line)
            tags = tag_passes(line, line_count) if line_count > 1 else line_count
            n_sectors += count
            ideal_sectors += min(count, (lanes * nbytes + 31) >> 5)
        else:
            uniform |= ON_CHIP if stays else 0
            wavefronts += passes
            ideal_wavefronts += facts[IDEAL]
        conflicts = facts[CONFLICTS] if atomic else 0
        # The fields of a record have 8 bits (formats.ACCESS_DTYPE).
        records[row] = _record(
            count, min(facts[LOOKUPS], 255), min(passes, 255), min(tags, 255), lanes, conflicts, uniform
        )
        row += 1
        lines += line_count
    low_bits &= LINE_NBYTES - 1
    return row, n_sectors, lo, hi, low_bits, contiguous, lines, wavefronts, ideal_wavefronts, ideal_sectors
