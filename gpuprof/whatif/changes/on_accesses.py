"""Interventions on the accesses of a trace: where their sectors lie, how they pass the banks, how many lanes meet."""

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import ON_CHIP, SECTOR_MASK
from gpuprof.emulate.trace_log.whole_pieces import starts
from gpuprof.jit.cached import cached_njit
from gpuprof.timing.state.layout import SECTOR_NBYTES
from gpuprof.timing.state.static_program import (
    ATOMIC,
    CONSTANT,
    COPY,
    GENERIC,
    GLOBAL,
    LOAD,
    REDUCTION,
    SHARED,
    STORE,
    StaticProgram,
)
from gpuprof.whatif.changes.whole_trace import positions, sector_counts, with_accesses

SECTORS_OF_LINE, LOOKUP_LANES, TAG_BANKS = 4, 8, 4
PRIVATE_LINE = 1 << 39  # lines from here on are no program's: addresses have 48 bits


def without_sectors(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Loads hit the L1: they pass the load/store unit as before, and nothing goes to the L2.

    chosen: bool (n_instructions,), as in all functions here. A load whose loop waits for other warps is left as it is.
    """
    at = positions(piece, program)
    inst = program.inst
    loads = chosen & np.isin(inst["kind"], (GLOBAL, GENERIC)) & np.isin(inst["operation"], (LOAD, COPY))
    loads &= inst["polls"] == 0
    hits = loads[at.inst] & (sector_counts(piece.accesses) > 0)
    accesses = piece.accesses.copy()
    accesses["n_sectors"][hits] = accesses["more_sectors"][hits] = 0
    return with_accesses(piece, np.ones(len(hits), np.bool_), accesses, piece.sectors[~_of_sectors(piece, hits)])


def read_once(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Loads of what the warp has loaded by one of them before hit the L1."""
    at = positions(piece, program)
    inst = program.inst
    loads = (chosen & global_loads(inst) & (inst["polls"] == 0))[at.inst] & (sector_counts(piece.accesses) > 0)
    counts = sector_counts(piece.accesses)
    of_loads = np.repeat(loads, counts)
    keys = np.repeat(at.warp, counts)[of_loads] << 48 | piece.sectors[of_loads] & SECTOR_MASK
    is_first = np.zeros(len(keys), np.bool_)
    is_first[np.unique(keys, return_index=True)[1]] = True
    kept = np.ones(len(piece.sectors), np.bool_)
    kept[of_loads] = is_first
    left = np.add.reduceat(np.append(kept, False).astype(np.int64), starts(counts)[:-1]) * (counts > 0)
    accesses = piece.accesses.copy()
    accesses["n_sectors"][loads], accesses["more_sectors"][loads] = left[loads] & 255, left[loads] >> 8
    return with_accesses(piece, np.ones(len(loads), np.bool_), accesses, piece.sectors[kept])


def _of_sectors(piece: TracePiece, chosen: np.ndarray) -> np.ndarray:
    """bool (n_sectors,): of a mask of accesses, their sectors."""
    return np.repeat(chosen, sector_counts(piece.accesses))


def packed(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Accesses to global memory take the fewest sectors for their bytes.

    An access has the lines that its bytes fill, of those that it has touched: those that were taken least before, so
    that together they still touch all of them.
    """
    at, inst = positions(piece, program), program.inst
    lanes, nbytes = piece.accesses["lanes"].astype(np.int64), inst["lane_nbytes"].astype(np.int64)[at.inst]
    ideal = -(-lanes * nbytes // SECTOR_NBYTES)
    of_global = np.isin(inst["kind"], (GLOBAL, GENERIC)) & (inst["is_local"] == 0) & (inst["polls"] == 0)
    counts = sector_counts(piece.accesses)
    moved = (chosen & of_global)[at.inst] & (nbytes > 0) & (counts > ideal) & ~_stays(piece)
    accesses = piece.accesses.copy()
    accesses["n_sectors"][moved], accesses["more_sectors"][moved] = ideal[moved], 0
    accesses["n_lookups"][moved] = -(-lanes[moved] // LOOKUP_LANES)
    accesses["wavefronts"][moved] = np.maximum(1, nbytes[moved] >> 2)
    n_lines = -(-ideal[moved] // SECTORS_OF_LINE)
    accesses["tag_passes"][moved] = -(-n_lines // TAG_BANKS)
    return _with_sectors(piece, accesses, moved, _in_turn(piece, moved, ideal[moved]))


def _stays(piece: TracePiece) -> np.ndarray:
    return piece.accesses["uniform"] & ON_CHIP != 0


def _in_turn(piece: TracePiece, moved: np.ndarray, ideal: np.ndarray) -> np.ndarray:
    """The sectors of the moved accesses, access by access, ascending."""
    counts = sector_counts(piece.accesses)[moved]
    lines, dense = np.unique((piece.sectors[_of_sectors(piece, moved)] & SECTOR_MASK) >> 2, return_inverse=True)
    taken, turns = np.empty((2, int((-(-ideal // SECTORS_OF_LINE)).sum())), np.int64)
    take_least_used(starts(counts), dense.astype(np.int64), ideal, np.zeros(len(lines), np.int64), taken, turns)
    which, place = np.repeat(np.arange(len(ideal)), ideal), np.arange(int(ideal.sum()))
    place -= np.repeat(starts(ideal)[:-1], ideal)
    line = starts(-(-ideal // SECTORS_OF_LINE))[:-1][which] + place // SECTORS_OF_LINE
    # An access of less than a line takes the line's sectors in turn, too.
    again = np.where(ideal[which] < SECTORS_OF_LINE, turns[line] * ideal[which], 0)
    found = lines[taken[line]] * SECTORS_OF_LINE + (again + place) % SECTORS_OF_LINE
    return found[np.lexsort((found, which))]


@cached_njit
def take_least_used(start, lines, ideal, uses, taken, turns):
    """For each access the lines that were taken least so far, of those that it has, as many as its bytes fill.

    start: int64 (n + 1,), where each access' sectors begin; lines: int64, the number of each sector's line, ascending
    within an access; ideal: int64 (n,), sectors; uses: int64 (n_lines,), how often each was taken. Writes the line and
    how often it had been taken before to `taken` and `turns`.
    """
    at = 0
    for access in range(len(ideal)):
        for _ in range((ideal[access] + SECTORS_OF_LINE - 1) // SECTORS_OF_LINE):
            best = lines[start[access]]
            for k in range(start[access], start[access + 1]):
                if uses[lines[k]] < uses[best]:
                    best = lines[k]
            taken[at], turns[at] = best, uses[best]
            uses[best] += 1
            at += 1


def _with_sectors(piece: TracePiece, accesses: np.ndarray, moved: np.ndarray, sectors: np.ndarray) -> TracePiece:
    """The piece with changed accesses, those of a mask with sectors of their own."""
    counts = sector_counts(accesses)
    joined = np.empty(int(counts.sum()), np.int64)
    is_moved = np.repeat(moved, counts)
    joined[is_moved] = sectors
    joined[~is_moved] = piece.sectors[~_of_sectors(piece, moved)]
    return with_accesses(piece, np.ones(len(moved), np.bool_), accesses, joined)


def without_conflicts(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Accesses to shared memory pass its banks as often as their bytes need."""
    at, inst = positions(piece, program), program.inst
    accesses = piece.accesses.copy()
    shared = np.isin(inst["kind"], (SHARED, GENERIC)) & ~np.isin(inst["operation"], (ATOMIC, REDUCTION))
    banks = (chosen & shared)[at.inst] & (sector_counts(piece.accesses) == 0)
    least = inst["least_passes"].astype(np.int64)[at.inst]
    accesses["wavefronts"][banks] = np.minimum(accesses["wavefronts"], least)[banks]
    copies = (chosen & (inst["operation"] == COPY))[at.inst]
    words = np.maximum(1, inst["lane_nbytes"].astype(np.int64) >> 2)[at.inst]
    accesses["conflicts"][copies] = np.minimum(accesses["conflicts"], words)[copies]
    return piece._replace(accesses=accesses)


def with_addresses_of_their_own(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """No two lanes of an atomic meet, and each warp of the grid has lines of its own for it."""
    at, inst = positions(piece, program), program.inst
    atomics = (chosen & np.isin(inst["operation"], (ATOMIC, REDUCTION)))[at.inst] & (piece.accesses["lanes"] > 0)
    accesses = piece.accesses.copy()
    accesses["conflicts"][atomics] = 1
    in_shared = atomics & (sector_counts(piece.accesses) == 0)
    accesses["wavefronts"][in_shared] = 1
    moved = atomics & ~in_shared
    nbytes = piece.accesses["lanes"].astype(np.int64) * inst["lane_nbytes"].astype(np.int64)[at.inst]
    ideal = np.maximum(1, -(-nbytes // SECTOR_NBYTES))[moved]
    accesses["n_sectors"][moved], accesses["more_sectors"][moved] = ideal, 0
    n_lines = -(-ideal // SECTORS_OF_LINE)
    accesses["tag_passes"][moved] = -(-n_lines // TAG_BANKS)
    warp = (at.warp + piece.first_block * piece.warps_per_block)[moved]
    first = (PRIVATE_LINE + warp * int(n_lines.max(initial=1))) * SECTORS_OF_LINE
    place = np.arange(int(ideal.sum())) - np.repeat(starts(ideal)[:-1], ideal)
    return _with_sectors(piece, accesses, moved, np.repeat(first, ideal) + place)


def one_a_warp(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Atomics have one lane, on the first sector that they had."""
    at, inst = positions(piece, program), program.inst
    mine = (chosen & np.isin(inst["operation"], (ATOMIC, REDUCTION)))[at.inst] & (piece.accesses["lanes"] > 0)
    counts = sector_counts(piece.accesses)
    moved = mine & (counts > 0)
    accesses = piece.accesses.copy()
    for name, rows, value in (
        ("lanes", mine, 1),
        ("conflicts", mine, 1),
        ("wavefronts", mine, 1),
        ("n_lookups", moved, 1),
        ("tag_passes", moved, 1),
        ("n_sectors", moved, 1),
        ("more_sectors", moved, 0),
    ):
        accesses[name][rows] = value
    is_first = np.zeros(len(piece.sectors), np.bool_)
    is_first[starts(counts)[:-1][moved]] = True
    return _with_sectors(piece, accesses, moved, piece.sectors[is_first])


def uniform(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """All lanes of a load of constants read the same one."""
    at = positions(piece, program)
    counts = sector_counts(piece.accesses)
    several = (chosen & (program.inst["kind"] == CONSTANT))[at.inst] & (counts > 1)
    accesses = piece.accesses.copy()
    accesses["n_sectors"][several], accesses["more_sectors"][several] = 1, 0
    is_first = np.zeros(len(piece.sectors), np.bool_)
    is_first[starts(counts)[:-1][several]] = True
    return _with_sectors(piece, accesses, several, piece.sectors[is_first])


def global_loads(inst: np.ndarray) -> np.ndarray:
    """bool (n,): instructions that may read global or local memory through the L1."""
    return np.isin(inst["kind"], (GLOBAL, GENERIC)) & np.isin(inst["operation"], (LOAD, COPY))


def global_accesses(inst: np.ndarray) -> np.ndarray:
    return np.isin(inst["kind"], (GLOBAL, GENERIC)) & (inst["is_local"] == 0) & (inst["lane_nbytes"] > 0)


def shared_accesses(inst: np.ndarray) -> np.ndarray:
    of_data = np.isin(inst["operation"], (LOAD, STORE, COPY))
    return (np.isin(inst["kind"], (SHARED, GENERIC)) & of_data) | (inst["operation"] == COPY)


def atomics(inst: np.ndarray) -> np.ndarray:
    in_memory = np.isin(inst["kind"], (GLOBAL, GENERIC, SHARED))
    return in_memory & np.isin(inst["operation"], (ATOMIC, REDUCTION)) & (inst["lane_nbytes"] + inst["lane_turns"] > 0)


def accesses(inst: np.ndarray) -> np.ndarray:
    """bool (n,): loads, stores, copies and atomics."""
    return global_accesses(inst) | shared_accesses(inst) | atomics(inst)
