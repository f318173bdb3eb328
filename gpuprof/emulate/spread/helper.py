"""The work of a forked process: it carries out chunks on its copy of memory, and leaves their effects in a file."""

import pickle
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from gpuprof.emulate.spread.chunks_left import NONE, ChunksLeft
from gpuprof.emulate.spread.effects import Effects, effects_of, note_written, reads_any
from gpuprof.emulate.spread.outcomes import AGAIN, DONE, Outcomes
from gpuprof.emulate.trace_log.chunk_counts import counts_of, empty_tally
from gpuprof.errors import KernelFault


def help_out(run, carry_out: Callable[[int], None], left: ChunksLeft, outcomes: Outcomes, number: int) -> None:
    """Carries out chunks from the back until none is left, or no room for outcomes. `run`: an emulate.run.Run with a
    footprint; `carry_out`: by the chunk's number; `number`: of this helper.

    A chunk with a fault gets no outcome: it may have read what it should not have, and otherwise its message comes in
    its place.
    """
    run.memory.have_own_copy()
    run.global_space.refresh()
    written = np.zeros_like(run.global_space.marks.writes)
    while outcomes.has_room(number) and (chunk := left.take_last()) != NONE:
        with suppress(KernelFault):
            effects = _carried_out(run, carry_out, chunk)
            # Chunks are taken from the back: what was written before belongs to those after this one.
            can_count = effects.counts.can_be_added and not reads_any(effects, written)
            note_written(effects, written)
            outcomes.put(chunk, DONE if can_count else AGAIN, number, pickle.dumps(effects) if can_count else b"")


def _carried_out(run, carry_out: Callable[[int], None], chunk: int) -> Effects:
    run.global_space.footprint.begin()
    run.tally = empty_tally(run.tally)
    run.counters = run.tally.counters
    carry_out(chunk)
    return effects_of(run.global_space.marks, run.global_space.views[1], counts_of(run.tally))
