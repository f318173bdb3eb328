"""Interventions on the way of warps through their code: both sides of a branch as one."""

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.jit.cached import cached_njit
from gpuprof.timing.state.static_program import FOLDED, JOINED, StaticProgram
from gpuprof.whatif.whole_trace import positions, without_steps


def slots_of_blocks(program: StaticProgram) -> np.ndarray:
    """int64 (n_blocks,): issue slots of one run of each basic block."""
    slots = np.where(np.isin(program.inst["kind"], (FOLDED, JOINED)), 0, program.inst["slots"]).astype(np.int64)
    return np.diff(np.concatenate([[0], np.cumsum(slots)])[program.block])


def shorter_sides(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> np.ndarray:
    """bool (n_steps,): the steps of the sides of split warps that take fewer issue slots than the other lanes' side.

    A warp splits at a step whose block ends with a chosen branch, where the next step has some of its lanes only. The
    sides last until lanes of both run together again.
    """
    ends = chosen[program.block[1:] - 1]
    dropped = np.zeros(len(piece.steps), np.bool_)
    if ends.any():
        block, mask = piece.steps["block"].astype(np.int64), piece.steps["mask"].astype(np.int64)
        mark_shorter_sides(piece.step_start, block, mask, ends, slots_of_blocks(program), dropped)
    return dropped


def joined_sides(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> TracePiece:
    """The lanes of both sides of a branch run together, the longer side's steps, once."""
    at = positions(piece, program.inst["has_access"] != 0, program.block)
    return without_steps(piece, shorter_sides(program, piece, chosen), at.step)


@cached_njit
def mark_shorter_sides(start, block, mask, ends, slots, dropped):
    """Marks them in `dropped`. start: int64 (n_warps + 1,), first step of each warp; block, mask: int64 (n_steps,);
    ends: bool (n_blocks,), blocks that end with a chosen branch; slots: int64 (n_blocks,).
    """
    for warp in range(len(start) - 1):
        step, end = start[warp], start[warp + 1]
        while step + 1 < end:
            here, first = mask[step], mask[step + 1]
            step += 1
            if not ends[block[step - 1]] or first == here or first & ~here:
                continue
            begin, one, other = step, 0, 0
            while step < end:
                lanes = mask[step] & here
                if lanes == 0 or (lanes & first and lanes & ~first):
                    break
                if lanes & first:
                    one += slots[block[step]]
                else:
                    other += slots[block[step]]
                step += 1
            for k in range(begin, step):
                if (mask[k] & first != 0) == (one < other) and one and other:
                    dropped[k] = True
