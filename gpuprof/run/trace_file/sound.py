"""Checks of a trace that comes from a file. Compiled code follows it without bounds checks, so whatever it uses as a
number of something must be one.
"""

from collections.abc import Callable, Iterator

import numpy as np

from gpuprof.chips import Chip
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import N_MBARRIERS
from gpuprof.emulate.trace_log.whole_pieces import starts
from gpuprof.isa.families.control import N_BARRIERS
from gpuprof.timing.piece_accesses import line_counts, positions, sector_counts
from gpuprof.timing.state.static_program import ARRIVE, BARRIER, BULK, MBARRIER, MBARRIER_WAIT, StaticProgram

LINES_OF_LANE = 2  # of an access that is not aligned: machine.rooms_of makes room for as many requests
# By kind of instruction, what its accesses number with a field, and how many of these there are.
NUMBERED = {
    MBARRIER: ("tag_passes", N_MBARRIERS),
    MBARRIER_WAIT: ("conflicts", N_MBARRIERS),
    BULK: ("conflicts", N_MBARRIERS),
    BARRIER: ("conflicts", N_BARRIERS),
    ARRIVE: ("conflicts", N_BARRIERS),
}


def fault_of(piece: TracePiece, program: StaticProgram, chip: Chip) -> str:
    """Says what is wrong with a piece whose arrays are as long as its header says; "" for one that is sound."""
    return next((what for what, is_sound in _checks(piece, program, chip) if not is_sound()), "")


def _checks(piece: TracePiece, program: StaticProgram, chip: Chip) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Says what is wrong where a check fails, in an order in which each may rely on those before."""
    yield "warps whose steps overlap", lambda: _follow(piece.step_start, len(piece.steps))
    yield "warps whose accesses overlap", lambda: _follow(piece.access_start, len(piece.accesses))
    yield "warps whose sectors overlap", lambda: _follow(piece.sector_start, len(piece.sectors))
    yield "a warp without a step", lambda: bool((np.diff(piece.step_start) > 0).all())
    blocks = piece.steps["block"]
    yield "a basic block that the code has not", lambda: int(blocks.max()) < len(program.block) - 1
    yield "accesses that do not match the steps", lambda: _match_steps(piece, program)
    yield "sectors that do not match the accesses", lambda: _match_accesses(piece)
    yield "a negative address", lambda: not (piece.sectors < 0).any()
    kind = program.inst["kind"][positions(piece, program).inst]
    yield "an access of more lines than lanes have", lambda: _few_lines(piece, kind, chip)
    yield "a barrier that there is not", lambda: _numbers_exist(piece.accesses, kind)


def _follow(start: np.ndarray, count: int) -> bool:
    return start[0] == 0 and start[-1] == count and bool((start[1:] >= start[:-1]).all())


def _match_steps(piece: TracePiece, program: StaticProgram) -> bool:
    due = np.zeros(len(piece.steps) + 1, np.int64)
    np.cumsum(program.accesses_per_block[piece.steps["block"]], out=due[1:])
    return np.array_equal(due[piece.step_start], piece.access_start)


def _match_accesses(piece: TracePiece) -> bool:
    return np.array_equal(starts(sector_counts(piece.accesses))[piece.access_start], piece.sector_start)


def _few_lines(piece: TracePiece, kind: np.ndarray, chip: Chip) -> bool:
    return not ((line_counts(piece) > LINES_OF_LANE * chip.warp_lanes) & (kind != BULK)).any()


def _numbers_exist(accesses: np.ndarray, kind: np.ndarray) -> bool:
    return all((accesses[field][kind == which] < count).all() for which, (field, count) in NUMBERED.items())
