"""The cost of sampling to a kernel: the same launches timed twice, once on a GPU whose cells write nothing.

    pieces of the trace ─> undisturbed GPU ─> cycles
          └─ stored ─────> disturbed GPU ───> cycles, samples

The emulator works to the orders of the first timing, which are those of a run without sampling: so memory and counters
are those of that run. Both GPUs live as long as the session, and the lines that sampling leaves in the L2 are charged
to the launch that pays.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace

from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.run.launching.pending import Shelf
from gpuprof.timing.batch import Grid
from gpuprof.timing.buffer import Sink
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine


def copy_of(machine: Machine) -> Machine:
    """A second GPU in the same state."""
    return deepcopy(machine, {id(machine.chip): machine.chip})


def simulate_twice(
    machine: Machine,
    undisturbed: Machine,
    grids: list[Grid],
    sampling: Sampling,
    sink: Sink,
    max_cycles: int,
    record_nbytes: int,
) -> list[LaunchTiming]:
    """Times grids like `simulate_batch` on `machine`, and gives `disturbance_cycles`. An error in the first timing
    leaves no samples.
    """
    traces = [_Trace(grid.pieces) for grid in grids]
    first = [replace(grid, pieces=trace.storing()) for grid, trace in zip(grids, traces, strict=True)]
    second = [replace(grid, pieces=trace, order=trace.order) for grid, trace in zip(grids, traces, strict=True)]
    quiet = simulate_batch(undisturbed, first, Sampling(), lambda samples: None, max_cycles)
    disturbed = simulate_batch(machine, second, sampling, sink, max_cycles, record_nbytes=record_nbytes)
    return [
        replace(timing, disturbance_cycles=timing.cycles - alike.cycles)
        for alike, timing in zip(quiet, disturbed, strict=True)
    ]


class _Trace:
    """A launch's pieces, stored as they are used, and given a second time to other orders."""

    def __init__(self, pieces: Iterable[TracePiece]):
        self._pieces = pieces
        self._shelf = Shelf("traces that --stream lsu times twice", "use --stream aux, or a shorter launch")
        self._open: deque[Order] = deque()

    def storing(self) -> Iterator[TracePiece]:
        for piece in self._pieces:
            self._shelf.put(piece)
            yield piece

    def order(self, order: Order) -> None:
        self._open.append(order)

    def __iter__(self) -> "_Trace":
        return self

    def __next__(self) -> TracePiece:
        while self._open:
            if (piece := self._shelf.take(self._open.popleft())) is not None:
                return piece
        raise StopIteration
