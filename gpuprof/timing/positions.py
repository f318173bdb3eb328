"""Where the accesses of a piece of a trace come from."""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.piece_passes import place_origins
from gpuprof.emulate.trace_log.trace import TracePiece
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
