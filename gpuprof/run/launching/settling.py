"""Times the launches in flight on one GPU once the host waits for them, and reports each to the observers.

    PendingLaunches ─ Grid, pieces of trace ─> GpuTiming ─> samples, LaunchTiming ─> observers

Everything in flight is timed together. The emulation continues meanwhile, to the orders of the timing.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gpuprof.base.stages import stage
from gpuprof.chips import Chip
from gpuprof.emulate.trace_log.trace import REST, Order, TracePiece
from gpuprof.errors import KernelFault
from gpuprof.jit.cached import complaint
from gpuprof.run.launching.emulation_progress import Watched, stopped_at, under_way
from gpuprof.run.launching.gpu_timing import GpuTiming
from gpuprof.run.launching.pending import InFlight, PendingLaunch
from gpuprof.run.launching.timeline import DEFAULT_STREAM, Timeline
from gpuprof.run.observers.observer import LaunchOrder, LaunchResult, SessionObserver, StreamOperation
from gpuprof.run.run_settings import Settings
from gpuprof.timing.batch import Grid, Transfers
from gpuprof.timing.extrapolate import extrapolated, issue_slots, note
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.state.launch_timing import LaunchTiming

FEW_BLOCKS, TOGETHER = "too few blocks, or no steady rate", "launches in flight together"


def _watched(flights: Sequence[PendingLaunch]) -> Watched:
    return [(flight.launch, flight.counters) for flight in flights]


class _Stopping:
    """Calls `stopped` with the flights and the error that ends the block, unless it is one of `spares`."""

    def __init__(
        self,
        flights: list[PendingLaunch],
        stopped: Callable[[list[PendingLaunch], BaseException], None],
        spares: tuple[type[Exception], ...],
    ):
        self._flights, self._stopped, self._spares = flights, stopped, spares

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_) -> None:
        if error is not None and not isinstance(error, self._spares):
            self._stopped(self._flights, error)


class Settler:
    """Settles the launches in flight: times them, or ends them where an error does."""

    def __init__(
        self,
        settings: Settings,
        chip: Chip,
        in_flight: InFlight,
        timing: GpuTiming,
        observers: Sequence[SessionObserver],
        timeline: Timeline,
    ):
        self._chip, self._sample_blocks, self._user = chip, settings.sample_blocks, settings.observer
        self._in_flight, self._timing, self._observers, self._timeline = in_flight, timing, observers, timeline

    def settle(self, sampling: Sampling) -> list[LaunchTiming]:
        """Waits for everything in flight; gives the timings, in the order of the requests."""
        flights, operations = self._in_flight.flights, self._in_flight.operations
        if not flights:
            return []
        if notice := self._timing.take_notice():  # not before: a file or a launch that is refused compiles nothing
            self._user.notice(notice)
        with under_way(_watched(flights)), self.stopping():
            grids = [self._grid(flight, sampling) for flight in flights]
            transfers = Transfers(operations, self._timeline.engines, self._timeline.second_way_permille)
            timings = self._timing.time(grids, sampling, self._samples, flights[0].control, transfers)
            if timings[0].extrapolation:
                # The blocks that were not timed are emulated all the same: results and counters are exact
                # (docs/model.md).
                flights[0].pieces.order(Order(REST, traced=False))
            self._in_flight.finish_emulation()  # the counters are complete
        timings = [self._complete(flight, timing) for flight, timing in zip(flights, timings, strict=True)]
        self._in_flight.landed(lambda number: (timings[number] if number >= 0 else operations[-1 - number]).end_cycle)
        self._enter(flights, timings, operations)
        with stage("writing the results"):
            for flight, timing in zip(flights, timings, strict=True):
                self._report(flight, timing)
            self._report_order(flights)
            self._report_operations(operations)
        if text := complaint():
            self._user.notice(text)
        return timings

    def _enter(
        self, flights: Sequence[PendingLaunch], timings: list[LaunchTiming], operations: Sequence[StreamOperation]
    ) -> None:
        """The ends of launches and operations, into the timeline."""
        for flight, timing in zip(flights, timings, strict=True):
            self._timeline.launch_ended(flight.launch.stream, timing.end_cycle)
        for operation in operations:
            self._timeline.ended(operation.stream, operation.end_cycle)
        if any(flight.shades for flight in flights):
            self._timeline.ended(DEFAULT_STREAM, self._timing.machine.cycle)

    def run_through(self) -> None:
        """Emulates everything in flight to its end. Launches are not timed, and take no time."""
        flights, operations = list(self._in_flight.flights), list(self._in_flight.operations)
        with under_way(_watched(flights)), self.stopping():
            self._in_flight.run_through()
            self._in_flight.drop()
        for operation in operations:
            self._timeline.carry_out(operation)
        self._report_operations(operations)
        for flight in flights:
            self._print(flight)
            for observer in self._observers:
                observer.run_through(flight.launch)

    def stopping(self, spares: tuple[type[Exception], ...] = ()) -> "_Stopping":
        """A fault within it, or an interrupt, ends all that is in flight. The recording says why, and what kernels
        printed before is the best hint. Errors that `spares` names change nothing.
        """
        return _Stopping(self._in_flight.flights, self._stopped, spares)

    def _stopped(self, flights: list[PendingLaunch], error: BaseException) -> None:
        self._in_flight.drop()
        # a script may catch a fault and continue
        if isinstance(error, KernelFault | KeyboardInterrupt):
            self._stop(flights, error)
        if isinstance(error, KeyboardInterrupt) and (text := stopped_at(_watched(flights))):
            self._user.notice(text)
        for flight in flights:
            self._print(flight)

    def fault_in_draw(self, first: int, fault: KernelFault, settle: Callable[[], object]) -> None:
        """A shader's fault ends its draw, whose flights begin with number `first`. The draws before it are timed as if
        it had not been requested.
        """
        ended = self._in_flight.take_back(first)
        try:
            settle()
        finally:
            self._stop(ended, fault)
            for flight in ended:
                self._print(flight)

    def _stop(self, flights: list[PendingLaunch], error: KernelFault | KeyboardInterrupt) -> None:
        for observer in self._observers:
            observer.flush()
        for flight in flights:
            for observer in self._observers:
                observer.stopped(flight.launch, error)
            self._note(flight, str(error) or "interrupted")

    def _grid(self, flight: PendingLaunch, sampling: Sampling) -> Grid:
        pieces: Iterator[TracePiece] = flight.pieces
        for observer in self._observers:
            pieces = observer.trace(flight.launch, pieces, sampling)
        return Grid(
            flight.launch,
            self._once_compiled(pieces),
            flight.after,
            flight.after_signal,
            flight.priority,
            self._launch_cycles(flight),
            flight.pieces.order,
            flight.launched_by,
            flight.filter,
            flight.shades,
            flight.draw,
            flight.arrival,
        )

    def _launch_cycles(self, flight: PendingLaunch) -> int:
        if flight.shades:
            return 0
        return self._chip.launch_cycles if flight.launch_cycles is None else flight.launch_cycles

    def _once_compiled(self, pieces: Iterator[TracePiece]) -> Iterator[TracePiece]:
        """The trace, whose first piece waits until the timing model is compiled."""
        for piece in pieces:
            self._timing.wait_until_compiled()
            yield piece

    def _complete(self, flight: PendingLaunch, timing: LaunchTiming) -> LaunchTiming:
        """The timing of all blocks, also when only some were timed; the recording has a note of that."""
        launch = flight.launch
        if timing.extrapolation is None:
            if self._sample_blocks:
                why = FEW_BLOCKS if len(self._in_flight.flights) == 1 else TOGETHER
                text = f"--sample-blocks timed all {launch.n_blocks:,} blocks: {why}"
                self._user.notice(f"{launch.function.display}: {text}")
            return timing
        slots = issue_slots(launch.module, self._chip, flight.counters)
        complete = extrapolated(timing, slots, launch.module.load_base)
        # The next launch comes after the end of this one, not after the part that was timed.
        self._timing.machine.cycle = complete.end_cycle
        self._note(flight, note(launch.function.display, complete))
        return complete

    # Reports.

    def _samples(self, rows: np.ndarray) -> None:
        for observer in self._observers:
            observer.samples(rows)

    def _note(self, flight: PendingLaunch, text: str) -> None:
        for observer in self._observers:
            observer.note(flight.launch, text)

    def _print(self, flight: PendingLaunch) -> None:
        self._user.output("".join(flight.counters.output))

    def _report(self, flight: PendingLaunch, timing: LaunchTiming) -> None:
        self._print(flight)
        result = LaunchResult(flight.launch, timing, flight.counters)
        for observer in self._observers:
            observer.timed(result)
        self._user.finished(result)

    def _report_order(self, flights: Sequence[PendingLaunch]) -> None:
        batch = [
            LaunchOrder(one.launch, tuple(k for k in one.after if k >= 0), one.after_signal, one.launched_by)
            for one in flights
        ]
        for observer in self._observers:
            observer.settled(batch)

    def _report_operations(self, operations: Sequence[StreamOperation]) -> None:
        for operation in operations:
            for observer in self._observers:
                observer.operated(operation)
