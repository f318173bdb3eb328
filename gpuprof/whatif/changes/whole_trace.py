"""Whole pieces of a trace, without some of their rows, with others, or in another order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, SECTOR_MASK
from gpuprof.emulate.trace_log.whole_pieces import ROWS, joined_rows, starts, taken, words_of
from gpuprof.timing.piece_accesses import sector_counts
from gpuprof.whatif.changes.access_passes import leave_out, replace_sectors


def sector_numbers(piece: TracePiece) -> np.ndarray:
    """int64: a number for each sector of its accesses; equal ones are of one sector."""
    return piece.sectors & SECTOR_MASK


def own_accesses(piece: TracePiece) -> np.ndarray:
    """A copy of its accesses, to be changed."""
    return words_of(piece.accesses).copy().view(ACCESS_DTYPE)


def with_sectors(piece: TracePiece, accesses: np.ndarray, moved: np.ndarray, sectors: np.ndarray) -> TracePiece:
    """The piece with changed accesses. Those of a mask, bool (n,), have `sectors`, in their order; others theirs."""
    counts = sector_counts(accesses)
    found, sector_start = np.empty(int(counts.sum()), np.int64), np.zeros(len(piece.final) + 1, np.int64)
    before, now = words_of(piece.accesses), words_of(accesses)
    replace_sectors(piece.access_start, before, piece.sectors, now, moved, sectors, sector_start, found)
    return piece._replace(accesses=accesses, sector_start=sector_start, sectors=found)


def without_accesses(piece: TracePiece, dropped: np.ndarray) -> TracePiece:
    """The piece without the accesses of a mask, bool (n,)."""
    if not dropped.any():
        return piece
    words, sectors = words_of(piece.accesses), piece.sectors
    starts_left = np.zeros((2, len(piece.final) + 1), np.int64)
    left_words, left_sectors = np.empty_like(words), np.empty_like(sectors)
    n, n_sectors = leave_out(
        piece.access_start, words, sectors, dropped, starts_left[0], left_words, starts_left[1], left_sectors
    )
    return piece._replace(
        access_start=starts_left[0],
        accesses=left_words[:n].view(ACCESS_DTYPE),
        sector_start=starts_left[1],
        sectors=left_sectors[:n_sectors],
    )


def without_steps(piece: TracePiece, dropped: np.ndarray, made_by: np.ndarray) -> TracePiece:
    """The piece without the steps of a mask, bool (n_steps,), and their accesses. made_by: the step of each access."""
    if not dropped.any():
        return piece
    left = without_accesses(piece, dropped[made_by])
    n_warps = len(piece.final)
    warp = np.repeat(np.arange(n_warps), np.diff(piece.step_start))[~dropped]
    return left._replace(step_start=starts(np.bincount(warp, minlength=n_warps)), steps=taken(piece.steps, ~dropped))


def in_order(pieces: Sequence[TracePiece], order: np.ndarray) -> TracePiece:
    """Blocks of a launch as one piece, in another order. pieces: whole ones, by their first blocks; order: int64, the
    number of the block that comes k-th.
    """
    per_block = pieces[0].warps_per_block
    warps = (order[:, None] * per_block + np.arange(per_block)).ravel()
    joined = {}
    for start, rows in ROWS:
        counts = np.concatenate([np.diff(getattr(piece, start)) for piece in pieces])
        values = joined_rows(pieces, rows)
        first, n = starts(counts)[:-1][warps], counts[warps]
        joined[start] = starts(n)
        joined[rows] = taken(values, np.repeat(first - joined[start][:-1], n) + np.arange(joined[start][-1]))
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
