"""Carries out chunks on several processes, and puts their effects together in the order of the chunks."""

import time
from collections.abc import Callable

from gpuprof.emulate.core.marks import NO_BITS, Marks
from gpuprof.emulate.spread.chunks_left import NONE, ChunksLeft
from gpuprof.emulate.spread.effects import note_all, reads_any, write_bytes
from gpuprof.emulate.spread.helper import help_out
from gpuprof.emulate.spread.helpers import Helpers
from gpuprof.emulate.spread.kernels import never_again
from gpuprof.emulate.spread.outcomes import DONE, MISSING, Outcomes
from gpuprof.emulate.trace_log.chunk_counts import add_counts
from gpuprof.emulate.watch.footprint import Footprint

# A helper's last chunk may take so many times as long as the longest of this process, and a second. One that read what
# another chunk was to write may never end.
PATIENCE, PATIENCE_SECONDS = 4, 1.0


def spread(run, n_chunks: int, carry_out: Callable[[int], None], n_processes: int, show: Callable[[int], None]) -> None:
    """Carries out chunks 0 to `n_chunks` of a part of a launch, each to its end. `run`: an emulate.run.Run without a
    listener; `carry_out`: does it here, for a chunk's number; `show`: gets how many have not begun. Raises KernelFault
    as `carry_out` does.
    """

    def carry_out_shown(chunk: int) -> None:
        carry_out(chunk)
        show(left.n)

    wanted, noted = run.global_space.footprint, Footprint()
    run.global_space.note_in(noted)
    left = ChunksLeft(n_chunks)
    try:
        outcomes = Outcomes(n_chunks, n_processes - 1)
    except OSError:
        outcomes = Outcomes(n_chunks, 0)
    try:
        with Helpers() as helpers:
            _begin_helpers(helpers, run, carry_out, left, outcomes, n_processes - 1)
            if wanted is None:
                run.global_space.marks = _writes_only(noted.marks)
            longest = _carry_out_front(carry_out_shown, left)
            helpers.wait(PATIENCE * longest + PATIENCE_SECONDS)
            helpers.stop()
            _put_together(run, carry_out, outcomes, range(left.first, n_chunks))
    finally:
        outcomes.close()
        run.global_space.note_in(wanted)
        if wanted is not None:
            wanted.add(noted)


def _begin_helpers(helpers: Helpers, run, carry_out, left: ChunksLeft, outcomes: Outcomes, n: int) -> None:
    """Fewer, where the system has no room for more processes or files."""
    try:
        for number in range(min(n, outcomes.n_helpers)):
            helpers.begin(lambda number=number: help_out(run, carry_out, left, outcomes, number))
    except OSError:
        return


def _writes_only(marks: Marks) -> Marks:
    """Gives marks that leave out what this process reads: that decides nothing."""
    return marks._replace(reads=NO_BITS)


def _carry_out_front(carry_out: Callable[[int], None], left: ChunksLeft) -> float:
    """Gives the seconds of the chunk that took longest."""
    longest = 0.0
    while (chunk := left.take_first()) != NONE:
        began = time.perf_counter()
        carry_out(chunk)
        longest = max(longest, time.perf_counter() - began)
    return longest


def _put_together(run, carry_out: Callable[[int], None], outcomes: Outcomes, chunks: range) -> None:
    """The chunks that helpers took: their effects, where these count, else the chunk once more."""
    noted = run.global_space.footprint.marks
    for chunk in chunks:
        state = outcomes.state(chunk)
        effects = outcomes.effects(chunk) if state == DONE else None
        if effects is None or reads_any(effects, noted.writes):
            if state != MISSING:
                never_again(run.module, run.launch.function.first)
            carry_out(chunk)
        else:
            write_bytes(effects, run.global_space.views[1])
            note_all(effects, noted)
            add_counts(effects.counts, run.tally)
