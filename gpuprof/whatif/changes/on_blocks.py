"""Interventions on the blocks of a launch: which there are, in which order, and how much each does."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.whole_pieces import ROWS, starts, taken
from gpuprof.timing.state.static_program import LOAD, PLAIN, SHUFFLE, StaticProgram
from gpuprof.whatif.changes.data_flow import derived
from gpuprof.whatif.changes.on_steps import slots_of_blocks
from gpuprof.whatif.changes.whole_trace import in_order, positions, sector_counts


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
    at = positions(piece, program)
    accesses = np.searchsorted(at.step, cuts)
    sectors = starts(sector_counts(piece.accesses))[accesses]
    ends = {"step_start": cuts, "access_start": accesses, "sector_start": sectors}
    lengths = {name: np.diff(end, axis=1, prepend=getattr(piece, name)[:-1, None]) for name, end in ends.items()}
    order = np.arange(len(steps) * parts).reshape(-1, n_warps, parts).transpose(0, 2, 1).ravel()
    changed = {}
    for start, rows in ROWS:
        values, n = getattr(piece, rows), lengths[start].ravel()
        first = starts(n)[:-1][order]
        changed[start] = starts(n[order])
        changed[rows] = taken(values, np.repeat(first - changed[start][:-1], n[order]) + np.arange(len(values)))
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


def wide(
    program: StaticProgram, pieces: Sequence[TracePiece], chosen: np.ndarray, times: int
) -> tuple[StaticProgram, tuple[TracePiece, ...]]:
    """Leaves the first of so many blocks that follow each other, whose chosen accesses then have the sectors of all of
    them, in its warps' order. What is computed of loaded values is computed as often as before. Launches whose blocks
    do not all take the same steps stay as they are; blocks beyond the last multiple are left out.
    """
    n_blocks = sum(piece.n_blocks for piece in pieces) // times * times
    if not n_blocks:
        return program, tuple(pieces)
    whole = in_order(pieces, np.arange(n_blocks))
    inst = program.inst.copy()
    at = positions(whole, program)
    if not _all_alike(whole, at.inst):
        return program, tuple(pieces)
    for name in ("width", "least_passes", "lane_nbytes"):
        inst[name][chosen] *= times
    again = derived(program, chosen & (inst["operation"] == LOAD)) & np.isin(inst["kind"], (PLAIN, SHUFFLE))
    inst["slots"][again] *= times
    first = in_order([whole], np.arange(0, n_blocks, times))
    per_warp = len(whole.accesses) // len(whole.final)
    is_wide = chosen[at.inst[:per_warp]]
    group = whole.accesses.reshape(n_blocks // times, times, whole.warps_per_block, per_warp)
    accesses = group[:, 0].copy()
    counts = sector_counts(whole.accesses).reshape(group.shape)
    wider = np.where(is_wide, counts.sum(axis=1), counts[:, 0])
    accesses["n_sectors"], accesses["more_sectors"] = wider & 255, wider >> 8
    for name in ("n_lookups", "wavefronts", "tag_passes"):
        sums = group[name].astype(np.int64).sum(axis=1)
        accesses[name] = np.minimum(255, np.where(is_wide, sums, group[name][:, 0]))
    kept = np.ones(counts.shape, np.bool_)
    kept[:, 1:, :, ~is_wide] = False
    sectors = _regrouped(whole.sectors, counts, kept)
    per_warp_sectors = wider.reshape(-1, per_warp).sum(axis=1)
    joined = first._replace(accesses=accesses.ravel(), sector_start=starts(per_warp_sectors), sectors=sectors)
    return replace(program, inst=inst), (joined,)


def _all_alike(piece: TracePiece, access_inst: np.ndarray) -> bool:
    """All warps take the same steps."""
    n_warps = len(piece.final)
    steps, accesses = np.diff(piece.step_start), np.diff(piece.access_start)
    if (steps != steps[0]).any() or (accesses != accesses[0]).any():
        return False
    blocks = piece.steps["block"].reshape(n_warps, -1)
    return bool((blocks == blocks[0]).all()) and len(access_inst) > 0


def _regrouped(sectors: np.ndarray, counts: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Sectors in the order (group, warp, access, member), of members that are left. counts: int64 (groups, members,
    warps, accesses), of the sectors in this order.
    """
    order = np.arange(counts.size).reshape(counts.shape).transpose(0, 2, 3, 1).ravel()
    order = order[kept.ravel()[order]]
    n = counts.ravel()[order]
    first = starts(counts.ravel())[:-1][order]
    begin = starts(n)
    return sectors[np.repeat(first - begin[:-1], n) + np.arange(begin[-1])]


def repeated(pieces: Sequence[TracePiece], times: int) -> tuple[TracePiece, ...]:
    """All blocks, so many times."""
    n_blocks = sum(piece.n_blocks for piece in pieces)
    return (in_order(pieces, np.tile(np.arange(n_blocks), times)),)


def smaller(pieces: Sequence[TracePiece], parts: int) -> tuple[TracePiece, ...]:
    """Each block as so many blocks of a part of its warps."""
    return tuple(
        piece._replace(
            first_block=piece.first_block * parts,
            n_blocks=piece.n_blocks * parts,
            warps_per_block=piece.warps_per_block // parts,
        )
        for piece in pieces
    )


def even(program: StaticProgram, pieces: Sequence[TracePiece]) -> tuple[TracePiece, ...]:
    """All warps have the same work: the steps of all, one after the other, cut into parts of as many issue slots."""
    whole = in_order(pieces, np.arange(sum(piece.n_blocks for piece in pieces)))
    slots = np.cumsum(np.maximum(1, slots_of_blocks(program)[whole.steps["block"]]))
    n_warps, n_steps = len(whole.final), len(whole.steps)
    cuts = np.searchsorted(slots, slots[-1] * np.arange(1, n_warps) / n_warps, side="right")
    # each warp has a step
    cuts = np.minimum(np.maximum(cuts, np.arange(1, n_warps)), n_steps - n_warps + np.arange(1, n_warps))
    step_start = np.concatenate([[0], np.maximum.accumulate(cuts), [n_steps]])
    at = positions(whole, program)
    access_start = np.searchsorted(at.step, step_start)
    sector_start = starts(sector_counts(whole.accesses))[access_start]
    return (whole._replace(step_start=step_start, access_start=access_start, sector_start=sector_start),)
