"""Interventions on the outermost loops of warps: which turns of them each warp does."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.timing.piece_accesses import positions
from gpuprof.timing.state.static_program import BARRIER, StaticProgram
from gpuprof.whatif.changes.whole_trace import from_steps, in_order


class Way(NamedTuple):
    """The steps of a warp, int64 each: those before its loops, those of each turn of them, those after."""

    before: np.ndarray
    turns: list[np.ndarray]
    after: np.ndarray


def ways_of(program: StaticProgram, piece: TracePiece) -> list[Way]:
    """The way of each warp. A turn of the outermost loops begins with the basic block with which the loops of the warp
    begin that has most to do in them.
    """
    block = piece.steps["block"]
    in_loop = _repeated_blocks(program, piece)[block]
    ends = list(zip(piece.step_start[:-1].tolist(), piece.step_start[1:].tolist(), strict=True))
    found = [_parts_of(in_loop, first, end) for first, end in ends]
    longest = max((loops for _, loops, _ in found), key=len)
    head = block[longest[0]] if len(longest) else 0
    return [Way(before, _turns(loops, block, head), after) for before, loops, after in found]


def _repeated_blocks(program: StaticProgram, piece: TracePiece) -> np.ndarray:
    """bool (n_blocks,): basic blocks that a warp runs several times."""
    n_blocks = len(program.block) - 1
    warp = np.repeat(np.arange(len(piece.final)), np.diff(piece.step_start))
    key, times = np.unique(warp * n_blocks + piece.steps["block"], return_counts=True)
    found = np.zeros(n_blocks, np.bool_)
    found[key[times > 1] % n_blocks] = True
    return found


def _parts_of(in_loop: np.ndarray, first: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The steps of a warp before, in and after its loops."""
    steps, mine = np.arange(first, end), np.flatnonzero(in_loop[first:end])
    begin, last = (int(mine[0]), int(mine[-1]) + 1) if len(mine) else (len(steps), len(steps))
    return steps[:begin], steps[begin:last], steps[last:]


def _turns(loops: np.ndarray, block: np.ndarray, head: int) -> list[np.ndarray]:
    return np.split(loops, np.flatnonzero(block[loops[1:]] == head) + 1) if len(loops) else []


def fewest_turns(program: StaticProgram, pieces: Sequence[TracePiece]) -> int:
    """Turns that each warp does at least."""
    return min(len(way.turns) for piece in pieces for way in ways_of(program, piece))


def split(program: StaticProgram, pieces: Sequence[TracePiece], parts: int) -> tuple[TracePiece, ...]:
    """Each block as so many blocks, each of which does a part of the turns of its loops, one part after the other, and
    all that is before and after them.
    """
    return tuple(_split(program, piece, parts) for piece in pieces)


def _split(program: StaticProgram, piece: TracePiece, parts: int) -> TracePiece:
    """Rows go from (block, warp) to (block, part, warp)."""
    ways, warps = ways_of(program, piece), []
    for first in range(0, len(ways), piece.warps_per_block):
        for part in range(parts):
            for before, turns, after in ways[first : first + piece.warps_per_block]:
                begin, end = len(turns) * part // parts, len(turns) * (part + 1) // parts
                warps.append(np.concatenate([before, *turns[begin:end], after]))
    divided = from_steps(piece, positions(piece, program).step, warps)
    return divided._replace(first_block=piece.first_block * parts, n_blocks=piece.n_blocks * parts)


def dealt_turns(program: StaticProgram, pieces: Sequence[TracePiece]) -> tuple[TracePiece, ...]:
    """The turns of the outermost loops are dealt to the blocks one by one, and in each block to its warps; where a turn
    has a barrier, those of a block's warps together. A warp keeps what is before and after its loops.
    """
    whole = in_order(pieces, np.arange(sum(piece.n_blocks for piece in pieces)))
    ways, per_block = ways_of(program, whole), whole.warps_per_block
    steps = np.concatenate([np.zeros(0, np.int64), *(turn for way in ways for turn in way.turns)])
    together = bool(_has_barrier(program)[whole.steps["block"][steps]].any())
    taken: list[list[np.ndarray]] = [[] for _ in ways]
    number = 0
    for first in range(0, len(ways), per_block):
        mine = [way.turns for way in ways[first : first + per_block]]
        for turn in range(max(map(len, mine))):
            there = [warp for warp in range(per_block) if turn < len(mine[warp])]
            for warp in there:
                block, place = number % whole.n_blocks, number // whole.n_blocks % per_block
                taken[block * per_block + (warp if together else place)].append(mine[warp][turn])
                number += not together
            number += together
    warps = [np.concatenate([way.before, *some, way.after]) for way, some in zip(ways, taken, strict=True)]
    return (from_steps(whole, positions(whole, program).step, warps),)


def _has_barrier(program: StaticProgram) -> np.ndarray:
    """bool (n_blocks,): basic blocks with a barrier."""
    return np.add.reduceat((program.inst["kind"] == BARRIER).astype(np.int64), program.block[:-1]) > 0
