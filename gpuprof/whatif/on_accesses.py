"""Interventions on the accesses of a trace: where their sectors lie, how they pass the banks, how many lanes meet."""

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import ON_CHIP, SECTOR_MASK
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
from gpuprof.whatif.whole_trace import Positions, positions, sector_counts, starts, with_accesses

SECTORS_OF_LINE, SECTOR_NBYTES, LOOKUP_LANES, TAG_BANKS = 4, 32, 8, 4
PRIVATE_LINE = 1 << 39  # lines from here on are no program's: addresses have 48 bits


def without_sectors(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Loads hit the L1: they pass the load/store unit as before, and nothing goes to the L2.

    chosen: bool (n_instructions,), as in all functions here. A load whose loop waits for other warps is left as it is.
    """
    at = positions(piece, program.inst["has_access"] != 0, program.block)
    inst = program.inst
    loads = chosen & np.isin(inst["kind"], (GLOBAL, GENERIC)) & np.isin(inst["operation"], (LOAD, COPY))
    loads &= inst["polls"] == 0
    hits = loads[at.inst] & (sector_counts(piece.accesses) > 0)
    accesses = piece.accesses.copy()
    accesses["n_sectors"][hits] = accesses["more_sectors"][hits] = 0
    return with_accesses(piece, np.ones(len(hits), np.bool_), accesses, piece.sectors[~_of_sectors(piece, hits)])


def _of_sectors(piece: TracePiece, chosen: np.ndarray) -> np.ndarray:
    """bool (n_sectors,): of a mask of accesses, their sectors."""
    return np.repeat(chosen, sector_counts(piece.accesses))


def packed(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Accesses to global memory take the fewest sectors for their bytes.

    An access has the lines that its bytes fill, of those that it has touched: each execution of a warp, and each warp
    of the grid, takes the next in turn, so that together they still touch all of them.
    """
    at, inst = positions(piece, program.inst["has_access"] != 0, program.block), program.inst
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
    turns = _turns(piece, at)[moved]
    return _with_sectors(piece, accesses, moved, _in_turn(piece, moved, ideal[moved], turns))


def _stays(piece: TracePiece) -> np.ndarray:
    return piece.accesses["uniform"] & ON_CHIP != 0


def _turns(piece: TracePiece, at: Positions) -> np.ndarray:
    """int64 (n,): the number of the warp in its grid, and how often it has executed the instruction before."""
    key = at.warp * (int(at.inst.max(initial=0)) + 1) + at.inst
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    rank = np.empty(len(key), np.int64)
    rank[order] = np.arange(len(key)) - np.repeat(first, np.diff(np.append(first, len(key))))
    return rank + at.warp + piece.first_block * piece.warps_per_block


def _in_turn(piece: TracePiece, moved: np.ndarray, ideal: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """The sectors of the moved accesses, access by access, ascending."""
    lines = (piece.sectors[_of_sectors(piece, moved)] & SECTOR_MASK) >> 2
    owner = np.repeat(np.arange(len(ideal)), sector_counts(piece.accesses)[moved])
    is_new = (np.diff(lines, prepend=-1) != 0) | (np.diff(owner, prepend=-1) != 0)
    lines, first = lines[is_new], np.searchsorted(owner[is_new], np.arange(len(ideal) + 1))
    n_lines = np.diff(first)
    which, place = np.repeat(np.arange(len(ideal)), ideal), np.arange(int(ideal.sum()))
    place -= np.repeat(starts(ideal)[:-1], ideal)
    wanted = -(-ideal // SECTORS_OF_LINE)
    line = (turns * wanted)[which] + place // SECTORS_OF_LINE
    # An access of less than a line takes the line's sectors in turn, too.
    again = (turns // np.maximum(n_lines, 1) * ideal)[which]
    sector = np.where(ideal[which] < SECTORS_OF_LINE, again + place, place) % SECTORS_OF_LINE
    found = lines[first[:-1][which] + line % n_lines[which]] * SECTORS_OF_LINE + sector
    return found[np.lexsort((found, which))]


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
    at, inst = positions(piece, program.inst["has_access"] != 0, program.block), program.inst
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
    at, inst = positions(piece, program.inst["has_access"] != 0, program.block), program.inst
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


def uniform(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """All lanes of a load of constants read the same one."""
    at = positions(piece, program.inst["has_access"] != 0, program.block)
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
