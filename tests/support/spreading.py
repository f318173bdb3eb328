"""Launches of which all but the first chunk is spread over processes, however short they are."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple
from unittest import mock

from gpuprof.base import processes
from gpuprof.emulate import run as running
from gpuprof.emulate.spread import pace, spread as spreading
from gpuprof.emulate.spread.chunks_left import NONE


class Spread(NamedTuple):
    """Chunks of all launches, by number: those of helpers that counted, and those that helpers had taken and that this
    process carried out again."""

    helped: list[int]
    again: list[int]


@contextmanager
def spread_over(
    n_processes: int, n_here: int = 0, chunk_lanes: int | None = None, patience_seconds: float = 60
) -> Iterator[Spread]:
    """This process takes up to `n_here` chunks from the front, helpers take the others; with one process nothing is
    spread. `chunk_lanes`: of a chunk, in place of as many as usual.
    """
    found, put_together = Spread([], []), spreading._put_together

    def carry_out_front(carry_out, left) -> float:
        for _ in range(n_here):
            if (chunk := left.take_first()) != NONE:
                carry_out(chunk)
        return 0.0

    def watched(run, carry_out, outcomes, chunks) -> None:
        again = []

        def carry_out_again(chunk: int) -> None:
            again.append(chunk)
            carry_out(chunk)

        put_together(run, carry_out_again, outcomes, chunks)
        found.again.extend(again)
        found.helped.extend(chunk for chunk in chunks if chunk not in again)

    lanes = {} if chunk_lanes is None else {"CHUNK_LANES": chunk_lanes, "FIRST_CHUNK_LANES": chunk_lanes}
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(processes._chosen, "threads", n_processes))
        if lanes:
            stack.enter_context(mock.patch.multiple(running, **lanes))
        stack.enter_context(mock.patch.object(pace, "LEAST_SECONDS", 1e-12))
        stack.enter_context(
            mock.patch.multiple(
                spreading, PATIENCE_SECONDS=patience_seconds, _carry_out_front=carry_out_front, _put_together=watched
            )
        )
        yield found
