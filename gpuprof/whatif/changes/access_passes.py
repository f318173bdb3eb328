"""Compiled passes over the accesses of a piece of a trace: what numpy would do in several arrays, in one.

Arrays are those of TracePiece: steps as uint32 (n_steps, 2), access records as uint64 words (see trace_entries). Masks
are bool (n_accesses,), results are written to the last arguments.
"""

from gpuprof.emulate.trace_log.piece_passes import sectors_of
from gpuprof.emulate.trace_log.trace_entries import SECTOR_MASK, SECTORS_OF_LINE
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit


@cached_njit
def replace_sectors(access_start, words, sectors, changed, moved, given, sector_start, found):
    """The sectors of accesses whose words are `changed` afterwards: those of `moved` ones are taken from `given`, one
    after the other, those of others stay. sector_start: int64 (n_warps + 1,), zeros.
    """
    read = taken = at = 0
    for warp in range(len(access_start) - 1):
        for access in range(access_start[warp], access_start[warp + 1]):
            n_before, n = sectors_of(words[access]), sectors_of(changed[access])
            if moved[access]:
                for k in range(n):
                    found[at + k] = given[taken + k]
                taken += n
            else:
                for k in range(n):
                    found[at + k] = sectors[read + k]
            read += n_before
            at += n
        sector_start[warp + 1] = at


@cached_njit
def leave_out(access_start, words, sectors, dropped, left_start, left_words, sector_start, left_sectors):
    """The accesses that are not `dropped`, with their sectors. left_start, sector_start: int64 (n_warps + 1,), zeros.
    Returns how many of the other two are used.
    """
    read = n_left = at = 0
    for warp in range(len(access_start) - 1):
        for access in range(access_start[warp], access_start[warp + 1]):
            n = sectors_of(words[access])
            if not dropped[access]:
                left_words[n_left] = words[access]
                n_left += 1
                for k in range(n):
                    left_sectors[at + k] = sectors[read + k]
                at += n
            read += n
        left_start[warp + 1], sector_start[warp + 1] = n_left, at
    return n_left, at


@internal_njit
def _probe(key, room):
    """The slot in which a key is searched first, in a table of `room` slots, a power of two. Addresses differ by powers
    of two, so their high bits count, too.
    """
    return (key ^ key >> 7 ^ key >> 17) & (room - 1)


@cached_njit
def take_least_used(words, sectors, moved, ideal, keys, uses, slots, found):
    """For each moved access, as many sectors as `ideal` says, ascending: of its lines, those that were taken least so
    far. An access of less than a line takes the line's sectors in turn.

    keys: int64, -1, and uses: int64, zeros: a table of more slots than there are lines, a power of two. slots: int64,
    room for the sectors of one access.
    """
    read = at = 0
    for access in range(len(words)):
        n = sectors_of(words[access])
        if moved[access]:
            for k in range(n):
                line = (sectors[read + k] & SECTOR_MASK) // SECTORS_OF_LINE
                slot = _probe(line, len(keys))
                while keys[slot] != line and keys[slot] != -1:
                    slot = (slot + 1) & (len(keys) - 1)
                keys[slot] = line
                slots[k] = slot
            begin, end = at, at + ideal[access]
            while at < end:
                best = slots[0]
                for k in range(n):
                    if uses[slots[k]] < uses[best]:
                        best = slots[k]
                turn = uses[best] * ideal[access] if ideal[access] < SECTORS_OF_LINE else 0
                uses[best] += 1
                for k in range(min(SECTORS_OF_LINE, end - at)):
                    sector = keys[best] * SECTORS_OF_LINE + (turn + k) % SECTORS_OF_LINE
                    to = at + k
                    while to > begin and found[to - 1] > sector:
                        found[to] = found[to - 1]
                        to -= 1
                    found[to] = sector
                at = min(at + SECTORS_OF_LINE, end)
        read += n


@cached_njit
def leave_first(access_start, words, sectors, loads, keys, owners, left, found):
    """Leaves, of the sectors of `loads`, those that no load of the same warp had before.

    left: int64 (n_accesses,), how many of each, written for loads only. keys: int64, and owners: int64, -1: a table of
    more slots than a warp has sectors, a power of two. Returns how many there are.
    """
    read = at = 0
    for warp in range(len(access_start) - 1):
        for access in range(access_start[warp], access_start[warp + 1]):
            n, before = sectors_of(words[access]), at
            for k in range(read, read + n if loads[access] else read):
                sector = sectors[k] & SECTOR_MASK
                slot = _probe(sector, len(keys))
                while owners[slot] == warp and keys[slot] != sector:
                    slot = (slot + 1) & (len(keys) - 1)
                if owners[slot] != warp:
                    owners[slot], keys[slot] = warp, sector
                    found[at] = sectors[k]
                    at += 1
            if loads[access]:
                left[access] = at - before
            read += n
    return at
