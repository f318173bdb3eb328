"""Interventions on the way of warps through their code: both sides of a branch as one."""

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.jit.cached import cached_njit
from gpuprof.timing.piece_accesses import positions
from gpuprof.timing.state.static_program import FOLDED, JOINED, StaticProgram
from gpuprof.whatif.changes.whole_trace import without_steps

ROUNDING = 1e-9  # of sums of parts of warps


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
    at = positions(piece, program)
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


def full_warps(program: StaticProgram, piece: TracePiece) -> TracePiece:
    """Leaves as many runs of each basic block as its lanes fill warps: as if lanes that go the same way were together.

    A run stays where the lanes of the runs so far, in the order of the warps, have filled one warp more. A warp keeps
    its first step.
    """
    lanes = np.bitwise_count(piece.steps["mask"]).astype(np.int64)
    warp = np.repeat(np.arange(len(piece.final)), np.diff(piece.step_start))
    full = np.maximum.reduceat(lanes, piece.step_start[:-1])[warp]  # the launched lanes of its warp
    order = np.argsort(piece.steps["block"], kind="stable")
    parts = (lanes / full)[order]
    begins = np.diff(piece.steps["block"][order].astype(np.int64), prepend=-1) != 0
    so_far = np.cumsum(parts)
    first = np.flatnonzero(begins)
    so_far -= np.repeat(so_far[first] - parts[first], np.diff(np.append(first, len(parts))))
    dropped = np.zeros(len(order), np.bool_)
    dropped[order] = np.floor(so_far + ROUNDING) <= np.floor(so_far - parts + ROUNDING)
    dropped[piece.step_start[:-1]] = False
    return without_steps(piece, dropped, _made_by(program, piece))


def thinned(program: StaticProgram, piece: TracePiece, chosen: np.ndarray, every: int) -> TracePiece:
    """Leaves the first of so many runs of the basic blocks of chosen instructions by a warp, and the next such one."""
    of_block = np.add.reduceat(chosen.astype(np.int64), program.block[:-1]) > 0
    block = piece.steps["block"].astype(np.int64)
    warp = np.repeat(np.arange(len(piece.final)), np.diff(piece.step_start))
    key = warp * (len(program.block) + 1) + block
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    rank = np.empty(len(key), np.int64)
    rank[order] = np.arange(len(key)) - np.repeat(first, np.diff(np.append(first, len(key))))
    dropped = of_block[block] & (rank % every > 0)
    dropped[piece.step_start[:-1]] = False
    return without_steps(piece, dropped, _made_by(program, piece))


def _made_by(program: StaticProgram, piece: TracePiece) -> np.ndarray:
    return positions(piece, program).step
