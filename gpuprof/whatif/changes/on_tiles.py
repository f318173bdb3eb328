"""Loads through a tile in shared memory: what fills it, and the barriers around that."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, SECTOR_MASK
from gpuprof.emulate.trace_log.whole_pieces import starts
from gpuprof.isa.encoding import encode, make
from gpuprof.timing.piece_accesses import positions, sector_counts
from gpuprof.timing.state.layout import SECTOR_NBYTES
from gpuprof.timing.state.static_program import FOLDED, GLOBAL, LOAD, StaticProgram, static_program
from gpuprof.whatif.changes.more_code import Code, code_of, joined, with_blocks, with_code
from gpuprof.whatif.changes.on_accesses import LOOKUP_LANES, TAG_BANKS
from gpuprof.whatif.changes.on_program import in_shared_memory
from gpuprof.whatif.changes.whole_trace import Inserted, runs, with_more_accesses, without_accesses

WARP_LANES = 32
WIDEST = 4  # words of a thread that an access takes
MIXER = 0x9E3779B97F4A7C15 - (1 << 64)  # of splitmix64: sums of sectors that differ, differ


class Fills(NamedTuple):
    """The sectors that fill each tile. A tile is of a block and of `every` runs of the basic block `head`; each thread
    loads `of_thread` times into it. tile: int64 (n,), ascending, of each sector its tile's number: that of the block
    times `n_tiles`, and the tile's in the block; sectors: int64 (n,), those of a tile once each.
    """

    head: int
    every: int
    of_thread: int
    n_tiles: int
    tile: np.ndarray
    sectors: np.ndarray


def tiled(
    program: StaticProgram, pieces: Sequence[TracePiece], chosen: np.ndarray, of_thread: int, chip: Chip
) -> tuple[StaticProgram, tuple[TracePiece, ...]]:
    """Loads from global memory come from shared memory, those of words that lie next to each other together. Their
    block loads what they need before: each of its threads `of_thread` elements at a time, between two barriers.
    """
    inst = program.inst
    loads = chosen & (inst["kind"] == GLOBAL) & (inst["operation"] == LOAD) & (inst["polls"] == 0)
    if not loads.any():
        return program, tuple(pieces)
    head = _busiest(program, pieces, loads)
    first = int(np.flatnonzero(loads[program.block[head] :])[0] + program.block[head])
    groups = neighbours(program, pieces, loads, head)
    found = []
    for piece in pieces:
        fills = fills_of(program, piece, loads, head, of_thread)
        shared, moved = in_shared_memory(program, piece, loads, chip)
        wide, moved = _in_wide_loads(shared, moved, groups, _agree_in_pairs(piece))
        found.append(_filled(moved, positions(moved, wide).step, fills, len(program.block) - 1))
    body = code_of(wide, *program.block[head : head + 2].tolist())
    return with_blocks(wide, [joined(_fill(program, first, of_thread, chip), body)]), tuple(found)


def _busiest(program: StaticProgram, pieces: Sequence[TracePiece], loads: np.ndarray) -> int:
    """The basic block with chosen loads that has the most runs."""
    has_loads = np.add.reduceat(loads.astype(np.int64), program.block[:-1]) > 0
    times = sum(np.bincount(piece.steps["block"], minlength=len(has_loads)) for piece in pieces)
    return int(np.argmax(np.where(has_loads, times, -1)))


def neighbours(program: StaticProgram, pieces: Sequence[TracePiece], loads: np.ndarray, head: int) -> list[list[int]]:
    """Loads of one word in the basic block `head` that in every run of it take the same sectors: words of a thread that
    lie next to each other, up to WIDEST of them in a group.
    """
    words = loads & (program.inst["width"] == 1)
    words[: program.block[head]] = words[program.block[head + 1] :] = False
    seen = []
    for piece in pieces:
        at, counts = positions(piece, program), sector_counts(piece.accesses)
        of_access = np.add.reduceat(np.append((piece.sectors & SECTOR_MASK) * MIXER, 0), starts(counts)[:-1])
        seen.append(np.where(counts > 0, of_access, 0)[words[at.inst]].reshape(-1, int(words.sum())))
    groups: dict[bytes, list[list[int]]] = {}
    for inst, column in zip(np.flatnonzero(words).tolist(), np.concatenate(seen).T, strict=True):
        mine = groups.setdefault(column.tobytes(), [[]])
        if len(mine[-1]) == WIDEST:
            mine.append([])
        mine[-1].append(inst)
    return [group for mine in groups.values() for group in mine if len(group) > 1]


def _agree_in_pairs(piece: TracePiece) -> np.ndarray:
    """bool (n_accesses,): loads of words whose sectors have half as many words as there are lanes, or fewer."""
    return sector_counts(piece.accesses) * SECTOR_NBYTES <= 2 * piece.accesses["lanes"].astype(np.int64)


def _in_wide_loads(
    program: StaticProgram, piece: TracePiece, groups: list[list[int]], in_pairs: np.ndarray
) -> tuple[StaticProgram, TracePiece]:
    """The first load of a group brings the words of all, and the results of the others are there with its own.

    in_pairs: bool (n_accesses,), those whose lanes agree in pairs: they take half the passes (docs/model/memory.md).
    """
    at = positions(piece, program)
    accesses = piece.accesses.copy()
    code = code_of(program, 0, len(program.inst))
    gone = np.zeros(len(program.inst), np.bool_)
    for first, *others in groups:
        code.inst["width"][first] = code.inst["least_passes"][first] = 1 + len(others)
        accesses["wavefronts"][at.inst == first] = 1 + len(others)
        accesses["wavefronts"][(at.inst == first) & in_pairs] = (2 + len(others)) // 2
        for other in others:
            written = code.deps[other][-int(code.inst["n_writes"][other]) :]
            code.deps[other] = np.concatenate([code.deps[first][-int(code.inst["n_writes"][first]) :], written])
        gone[others] = True
    code.inst["kind"][gone], code.inst["has_access"][gone] = FOLDED, 0
    return with_code(program, code), without_accesses(piece._replace(accesses=accesses), gone[at.inst])


def _fill(program: StaticProgram, load: int, of_thread: int, chip: Chip) -> Code:
    """A barrier, loads, the stores of what they bring, and a barrier."""
    own = static_program(encode([make("BAR.SYNC"), make("STS.32", a=0, b=1)]), (), chip)
    barrier, store = code_of(own, 0, 1), code_of(own, 1, 2)
    loading = code_of(program, load, load + 1)
    reads = loading.deps[0][: -int(loading.inst["n_writes"][0])]
    ahead, behind = [], []
    for k in range(of_thread):
        value = np.array([program.n_registers + k], np.int32)
        one = loading.inst.copy()
        one["n_writes"] = 1
        ahead.append(Code(one, [np.concatenate([reads, value])]))
        behind.append(Code(store.inst, [value]))
    code = joined(barrier, *ahead, *behind, barrier)
    code.inst["line"] = loading.inst["line"][0]
    return code


def fills_of(program: StaticProgram, piece: TracePiece, loads: np.ndarray, head: int, of_thread: int) -> Fills:
    at = positions(piece, program)
    block = np.repeat(np.arange(len(piece.final)), np.diff(piece.step_start)) // piece.warps_per_block
    runs_so_far = _runs_so_far(piece, head)
    counts = sector_counts(piece.accesses)
    mine = np.repeat(loads[at.inst], counts)
    step = np.repeat(at.step, counts)[mine]
    sectors, which = np.unique(piece.sectors[mine] & SECTOR_MASK, return_inverse=True)
    n_distinct = len(np.unique(block[step] * len(sectors) + which))
    n_runs = max(1, int(runs_so_far[piece.step_start[1:] - 1].sum()))
    # A thread's load brings as many bytes as one of the kernel's own.
    of_access = WARP_LANES * int(program.inst["lane_nbytes"][loads].max()) // SECTOR_NBYTES
    every = max(1, n_runs * of_thread * max(1, of_access) // max(1, n_distinct))
    n_tiles = int(runs_so_far.max()) // every + 1
    tile = block[step] * n_tiles + np.maximum(runs_so_far[step] - 1, 0) // every
    of_tile, number = np.divmod(np.unique(tile * len(sectors) + which), max(1, len(sectors)))
    return Fills(head, every, of_thread, n_tiles, of_tile, sectors[number])


def _runs_so_far(piece: TracePiece, head: int) -> np.ndarray:
    """int64 (n_steps,): the runs of a basic block by the step's warp, this step's included."""
    is_head = (piece.steps["block"] == head).astype(np.int64)
    so_far = np.concatenate([[0], np.cumsum(is_head)])
    return so_far[1:] - np.repeat(so_far[piece.step_start[:-1]], np.diff(piece.step_start))


def _filled(piece: TracePiece, made_by: np.ndarray, fills: Fills, block_number: int) -> TracePiece:
    """The first run of `head` in each tile is one of the basic block that fills it before. All warps of a block fill as
    many tiles: a warp of fewer runs would be missed at the barriers.
    """
    runs_so_far = _runs_so_far(piece, fills.head)
    warp = np.repeat(np.arange(len(piece.final)), np.diff(piece.step_start))
    block, fewest = warp // piece.warps_per_block, runs_so_far[piece.step_start[1:] - 1]
    fewest = fewest.reshape(-1, piece.warps_per_block).min(axis=1)
    begins = (piece.steps["block"] == fills.head) & ((runs_so_far - 1) % fills.every == 0)
    step = np.flatnonzero(begins & (runs_so_far <= fewest[block]))
    steps = piece.steps.copy()
    steps["block"][step] = block_number
    number = block[step] * fills.n_tiles + (runs_so_far[step] - 1) // fills.every
    more = _accesses_of(fills, step, number, warp[step] % piece.warps_per_block, piece.warps_per_block)
    return with_more_accesses(piece, made_by, more)._replace(steps=steps)


def _accesses_of(fills: Fills, step: np.ndarray, tile: np.ndarray, warp: np.ndarray, n_warps: int) -> Inserted:
    """The loads and stores that fill a tile: its sectors are cut into as many parts as its warps have loads."""
    of_thread = fills.of_thread
    first, end = (np.searchsorted(fills.tile, tile, side=side)[:, None] for side in ("left", "right"))
    part = warp[:, None] * of_thread + np.arange(of_thread)
    begin = first + (end - first) * part // (n_warps * of_thread)
    n = first + (end - first) * (part + 1) // (n_warps * of_thread) - begin
    line = np.concatenate([[0], np.cumsum(np.diff(fills.sectors >> 2) != 0), [0]])
    n_lines = np.where(n > 0, line[begin + n - 1] - line[np.minimum(begin, len(line) - 1)] + 1, 0)
    accesses = np.zeros((len(step), 2 * of_thread), ACCESS_DTYPE)
    accesses["lanes"], accesses["wavefronts"] = WARP_LANES, 1
    loads = accesses[:, :of_thread]
    loads["n_sectors"], loads["more_sectors"] = n & 255, n >> 8
    loads["n_lookups"] = np.minimum(255, np.maximum(n_lines, WARP_LANES // LOOKUP_LANES))
    loads["tag_passes"] = np.minimum(255, -(-n_lines // TAG_BANKS))
    sectors = fills.sectors[runs(begin.ravel(), n.ravel())]
    return Inserted(np.repeat(step, 2 * of_thread), accesses.ravel(), sectors)
