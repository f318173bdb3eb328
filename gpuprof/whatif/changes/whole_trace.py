"""Whole pieces of a trace: where their accesses come from, and pieces without some of their rows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import join_sectors
from gpuprof.emulate.trace_log.whole_pieces import ROWS, starts
from gpuprof.timing.state.static_program import StaticProgram


def sector_counts(accesses: np.ndarray) -> np.ndarray:
    """int64 (n,): the sectors of each ACCESS_DTYPE record."""
    return join_sectors(accesses["n_sectors"].astype(np.int64), accesses["more_sectors"].astype(np.int64))


class Positions(NamedTuple):
    """The origin of each access of a piece, int64 (n,): the step that made it, its warp's row, the instruction."""

    step: np.ndarray
    warp: np.ndarray
    inst: np.ndarray


def positions(piece: TracePiece, program: StaticProgram) -> Positions:
    accessing = np.flatnonzero(program.inst["has_access"])
    first = np.searchsorted(accessing, program.block)  # of each block, its first among these
    of_block = piece.steps["block"].astype(np.int64)
    counts = np.diff(first)[of_block]
    step = np.repeat(np.arange(len(of_block)), counts)
    before = starts(counts)[:-1]
    inst = accessing[first[of_block[step]] + np.arange(len(step)) - before[step]]
    warp = np.repeat(np.arange(len(piece.final)), np.diff(piece.access_start))
    return Positions(step, warp, inst)


def with_accesses(piece: TracePiece, remaining: np.ndarray, accesses: np.ndarray, sectors: np.ndarray) -> TracePiece:
    """The piece with other accesses. remaining: bool, of its own accesses, those that `accesses` has, changed, in their
    order; `sectors` are theirs.
    """
    n_warps = len(piece.final)
    warp = np.repeat(np.arange(n_warps), np.diff(piece.access_start))[remaining]
    counts = np.bincount(warp, minlength=n_warps)
    n_sectors = np.bincount(warp, sector_counts(accesses), minlength=n_warps).astype(np.int64)
    return piece._replace(
        access_start=starts(counts), accesses=accesses, sector_start=starts(n_sectors), sectors=sectors
    )


def without_accesses(piece: TracePiece, dropped: np.ndarray) -> TracePiece:
    """The piece without the accesses of a mask, bool (n,)."""
    if not dropped.any():
        return piece
    owner_drops = np.repeat(dropped, sector_counts(piece.accesses))
    return with_accesses(piece, ~dropped, piece.accesses[~dropped], piece.sectors[~owner_drops])


def without_steps(piece: TracePiece, dropped: np.ndarray, made_by: np.ndarray) -> TracePiece:
    """The piece without the steps of a mask, bool (n_steps,), and their accesses. made_by: the step of each access."""
    if not dropped.any():
        return piece
    left = without_accesses(piece, dropped[made_by])
    n_warps = len(piece.final)
    warp = np.repeat(np.arange(n_warps), np.diff(piece.step_start))[~dropped]
    return left._replace(step_start=starts(np.bincount(warp, minlength=n_warps)), steps=piece.steps[~dropped])


def in_order(pieces: Sequence[TracePiece], order: np.ndarray) -> TracePiece:
    """Blocks of a launch as one piece, in another order. pieces: whole ones, by their first blocks; order: int64, the
    number of the block that comes k-th.
    """
    per_block = pieces[0].warps_per_block
    warps = (order[:, None] * per_block + np.arange(per_block)).ravel()
    joined = {}
    for start, rows in ROWS:
        counts = np.concatenate([np.diff(getattr(piece, start)) for piece in pieces])
        values = np.concatenate([getattr(piece, rows) for piece in pieces])
        first, n = starts(counts)[:-1][warps], counts[warps]
        joined[start] = starts(n)
        joined[rows] = values[np.repeat(first - joined[start][:-1], n) + np.arange(joined[start][-1])]
    return pieces[0]._replace(
        **joined, first_block=0, n_blocks=len(order), final=np.ones(len(warps), np.bool_), number=0
    )


def from_steps(piece: TracePiece, made_by: np.ndarray, warps: Sequence[np.ndarray]) -> TracePiece:
    """Warps that take steps of a piece, each with its accesses. made_by: the step of each access. warps: of each warp,
    int64, the numbers of its steps in their order; as many warps as the piece has.
    """
    steps = np.concatenate(warps)
    n_accesses = np.bincount(made_by, minlength=len(piece.steps))
    accesses = runs(starts(n_accesses)[:-1][steps], n_accesses[steps])
    counts = sector_counts(piece.accesses)
    sectors = runs(starts(counts)[:-1][accesses], counts[accesses])
    step_start = starts(np.array([len(some) for some in warps]))
    access_start = starts(n_accesses[steps])[step_start]
    return piece._replace(
        step_start=step_start,
        steps=piece.steps[steps],
        access_start=access_start,
        accesses=piece.accesses[accesses],
        sector_start=starts(counts[accesses])[access_start],
        sectors=piece.sectors[sectors],
        final=np.ones(len(warps), np.bool_),
    )


def runs(first: np.ndarray, n: np.ndarray) -> np.ndarray:
    """int64 (sum of n,): n numbers from each first one on."""
    return np.repeat(first - starts(n)[:-1], n) + np.arange(int(n.sum()))


class Inserted(NamedTuple):
    """Accesses to come into a piece. step: int64 (n,), ascending, the step before whose own accesses each comes;
    accesses: ACCESS_DTYPE (n,); sectors: int64, theirs.
    """

    step: np.ndarray
    accesses: np.ndarray
    sectors: np.ndarray


def with_more_accesses(piece: TracePiece, made_by: np.ndarray, more: Inserted) -> TracePiece:
    """made_by: the step of each access of the piece."""
    order = np.argsort(np.concatenate([2 * made_by + 1, 2 * more.step]), kind="stable")
    counts = np.concatenate([sector_counts(piece.accesses), sector_counts(more.accesses)])
    sectors = np.concatenate([piece.sectors, more.sectors])
    n_sectors = counts[order]
    n_accesses = np.bincount(np.concatenate([made_by, more.step]), minlength=len(piece.steps))
    access_start = starts(n_accesses)[piece.step_start]
    return piece._replace(
        access_start=access_start,
        accesses=np.concatenate([piece.accesses, more.accesses])[order],
        sector_start=starts(n_sectors)[access_start],
        sectors=sectors[runs(starts(counts)[:-1][order], n_sectors)],
    )
