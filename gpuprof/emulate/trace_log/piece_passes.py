"""Compiled passes over a piece of a trace that count: what numpy would do in several arrays, in one.

Arrays are those of TracePiece: steps as uint32 (n_steps, 2), access records as uint64 words (see trace_entries).
Results are written to the last arguments.
"""

import numpy as np

from gpuprof.emulate.trace_log.trace_entries import SECTOR_MASK, SECTORS_OF_LINE, join_sectors
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

_join = internal_njit(join_sectors)


@internal_njit
def sectors_of(word):
    return _join(word & np.uint64(0xFF), word >> np.uint64(56))


@cached_njit
def count_sectors(words, counts):
    """counts: int64 (n_accesses,)."""
    for access in range(len(words)):
        counts[access] = sectors_of(words[access])


@cached_njit
def place_origins(step_start, steps, first, accessing, step_of, warp_of, inst_of):
    """The step, the warp's row and the instruction of each access, int64 (n_accesses,) each.

    first: int64 (n_blocks + 1,), where each basic block's instructions begin in accessing, int64: those that access
    memory.
    """
    at = 0
    for warp in range(len(step_start) - 1):
        for step in range(step_start[warp], step_start[warp + 1]):
            block = steps[step, 0]
            for k in range(first[block], first[block + 1]):
                step_of[at], warp_of[at], inst_of[at] = step, warp, accessing[k]
                at += 1


@cached_njit
def count_lines(words, sectors, counts):
    """The lines of each access, int64 (n_accesses,); one that comes again after others counts again."""
    at = 0
    for access in range(len(words)):
        n = sectors_of(words[access])
        counts[access] = min(n, 1)
        for k in range(at + 1, at + n):
            line, before = (
                (sectors[k] & SECTOR_MASK) // SECTORS_OF_LINE,
                (sectors[k - 1] & SECTOR_MASK) // SECTORS_OF_LINE,
            )
            counts[access] += line != before
        at += n
