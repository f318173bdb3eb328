"""Interventions on the way of warps through their code: both sides of a branch as one, and the order of blocks."""

from collections.abc import Sequence

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.jit.cached import cached_njit
from gpuprof.timing.state.static_program import FOLDED, JOINED, StaticProgram
from gpuprof.whatif.whole_trace import ROWS, in_order, positions, sector_counts, starts, without_steps


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


def longest_first(program: StaticProgram, pieces: Sequence[TracePiece]) -> np.ndarray:
    """int64 (n_blocks,): blocks in the order of the issue slots that they take, most first."""
    weights = np.concatenate([block_slots(program, piece) for piece in pieces])
    return np.argsort(-weights, kind="stable")


def block_slots(program: StaticProgram, piece: TracePiece) -> np.ndarray:
    """int64 (n_blocks,): issue slots that each block of a piece takes."""
    slots = slots_of_blocks(program)[piece.steps["block"]]
    of_warps = np.diff(np.concatenate([[0], np.cumsum(slots)])[piece.step_start])
    return of_warps.reshape(-1, piece.warps_per_block).sum(axis=1)


def dealt(program: StaticProgram, pieces: Sequence[TracePiece]) -> tuple[TracePiece, ...]:
    """Blocks start in the order of their length, longest first, so that SMs end together."""
    return (in_order(pieces, longest_first(program, pieces)),)


def split(program: StaticProgram, pieces: Sequence[TracePiece], parts: int) -> tuple[TracePiece, ...]:
    """Each block as so many blocks, which have a part of its steps each, one after the other; as fewer where a warp has
    fewer steps.
    """
    parts = min(parts, *(int(np.diff(piece.step_start).min()) for piece in pieces))
    return tuple(_split(program, piece, parts) for piece in pieces)


def _split(program: StaticProgram, piece: TracePiece, parts: int) -> TracePiece:
    """Rows go from (block, warp) to (block, part, warp): the rows themselves are regrouped, none changes."""
    steps, n_warps = np.diff(piece.step_start), piece.warps_per_block
    # Part k of a warp has the steps up to the (k + 1)-th cut.
    cuts = piece.step_start[:-1, None] + steps[:, None] * np.arange(1, parts + 1) // parts
    at = positions(piece, program.inst["has_access"] != 0, program.block)
    accesses = np.searchsorted(at.step, cuts)
    sectors = starts(sector_counts(piece.accesses))[accesses]
    ends = {"step_start": cuts, "access_start": accesses, "sector_start": sectors}
    lengths = {
        name: np.diff(end, axis=1, prepend=getattr(piece, name)[:-1, None]) for name, end in ends.items()
    }
    order = np.arange(len(steps) * parts).reshape(-1, n_warps, parts).transpose(0, 2, 1).ravel()
    changed = {}
    for start, rows in ROWS:
        values, n = getattr(piece, rows), lengths[start].ravel()
        first = starts(n)[:-1][order]
        changed[start] = starts(n[order])
        changed[rows] = values[np.repeat(first - changed[start][:-1], n[order]) + np.arange(len(values))]
    return piece._replace(
        **changed,
        first_block=piece.first_block * parts,
        n_blocks=piece.n_blocks * parts,
        final=np.ones(len(order), np.bool_),
    )


def one_in(pieces: Sequence[TracePiece], every: int) -> tuple[TracePiece, ...]:
    """Only the first of so many blocks that follow each other, and then the next such one, is there."""
    n_blocks = sum(piece.n_blocks for piece in pieces)
    return (in_order(pieces, np.arange(0, n_blocks, every)),)


def first_blocks(pieces: Sequence[TracePiece], n_blocks: int) -> tuple[TracePiece, ...]:
    """Only the first blocks are there, of those that there are."""
    return (in_order(pieces, np.arange(min(n_blocks, sum(piece.n_blocks for piece in pieces)))),)
