"""Interventions on the blocks of a launch: which there are, in which order, and how much each does."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.whole_pieces import starts
from gpuprof.timing.piece_accesses import positions, sector_counts
from gpuprof.timing.state.static_program import LOAD, PLAIN, SHUFFLE, StaticProgram
from gpuprof.whatif.changes.data_flow import derived
from gpuprof.whatif.changes.on_steps import slots_of_blocks
from gpuprof.whatif.changes.whole_trace import in_order


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


def merged(
    program: StaticProgram, pieces: Sequence[TracePiece], chosen: np.ndarray, times: int
) -> tuple[StaticProgram, tuple[TracePiece, ...]]:
    """One warp does the work of so many warps of its block. Launches whose warps do not all take the same steps stay as
    they are.
    """
    if pieces[0].warps_per_block % times:
        return program, tuple(pieces)
    merged_program, found = wide(program, smaller(pieces, times), chosen, times)
    return (program, tuple(pieces)) if merged_program is program else (merged_program, found)


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
