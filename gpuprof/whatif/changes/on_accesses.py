"""Interventions on the accesses of a trace: where their sectors lie, how they pass the banks, how many lanes meet."""

import numpy as np

from gpuprof.emulate.trace_log.trace import NO_SECTORS, TracePiece
from gpuprof.emulate.trace_log.trace_entries import ON_CHIP, SECTORS_OF_LINE
from gpuprof.emulate.trace_log.whole_pieces import starts, words_of
from gpuprof.timing.piece_accesses import positions, sector_counts
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
from gpuprof.whatif.changes.access_passes import leave_first, take_least_used
from gpuprof.whatif.changes.whole_trace import own_accesses, with_sectors

LOOKUP_LANES, TAG_BANKS = 8, 4

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
    accesses = own_accesses(piece)
    accesses["n_sectors"][hits] = accesses["more_sectors"][hits] = 0
    return with_sectors(piece, accesses, hits, NO_SECTORS)


def read_once(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Loads of what the warp has loaded by one of them before hit the L1."""
    at = positions(piece, program)
    inst = program.inst
    loads = (chosen & global_loads(inst) & (inst["polls"] == 0))[at.inst] & (sector_counts(piece.accesses) > 0)
    counts = sector_counts(piece.accesses)
    found, left = np.empty(int(counts[loads].sum()), np.int64), np.zeros(len(loads), np.int64)
    room = _room_of(int(np.diff(piece.sector_start).max(initial=0)))
    keys, owners = np.zeros(room, np.int64), np.full(room, -1)
    words = words_of(piece.accesses)
    n = leave_first(piece.access_start, words, piece.sectors, loads, keys, owners, left, found)
    accesses = own_accesses(piece)
    accesses["n_sectors"][loads], accesses["more_sectors"][loads] = left[loads] & 255, left[loads] >> 8
    return with_sectors(piece, accesses, loads, found[:n])


def _room_of(count: int) -> int:
    """The slots of a table of so many keys, half of them free at least: a power of two."""
    return 2 << max(0, count - 1).bit_length()


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
    accesses = own_accesses(piece)
    accesses["n_sectors"][moved], accesses["more_sectors"][moved] = ideal[moved], 0
    accesses["n_lookups"][moved] = -(-lanes[moved] // LOOKUP_LANES)
    accesses["wavefronts"][moved] = np.maximum(1, nbytes[moved] >> 2)
    n_lines = -(-ideal[moved] // SECTORS_OF_LINE)
    accesses["tag_passes"][moved] = -(-n_lines // TAG_BANKS)
    return with_sectors(piece, accesses, moved, _in_turn(piece, moved, ideal))


def _stays(piece: TracePiece) -> np.ndarray:
    return piece.accesses["uniform"] & ON_CHIP != 0


def _in_turn(piece: TracePiece, moved: np.ndarray, ideal: np.ndarray) -> np.ndarray:
    """The sectors of the moved accesses, access by access, ascending. ideal: int64 (n,), how many each has."""
    counts = sector_counts(piece.accesses)[moved]
    room = _room_of(int(counts.sum()))
    keys, uses, slots = np.full(room, -1), np.zeros(room, np.int64), np.empty(counts.max(initial=1), np.int64)
    found = np.empty(int(ideal[moved].sum()), np.int64)
    take_least_used(words_of(piece.accesses), piece.sectors, moved, ideal, keys, uses, slots, found)
    return found


def without_conflicts(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Accesses to shared memory pass its banks as often as their bytes need."""
    at, inst = positions(piece, program), program.inst
    accesses = own_accesses(piece)
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
    accesses = own_accesses(piece)
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
    return with_sectors(piece, accesses, moved, np.repeat(first, ideal) + place)


def one_a_warp(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """Atomics have one lane, on the first sector that they had."""
    at, inst = positions(piece, program), program.inst
    mine = (chosen & np.isin(inst["operation"], (ATOMIC, REDUCTION)))[at.inst] & (piece.accesses["lanes"] > 0)
    counts = sector_counts(piece.accesses)
    moved = mine & (counts > 0)
    accesses = own_accesses(piece)
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
    return with_sectors(piece, accesses, moved, piece.sectors[is_first])


def uniform(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """All lanes of a load of constants read the same one."""
    at = positions(piece, program)
    counts = sector_counts(piece.accesses)
    several = (chosen & (program.inst["kind"] == CONSTANT))[at.inst] & (counts > 1)
    accesses = own_accesses(piece)
    accesses["n_sectors"][several], accesses["more_sectors"][several] = 1, 0
    is_first = np.zeros(len(piece.sectors), np.bool_)
    is_first[starts(counts)[:-1][several]] = True
    return with_sectors(piece, accesses, several, piece.sectors[is_first])


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
