"""The trace of a launch for several timings: stored as the first uses it, and given to the next in its own order."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.run.launching.pending import Shelf
from gpuprof.timing.batch import Grid

WHY, ADVICE = (
    "traces that --cache warm or --repeat times again",
    "use --cache cold without --repeat, or a shorter launch",
)


class StoredTrace:
    """A launch's pieces, stored as they are used, and given a second time to other orders. `why` and `advice`: of
    `Shelf`.
    """

    def __init__(self, pieces: Iterable[TracePiece], why: str, advice: str):
        self._pieces = pieces
        self._shelf = Shelf(why, advice)
        self._open: deque[Order] = deque()

    def storing(self) -> Iterator[TracePiece]:
        for piece in self._pieces:
            self._shelf.put(piece)
            yield piece

    def order(self, order: Order) -> None:
        self._open.append(order)

    def __iter__(self) -> "StoredTrace":
        return self

    def __next__(self) -> TracePiece:
        while self._open:
            if (piece := self._shelf.take(self._open.popleft())) is not None:
                return piece
        raise StopIteration


def stored(grids: Sequence[Grid], why: str = WHY, advice: str = ADVICE) -> tuple[list[Grid], list[Grid]]:
    """The grids for a timing that stores their traces, and for the next one, which has these."""
    traces = [StoredTrace(grid.pieces, why, advice) for grid in grids]
    return (
        [replace(grid, pieces=trace.storing()) for grid, trace in zip(grids, traces, strict=True)],
        [replace(grid, pieces=trace, order=trace.order) for grid, trace in zip(grids, traces, strict=True)],
    )


def repeated(grids: list[Grid], times: int) -> Iterator[list[Grid]]:
    """The grids for each of so many timings. The launches are emulated once, to the orders of the first. Only the last
    timing has operations: the others wait for none.
    """
    for _ in range(times - 1):
        now, grids = stored(grids)
        yield [replace(grid, after=tuple(number for number in grid.after if number >= 0)) for grid in now]
    yield grids
