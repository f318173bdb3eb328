"""The accesses of a piece of a trace: their origins, and how many sectors and lines each has."""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.piece_passes import count_lines, count_sectors, place_origins
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.whole_pieces import words_of
from gpuprof.timing.state.static_program import StaticProgram


class Positions(NamedTuple):
    """The origin of each access of a piece, int64 (n,): the step that made it, its warp's row, the instruction."""

    step: np.ndarray
    warp: np.ndarray
    inst: np.ndarray


def positions(piece: TracePiece, program: StaticProgram) -> Positions:
    accessing = np.flatnonzero(program.inst["has_access"])
    first = np.searchsorted(accessing, program.block)  # of each block, its first among these
    found = Positions(*(np.empty(len(piece.accesses), np.int64) for _ in Positions._fields))
    steps = np.ascontiguousarray(piece.steps).view(np.uint32).reshape(-1, 2)
    place_origins(piece.step_start, steps, first, accessing, *found)
    return found


def sector_counts(accesses: np.ndarray) -> np.ndarray:
    """int64: the sectors of each ACCESS_DTYPE record."""
    counts = np.empty(accesses.size, np.int64)
    count_sectors(words_of(accesses.ravel()), counts)
    return counts.reshape(accesses.shape)


def line_counts(piece: TracePiece) -> np.ndarray:
    """int64 (n_accesses,): the lines of each access; one that comes again after others counts again."""
    counts = np.empty(len(piece.accesses), np.int64)
    count_lines(words_of(piece.accesses), piece.sectors, counts)
    return counts
