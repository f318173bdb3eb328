"""Access records of a piece of trace, each with its instruction: the trace has basic blocks and records alone."""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.log.formats import ACCESS_DTYPE, MISSING_SHIFT, SECTOR_MASK, join_sectors
from gpuprof.emulate.log.trace import TracePiece
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.program import basic_block_starts
from gpuprof.records.schema import ACCESS_COUNTERS_DTYPE

# What these fields of a record mean is another thing for barriers and slow paths, which access nothing.
SUMMED = {
    "lanes": "lanes",
    "wavefronts": "wavefronts",
    "tag_passes": "tag_passes",
    "tag_lookups": "n_lookups",
    "conflicts": "conflicts",
}


class Recorded(NamedTuple):
    """The instructions of a module that write access records. `code` has them in the order of basic blocks: block b's
    are first[b] to first[b + 1] - 1. Of each instruction of the module: whether it accesses memory, and whether that
    is global memory (or local, or generic), and whether it writes there.
    """

    code: np.ndarray  # int64 (records of all blocks,): indexes in the module's code
    first: np.ndarray  # int64 (blocks + 1,)
    is_access: np.ndarray  # bool (instructions,)
    is_global: np.ndarray
    is_store: np.ndarray


class Accesses(NamedTuple):
    """Of a piece, warp by warp, in the order of each. int64 but for `records`."""

    instruction: np.ndarray  # (n,)
    warp: np.ndarray  # (n,): row of the piece
    place: np.ndarray  # (n,): number among its warp's in the piece
    records: np.ndarray  # ACCESS_DTYPE (n,)
    first: np.ndarray  # (n + 1,): where the sectors of each begin
    sectors: np.ndarray  # with the bits of words left out


GLOBAL_SPACES = ("global", "local", "generic")
WRITES = ("store", "atomic", "reduction")


def recorded(code: np.ndarray, has_access: np.ndarray) -> Recorded:
    """`has_access`, bool (instructions,): which write a record each time a warp executes them."""
    with_record = np.flatnonzero(has_access)
    starts = basic_block_starts(code)
    rows = [TABLE[number] for number in code["opcode"]]
    is_access = np.array([row.space not in ("", "barrier") for row in rows], np.bool_)
    return Recorded(
        with_record,
        np.concatenate([np.searchsorted(with_record, starts), [len(with_record)]]),
        is_access,
        np.array([row.space in GLOBAL_SPACES for row in rows], np.bool_),
        np.array([KINDS[row.kind].operation in WRITES for row in rows], np.bool_),
    )


def accesses_of(piece: TracePiece, code: Recorded) -> Accesses:
    blocks = piece.steps["block"].astype(np.int64)
    count = code.first[blocks + 1] - code.first[blocks]
    n = len(piece.accesses)
    # Within a step the records are those of the basic block, one after the other.
    place = np.arange(n) - np.repeat(np.cumsum(count) - count, count)
    instruction = code.code[np.repeat(code.first[blocks], count) + place]
    of_warp = np.diff(piece.access_start)
    n_sectors = join_sectors(piece.accesses["n_sectors"], piece.accesses["more_sectors"])
    return Accesses(
        instruction,
        np.repeat(np.arange(len(of_warp)), of_warp),
        np.arange(n) - np.repeat(piece.access_start[:-1], of_warp),
        piece.accesses,
        np.concatenate([[0], np.cumsum(n_sectors)]),
        piece.sectors,
    )


class Lines(NamedTuple):
    """Accesses to lines: each line that an access touches once. int64 (n,) but for `partial`."""

    access: np.ndarray
    line: np.ndarray
    sectors: np.ndarray
    partial: np.ndarray  # of these, sectors that a store writes in part


def lines_of(accesses: Accesses, wanted: np.ndarray) -> Lines:
    """The lines of the accesses that are wanted, bool (accesses,)."""
    n_sectors = np.diff(accesses.first)
    access = np.flatnonzero(wanted & (n_sectors > 0))
    sectors, n_sectors = _sectors_of(accesses, access, n_sectors), n_sectors[access]
    if not len(sectors):
        nothing = np.empty(0, np.int64)
        return Lines(nothing, nothing, nothing, nothing)
    starts = np.cumsum(n_sectors) - n_sectors
    # Words left out make a number large: most pieces have none.
    is_partial = sectors >> MISSING_SHIFT != 0 if int(sectors.max()) > SECTOR_MASK else None
    line = (sectors >> 2 if is_partial is None else (sectors & SECTOR_MASK) >> 2).astype(np.int64)
    begins = np.ones(len(line), np.bool_)
    np.not_equal(line[1:], line[:-1], out=begins[1:])
    begins[starts] = True
    first = np.flatnonzero(begins)
    of_access = np.repeat(access, np.diff(np.searchsorted(first, starts), append=len(first)))
    partial = (
        np.zeros(len(first), np.int64) if is_partial is None else np.add.reduceat(is_partial.astype(np.int64), first)
    )
    return Lines(of_access, line[first], np.diff(first, append=len(line)), partial)


def _sectors_of(accesses: Accesses, access: np.ndarray, n_sectors: np.ndarray) -> np.ndarray:
    """The sectors of some accesses, in order. Most often they are all that there are."""
    if int(n_sectors[access].sum()) == len(accesses.sectors):
        return accesses.sectors
    chosen = np.zeros(len(n_sectors), np.bool_)
    chosen[access] = True
    return accesses.sectors[np.repeat(chosen, n_sectors)]


class AccessSums:
    """Sums over the accesses of each instruction of a module."""

    def __init__(self, code: Recorded):
        self.code = code
        self.sums = np.zeros(len(code.is_access), ACCESS_COUNTERS_DTYPE)

    def add(self, accesses: Accesses, lines: Lines) -> None:
        """`lines`: those of the accesses to global memory."""
        takes_part = (accesses.records["lanes"] > 0) & self.code.is_access[accesses.instruction]
        at = accesses.instruction[takes_part]
        self._count("accesses", at)
        for name, field in SUMMED.items():
            self._count(name, at, accesses.records[field][takes_part])
        self._count("sectors", at, np.diff(accesses.first)[takes_part])
        of_line = accesses.instruction[lines.access]
        self._count("lines", of_line)
        self._count("partial_sectors", of_line, lines.partial)
        self._count("partial_requests", of_line, lines.partial > 0)

    def _count(self, name: str, at: np.ndarray, weights: np.ndarray | None = None) -> None:
        # Sums of a piece are far below 2^53, so that doubles hold them.
        self.sums[name] += np.bincount(at, weights, len(self.sums)).astype(np.uint64)

    def rows(self, pcs: np.ndarray) -> np.ndarray:
        """ACCESS_COUNTERS_DTYPE: of the instructions that accessed something; `pcs` are those of all."""
        self.sums["pc"] = pcs
        return self.sums[self.sums["accesses"] > 0]


assert set(SUMMED.values()) <= set(ACCESS_DTYPE.names)
