"""Sums over the accesses of a launch, by instruction."""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.program import basic_block_starts
from gpuprof.run.trace_counts.trace_walk import IS_ACCESS, IS_GLOBAL, IS_STORE, SUMS, walk
from gpuprof.tables.blocks import ACCESS_COUNTERS

GLOBAL_SPACES = ("global", "local", "generic")
WRITES = ("store", "atomic", "reduction")


class Recorded(NamedTuple):
    """The instructions of a module that write access records. `code` has them in the order of basic blocks: block b's
    are first[b] to first[b + 1] - 1.
    """

    code: np.ndarray  # int64 (records of all blocks,): indexes in the module's code
    first: np.ndarray  # int64 (blocks + 1,)
    does: np.ndarray  # uint8 (instructions of the module,): walk.IS_ACCESS and so on


class Seen(NamedTuple):
    """Lines of global memory (or local, or generic) in a piece: how many, and rows of walk.SEEN of some."""

    n_lines: int
    of_device: np.ndarray
    of_blocks: np.ndarray


def recorded(code: np.ndarray, has_access: np.ndarray) -> Recorded:
    """`has_access`, bool (instructions,): which write a record each time a warp executes them."""
    with_record = np.flatnonzero(has_access)
    first = np.append(np.searchsorted(with_record, basic_block_starts(code)), len(with_record))
    return Recorded(with_record, first, np.array([_does(TABLE[number]) for number in code["opcode"]], np.uint8))


def _does(row) -> int:
    # Fields of a record have another meaning for barriers and slow paths, which access nothing.
    is_access = IS_ACCESS if row.space not in ("", "barrier") else 0
    is_global = IS_GLOBAL if row.space in GLOBAL_SPACES else 0
    return is_access | is_global | (IS_STORE if KINDS[row.kind].operation in WRITES else 0)


class AccessSums:
    """Sums over the accesses of each instruction of a module."""

    def __init__(self, code: Recorded):
        self.code = code
        self.sums = np.zeros((len(code.does), len(SUMS)), np.int64)

    def add(self, piece: TracePiece, n_exact: int, stride: int) -> Seen:
        """Gives the lines that are looked at; n_exact, stride: see `walk`."""
        steps = piece.steps.view(np.uint32).reshape(-1, 2)
        trace = steps, piece.step_start, piece.accesses.view(np.uint64), piece.sectors
        seen = walk(piece.first_block, piece.warps_per_block, *trace, *self.code, n_exact, stride, self.sums)
        return Seen(*seen)

    def rows(self, pcs: np.ndarray) -> np.ndarray:
        """ACCESS_COUNTERS.dtype: of the instructions that accessed something; `pcs` are those of all."""
        rows = np.zeros(len(self.sums), ACCESS_COUNTERS.dtype)
        rows["pc"] = pcs
        for column, name in enumerate(SUMS):
            rows[name] = self.sums[:, column]
        return rows[rows["accesses"] > 0]


assert ACCESS_DTYPE.itemsize == 8
